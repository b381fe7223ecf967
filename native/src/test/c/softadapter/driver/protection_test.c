#include "fixture.h"

static const enum ibv_wr_opcode opcodes[] = {
    IBV_WR_RDMA_WRITE, IBV_WR_RDMA_WRITE_WITH_IMM, IBV_WR_RDMA_READ, IBV_WR_ATOMIC_CMP_AND_SWP,
    IBV_WR_ATOMIC_FETCH_AND_ADD,
};
static const int rights[] = {
    IBV_ACCESS_REMOTE_WRITE, IBV_ACCESS_REMOTE_WRITE, IBV_ACCESS_REMOTE_READ, IBV_ACCESS_REMOTE_ATOMIC,
    IBV_ACCESS_REMOTE_ATOMIC,
};
#define OPCODES 5

struct ends {
    struct side one;
    struct side other;
    struct ibv_sge element;
    struct ibv_send_wr request;
};

static void open_ends(struct ends *ends, struct options options, enum ibv_wr_opcode opcode) {
    open_connected(&ends->one, &ends->other, options);
    ends->request = request_of(&ends->one, &ends->other, opcode, 8, &ends->element);
    ends->request.wr_id = 1;
    memset(ends->one.memory, 0x11, 4096);
    memset(ends->other.memory, 0x22, 4096);
}

static void set_remote(struct ends *ends, uint64_t address, uint32_t key) {
    if (ends->request.opcode == IBV_WR_ATOMIC_CMP_AND_SWP || ends->request.opcode == IBV_WR_ATOMIC_FETCH_AND_ADD) {
        ends->request.wr.atomic.remote_addr = address;
        ends->request.wr.atomic.rkey = key;
    } else {
        ends->request.wr.rdma.remote_addr = address;
        ends->request.wr.rdma.rkey = key;
    }
}

/* The work fails with the status, later work is flushed, and nothing has been moved. */
static void expect_refusal(struct ends *ends, enum ibv_wc_status status) {
    struct ibv_send_wr second = ends->request;
    second.wr_id = 2;
    second.send_flags = 0;
    ends->request.next = &second;
    CHECK_SAME(post(&ends->one, &ends->request), 0);
    expect_status(&ends->one, 1, status);
    expect_status(&ends->one, 2, IBV_WC_WR_FLUSH_ERR);
    expect_error_state(&ends->one);
    CHECK_SAME(ends->one.memory[0], 0x11);
    CHECK_SAME(ends->other.memory[0], 0x22);
    CHECK_SAME(ends->other.memory[8], 0x22);
    close_both(&ends->one, &ends->other);
}

static void expect_target_breaks(struct ends *ends, enum ibv_wc_status status, enum ibv_event_type type) {
    CHECK_SAME(post_receive(&ends->other, 0, 8, 50), 0);
    struct ibv_context *context = ends->other.context;
    CHECK_SAME(post(&ends->one, &ends->request), 0);
    expect_status(&ends->one, 1, status);
    struct ibv_async_event event = expect_async(context, type);
    CHECK(event.element.qp == ends->other.pair);
    expect_error_state(&ends->other);
    expect_status(&ends->other, 50, IBV_WC_WR_FLUSH_ERR);
    expect_refusal(ends, IBV_WC_WR_FLUSH_ERR);
}

static void a_wrong_remote_key_is_refused(void) {
    for (int i = 0; i < OPCODES; i++) {
        for (int way = 0; way < 6; way++) {
            struct ends ends;
            open_ends(&ends, usual(), opcodes[i]);
            uint64_t start = (uintptr_t)ends.other.memory;
            uint32_t key = ends.other.region->rkey;
            struct ibv_mr *foreign = NULL;
            struct ibv_pd *domain = NULL;
            switch (way) {
            case 0:
                set_remote(&ends, start, key + 1);
                break;
            case 1:
                set_remote(&ends, start, ends.other.region->lkey);
                break;
            case 2:
                set_remote(&ends, start - 8, key);
                break;
            case 3:
                set_remote(&ends, start + ends.other.options.bytes, key);
                break;
            case 4:
                set_remote(&ends, UINT64_MAX - 7, key);
                break;
            default:
                /* The device's, but of another protection domain. */
                domain = ibv_alloc_pd(ends.other.context);
                foreign = ibv_reg_mr(domain, ends.other.memory, 4096, ALL_RIGHTS);
                CHECK(foreign != NULL);
                set_remote(&ends, start, foreign->rkey);
                break;
            }
            if (foreign != NULL) {
                CHECK_SAME(post(&ends.one, &ends.request), 0);
                expect_status(&ends.one, 1, IBV_WC_REM_ACCESS_ERR);
                expect_async(ends.other.context, IBV_EVENT_QP_ACCESS_ERR);
                CHECK_SAME(ibv_dereg_mr(foreign), 0);
                CHECK_SAME(ibv_dealloc_pd(domain), 0);
                close_both(&ends.one, &ends.other);
            } else {
                expect_target_breaks(&ends, IBV_WC_REM_ACCESS_ERR, IBV_EVENT_QP_ACCESS_ERR);
            }
        }
    }
}

static void a_region_gives_no_more_than_its_rights(void) {
    for (int i = 0; i < OPCODES; i++) {
        struct ends ends;
        struct options options = usual();
        options.region_access = ALL_RIGHTS & ~rights[i];
        open_ends(&ends, options, opcodes[i]);
        expect_target_breaks(&ends, IBV_WC_REM_ACCESS_ERR, IBV_EVENT_QP_ACCESS_ERR);
    }
}

static void a_queue_pair_gives_no_more_than_its_rights(void) {
    for (int i = 0; i < OPCODES; i++) {
        struct ends ends;
        struct options options = usual();
        options.pair_access = (unsigned int)(ALL_RIGHTS & ~rights[i]);
        open_ends(&ends, options, opcodes[i]);
        expect_target_breaks(&ends, IBV_WC_REM_INV_REQ_ERR, IBV_EVENT_QP_REQ_ERR);
    }
}

static void an_atomic_is_aligned(void) {
    for (int i = 3; i < OPCODES; i++) {
        struct ends ends;
        open_ends(&ends, usual(), opcodes[i]);
        set_remote(&ends, (uintptr_t)ends.other.memory + 4, ends.other.region->rkey);
        expect_target_breaks(&ends, IBV_WC_REM_INV_REQ_ERR, IBV_EVENT_QP_REQ_ERR);
    }
}

static void the_wrong_local_key_is_refused(void) {
    const enum ibv_wr_opcode all[] = {
        IBV_WR_SEND, IBV_WR_SEND_WITH_IMM, IBV_WR_RDMA_WRITE, IBV_WR_RDMA_READ, IBV_WR_ATOMIC_FETCH_AND_ADD,
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        for (int way = 0; way < 4; way++) {
            struct ends ends;
            open_ends(&ends, usual(), all[i]);
            switch (way) {
            case 0:
                ends.element.lkey = ends.one.region->rkey;
                break;
            case 1:
                ends.element.addr += ends.one.options.bytes - 7;
                break;
            case 2:
                ends.element.addr -= 1;
                break;
            default:
                ends.element.lkey = ends.other.region->lkey;
                break;
            }
            CHECK_SAME(post(&ends.one, &ends.request), 0);
            expect_status(&ends.one, 1, IBV_WC_LOC_PROT_ERR);
            /* The request never reached the peer. */
            CHECK_SAME(state_of(&ends.other), IBV_QPS_RTS);
            expect_refusal(&ends, IBV_WC_WR_FLUSH_ERR);
        }
    }
}

static void what_is_fetched_needs_a_right_to_write(void) {
    struct ends ends;
    struct options options = usual();
    options.region_access = IBV_ACCESS_REMOTE_READ;
    open_ends(&ends, options, IBV_WR_RDMA_READ);
    expect_refusal(&ends, IBV_WC_LOC_PROT_ERR);
}

static void what_is_received_needs_a_right_to_write(void) {
    struct ends ends;
    struct options options = usual();
    options.region_access = IBV_ACCESS_REMOTE_READ;
    open_ends(&ends, options, IBV_WR_SEND);
    CHECK_SAME(post_receive(&ends.other, 0, 8, 5), 0);
    CHECK_SAME(post(&ends.one, &ends.request), 0);
    expect_status(&ends.one, 1, IBV_WC_REM_OP_ERR);
    expect_status(&ends.other, 5, IBV_WC_LOC_PROT_ERR);
    expect_refusal(&ends, IBV_WC_WR_FLUSH_ERR);
}

static void a_key_dies_with_its_registration(void) {
    struct ends ends;
    open_ends(&ends, usual(), IBV_WR_RDMA_WRITE);
    uint32_t lkey = ends.other.region->lkey;
    CHECK_SAME(ibv_dereg_mr(ends.other.region), 0);
    ends.other.region = ibv_reg_mr(ends.other.domain, ends.other.memory, 4096, ALL_RIGHTS);
    CHECK(ends.other.region != NULL);
    /* The same slot, with another tag. */
    CHECK_SAME(ends.other.region->lkey >> 8, lkey >> 8);
    CHECK(ends.other.region->rkey != ends.request.wr.rdma.rkey);
    CHECK(ends.other.region->lkey != lkey);
    expect_target_breaks(&ends, IBV_WC_REM_ACCESS_ERR, IBV_EVENT_QP_ACCESS_ERR);
}

static void nothing_needs_no_key(void) {
    struct ends ends;
    open_ends(&ends, usual(), IBV_WR_RDMA_WRITE);
    set_remote(&ends, 0, 0);
    ends.request.num_sge = 0;
    CHECK_SAME(post(&ends.one, &ends.request), 0);
    expect_success(&ends.one, 1);
    close_both(&ends.one, &ends.other);
}

static void a_message_has_a_greatest_length(void) {
    struct ends ends;
    struct options options = usual();
    options.bytes = (UINT64_C(1) << 30) + 4096;
    open_ends(&ends, options, IBV_WR_RDMA_WRITE);
    ends.element.length = (UINT32_C(1) << 30) + 1;
    expect_refusal(&ends, IBV_WC_LOC_LEN_ERR);
}

static void no_more_reads_at_once_than_the_target_takes(void) {
    struct side one;
    struct side other;
    struct options options = usual();
    options.read_depth = 4;
    open_side(&one, options);
    options.device = 1;
    options.read_depth = 2;
    open_side(&other, options);
    connect_sides(&one, &other);
    soft_adapter_delay(UINT64_MAX);
    struct ibv_sge element;
    struct ibv_send_wr request = request_of(&one, &other, IBV_WR_RDMA_READ, 8, &element);
    for (int i = 0; i < 3; i++) {
        request.wr_id = (uint64_t)i;
        CHECK_SAME(post(&one, &request), 0);
    }
    soft_adapter_delay(0);
    expect_status(&one, 0, IBV_WC_REM_INV_REQ_ERR);
    expect_async(other.context, IBV_EVENT_QP_REQ_ERR);
    close_both(&one, &other);

    /* The other way about it is well. */
    open_side(&one, options);
    options.device = 0;
    options.read_depth = 4;
    open_side(&other, options);
    connect_sides(&one, &other);
    for (uint64_t i = 0; i < 20; i++) {
        CHECK_SAME(post_request(&one, &other, IBV_WR_RDMA_READ, 8, i), 0);
    }
    for (uint64_t i = 0; i < 20; i++) {
        expect_success(&one, i);
    }
    close_both(&one, &other);
}

static void packets_are_no_larger_than_the_target_takes(void) {
    struct side one;
    struct side other;
    struct options options = usual();
    open_side(&one, options);
    options.device = 1;
    options.mtu = IBV_MTU_1024;
    open_side(&other, options);
    connect_sides(&one, &other);
    CHECK_SAME(post_request(&one, &other, IBV_WR_RDMA_WRITE, 1024, 1), 0);
    expect_success(&one, 1);
    CHECK_SAME(post_request(&one, &other, IBV_WR_RDMA_WRITE, 1025, 1), 0);
    expect_status(&one, 1, IBV_WC_REM_INV_REQ_ERR);
    close_both(&one, &other);
}

void test_protection(void) {
    a_wrong_remote_key_is_refused();
    a_region_gives_no_more_than_its_rights();
    a_queue_pair_gives_no_more_than_its_rights();
    an_atomic_is_aligned();
    the_wrong_local_key_is_refused();
    what_is_fetched_needs_a_right_to_write();
    what_is_received_needs_a_right_to_write();
    a_key_dies_with_its_registration();
    nothing_needs_no_key();
    a_message_has_a_greatest_length();
    no_more_reads_at_once_than_the_target_takes();
    packets_are_no_larger_than_the_target_takes();
}
