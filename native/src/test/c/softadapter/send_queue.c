#include "adapter.h"

static bool opcode_known(enum ibv_wr_opcode opcode) {
    switch (opcode) {
    case IBV_WR_RDMA_WRITE:
    case IBV_WR_RDMA_WRITE_WITH_IMM:
    case IBV_WR_SEND:
    case IBV_WR_SEND_WITH_IMM:
    case IBV_WR_RDMA_READ:
    case IBV_WR_ATOMIC_CMP_AND_SWP:
    case IBV_WR_ATOMIC_FETCH_AND_ADD:
        return true;
    default:
        return false;
    }
}

static void copy_inline(struct send_request *to, const struct ibv_send_wr *from) {
    char *bytes = (char *)to->elements;
    for (int i = 0; i < from->num_sge; i++) {
        if (from->sg_list[i].length > 0) {
            memcpy(bytes, (const void *)(uintptr_t)from->sg_list[i].addr, from->sg_list[i].length);
            bytes += from->sg_list[i].length;
        }
    }
}

static void copy_elements(struct send_request *to, const struct ibv_send_wr *from) {
    for (int i = 0; i < from->num_sge; i++) {
        to->elements[i] = from->sg_list[i];
    }
}

static int check(const struct queue_pair *pair, const struct ibv_send_wr *request, uint64_t length) {
    bool is_inline = request->send_flags & IBV_SEND_INLINE;
    if (!opcode_known(request->opcode) || (is_inline && fetches(request->opcode))
            || (is_inline && length > pair->capacity.max_inline_data)
            || (is_atomic(request->opcode) && length != sizeof(uint64_t))) {
        return EINVAL;
    }
    return 0;
}

static int post_one(struct queue_pair *pair, const struct ibv_send_wr *request) {
    if (request->num_sge < 0 || (uint32_t)request->num_sge > pair->capacity.max_send_sge) {
        return EINVAL;
    }
    uint64_t length = scatter_length(request->sg_list, request->num_sge);
    int result = check(pair, request, length);
    if (result != 0) {
        return result;
    }
    uint64_t posted = atomic_load_explicit(&pair->posted, memory_order_relaxed);
    if (posted - atomic_load_explicit(&pair->released, memory_order_acquire) >= pair->capacity.max_send_wr) {
        return ENOMEM;
    }
    struct send_request *slot = send_request_at(pair, posted);
    slot->id = request->wr_id;
    slot->opcode = request->opcode;
    slot->flags = request->send_flags | (pair->signal_all ? IBV_SEND_SIGNALED : 0);
    slot->immediate = request->imm_data;
    slot->length = length;
    slot->count = request->num_sge;
    if (is_atomic(request->opcode)) {
        slot->remote_address = request->wr.atomic.remote_addr;
        slot->remote_key = request->wr.atomic.rkey;
        slot->compare_or_add = request->wr.atomic.compare_add;
        slot->swap = request->wr.atomic.swap;
    } else {
        slot->remote_address = request->wr.rdma.remote_addr;
        slot->remote_key = request->wr.rdma.rkey;
    }
    if (request->send_flags & IBV_SEND_INLINE) {
        copy_inline(slot, request);
    } else {
        copy_elements(slot, request);
    }
    atomic_store(&pair->posted, posted + 1);
    return 0;
}

int send_queue_post(struct ibv_qp *base, struct ibv_send_wr *request, struct ibv_send_wr **bad) {
    struct queue_pair *pair = queue_pair_of(base);
    int result = 0;
    int count = 0;
    pthread_mutex_lock(&pair->lock);
    int state = atomic_load(&pair->state);
    if (state != IBV_QPS_RTS && state != IBV_QPS_ERR) {
        *bad = request;
        result = EINVAL;
    }
    while (request != NULL && result == 0) {
        result = post_one(pair, request);
        if (result != 0) {
            *bad = request;
        } else {
            count++;
            request = request->next;
        }
    }
    pthread_mutex_unlock(&pair->lock);
    if (count > 0) {
        COUNT(doorbells, 1);
        COUNT(posts, count);
        worker_schedule(pair);
    }
    return result;
}

int queue_pair_post_receive(struct ibv_qp *base, struct ibv_recv_wr *request, struct ibv_recv_wr **bad) {
    struct queue_pair *pair = queue_pair_of(base);
    pthread_mutex_lock(&pair->lock);
    int state = atomic_load(&pair->state);
    int result = EINVAL;
    if (state == IBV_QPS_RESET || base->srq != NULL) {
        *bad = request;
    } else {
        result = receive_queue_post(&pair->own_receives, request, bad);
    }
    pthread_mutex_unlock(&pair->lock);
    if (state == IBV_QPS_ERR) {
        worker_schedule(pair);
    }
    return result;
}
