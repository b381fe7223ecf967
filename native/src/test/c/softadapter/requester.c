#include "adapter.h"

/* A retry count that stands for no limit. */
#define FOR_EVER 7

/* Whether the time has come; if not, the worker comes back. */
static bool is_time(struct queue_pair *pair) {
    uint64_t delay = pair->delayed ? 0 : atomic_load(&fault_delay);
    if (delay == 0 && pair->resume == 0) {
        pair->delayed = true;
        return true;
    }
    uint64_t now = now_nanos();
    uint64_t wake = pair->resume;
    if (delay > 0) {
        if (pair->started == 0) {
            pair->started = now;
        }
        uint64_t end = delay < NEVER - pair->started ? pair->started + delay : NEVER;
        wake = end > wake ? end : wake;
    }
    if (now < wake) {
        worker_schedule_at(pair, wake);
        return false;
    }
    pair->delayed = true;
    pair->resume = 0;
    return true;
}

static void pause_for(struct queue_pair *pair, uint64_t nanos) {
    pair->resume = nanos == NEVER ? NEVER : now_nanos() + nanos;
    worker_schedule_at(pair, pair->resume);
}

/* Resolves bytes of the request; how many spans, or -1. */
static int resolve(const struct queue_pair *pair, const struct send_request *request, uint64_t offset, uint64_t length,
        struct span spans[MAXIMUM_SCATTER]) {
    if (request->flags & IBV_SEND_INLINE) {
        spans[0] = (struct span){.start = (char *)request->elements + offset, .length = length};
        return 1;
    }
    int access = fetches(request->opcode) ? IBV_ACCESS_LOCAL_WRITE : 0;
    return scatter_resolve(pair->base.pd, request->elements, request->count, offset, length, access, spans);
}

/* Checks a request before anything of it is sent. */
static enum ibv_wc_status check(const struct queue_pair *pair, const struct send_request *request) {
    struct span spans[MAXIMUM_SCATTER];
    if (request->length > MAXIMUM_MESSAGE_BYTES) {
        return IBV_WC_LOC_LEN_ERR;
    }
    if (fetches(request->opcode) && pair->attributes.max_rd_atomic == 0) {
        return IBV_WC_LOC_QP_OP_ERR;
    }
    return resolve(pair, request, 0, request->length, spans) < 0 ? IBV_WC_LOC_PROT_ERR : IBV_WC_SUCCESS;
}

/* An adapter sends so many reads and atomics that follow each other without waiting for the first one's answer. */
static int read_depth(const struct queue_pair *pair) {
    uint64_t posted = atomic_load(&pair->posted);
    int depth = 0;
    while (depth < pair->attributes.max_rd_atomic && pair->next + (uint64_t)depth != posted) {
        const struct send_request *request = send_request_at(pair, pair->next + (uint64_t)depth);
        if (!fetches(request->opcode) || (depth > 0 && (request->flags & IBV_SEND_FENCE))) {
            break;
        }
        depth++;
    }
    return depth;
}

static bool connected(const struct device *device) {
    return atomic_load(&device->port_up) && !atomic_load(&device->removed);
}

static struct queue_pair *target_of(const struct queue_pair *pair) {
    const struct device *peer = pair->peer_device;
    if (peer == NULL || !connected(pair->device) || !connected(peer)
            /* A link-local address doesn't lead to another kind's. */
            || pair->attributes.ah_attr.grh.sgid_index != pair->peer_gid_index) {
        return NULL;
    }
    struct queue_pair *target = queue_pair_with_number(pair->attributes.dest_qp_num);
    return target != NULL && target->device == peer ? target : NULL;
}

static void retry(struct queue_pair *pair) {
    if (pair->retries > pair->attributes.retry_cnt) {
        answers_failed(pair, IBV_WC_RETRY_EXC_ERR);
        return;
    }
    COUNT(retries, 1);
    pair->retries++;
    pause_for(pair, answers_timeout_nanos(pair));
}

static void retry_receiver(struct queue_pair *pair, int code) {
    uint8_t limit = pair->attributes.rnr_retry;
    if (limit != FOR_EVER && pair->receiver_retries >= limit) {
        answers_failed(pair, IBV_WC_RNR_RETRY_EXC_ERR);
        return;
    }
    COUNT(receiver_not_ready, 1);
    pair->receiver_retries++;
    pause_for(pair, receiver_not_ready_nanos(code));
}

static void acknowledged(struct queue_pair *pair, const struct send_request *request, uint64_t length) {
    pair->send_sequence = (pair->send_sequence + packets(pair, length)) & SEQUENCE_MASK;
    pair->offset += length;
    pair->retries = 0;
    pair->receiver_retries = 0;
    COUNT(bytes, length);
    atomic_fetch_add_explicit(&pair->device->bytes, length, memory_order_relaxed);
    if (pair->offset == request->length) {
        answers_done(pair);
    }
}

/* Carries out a piece of the next request, and gives its length. */
static uint64_t carry_out(struct queue_pair *pair, const struct send_request *request) {
    struct span spans[MAXIMUM_SCATTER];
    if (pair->offset == 0) {
        enum ibv_wc_status status = check(pair, request);
        if (status != IBV_WC_SUCCESS) {
            answers_failed(pair, status);
            return 0;
        }
    }
    uint64_t length = request->length - pair->offset;
    length = length > PIECE_BYTES ? PIECE_BYTES : length;
    if (resolve(pair, request, pair->offset, length, spans) < 0) {
        answers_failed(pair, IBV_WC_LOC_PROT_ERR);
        return 0;
    }
    struct delivery delivery = {
        .source = pair,
        .request = request,
        .offset = pair->offset,
        .length = length,
        .spans = spans,
        .read_depth = fetches(request->opcode) ? read_depth(pair) : 0,
    };
    struct queue_pair *target = target_of(pair);
    enum answer answer = target == NULL ? ANSWER_NONE : responder_deliver(target, &delivery);
    switch (answer) {
    case ANSWER_ACKNOWLEDGED:
        acknowledged(pair, request, length);
        return length;
    case ANSWER_NONE:
        retry(pair);
        break;
    case ANSWER_RECEIVER_NOT_READY:
        retry_receiver(pair, target->attributes.min_rnr_timer);
        break;
    case ANSWER_REFUSED:
        answers_failed(pair, delivery.status);
        break;
    }
    return 0;
}

void requester_run(struct queue_pair *pair) {
    uint64_t moved = 0;
    for (int i = 0; i < PIECE_REQUESTS && moved < PIECE_BYTES; i++) {
        int state = atomic_load(&pair->state);
        if (state == IBV_QPS_ERR) {
            if (answers_are_held(pair)) {
                return;
            }
            answers_flush(pair);
            responder_flush(pair);
            return;
        }
        if (i == 0) {
            answers_check(pair);
        }
        if (state != IBV_QPS_RTS || pair->next == atomic_load(&pair->posted) || !is_time(pair)) {
            return;
        }
        moved += carry_out(pair, send_request_at(pair, pair->next));
    }
    /* The others' turn; there may be more here. */
    worker_schedule(pair);
}
