#include "fixture.h"

void test_null_mode(void) {
    setenv("SOFT_ADAPTER_NULL", "1", 1);
    struct side one;
    struct side other;
    struct options options = usual();
    options.completions = 4;
    open_connected(&one, &other, options);
    soft_adapter_reset_counters();
    memset(one.memory, 1, 8);
    struct ibv_sge elements[4];
    struct ibv_send_wr requests[4];
    const enum ibv_wr_opcode opcodes[] = {
        IBV_WR_RDMA_WRITE, IBV_WR_SEND, IBV_WR_RDMA_READ, IBV_WR_ATOMIC_FETCH_AND_ADD};
    const enum ibv_wc_opcode completed[] = {IBV_WC_RDMA_WRITE, IBV_WC_SEND, IBV_WC_RDMA_READ, IBV_WC_FETCH_ADD};
    for (int i = 0; i < 4; i++) {
        requests[i] = request_of(&one, &other, opcodes[i], 8, &elements[i]);
        requests[i].wr_id = (uint64_t)i;
        requests[i].next = i == 3 ? NULL : &requests[i + 1];
    }
    requests[1].send_flags = 0;
    for (int round = 0; round < 10; round++) {
        CHECK_SAME(post(&one, requests), 0);
        struct ibv_wc completions[4];
        CHECK_SAME(ibv_poll_cq(one.queue, 4, completions), 3);
        for (int i = 0; i < 3; i++) {
            int expected = i == 0 ? 0 : i + 1;
            CHECK_SAME(completions[i].wr_id, expected);
            CHECK_SAME(completions[i].status, IBV_WC_SUCCESS);
            CHECK_SAME(completions[i].opcode, completed[expected]);
            CHECK_SAME(completions[i].qp_num, one.pair->qp_num);
        }
        CHECK_SAME(ibv_poll_cq(one.queue, 4, completions), 0);
    }
    CHECK_SAME(post_receive(&other, 0, 8, 1), 0);
    CHECK_SAME(soft_adapter_counter("posts"), 40);
    CHECK_SAME(soft_adapter_counter("doorbells"), 10);
    CHECK_SAME(soft_adapter_counter("receives"), 1);
    CHECK_SAME(soft_adapter_counter("completions"), 30);
    CHECK_SAME(soft_adapter_counter("polls"), 20);
    CHECK_SAME(other.memory[0], 0);
    struct ibv_send_wr *bad = NULL;
    CHECK_SAME(ibv_post_send(one.pair, requests, &bad), 0);
    CHECK_SAME(ibv_post_send(one.pair, requests, &bad), ENOMEM);
    CHECK(bad == &requests[2]);
    close_both(&one, &other);
    unsetenv("SOFT_ADAPTER_NULL");
}
