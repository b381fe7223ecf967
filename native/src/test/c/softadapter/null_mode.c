#include "adapter.h"

/* Counts without a locked instruction: in this mode one thread at a time uses a completion queue. */
#define COUNT_CHEAPLY(name, amount) \
    atomic_store_explicit(&counters.name, GAUGE(name) + (int64_t)(amount), memory_order_relaxed)

static uint32_t completed_as(enum ibv_wr_opcode opcode) {
    static const uint8_t opcodes[] = {
        [IBV_WR_RDMA_WRITE] = IBV_WC_RDMA_WRITE,
        [IBV_WR_RDMA_WRITE_WITH_IMM] = IBV_WC_RDMA_WRITE,
        [IBV_WR_SEND] = IBV_WC_SEND,
        [IBV_WR_SEND_WITH_IMM] = IBV_WC_SEND,
        [IBV_WR_RDMA_READ] = IBV_WC_RDMA_READ,
        [IBV_WR_ATOMIC_CMP_AND_SWP] = IBV_WC_COMP_SWAP,
        [IBV_WR_ATOMIC_FETCH_AND_ADD] = IBV_WC_FETCH_ADD,
    };
    return opcode < sizeof opcodes ? opcodes[opcode] : (uint32_t)IBV_WC_SEND;
}

int null_mode_post_send(struct ibv_qp *base, struct ibv_send_wr *request, struct ibv_send_wr **bad) {
    struct queue_pair *pair = queue_pair_of(base);
    struct completion_queue *queue = completion_queue_of(base->send_cq);
    int count = 0;
    for (; request != NULL; request = request->next) {
        if (pair->signal_all || (request->send_flags & IBV_SEND_SIGNALED)) {
            if (queue->null_end - queue->null_first > queue->null_mask) {
                *bad = request;
                break;
            }
            queue->null_ring[queue->null_end++ & queue->null_mask] = (struct null_completion){
                .id = request->wr_id,
                .pair_number = base->qp_num,
                .opcode = completed_as(request->opcode),
            };
        }
        count++;
    }
    COUNT_CHEAPLY(doorbells, 1);
    COUNT_CHEAPLY(posts, count);
    return request == NULL ? 0 : ENOMEM;
}

static void count_receives(const struct ibv_recv_wr *request) {
    int count = 0;
    for (; request != NULL; request = request->next) {
        count++;
    }
    COUNT_CHEAPLY(receives, count);
}

int null_mode_post_receive(struct ibv_qp *pair, struct ibv_recv_wr *request, struct ibv_recv_wr **bad) {
    (void)pair;
    (void)bad;
    count_receives(request);
    return 0;
}

int null_mode_post_shared_receive(struct ibv_srq *queue, struct ibv_recv_wr *request, struct ibv_recv_wr **bad) {
    (void)queue;
    (void)bad;
    count_receives(request);
    return 0;
}

int null_mode_poll(struct ibv_cq *base, int maximum, struct ibv_wc *completions) {
    struct completion_queue *queue = completion_queue_of(base);
    int polled = 0;
    while (polled < maximum && queue->null_first != queue->null_end) {
        const struct null_completion *completion = &queue->null_ring[queue->null_first++ & queue->null_mask];
        struct ibv_wc *told = &completions[polled++];
        told->wr_id = completion->id;
        told->status = IBV_WC_SUCCESS;
        told->opcode = (enum ibv_wc_opcode)completion->opcode;
        told->vendor_err = 0;
        told->byte_len = 0;
        told->qp_num = completion->pair_number;
        told->wc_flags = 0;
    }
    COUNT_CHEAPLY(polls, 1);
    COUNT_CHEAPLY(completions, polled);
    return polled;
}
