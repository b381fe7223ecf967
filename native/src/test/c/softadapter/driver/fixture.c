#define _GNU_SOURCE
#include "fixture.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <time.h>

#define BOUND_NANOS (UINT64_C(20000) * MILLISECOND)

struct options usual(void) {
    return (struct options){
        .send_depth = 64,
        .receive_depth = 64,
        .completions = 256,
        .inline_bytes = 64,
        .bytes = 1 << 20,
        .region_access = ALL_RIGHTS,
        .pair_access = ALL_RIGHTS,
        .mtu = IBV_MTU_4096,
        .timeout = 8,
        .retries = 2,
        .receiver_retries = 2,
        .read_depth = 16,
        .sequence = 0xfffff0,
    };
}

struct ibv_context *open_device(int index) {
    int count;
    struct ibv_device **list = ibv_get_device_list(&count);
    CHECK(list != NULL && index < count);
    struct ibv_context *context = ibv_open_device(list[index]);
    CHECK(context != NULL);
    ibv_free_device_list(list);
    CHECK_SAME(fcntl(context->async_fd, F_SETFL, O_NONBLOCK), 0);
    return context;
}

void open_pair(struct side *side) {
    struct ibv_qp_init_attr attributes = {
        .send_cq = side->queue,
        .recv_cq = side->queue,
        .srq = side->shared,
        .cap = {
            .max_send_wr = side->options.send_depth,
            .max_recv_wr = side->options.receive_depth,
            .max_send_sge = 4,
            .max_recv_sge = 4,
            .max_inline_data = side->options.inline_bytes,
        },
        .qp_type = IBV_QPT_RC,
        .sq_sig_all = side->options.signal_all,
    };
    side->pair = ibv_create_qp(side->domain, &attributes);
    CHECK(side->pair != NULL);
}

void open_side(struct side *side, struct options options) {
    memset(side, 0, sizeof *side);
    side->options = options;
    side->context = open_device(options.device);
    side->domain = ibv_alloc_pd(side->context);
    CHECK(side->domain != NULL);
    side->channel = ibv_create_comp_channel(side->context);
    CHECK(side->channel != NULL);
    side->queue = ibv_create_cq(side->context, options.completions, side, side->channel, 0);
    CHECK(side->queue != NULL);
    if (options.shared_receives) {
        struct ibv_srq_init_attr attributes = {.attr = {.max_wr = options.receive_depth, .max_sge = 4}};
        side->shared = ibv_create_srq(side->domain, &attributes);
        CHECK(side->shared != NULL);
    }
    open_pair(side);
    int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    side->memory = mmap(NULL, options.bytes, PROT_READ | PROT_WRITE, flags, -1, 0);
    CHECK(side->memory != MAP_FAILED);
    side->region = ibv_reg_mr(side->domain, side->memory, options.bytes, options.region_access);
    CHECK(side->region != NULL);
}

void close_side(struct side *side) {
    struct ibv_async_event event;
    while (ibv_get_async_event(side->context, &event) == 0) {
        ibv_ack_async_event(&event);
    }
    if (side->pair != NULL) {
        CHECK_SAME(ibv_destroy_qp(side->pair), 0);
    }
    if (side->shared != NULL) {
        CHECK_SAME(ibv_destroy_srq(side->shared), 0);
    }
    CHECK_SAME(ibv_destroy_cq(side->queue), 0);
    CHECK_SAME(ibv_destroy_comp_channel(side->channel), 0);
    if (side->region != NULL) {
        CHECK_SAME(ibv_dereg_mr(side->region), 0);
    }
    CHECK_SAME(ibv_dealloc_pd(side->domain), 0);
    CHECK_SAME(ibv_close_device(side->context), 0);
    munmap(side->memory, side->options.bytes);
}

int to_init(struct side *side) {
    struct ibv_qp_attr attributes = {
        .qp_state = IBV_QPS_INIT,
        .port_num = 1,
        .qp_access_flags = side->options.pair_access,
    };
    return ibv_modify_qp(
            side->pair, &attributes, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
}

int to_ready_to_receive(struct side *side, const struct side *peer) {
    struct ibv_qp_attr attributes = {
        .qp_state = IBV_QPS_RTR,
        .path_mtu = side->options.mtu,
        .rq_psn = peer->options.sequence,
        .dest_qp_num = peer->pair->qp_num,
        .max_dest_rd_atomic = side->options.read_depth,
        .min_rnr_timer = 12,
        .ah_attr = {
            .grh = {.sgid_index = (uint8_t)side->options.gid_index, .hop_limit = 64},
            .is_global = 1,
            .port_num = 1,
        },
    };
    CHECK_SAME(ibv_query_gid(peer->context, 1, (int)peer->options.gid_index, &attributes.ah_attr.grh.dgid), 0);
    return ibv_modify_qp(side->pair, &attributes,
            IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC
                    | IBV_QP_MIN_RNR_TIMER);
}

int to_ready_to_send(struct side *side) {
    struct ibv_qp_attr attributes = {
        .qp_state = IBV_QPS_RTS,
        .timeout = side->options.timeout,
        .retry_cnt = side->options.retries,
        .rnr_retry = side->options.receiver_retries,
        .sq_psn = side->options.sequence,
        .max_rd_atomic = side->options.read_depth,
    };
    return ibv_modify_qp(side->pair, &attributes,
            IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN
                    | IBV_QP_MAX_QP_RD_ATOMIC);
}

int to_state(struct side *side, enum ibv_qp_state state) {
    struct ibv_qp_attr attributes = {.qp_state = state};
    return ibv_modify_qp(side->pair, &attributes, IBV_QP_STATE);
}

enum ibv_qp_state state_of(const struct side *side) {
    struct ibv_qp_attr attributes;
    struct ibv_qp_init_attr initial;
    CHECK_SAME(ibv_query_qp(side->pair, &attributes, IBV_QP_STATE, &initial), 0);
    return attributes.qp_state;
}

void connect_sides(struct side *one, struct side *other) {
    CHECK_SAME(to_init(one), 0);
    CHECK_SAME(to_init(other), 0);
    CHECK_SAME(to_ready_to_receive(one, other), 0);
    CHECK_SAME(to_ready_to_receive(other, one), 0);
    CHECK_SAME(to_ready_to_send(one), 0);
    CHECK_SAME(to_ready_to_send(other), 0);
}

void open_connected(struct side *one, struct side *other, struct options options) {
    open_side(one, options);
    options.device = options.device == 0 ? 1 : 0;
    open_side(other, options);
    connect_sides(one, other);
}

void close_both(struct side *one, struct side *other) {
    close_side(one);
    close_side(other);
}

struct ibv_send_wr request_of(const struct side *side, const struct side *peer, enum ibv_wr_opcode opcode,
        uint32_t length, struct ibv_sge *element) {
    *element = (struct ibv_sge){.addr = (uintptr_t)side->memory, .length = length, .lkey = side->region->lkey};
    struct ibv_send_wr request = {
        .sg_list = element,
        .num_sge = 1,
        .opcode = opcode,
        .send_flags = IBV_SEND_SIGNALED,
    };
    if (opcode == IBV_WR_ATOMIC_CMP_AND_SWP || opcode == IBV_WR_ATOMIC_FETCH_AND_ADD) {
        request.wr.atomic.remote_addr = (uintptr_t)peer->memory;
        request.wr.atomic.rkey = peer->region->rkey;
    } else {
        request.wr.rdma.remote_addr = (uintptr_t)peer->memory;
        request.wr.rdma.rkey = peer->region->rkey;
    }
    return request;
}

int post(struct side *side, struct ibv_send_wr *request) {
    struct ibv_send_wr *bad = NULL;
    int result = ibv_post_send(side->pair, request, &bad);
    CHECK((result == 0) == (bad == NULL));
    return result;
}

int post_request(struct side *side, const struct side *peer, enum ibv_wr_opcode opcode, uint32_t length, uint64_t id) {
    struct ibv_sge element;
    struct ibv_send_wr request = request_of(side, peer, opcode, length, &element);
    request.wr_id = id;
    return post(side, &request);
}

int post_receive(struct side *side, uint64_t offset, uint32_t length, uint64_t id) {
    struct ibv_sge element = {
        .addr = (uintptr_t)side->memory + offset,
        .length = length,
        .lkey = side->region->lkey,
    };
    struct ibv_recv_wr request = {.wr_id = id, .sg_list = &element, .num_sge = 1};
    struct ibv_recv_wr *bad = NULL;
    return side->shared != NULL ? ibv_post_srq_recv(side->shared, &request, &bad)
                                : ibv_post_recv(side->pair, &request, &bad);
}

uint64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000 * MILLISECOND + (uint64_t)time.tv_nsec;
}

void sleep_nanos(uint64_t nanos) {
    struct timespec time = {
        .tv_sec = (time_t)(nanos / (1000 * MILLISECOND)),
        .tv_nsec = (long)(nanos % (1000 * MILLISECOND)),
    };
    nanosleep(&time, NULL);
}

struct ibv_wc await_completion(struct ibv_cq *queue) {
    uint64_t end = now() + BOUND_NANOS;
    struct ibv_wc completion;
    for (;;) {
        int count = ibv_poll_cq(queue, 1, &completion);
        CHECK(count >= 0);
        if (count == 1) {
            return completion;
        }
        CHECK(now() < end);
        sleep_nanos(10000);
    }
}

void expect_status(struct side *side, uint64_t id, enum ibv_wc_status status) {
    struct ibv_wc completion = await_completion(side->queue);
    if (completion.status != status || completion.wr_id != id) {
        fprintf(stderr, "request %" PRIu64 ": %s; expected was request %" PRIu64 ": %s\n", completion.wr_id,
                ibv_wc_status_str(completion.status), id, ibv_wc_status_str(status));
        abort();
    }
    CHECK_SAME(completion.qp_num, side->pair->qp_num);
    if (status != IBV_WC_SUCCESS) {
        CHECK(completion.vendor_err != 0);
        CHECK_SAME((uint32_t)completion.opcode, 0xa5a5a5a5);
        CHECK_SAME(completion.byte_len, 0xa5a5a5a5);
    }
}

void expect_success(struct side *side, uint64_t id) {
    expect_status(side, id, IBV_WC_SUCCESS);
}

void expect_nothing(struct ibv_cq *queue) {
    struct ibv_wc completion;
    for (int i = 0; i < 10; i++) {
        CHECK_SAME(ibv_poll_cq(queue, 1, &completion), 0);
        sleep_nanos(MILLISECOND);
    }
}

void expect_error_state(const struct side *side) {
    CHECK_SAME(state_of(side), IBV_QPS_ERR);
}

bool readable(int fd, int milliseconds) {
    struct pollfd wait = {.fd = fd, .events = POLLIN};
    return poll(&wait, 1, milliseconds) == 1;
}

struct ibv_async_event expect_async(struct ibv_context *context, enum ibv_event_type type) {
    struct ibv_async_event event;
    for (;;) {
        CHECK(readable(context->async_fd, (int)(BOUND_NANOS / MILLISECOND)));
        CHECK_SAME(ibv_get_async_event(context, &event), 0);
        ibv_ack_async_event(&event);
        if (event.event_type != IBV_EVENT_COMM_EST) {
            CHECK_SAME(event.event_type, type);
            return event;
        }
    }
}
