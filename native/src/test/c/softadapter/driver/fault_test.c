#include "fixture.h"

static void expect_port_state(struct side *side, enum ibv_port_state state) {
    struct ibv_port_attr port;
    CHECK_SAME(ibv_query_port(side->context, 1, &port), 0);
    CHECK_SAME(port.state, state);
}

static void a_port_that_is_down_ends_the_work_both_ways(void) {
    for (int device = 0; device < 2; device++) {
        struct side one;
        struct side other;
        struct side local;
        open_connected(&one, &other, usual());
        CHECK_SAME(soft_adapter_port(device, 0), 0);
        CHECK_SAME(soft_adapter_port(device, 0), 0);
        struct side *down = device == 0 ? &one : &other;
        struct ibv_async_event event = expect_async(down->context, IBV_EVENT_PORT_ERR);
        CHECK_SAME(event.element.port_num, 1);
        expect_port_state(down, IBV_PORT_DOWN);
        for (uint64_t i = 0; i < 3; i++) {
            CHECK_SAME(post_request(&one, &other, IBV_WR_RDMA_WRITE, 8, i), 0);
            CHECK_SAME(post_request(&other, &one, IBV_WR_RDMA_READ, 8, i), 0);
        }
        for (uint64_t i = 0; i < 3; i++) {
            expect_status(&one, i, i == 0 ? IBV_WC_RETRY_EXC_ERR : IBV_WC_WR_FLUSH_ERR);
            expect_status(&other, i, i == 0 ? IBV_WC_RETRY_EXC_ERR : IBV_WC_WR_FLUSH_ERR);
        }
        /* The other device does not even notice. */
        struct options options = usual();
        options.device = 1 - device;
        open_side(&local, options);
        CHECK_SAME(to_init(&local), 0);
        CHECK_SAME(to_ready_to_receive(&local, &local), 0);
        CHECK_SAME(to_ready_to_send(&local), 0);
        CHECK_SAME(post_request(&local, &local, IBV_WR_RDMA_WRITE, 8, 1), 0);
        expect_success(&local, 1);
        close_side(&local);
        CHECK_SAME(soft_adapter_port(device, 1), 0);
        expect_async(down->context, IBV_EVENT_PORT_ACTIVE);
        expect_port_state(down, IBV_PORT_ACTIVE);
        CHECK(!readable((device == 0 ? &other : &one)->context->async_fd, 0));
        close_both(&one, &other);
    }
    CHECK_SAME(soft_adapter_port(8, 0), ENODEV);
    CHECK_SAME(soft_adapter_port(-1, 0), ENODEV);
}

static void work_goes_on_when_the_port_comes_back_in_time(void) {
    struct side one;
    struct side other;
    struct options options = usual();
    /* 4.096 us * 2^14 is 67 ms, eight times. */
    options.timeout = 14;
    options.retries = 7;
    open_connected(&one, &other, options);
    CHECK_SAME(soft_adapter_port(1, 0), 0);
    int64_t retries = soft_adapter_counter("retries");
    CHECK_SAME(post_request(&one, &other, IBV_WR_RDMA_WRITE, 8, 1), 0);
    while (soft_adapter_counter("retries") == retries) {
        sleep_nanos(MILLISECOND / 10);
    }
    CHECK_SAME(soft_adapter_port(1, 1), 0);
    expect_success(&one, 1);
    close_both(&one, &other);
}

static void a_device_that_is_pulled_out_is_dead(void) {
    struct side one;
    struct side other;
    open_connected(&one, &other, usual());
    for (uint64_t i = 0; i < 2; i++) {
        CHECK_SAME(post_receive(&one, 0, 8, 10 + i), 0);
    }
    soft_adapter_delay(UINT64_MAX);
    for (uint64_t i = 0; i < 2; i++) {
        CHECK_SAME(post_request(&one, &other, IBV_WR_RDMA_WRITE, 8, i), 0);
        CHECK_SAME(post_request(&other, &one, IBV_WR_RDMA_WRITE, 8, i), 0);
    }
    CHECK_SAME(soft_adapter_remove(0), 0);
    CHECK_SAME(soft_adapter_remove(0), 0);
    expect_async(one.context, IBV_EVENT_DEVICE_FATAL);
    soft_adapter_delay(0);
    expect_status(&one, 0, IBV_WC_WR_FLUSH_ERR);
    expect_status(&one, 1, IBV_WC_WR_FLUSH_ERR);
    expect_status(&one, 10, IBV_WC_WR_FLUSH_ERR);
    expect_status(&one, 11, IBV_WC_WR_FLUSH_ERR);
    expect_status(&other, 0, IBV_WC_RETRY_EXC_ERR);
    expect_status(&other, 1, IBV_WC_WR_FLUSH_ERR);
    CHECK_SAME(one.memory[0], 0);

    int count;
    struct ibv_device **list = ibv_get_device_list(&count);
    CHECK_SAME(count, 1);
    CHECK(strcmp(ibv_get_device_name(list[0]), "soft1") == 0);
    ibv_free_device_list(list);
    CHECK(ibv_open_device(one.context->device) == NULL && errno == ENODEV);
    CHECK(ibv_alloc_pd(one.context) == NULL && errno == EIO);
    CHECK(ibv_reg_mr(one.domain, one.memory, 4096, ALL_RIGHTS) == NULL && errno == EIO);
    CHECK(ibv_create_cq(one.context, 1, NULL, NULL, 0) == NULL && errno == EIO);
    CHECK_SAME(to_state(&one, IBV_QPS_RESET), 0);
    CHECK_SAME(to_init(&one), EIO);

    CHECK_SAME(soft_adapter_insert(0), 0);
    CHECK_SAME(to_init(&one), EIO);
    close_both(&one, &other);
    open_connected(&one, &other, usual());
    CHECK_SAME(post_request(&one, &other, IBV_WR_RDMA_WRITE, 8, 1), 0);
    expect_success(&one, 1);
    close_both(&one, &other);
}

static void a_queue_pair_may_break(void) {
    struct side one;
    struct side other;
    open_connected(&one, &other, usual());
    CHECK_SAME(soft_adapter_break_queue_pair(one.pair->qp_num), 0);
    struct ibv_async_event event = expect_async(one.context, IBV_EVENT_QP_FATAL);
    CHECK(event.element.qp == one.pair);
    expect_error_state(&one);
    CHECK_SAME(state_of(&other), IBV_QPS_RTS);
    CHECK_SAME(post_request(&one, &other, IBV_WR_RDMA_WRITE, 8, 1), 0);
    expect_status(&one, 1, IBV_WC_WR_FLUSH_ERR);
    CHECK_SAME(post_request(&other, &one, IBV_WR_RDMA_WRITE, 8, 1), 0);
    expect_status(&other, 1, IBV_WC_RETRY_EXC_ERR);
    uint32_t number = one.pair->qp_num;
    close_both(&one, &other);
    CHECK_SAME(soft_adapter_break_queue_pair(number), ENOENT);
}

static void work_takes_as_long_as_it_is_told_to(void) {
    struct side one;
    struct side other;
    open_connected(&one, &other, usual());
    soft_adapter_delay(5 * MILLISECOND);
    uint64_t start = now();
    for (uint64_t i = 0; i < 4; i++) {
        CHECK_SAME(post_request(&one, &other, IBV_WR_RDMA_WRITE, 8, i), 0);
    }
    for (uint64_t i = 0; i < 4; i++) {
        expect_success(&one, i);
        CHECK(now() - start >= (i + 1) * 5 * MILLISECOND);
    }
    /* The delay may be for ever, until it is changed. */
    soft_adapter_delay(UINT64_MAX);
    CHECK_SAME(post_request(&one, &other, IBV_WR_RDMA_WRITE, 8, 1), 0);
    expect_nothing(one.queue);
    soft_adapter_delay(0);
    expect_success(&one, 1);
    close_both(&one, &other);
}

/* Three additions, of which the source knows nothing: they fail, though the target has done them. */
static void a_source_without_answers_knows_nothing(void) {
    struct side one;
    struct side other;
    open_connected(&one, &other, usual());
    CHECK_SAME(soft_adapter_lose_answers(0, 1), 0);
    struct ibv_sge element;
    struct ibv_send_wr request = request_of(&one, &other, IBV_WR_ATOMIC_FETCH_AND_ADD, 8, &element);
    request.wr.atomic.compare_add = 1;
    uint64_t start = now();
    for (uint64_t i = 0; i < 3; i++) {
        request.wr_id = i;
        request.send_flags = i == 2 ? IBV_SEND_SIGNALED : 0;
        CHECK_SAME(post(&one, &request), 0);
    }
    /* The other direction is not touched. */
    CHECK_SAME(post_request(&other, &one, IBV_WR_RDMA_WRITE, 0, 1), 0);
    expect_success(&other, 1);
    expect_status(&one, 0, IBV_WC_RETRY_EXC_ERR);
    CHECK(now() - start >= 3 * (UINT64_C(4096) << 8));
    expect_status(&one, 1, IBV_WC_WR_FLUSH_ERR);
    expect_status(&one, 2, IBV_WC_WR_FLUSH_ERR);
    expect_error_state(&one);
    CHECK_SAME(*(uint64_t *)(void *)other.memory, 3);
    CHECK_SAME(state_of(&other), IBV_QPS_RTS);
    CHECK_SAME(soft_adapter_lose_answers(0, 0), 0);
    CHECK_SAME(soft_adapter_lose_answers(8, 0), ENODEV);
    close_both(&one, &other);
}

static void answers_may_come_after_all(void) {
    struct options options = usual();
    options.timeout = 14;
    options.retries = 7;
    /* By a retry, by the answer to a later request, or not, as the queue pair breaks. */
    for (int way = 0; way < 3; way++) {
        struct side one;
        struct side other;
        open_connected(&one, &other, options);
        CHECK_SAME(soft_adapter_lose_answers(0, 1), 0);
        int64_t executed = soft_adapter_counter("executed");
        for (uint64_t i = 0; i < 4; i++) {
            CHECK_SAME(post_request(&one, &other, IBV_WR_RDMA_WRITE, 300000, i), 0);
        }
        while (soft_adapter_counter("executed") < executed + 4) {
            sleep_nanos(MILLISECOND / 10);
        }
        expect_nothing(one.queue);
        if (way == 2) {
            CHECK_SAME(to_state(&one, IBV_QPS_ERR), 0);
        }
        CHECK_SAME(soft_adapter_lose_answers(0, 0), 0);
        if (way == 1) {
            CHECK_SAME(post_request(&one, &other, IBV_WR_RDMA_WRITE, 8, 4), 0);
        }
        for (uint64_t i = 0; i < (way == 1 ? 5 : 4); i++) {
            expect_status(&one, i, way == 2 ? IBV_WC_WR_FLUSH_ERR : IBV_WC_SUCCESS);
        }
        if (way != 2) {
            CHECK_SAME(post_request(&one, &other, IBV_WR_RDMA_WRITE, 8, 9), 0);
            expect_success(&one, 9);
        }
        close_both(&one, &other);
    }
}

static void answers_that_are_held_back_come_before_the_flush(void) {
    for (int refused = 0; refused < 2; refused++) {
        struct side one;
        struct side other;
        open_connected(&one, &other, usual());
        CHECK_SAME(soft_adapter_hold_answers(0, 20 * MILLISECOND), 0);
        int64_t executed = soft_adapter_counter("executed");
        CHECK_SAME(post_request(&one, &other, IBV_WR_RDMA_WRITE, 8, 1), 0);
        while (soft_adapter_counter("executed") == executed) {
            sleep_nanos(MILLISECOND / 10);
        }
        expect_nothing(one.queue);
        if (refused) {
            struct ibv_sge element;
            struct ibv_send_wr request = request_of(&one, &other, IBV_WR_RDMA_WRITE, 8, &element);
            request.wr_id = 2;
            request.wr.rdma.rkey ^= 1;
            CHECK_SAME(post(&one, &request), 0);
            expect_async(other.context, IBV_EVENT_QP_ACCESS_ERR);
        } else {
            CHECK_SAME(to_state(&one, IBV_QPS_ERR), 0);
            CHECK_SAME(post_request(&one, &other, IBV_WR_RDMA_WRITE, 8, 2), 0);
        }
        expect_nothing(one.queue);
        expect_success(&one, 1);
        expect_status(&one, 2, refused ? IBV_WC_REM_ACCESS_ERR : IBV_WC_WR_FLUSH_ERR);
        CHECK_SAME(soft_adapter_hold_answers(0, 0), 0);
        close_both(&one, &other);
    }
    CHECK_SAME(soft_adapter_hold_answers(8, 0), ENODEV);
}

void test_faults(void) {
    a_source_without_answers_knows_nothing();
    answers_may_come_after_all();
    answers_that_are_held_back_come_before_the_flush();
    a_port_that_is_down_ends_the_work_both_ways();
    work_goes_on_when_the_port_comes_back_in_time();
    a_device_that_is_pulled_out_is_dead();
    a_queue_pair_may_break();
    work_takes_as_long_as_it_is_told_to();
}
