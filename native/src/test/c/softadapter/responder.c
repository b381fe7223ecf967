#include "adapter.h"

/* The timer's codes, in units of 10 microseconds. */
static const uint32_t receiver_timers[32] = {
    65536, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024, 1536, 2048, 3072, 4096,
    6144, 8192, 12288, 16384, 24576, 32768, 49152,
};

uint64_t receiver_not_ready_nanos(int code) {
    return receiver_timers[code & 31] * UINT64_C(10000);
}

static enum answer refuse(struct delivery *delivery, enum ibv_wc_status status) {
    delivery->status = status;
    return ANSWER_REFUSED;
}

/* An error that completes no receive request: the target breaks, with an event. */
static enum answer violate(struct queue_pair *target, struct delivery *delivery, enum ibv_wc_status status) {
    queue_pair_break(target, status == IBV_WC_REM_ACCESS_ERR ? IBV_EVENT_QP_ACCESS_ERR : IBV_EVENT_QP_REQ_ERR);
    return refuse(delivery, status);
}

static bool put(struct queue_pair *target, enum ibv_wc_status status, const struct delivery *delivery) {
    struct completion completion = {
        .id = target->receive.id,
        .status = status,
        .pair = target,
        .receive_queue = target->receives,
    };
    target->receiving = false;
    bool solicited = false;
    if (delivery != NULL) {
        const struct send_request *request = delivery->request;
        completion.opcode =
                request->opcode == IBV_WR_RDMA_WRITE_WITH_IMM ? IBV_WC_RECV_RDMA_WITH_IMM : IBV_WC_RECV;
        completion.bytes = (uint32_t)request->length;
        completion.has_immediate = carries_immediate(request->opcode);
        completion.immediate = request->immediate;
        solicited = request->flags & IBV_SEND_SOLICITED;
    }
    return completion_queue_put(target->base.recv_cq, &completion, solicited);
}

/* An error of the receive request: the target breaks, and the request's completion says why. */
static enum answer spoil(
        struct queue_pair *target, struct delivery *delivery, enum ibv_wc_status here, enum ibv_wc_status there) {
    queue_pair_fail(target);
    put(target, here, NULL);
    return refuse(delivery, there);
}

static enum answer received(struct queue_pair *target, struct delivery *delivery) {
    if (!put(target, IBV_WC_SUCCESS, delivery)) {
        queue_pair_break(target, IBV_EVENT_QP_FATAL);
        return refuse(delivery, IBV_WC_REM_OP_ERR);
    }
    return ANSWER_ACKNOWLEDGED;
}

static bool is_last(const struct delivery *delivery) {
    return delivery->offset + delivery->length == delivery->request->length;
}

static int right_for(enum ibv_wr_opcode opcode) {
    switch (opcode) {
    case IBV_WR_RDMA_READ:
        return IBV_ACCESS_REMOTE_READ;
    case IBV_WR_ATOMIC_CMP_AND_SWP:
    case IBV_WR_ATOMIC_FETCH_AND_ADD:
        return IBV_ACCESS_REMOTE_ATOMIC;
    default:
        return IBV_ACCESS_REMOTE_WRITE;
    }
}

static enum answer receive_message(struct queue_pair *target, struct delivery *delivery) {
    struct span spans[MAXIMUM_SCATTER];
    struct receive_request *receive = &target->receive;
    if (delivery->offset == 0) {
        if (!receive_queue_take(target->receives, receive)) {
            return ANSWER_RECEIVER_NOT_READY;
        }
        target->receiving = true;
        if (delivery->request->length > scatter_length(receive->elements, receive->count)) {
            return spoil(target, delivery, IBV_WC_LOC_LEN_ERR, IBV_WC_REM_INV_REQ_ERR);
        }
    }
    if (scatter_resolve(target->receives->domain, receive->elements, receive->count, delivery->offset,
                delivery->length, IBV_ACCESS_LOCAL_WRITE, spans) < 0) {
        return spoil(target, delivery, IBV_WC_LOC_PROT_ERR, IBV_WC_REM_OP_ERR);
    }
    scatter_copy(spans, delivery->spans, delivery->length);
    return is_last(delivery) ? received(target, delivery) : ANSWER_ACKNOWLEDGED;
}

static enum answer write_memory(struct queue_pair *target, struct delivery *delivery, char *start) {
    bool notifies = is_last(delivery) && delivery->request->opcode == IBV_WR_RDMA_WRITE_WITH_IMM;
    if (notifies && !receive_queue_take(target->receives, &target->receive)) {
        return ANSWER_RECEIVER_NOT_READY;
    }
    struct span span = {.start = start, .length = delivery->length};
    scatter_copy(&span, delivery->spans, delivery->length);
    return notifies ? received(target, delivery) : ANSWER_ACKNOWLEDGED;
}

static enum answer read_memory(const struct delivery *delivery, char *start) {
    struct span span = {.start = start, .length = delivery->length};
    scatter_copy(delivery->spans, &span, delivery->length);
    return ANSWER_ACKNOWLEDGED;
}

static enum answer change_atomically(struct queue_pair *target, struct delivery *delivery, char *start) {
    const struct send_request *request = delivery->request;
    if (((uintptr_t)start | request->remote_address) % sizeof(uint64_t) != 0) {
        return violate(target, delivery, IBV_WC_REM_INV_REQ_ERR);
    }
    uint64_t *word = (uint64_t *)(void *)start;
    uint64_t before;
    if (request->opcode == IBV_WR_ATOMIC_FETCH_AND_ADD) {
        before = __atomic_fetch_add(word, request->compare_or_add, __ATOMIC_SEQ_CST);
    } else {
        before = request->compare_or_add;
        __atomic_compare_exchange_n(word, &before, request->swap, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
    }
    struct span span = {.start = (char *)&before, .length = sizeof before};
    scatter_copy(delivery->spans, &span, sizeof before);
    return ANSWER_ACKNOWLEDGED;
}

static enum answer access_memory(struct queue_pair *target, struct delivery *delivery) {
    const struct send_request *request = delivery->request;
    int right = right_for(request->opcode);
    if (!(target->attributes.qp_access_flags & (unsigned int)right)) {
        return violate(target, delivery, IBV_WC_REM_INV_REQ_ERR);
    }
    if (delivery->read_depth > target->attributes.max_dest_rd_atomic) {
        return violate(target, delivery, IBV_WC_REM_INV_REQ_ERR);
    }
    char *start = NULL;
    /* Nothing at all needs no key. */
    if (request->length > 0) {
        /* The first packet tells the whole length. */
        uint64_t length = delivery->offset == 0 ? request->length : delivery->length;
        start = memory_remote(
                target->base.pd, request->remote_key, request->remote_address + delivery->offset, length, right);
        if (start == NULL) {
            return violate(target, delivery, IBV_WC_REM_ACCESS_ERR);
        }
    }
    switch (request->opcode) {
    case IBV_WR_RDMA_READ:
        return read_memory(delivery, start);
    case IBV_WR_ATOMIC_CMP_AND_SWP:
    case IBV_WR_ATOMIC_FETCH_AND_ADD:
        return change_atomically(target, delivery, start);
    default:
        return write_memory(target, delivery, start);
    }
}

/* Whether packets from the source are the next ones of the target's connection; others are dropped. */
static bool expects(const struct queue_pair *target, const struct queue_pair *source) {
    int state = atomic_load(&target->state);
    return (state == IBV_QPS_RTR || state == IBV_QPS_RTS) && target->attributes.dest_qp_num == source->base.qp_num
            && target->peer_device == source->device
            && target->peer_gid_index == source->attributes.ah_attr.grh.sgid_index
            && target->receive_sequence == source->send_sequence;
}

static enum answer deliver(struct queue_pair *target, struct delivery *delivery) {
    const struct queue_pair *source = delivery->source;
    if (!expects(target, source)) {
        return ANSWER_NONE;
    }
    if (!target->established && atomic_load(&target->state) == IBV_QPS_RTR) {
        target->established = true;
        async_event_put(target->base.context, &target->base, IBV_EVENT_COMM_EST, &target->events_taken);
    }
    enum ibv_mtu here = target->attributes.path_mtu;
    enum ibv_mtu there = source->attributes.path_mtu;
    if (here != there && delivery->request->length > UINT64_C(128) << (here < there ? here : there)) {
        return violate(target, delivery, IBV_WC_REM_INV_REQ_ERR);
    }
    enum ibv_wr_opcode opcode = delivery->request->opcode;
    bool sends = opcode == IBV_WR_SEND || opcode == IBV_WR_SEND_WITH_IMM;
    if (target->receiving != (sends && delivery->offset > 0)) {
        /* Another message has not been ended, or the start of this one went to another life of the target. */
        return violate(target, delivery, IBV_WC_REM_INV_REQ_ERR);
    }
    enum answer answer = sends ? receive_message(target, delivery) : access_memory(target, delivery);
    if (answer == ANSWER_ACKNOWLEDGED) {
        target->receive_sequence =
                (target->receive_sequence + packets(source, delivery->length)) & SEQUENCE_MASK;
    }
    return answer;
}

enum answer responder_deliver(struct queue_pair *target, struct delivery *delivery) {
    pthread_mutex_lock(&target->responder);
    enum answer answer = deliver(target, delivery);
    pthread_mutex_unlock(&target->responder);
    return answer;
}

void responder_flush(struct queue_pair *pair) {
    pthread_mutex_lock(&pair->responder);
    if (pair->receiving) {
        put(pair, IBV_WC_WR_FLUSH_ERR, NULL);
    }
    if (pair->base.srq == NULL) {
        while (receive_queue_take(&pair->own_receives, &pair->receive)) {
            put(pair, IBV_WC_WR_FLUSH_ERR, NULL);
        }
    } else if (!pair->drained) {
        pair->drained = true;
        async_event_put(pair->base.context, &pair->base, IBV_EVENT_QP_LAST_WQE_REACHED, &pair->events_taken);
    }
    pthread_mutex_unlock(&pair->responder);
}
