#include "fixture.h"

#define TO_INIT (IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS)
#define TO_RTR \
    (IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC \
            | IBV_QP_MIN_RNR_TIMER)
#define TO_RTS \
    (IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC)

static struct ibv_qp_attr good(const struct side *side) {
    struct ibv_qp_attr attributes = {
        .path_mtu = IBV_MTU_4096,
        .dest_qp_num = side->pair->qp_num,
        .ah_attr = {.is_global = 1, .port_num = 1},
        .port_num = 1,
        .timeout = 14,
        .retry_cnt = 7,
        .rnr_retry = 7,
    };
    CHECK_SAME(ibv_query_gid(side->context, 1, 0, &attributes.ah_attr.grh.dgid), 0);
    return attributes;
}

static int modify(struct side *side, struct ibv_qp_attr attributes, enum ibv_qp_state state, int mask) {
    attributes.qp_state = state;
    return ibv_modify_qp(side->pair, &attributes, mask);
}

static void a_change_needs_its_attributes_and_takes_no_others(void) {
    struct side side;
    open_side(&side, usual());
    struct ibv_qp_attr attributes = good(&side);
    const enum ibv_qp_state states[] = {IBV_QPS_INIT, IBV_QPS_RTR, IBV_QPS_RTS};
    const int masks[] = {TO_INIT, TO_RTR, TO_RTS};
    for (int i = 0; i < 3; i++) {
        for (int bit = 0; bit < 21; bit++) {
            int flag = 1 << bit;
            bool needed = masks[i] & flag;
            bool optional = (i == 1 && (flag & (IBV_QP_PKEY_INDEX | IBV_QP_ACCESS_FLAGS)))
                    || (i == 2 && (flag & (IBV_QP_CUR_STATE | IBV_QP_ACCESS_FLAGS | IBV_QP_MIN_RNR_TIMER)));
            if (flag != IBV_QP_STATE && !optional) {
                CHECK_SAME(modify(&side, attributes, states[i], needed ? masks[i] & ~flag : masks[i] | flag), EINVAL);
            }
        }
        CHECK_SAME(side.pair->state, i == 0 ? IBV_QPS_RESET : states[i - 1]);
        CHECK_SAME(modify(&side, attributes, states[i], masks[i]), 0);
        CHECK_SAME(side.pair->state, states[i]);
        CHECK_SAME(state_of(&side), states[i]);
    }
    struct ibv_qp_init_attr initial;
    struct ibv_qp_attr now;
    CHECK_SAME(ibv_query_qp(side.pair, &now, 0, &initial), 0);
    CHECK_SAME(now.timeout, 14);
    CHECK_SAME(now.path_mtu, IBV_MTU_4096);
    CHECK_SAME(now.dest_qp_num, side.pair->qp_num);
    CHECK_SAME(initial.cap.max_send_wr, 64);
    CHECK(initial.send_cq == side.queue);
    close_side(&side);
}

static void only_some_changes_are_allowed(void) {
    const enum ibv_qp_state states[] = {IBV_QPS_RESET, IBV_QPS_INIT, IBV_QPS_RTR, IBV_QPS_RTS, IBV_QPS_ERR};
    const int masks[] = {IBV_QP_STATE, TO_INIT, TO_RTR, TO_RTS, IBV_QP_STATE};
    /* Read it as: from the line's state to the column's. INIT and RTS to themselves take other attributes. */
    const bool allowed[5][5] = {
        {true, true, false, false, false},
        {true, true, true, false, true},
        {true, false, false, true, true},
        {true, false, false, false, true},
        {true, false, false, false, true},
    };
    for (int from = 0; from < 5; from++) {
        for (int to = 0; to < 5; to++) {
            struct side side;
            open_side(&side, usual());
            struct ibv_qp_attr attributes = good(&side);
            for (int i = 1; i <= from; i++) {
                CHECK_SAME(modify(&side, attributes, states[i], masks[i]), 0);
            }
            CHECK_SAME(modify(&side, attributes, states[to], masks[to]), allowed[from][to] ? 0 : EINVAL);
            CHECK_SAME(state_of(&side), states[allowed[from][to] ? to : from]);
            CHECK_SAME(modify(&side, attributes, IBV_QPS_SQD, IBV_QP_STATE), EINVAL);
            CHECK_SAME(modify(&side, attributes, (enum ibv_qp_state)77, IBV_QP_STATE), EINVAL);
            close_side(&side);
        }
    }
}

static void values_have_bounds(void) {
    struct side side;
    open_side(&side, usual());
    struct ibv_qp_attr attributes = good(&side);
    struct ibv_qp_attr bad = attributes;
#define REFUSED(field, value, state, mask) \
    bad = attributes; \
    bad.field = value; \
    CHECK_SAME(modify(&side, bad, state, mask), EINVAL)
    REFUSED(port_num, 2, IBV_QPS_INIT, TO_INIT);
    REFUSED(port_num, 0, IBV_QPS_INIT, TO_INIT);
    REFUSED(pkey_index, 1, IBV_QPS_INIT, TO_INIT);
    REFUSED(qp_access_flags, 1 << 10, IBV_QPS_INIT, TO_INIT);
    CHECK_SAME(modify(&side, attributes, IBV_QPS_INIT, TO_INIT), 0);
    REFUSED(ah_attr.is_global, 0, IBV_QPS_RTR, TO_RTR);
    REFUSED(ah_attr.port_num, 2, IBV_QPS_RTR, TO_RTR);
    REFUSED(ah_attr.grh.sgid_index, 2, IBV_QPS_RTR, TO_RTR);
    REFUSED(path_mtu, (enum ibv_mtu)0, IBV_QPS_RTR, TO_RTR);
    REFUSED(path_mtu, (enum ibv_mtu)6, IBV_QPS_RTR, TO_RTR);
    REFUSED(dest_qp_num, 1 << 24, IBV_QPS_RTR, TO_RTR);
    REFUSED(max_dest_rd_atomic, 17, IBV_QPS_RTR, TO_RTR);
    REFUSED(min_rnr_timer, 32, IBV_QPS_RTR, TO_RTR);
    CHECK_SAME(modify(&side, attributes, IBV_QPS_RTR, TO_RTR), 0);
    REFUSED(timeout, 32, IBV_QPS_RTS, TO_RTS);
    REFUSED(retry_cnt, 8, IBV_QPS_RTS, TO_RTS);
    REFUSED(rnr_retry, 8, IBV_QPS_RTS, TO_RTS);
    REFUSED(max_rd_atomic, 17, IBV_QPS_RTS, TO_RTS);
    REFUSED(cur_qp_state, IBV_QPS_RTS, IBV_QPS_RTS, TO_RTS | IBV_QP_CUR_STATE);
#undef REFUSED
    attributes.cur_qp_state = IBV_QPS_RTR;
    CHECK_SAME(modify(&side, attributes, IBV_QPS_RTS, TO_RTS | IBV_QP_CUR_STATE), 0);
    /* Attributes that may change while it works. */
    attributes.qp_access_flags = IBV_ACCESS_REMOTE_READ;
    CHECK_SAME(modify(&side, attributes, IBV_QPS_RTS, IBV_QP_ACCESS_FLAGS), 0);
    CHECK_SAME(modify(&side, attributes, IBV_QPS_RTS, IBV_QP_TIMEOUT), EINVAL);
    close_side(&side);
}

static void posting_depends_on_the_state(void) {
    struct side side;
    open_side(&side, usual());
    struct ibv_sge element;
    struct ibv_send_wr request = request_of(&side, &side, IBV_WR_RDMA_WRITE, 8, &element);
    CHECK_SAME(post(&side, &request), EINVAL);
    CHECK_SAME(post_receive(&side, 0, 8, 1), EINVAL);
    CHECK_SAME(to_init(&side), 0);
    CHECK_SAME(post(&side, &request), EINVAL);
    CHECK_SAME(post_receive(&side, 0, 8, 1), 0);
    CHECK_SAME(to_ready_to_receive(&side, &side), 0);
    CHECK_SAME(post(&side, &request), EINVAL);
    CHECK_SAME(post_receive(&side, 0, 8, 2), 0);
    CHECK_SAME(to_ready_to_send(&side), 0);
    CHECK_SAME(post(&side, &request), 0);
    expect_success(&side, 0);
    CHECK_SAME(to_state(&side, IBV_QPS_ERR), 0);
    expect_status(&side, 1, IBV_WC_WR_FLUSH_ERR);
    expect_status(&side, 2, IBV_WC_WR_FLUSH_ERR);
    request.send_flags = 0;
    request.wr_id = 3;
    CHECK_SAME(post(&side, &request), 0);
    expect_status(&side, 3, IBV_WC_WR_FLUSH_ERR);
    CHECK_SAME(post_receive(&side, 0, 8, 4), 0);
    expect_status(&side, 4, IBV_WC_WR_FLUSH_ERR);
    close_side(&side);
}

/* Requests and completions from before are gone, and the queue pair can be connected again. */
static void reset_begins_anew(void) {
    struct side one;
    struct side other;
    open_connected(&one, &other, usual());
    for (uint64_t i = 0; i < 3; i++) {
        CHECK_SAME(post_receive(&other, 0, 8, i), 0);
    }
    CHECK_SAME(post_request(&one, &other, IBV_WR_SEND, 8, 1), 0);
    expect_success(&one, 1);
    soft_adapter_delay(UINT64_MAX);
    for (uint64_t i = 0; i < 64; i++) {
        CHECK_SAME(post_request(&one, &other, IBV_WR_RDMA_WRITE, 8, i), 0);
    }
    CHECK_SAME(post_request(&one, &other, IBV_WR_RDMA_WRITE, 8, 64), ENOMEM);
    CHECK_SAME(to_state(&one, IBV_QPS_RESET), 0);
    CHECK_SAME(to_state(&other, IBV_QPS_RESET), 0);
    soft_adapter_delay(0);
    expect_nothing(one.queue);
    expect_nothing(other.queue);
    one.options.sequence = 5;
    connect_sides(&one, &other);
    for (uint64_t i = 0; i < 64; i++) {
        CHECK_SAME(post_request(&one, &other, IBV_WR_RDMA_WRITE, 8, i), 0);
        CHECK_SAME(post_receive(&other, 0, 8, i), 0);
    }
    for (uint64_t i = 0; i < 64; i++) {
        expect_success(&one, i);
    }
    close_both(&one, &other);
}

/* Every posted request completes, in order, signalled or not. */
static void an_error_flushes_all_that_waits(void) {
    struct side one;
    struct side other;
    open_connected(&one, &other, usual());
    soft_adapter_delay(UINT64_MAX);
    struct ibv_sge element;
    struct ibv_send_wr request = request_of(&one, &other, IBV_WR_RDMA_WRITE, 8, &element);
    for (uint64_t i = 0; i < 64; i++) {
        request.wr_id = i;
        request.send_flags = i % 3 == 0 ? IBV_SEND_SIGNALED : 0;
        CHECK_SAME(post(&one, &request), 0);
    }
    CHECK_SAME(to_state(&one, IBV_QPS_ERR), 0);
    for (uint64_t i = 0; i < 64; i++) {
        expect_status(&one, i, IBV_WC_WR_FLUSH_ERR);
    }
    soft_adapter_delay(0);
    close_both(&one, &other);
}

/* A target that is not connected to the source, or not at all, lets it try in vain. */
static void a_target_that_does_not_expect_the_source_is_silent(void) {
    for (int way = 0; way < 7; way++) {
        struct side one;
        struct side other;
        struct side stranger;
        struct options options = usual();
        open_side(&one, options);
        options.device = 1;
        open_side(&other, options);
        options.device = 0;
        open_side(&stranger, options);
        CHECK_SAME(to_init(&one), 0);
        switch (way) {
        case 0:
            /* Still RESET. */
            break;
        case 1:
            CHECK_SAME(to_init(&other), 0);
            break;
        case 2:
            CHECK_SAME(to_init(&other), 0);
            CHECK_SAME(to_ready_to_receive(&other, &stranger), 0);
            break;
        case 3:
            CHECK_SAME(to_init(&other), 0);
            one.options.sequence += 1;
            CHECK_SAME(to_ready_to_receive(&other, &one), 0);
            one.options.sequence -= 1;
            break;
        case 4:
            CHECK_SAME(to_init(&other), 0);
            CHECK_SAME(to_ready_to_receive(&other, &one), 0);
            CHECK_SAME(to_state(&other, IBV_QPS_ERR), 0);
            break;
        case 5:
            /* Answers to another address than the source's. */
            CHECK_SAME(to_init(&other), 0);
            one.options.gid_index = 1;
            CHECK_SAME(to_ready_to_receive(&other, &one), 0);
            one.options.gid_index = 0;
            break;
        default:
            break;
        }
        CHECK_SAME(to_ready_to_receive(&one, &other), 0);
        CHECK_SAME(to_ready_to_send(&one), 0);
        if (way == 6) {
            CHECK_SAME(ibv_destroy_qp(other.pair), 0);
            other.pair = NULL;
        }
        struct ibv_sge element;
        struct ibv_send_wr request = request_of(&one, &other, IBV_WR_RDMA_WRITE, 8, &element);
        request.wr_id = 1;
        uint64_t start = now();
        CHECK_SAME(post(&one, &request), 0);
        expect_status(&one, 1, IBV_WC_RETRY_EXC_ERR);
        /* Three times 4.096 us * 2^8. */
        CHECK(now() - start >= 3 * (UINT64_C(4096) << 8));
        expect_error_state(&one);
        close_side(&stranger);
        close_both(&one, &other);
    }
}

static void a_queue_pair_is_destroyed_with_its_work(void) {
    struct side one;
    struct side other;
    open_connected(&one, &other, usual());
    soft_adapter_delay(10 * MILLISECOND);
    for (uint64_t i = 0; i < 3; i++) {
        CHECK_SAME(post_request(&one, &other, IBV_WR_RDMA_WRITE, 8, i), 0);
    }
    sleep_nanos(2 * MILLISECOND);
    CHECK_SAME(ibv_destroy_qp(one.pair), 0);
    one.pair = NULL;
    memset(other.memory, 7, 8);
    /* Long enough for the work's time to come. */
    sleep_nanos(20 * MILLISECOND);
    CHECK_SAME(other.memory[0], 7);
    expect_nothing(one.queue);
    soft_adapter_delay(0);
    close_both(&one, &other);
}

static void without_a_timeout_it_waits_for_ever(void) {
    struct side one;
    struct side other;
    struct options options = usual();
    options.timeout = 0;
    open_connected(&one, &other, options);
    CHECK_SAME(to_state(&other, IBV_QPS_ERR), 0);
    CHECK_SAME(post_request(&one, &other, IBV_WR_RDMA_WRITE, 8, 1), 0);
    expect_nothing(one.queue);
    CHECK_SAME(to_state(&one, IBV_QPS_ERR), 0);
    expect_status(&one, 1, IBV_WC_WR_FLUSH_ERR);
    close_both(&one, &other);
}

static void a_queue_pair_is_ready_to_receive_before_it_may_send(void) {
    struct side one;
    struct side other;
    struct options options = usual();
    open_side(&one, options);
    options.device = 1;
    open_side(&other, options);
    CHECK_SAME(to_init(&one), 0);
    CHECK_SAME(to_init(&other), 0);
    CHECK_SAME(to_ready_to_receive(&one, &other), 0);
    CHECK_SAME(to_ready_to_receive(&other, &one), 0);
    CHECK_SAME(to_ready_to_send(&one), 0);
    CHECK_SAME(post_request(&one, &other, IBV_WR_RDMA_WRITE, 8, 1), 0);
    expect_success(&one, 1);
    CHECK(readable(other.context->async_fd, 10000));
    struct ibv_async_event event;
    CHECK_SAME(ibv_get_async_event(other.context, &event), 0);
    CHECK_SAME(event.event_type, IBV_EVENT_COMM_EST);
    CHECK(event.element.qp == other.pair);
    ibv_ack_async_event(&event);
    close_both(&one, &other);
}

void test_states(void) {
    a_change_needs_its_attributes_and_takes_no_others();
    only_some_changes_are_allowed();
    values_have_bounds();
    posting_depends_on_the_state();
    reset_begins_anew();
    an_error_flushes_all_that_waits();
    a_target_that_does_not_expect_the_source_is_silent();
    a_queue_pair_is_destroyed_with_its_work();
    without_a_timeout_it_waits_for_ever();
    a_queue_pair_is_ready_to_receive_before_it_may_send();
}
