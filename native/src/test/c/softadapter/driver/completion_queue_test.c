#include "fixture.h"

static void polls_give_no_more_than_asked_for(void) {
    struct side one;
    struct side other;
    open_connected(&one, &other, usual());
    int64_t executed = soft_adapter_counter("executed");
    for (uint64_t i = 0; i < 10; i++) {
        CHECK_SAME(post_request(&one, &other, IBV_WR_RDMA_WRITE, 8, i), 0);
    }
    while (soft_adapter_counter("executed") < executed + 10) {
        sleep_nanos(MILLISECOND);
    }
    struct ibv_wc *completions = malloc(4 * sizeof *completions);
    CHECK_SAME(ibv_poll_cq(one.queue, 0, completions), 0);
    uint64_t id = 0;
    while (id < 10) {
        int count = ibv_poll_cq(one.queue, 4, completions);
        CHECK(count >= 0 && count <= 4);
        for (int i = 0; i < count; i++) {
            CHECK_SAME(completions[i].wr_id, id++);
            CHECK_SAME(completions[i].status, IBV_WC_SUCCESS);
            CHECK_SAME(completions[i].opcode, IBV_WC_RDMA_WRITE);
            CHECK_SAME(completions[i].vendor_err, 0);
            CHECK_SAME(completions[i].wc_flags, 0);
            CHECK_SAME(completions[i].byte_len, 0xa5a5a5a5);
            CHECK_SAME(completions[i].imm_data, 0xa5a5a5a5);
        }
    }
    free(completions);
    close_both(&one, &other);
}

static void one_that_overflows_loses_completions_for_good(void) {
    struct side one;
    struct side other;
    struct options options = usual();
    options.completions = 4;
    open_connected(&one, &other, options);
    int64_t overflows = soft_adapter_counter("overflows");
    for (uint64_t i = 0; i < 8; i++) {
        CHECK_SAME(post_request(&one, &other, IBV_WR_RDMA_WRITE, 8, i), 0);
    }
    struct ibv_async_event event = expect_async(one.context, IBV_EVENT_CQ_ERR);
    CHECK(event.element.cq == one.queue);
    event = expect_async(one.context, IBV_EVENT_QP_FATAL);
    CHECK(event.element.qp == one.pair);
    CHECK_SAME(soft_adapter_counter("overflows"), overflows + 1);
    for (uint64_t i = 0; i < 4; i++) {
        expect_success(&one, i);
    }
    expect_nothing(one.queue);
    expect_error_state(&one);
    CHECK_SAME(post_request(&one, &other, IBV_WR_RDMA_WRITE, 8, 9), 0);
    expect_nothing(one.queue);
    close_both(&one, &other);
}

static void one_that_overflows_with_received_messages_breaks_both_sides(void) {
    struct side one;
    struct side other;
    struct options options = usual();
    open_side(&one, options);
    options.device = 1;
    options.completions = 1;
    open_side(&other, options);
    connect_sides(&one, &other);
    for (uint64_t i = 0; i < 2; i++) {
        CHECK_SAME(post_receive(&other, 0, 8, i), 0);
        CHECK_SAME(post_request(&one, &other, IBV_WR_SEND, 8, i), 0);
    }
    expect_success(&one, 0);
    expect_status(&one, 1, IBV_WC_REM_OP_ERR);
    expect_async(other.context, IBV_EVENT_CQ_ERR);
    expect_async(other.context, IBV_EVENT_QP_FATAL);
    expect_success(&other, 0);
    expect_nothing(other.queue);
    close_both(&one, &other);
}

static void its_size_may_change(void) {
    struct side one;
    struct side other;
    struct options options = usual();
    options.completions = 3;
    open_connected(&one, &other, options);
    for (uint64_t i = 0; i < 2; i++) {
        CHECK_SAME(post_request(&one, &other, IBV_WR_RDMA_WRITE, 8, i), 0);
        expect_success(&one, i);
    }
    int64_t executed = soft_adapter_counter("executed");
    for (uint64_t i = 0; i < 3; i++) {
        CHECK_SAME(post_request(&one, &other, IBV_WR_RDMA_WRITE, 8, i), 0);
    }
    while (soft_adapter_counter("executed") < executed + 3) {
        sleep_nanos(MILLISECOND);
    }
    CHECK_SAME(ibv_resize_cq(one.queue, 2), EINVAL);
    CHECK_SAME(ibv_resize_cq(one.queue, 0), EINVAL);
    CHECK_SAME(ibv_resize_cq(one.queue, 65536), EINVAL);
    CHECK_SAME(ibv_resize_cq(one.queue, 6), 0);
    CHECK_SAME(one.queue->cqe, 6);
    for (uint64_t i = 3; i < 6; i++) {
        CHECK_SAME(post_request(&one, &other, IBV_WR_RDMA_WRITE, 8, i), 0);
    }
    for (uint64_t i = 0; i < 6; i++) {
        expect_success(&one, i);
    }
    CHECK_SAME(soft_adapter_counter("queue_pairs"), 2);
    close_both(&one, &other);
}

static void completions_of_a_destroyed_queue_pair_vanish(void) {
    struct side one;
    struct side other;
    open_connected(&one, &other, usual());
    struct side second = one;
    open_pair(&second);
    struct side peer;
    struct options options = usual();
    options.device = 1;
    open_side(&peer, options);
    connect_sides(&second, &peer);
    int64_t executed = soft_adapter_counter("executed");
    for (uint64_t i = 0; i < 6; i++) {
        struct side *from = i % 2 == 0 ? &one : &second;
        CHECK_SAME(post_request(from, i % 2 == 0 ? &other : &peer, IBV_WR_RDMA_WRITE, 8, i), 0);
    }
    while (soft_adapter_counter("executed") < executed + 6) {
        sleep_nanos(MILLISECOND);
    }
    CHECK_SAME(ibv_destroy_qp(second.pair), 0);
    for (uint64_t i = 0; i < 6; i += 2) {
        expect_success(&one, i);
    }
    expect_nothing(one.queue);
    close_side(&peer);
    close_both(&one, &other);
}

static void it_has_bounds(void) {
    struct side side;
    struct side second;
    open_side(&side, usual());
    open_side(&second, usual());
    CHECK(ibv_create_cq(side.context, 0, NULL, NULL, 0) == NULL && errno == EINVAL);
    CHECK(ibv_create_cq(side.context, 65536, NULL, NULL, 0) == NULL && errno == EINVAL);
    CHECK(ibv_create_cq(side.context, 1, NULL, NULL, 1) == NULL && errno == EINVAL);
    CHECK(ibv_create_cq(side.context, 1, NULL, second.channel, 0) == NULL && errno == EINVAL);
    struct ibv_cq *queue = ibv_create_cq(side.context, 65535, NULL, NULL, 0);
    CHECK(queue != NULL);
    CHECK_SAME(queue->cqe, 65535);
    CHECK_SAME(ibv_req_notify_cq(queue, 0), 0);
    CHECK_SAME(ibv_destroy_cq(queue), 0);
    close_both(&side, &second);
}

void test_completion_queues(void) {
    polls_give_no_more_than_asked_for();
    one_that_overflows_loses_completions_for_good();
    one_that_overflows_with_received_messages_breaks_both_sides();
    its_size_may_change();
    completions_of_a_destroyed_queue_pair_vanish();
    it_has_bounds();
}
