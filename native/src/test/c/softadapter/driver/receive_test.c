#include "fixture.h"

static void a_message_fills_a_receive_request(struct side *one, struct side *other) {
    CHECK_SAME(post_receive(other, 1000, 300000, 5), 0);
    for (int i = 0; i < 300000; i++) {
        one->memory[i] = (uint8_t)(i * 3 + (i >> 8));
    }
    CHECK_SAME(post_request(one, other, IBV_WR_SEND, 299999, 6), 0);
    expect_success(one, 6);
    struct ibv_wc completion = await_completion(other->queue);
    CHECK_SAME(completion.status, IBV_WC_SUCCESS);
    CHECK_SAME(completion.wr_id, 5);
    CHECK_SAME(completion.opcode, IBV_WC_RECV);
    CHECK_SAME(completion.byte_len, 299999);
    CHECK_SAME(completion.wc_flags, 0);
    CHECK_SAME(completion.qp_num, other->pair->qp_num);
    CHECK(memcmp(other->memory + 1000, one->memory, 299999) == 0);
}

static void immediates_arrive(struct side *one, struct side *other) {
    const enum ibv_wr_opcode opcodes[] = {IBV_WR_SEND_WITH_IMM, IBV_WR_RDMA_WRITE_WITH_IMM};
    const enum ibv_wc_opcode received[] = {IBV_WC_RECV, IBV_WC_RECV_RDMA_WITH_IMM};
    const enum ibv_wc_opcode sent[] = {IBV_WC_SEND, IBV_WC_RDMA_WRITE};
    for (int i = 0; i < 2; i++) {
        for (uint32_t length = 0; length < 300000; length = length * 2 + 17) {
            struct ibv_sge element;
            struct ibv_send_wr request = request_of(one, other, opcodes[i], length, &element);
            request.imm_data = 0x01020304;
            CHECK_SAME(post_receive(other, 0, 300000, 7), 0);
            memset(one->memory, (int)length, length);
            CHECK_SAME(post(one, &request), 0);
            struct ibv_wc completion = await_completion(one->queue);
            CHECK_SAME(completion.status, IBV_WC_SUCCESS);
            CHECK_SAME(completion.opcode, sent[i]);
            completion = await_completion(other->queue);
            CHECK_SAME(completion.wr_id, 7);
            CHECK_SAME(completion.opcode, received[i]);
            CHECK_SAME(completion.byte_len, length);
            CHECK_SAME(completion.wc_flags, IBV_WC_WITH_IMM);
            CHECK_SAME(completion.imm_data, 0x01020304);
            CHECK(memcmp(other->memory, one->memory, length) == 0);
        }
    }
}

static void a_write_with_immediate_uses_no_memory_of_the_receive_request(struct side *one, struct side *other) {
    struct ibv_recv_wr request = {.wr_id = 9};
    struct ibv_recv_wr *bad = NULL;
    CHECK_SAME(other->shared != NULL ? ibv_post_srq_recv(other->shared, &request, &bad)
                                     : ibv_post_recv(other->pair, &request, &bad), 0);
    CHECK_SAME(post_request(one, other, IBV_WR_RDMA_WRITE_WITH_IMM, 100, 1), 0);
    expect_success(one, 1);
    expect_success(other, 9);
}

static void receives_wait_for_the_timer(struct side *one, struct side *other) {
    /* Nothing is posted yet: the sender tries again. */
    int64_t before = soft_adapter_counter("receiver_not_ready");
    CHECK_SAME(post_request(one, other, IBV_WR_SEND, 10, 1), 0);
    while (soft_adapter_counter("receiver_not_ready") == before) {
        sleep_nanos(100000);
    }
    CHECK_SAME(post_receive(other, 0, 10, 2), 0);
    expect_success(one, 1);
    expect_success(other, 2);
}

static void a_receiver_that_stays_unready_ends_the_work(bool shared) {
    struct side one;
    struct side other;
    struct options options = usual();
    options.shared_receives = shared;
    open_connected(&one, &other, options);
    uint64_t start = now();
    CHECK_SAME(post_request(&one, &other, IBV_WR_SEND, 10, 1), 0);
    CHECK_SAME(post_request(&one, &other, IBV_WR_RDMA_WRITE, 10, 2), 0);
    expect_status(&one, 1, IBV_WC_RNR_RETRY_EXC_ERR);
    /* Timer 12 is 0.64 ms, and there are two retries. */
    CHECK(now() - start >= 2 * 640000);
    expect_status(&one, 2, IBV_WC_WR_FLUSH_ERR);
    expect_error_state(&one);
    CHECK_SAME(state_of(&other), IBV_QPS_RTS);
    close_both(&one, &other);
}

static void a_receiver_may_stay_unready_for_ever(void) {
    struct side one;
    struct side other;
    struct options options = usual();
    options.receiver_retries = 7;
    open_connected(&one, &other, options);
    int64_t before = soft_adapter_counter("receiver_not_ready");
    CHECK_SAME(post_request(&one, &other, IBV_WR_RDMA_WRITE_WITH_IMM, 10, 1), 0);
    while (soft_adapter_counter("receiver_not_ready") < before + 20) {
        sleep_nanos(MILLISECOND);
    }
    CHECK_SAME(post_receive(&other, 0, 0, 2), 0);
    expect_success(&one, 1);
    expect_success(&other, 2);
    close_both(&one, &other);
}

static void a_message_too_long_is_an_error_on_both_sides(bool shared) {
    struct side one;
    struct side other;
    struct options options = usual();
    options.shared_receives = shared;
    open_connected(&one, &other, options);
    CHECK_SAME(post_receive(&other, 0, 10, 5), 0);
    CHECK_SAME(post_receive(&other, 0, 10, 6), 0);
    CHECK_SAME(post_request(&one, &other, IBV_WR_SEND, 11, 1), 0);
    expect_status(&one, 1, IBV_WC_REM_INV_REQ_ERR);
    expect_status(&other, 5, IBV_WC_LOC_LEN_ERR);
    expect_error_state(&one);
    expect_error_state(&other);
    if (shared) {
        expect_async(other.context, IBV_EVENT_QP_LAST_WQE_REACHED);
        expect_nothing(other.queue);
    } else {
        expect_status(&other, 6, IBV_WC_WR_FLUSH_ERR);
    }
    close_both(&one, &other);
}

static void a_receive_request_without_right_is_an_error_on_both_sides(void) {
    struct side one;
    struct side other;
    open_connected(&one, &other, usual());
    struct ibv_sge element = {.addr = (uintptr_t)other.memory, .length = 10, .lkey = other.region->lkey + 1};
    struct ibv_recv_wr request = {.wr_id = 5, .sg_list = &element, .num_sge = 1};
    struct ibv_recv_wr *bad = NULL;
    CHECK_SAME(ibv_post_recv(other.pair, &request, &bad), 0);
    CHECK_SAME(post_request(&one, &other, IBV_WR_SEND, 10, 1), 0);
    expect_status(&one, 1, IBV_WC_REM_OP_ERR);
    expect_status(&other, 5, IBV_WC_LOC_PROT_ERR);
    expect_error_state(&other);
    close_both(&one, &other);
}

static void a_receive_slot_is_free_when_its_completion_has_been_polled(bool shared) {
    struct side one;
    struct side other;
    struct options options = usual();
    options.shared_receives = shared;
    options.receive_depth = 2;
    open_connected(&one, &other, options);
    CHECK_SAME(post_receive(&other, 0, 10, 0), 0);
    CHECK_SAME(post_receive(&other, 0, 10, 1), 0);
    CHECK_SAME(post_receive(&other, 0, 10, 2), ENOMEM);
    CHECK_SAME(post_request(&one, &other, IBV_WR_SEND, 10, 1), 0);
    expect_success(&one, 1);
    CHECK_SAME(post_receive(&other, 0, 10, 2), ENOMEM);
    expect_success(&other, 0);
    CHECK_SAME(post_receive(&other, 0, 10, 2), 0);
    CHECK_SAME(post_receive(&other, 0, 10, 3), ENOMEM);
    struct ibv_sge elements[5] = {{0}};
    struct ibv_recv_wr request = {.sg_list = elements, .num_sge = 5};
    struct ibv_recv_wr *bad = NULL;
    CHECK_SAME(other.shared != NULL ? ibv_post_srq_recv(other.shared, &request, &bad)
                                    : ibv_post_recv(other.pair, &request, &bad), EINVAL);
    CHECK(bad == &request);
    close_both(&one, &other);
}

/* Two queue pairs take from one queue; when one of them breaks, its requests complete and the rest stay. */
static void a_shared_queue_serves_many(void) {
    struct side one;
    struct side other;
    struct side second;
    struct options options = usual();
    options.shared_receives = true;
    open_connected(&one, &other, options);
    open_side(&second, options);
    struct side more = other;
    open_pair(&more);
    connect_sides(&second, &more);
    for (uint64_t i = 0; i < 3; i++) {
        CHECK_SAME(post_receive(&other, i * 100, 100, i), 0);
    }
    CHECK_SAME(ibv_destroy_srq(other.shared), EBUSY);
    CHECK_SAME(post_request(&one, &other, IBV_WR_SEND, 10, 1), 0);
    expect_success(&one, 1);
    CHECK_SAME(post_request(&second, &other, IBV_WR_SEND, 10, 2), 0);
    expect_success(&second, 2);
    expect_success(&other, 0);
    expect_success(&more, 1);
    CHECK_SAME(to_state(&more, IBV_QPS_ERR), 0);
    struct ibv_async_event event = expect_async(other.context, IBV_EVENT_QP_LAST_WQE_REACHED);
    CHECK(event.element.qp == more.pair);
    CHECK_SAME(post_request(&one, &other, IBV_WR_SEND, 10, 3), 0);
    expect_success(&one, 3);
    expect_success(&other, 2);
    CHECK_SAME(ibv_destroy_qp(more.pair), 0);
    close_side(&second);
    close_both(&one, &other);
}

static void a_shared_queue_tells_when_it_runs_low(void) {
    struct side one;
    struct side other;
    struct options options = usual();
    options.shared_receives = true;
    open_connected(&one, &other, options);
    struct ibv_srq_attr attributes = {.srq_limit = 2};
    CHECK_SAME(ibv_modify_srq(other.shared, &attributes, IBV_SRQ_LIMIT), 0);
    CHECK_SAME(ibv_query_srq(other.shared, &attributes), 0);
    CHECK_SAME(attributes.srq_limit, 2);
    CHECK_SAME(attributes.max_wr, 64);
    for (uint64_t i = 0; i < 4; i++) {
        CHECK_SAME(post_receive(&other, 0, 10, i), 0);
    }
    for (uint64_t i = 0; i < 3; i++) {
        CHECK(!readable(other.context->async_fd, 0));
        CHECK_SAME(post_request(&one, &other, IBV_WR_SEND, 10, 1), 0);
        expect_success(&one, 1);
        expect_success(&other, i);
    }
    struct ibv_async_event event = expect_async(other.context, IBV_EVENT_SRQ_LIMIT_REACHED);
    CHECK(event.element.srq == other.shared);
    CHECK_SAME(ibv_query_srq(other.shared, &attributes), 0);
    CHECK_SAME(attributes.srq_limit, 0);
    CHECK_SAME(ibv_modify_srq(other.shared, &attributes, IBV_SRQ_MAX_WR), EINVAL);
    close_both(&one, &other);
}

void test_receives(void) {
    for (int shared = 0; shared < 2; shared++) {
        struct side one;
        struct side other;
        struct options options = usual();
        options.shared_receives = shared;
        /* For ever. */
        options.receiver_retries = 7;
        open_connected(&one, &other, options);
        a_message_fills_a_receive_request(&one, &other);
        immediates_arrive(&one, &other);
        a_write_with_immediate_uses_no_memory_of_the_receive_request(&one, &other);
        receives_wait_for_the_timer(&one, &other);
        close_both(&one, &other);
        a_receiver_that_stays_unready_ends_the_work(shared);
        a_message_too_long_is_an_error_on_both_sides(shared);
        a_receive_slot_is_free_when_its_completion_has_been_polled(shared);
    }
    a_receiver_may_stay_unready_for_ever();
    a_receive_request_without_right_is_an_error_on_both_sides();
    a_shared_queue_serves_many();
    a_shared_queue_tells_when_it_runs_low();
}
