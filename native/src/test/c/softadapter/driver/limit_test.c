#include "fixture.h"

#include <sys/wait.h>
#include <unistd.h>

static void memory_may_be_locked_up_to_a_limit(void) {
    setenv("SOFT_ADAPTER_LOCKED_BYTES", "1056768", 1);
    struct side side;
    /* 1 MiB and two more pages: the side's own region, and two of a page. */
    open_side(&side, usual());
    struct ibv_mr *first = ibv_reg_mr(side.domain, side.memory, 1, ALL_RIGHTS);
    CHECK(first != NULL);
    CHECK(ibv_reg_mr(side.domain, side.memory + 4095, 2, ALL_RIGHTS) == NULL && errno == ENOMEM);
    struct ibv_mr *second = ibv_reg_mr(side.domain, side.memory + 4095, 1, ALL_RIGHTS);
    CHECK(second != NULL);
    CHECK(ibv_reg_mr(side.domain, side.memory, 1, ALL_RIGHTS) == NULL && errno == ENOMEM);
    CHECK_SAME(ibv_dereg_mr(first), 0);
    first = ibv_reg_mr(side.domain, side.memory, 1, ALL_RIGHTS);
    CHECK(first != NULL);
    CHECK_SAME(ibv_dereg_mr(first), 0);
    CHECK_SAME(ibv_dereg_mr(second), 0);
    close_side(&side);
    unsetenv("SOFT_ADAPTER_LOCKED_BYTES");
}

static void queue_pairs_may_be_limited(void) {
    setenv("SOFT_ADAPTER_QUEUE_PAIRS", "2", 1);
    struct side side;
    open_side(&side, usual());
    struct ibv_device_attr attributes;
    CHECK_SAME(ibv_query_device(side.context, &attributes), 0);
    CHECK_SAME(attributes.max_qp, 2);
    struct side second = side;
    open_pair(&second);
    CHECK(second.pair->qp_num != side.pair->qp_num);
    struct ibv_qp_init_attr initial = {.send_cq = side.queue, .recv_cq = side.queue, .qp_type = IBV_QPT_RC};
    CHECK(ibv_create_qp(side.domain, &initial) == NULL && errno == ENOMEM);
    CHECK_SAME(ibv_destroy_qp(second.pair), 0);
    open_pair(&second);
    CHECK_SAME(ibv_destroy_qp(second.pair), 0);
    close_side(&side);
    unsetenv("SOFT_ADAPTER_QUEUE_PAIRS");
}

static void a_queue_pair_has_bounds(void) {
    struct side side;
    struct side second;
    open_side(&side, usual());
    open_side(&second, usual());
    const struct ibv_qp_init_attr good = {
        .send_cq = side.queue,
        .recv_cq = side.queue,
        .cap = {.max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1},
        .qp_type = IBV_QPT_RC,
    };
    struct ibv_qp_init_attr bad;
#define REFUSED(field, value, error) \
    bad = good; \
    bad.field = value; \
    CHECK(ibv_create_qp(side.domain, &bad) == NULL); \
    CHECK_SAME(errno, error)
    REFUSED(qp_type, IBV_QPT_UD, EOPNOTSUPP);
    REFUSED(send_cq, NULL, EINVAL);
    REFUSED(recv_cq, second.queue, EINVAL);
    REFUSED(cap.max_send_wr, 32769, EINVAL);
    REFUSED(cap.max_recv_wr, 32769, EINVAL);
    REFUSED(cap.max_send_sge, 31, EINVAL);
    REFUSED(cap.max_recv_sge, 31, EINVAL);
    REFUSED(cap.max_inline_data, 513, EINVAL);
#undef REFUSED
    struct ibv_srq_init_attr shared = {.attr = {.max_wr = 0}};
    CHECK(ibv_create_srq(side.domain, &shared) == NULL && errno == EINVAL);
    shared.attr.max_wr = 32769;
    CHECK(ibv_create_srq(side.domain, &shared) == NULL && errno == EINVAL);
    shared.attr = (struct ibv_srq_attr){.max_wr = 1, .max_sge = 31};
    CHECK(ibv_create_srq(side.domain, &shared) == NULL && errno == EINVAL);
    close_both(&side, &second);
}

/*
 * Variables that are read only once need a process of their own: this program, which then runs test_environment alone.
 */
static void the_environment_may_begin_with_faults(void) {
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        setenv("SOFT_ADAPTER_PORTS_DOWN", "2,1", 1);
        setenv("SOFT_ADAPTER_DELAY_NANOS", "20000000", 1);
        setenv("SOFT_ADAPTER_DEVICES", "4", 1);
        execl("/proc/self/exe", "driver", "environment", NULL);
        _exit(127);
    }
    int status;
    CHECK_SAME(waitpid(child, &status, 0), child);
    CHECK(WIFEXITED(status));
    CHECK_SAME(WEXITSTATUS(status), 0);
}

void test_environment(void) {
    const bool up[] = {true, false, false, true};
    for (int i = 0; i < 4; i++) {
        struct ibv_context *context = open_device(i);
        struct ibv_port_attr port;
        CHECK_SAME(ibv_query_port(context, 1, &port), 0);
        CHECK_SAME(port.state, up[i] ? IBV_PORT_ACTIVE : IBV_PORT_DOWN);
        CHECK_SAME(ibv_close_device(context), 0);
    }
    struct side side;
    open_side(&side, usual());
    CHECK_SAME(to_init(&side), 0);
    CHECK_SAME(to_ready_to_receive(&side, &side), 0);
    CHECK_SAME(to_ready_to_send(&side), 0);
    uint64_t start = now();
    CHECK_SAME(post_request(&side, &side, IBV_WR_RDMA_WRITE, 8, 1), 0);
    expect_success(&side, 1);
    CHECK(now() - start >= 20 * MILLISECOND);
    close_side(&side);
}

void test_limits(void) {
    memory_may_be_locked_up_to_a_limit();
    queue_pairs_may_be_limited();
    a_queue_pair_has_bounds();
    the_environment_may_begin_with_faults();
}
