#include "adapter.h"

#include <stdlib.h>

/* The filling of undefined fields. */
#define GARBAGE 0xa5

/* As vendors' codes go: not 0, and different for each status. */
#define VENDOR_ERROR 0x80

static bool allocate_null_ring(struct completion_queue *queue) {
    uint32_t size = 1;
    while (size < (uint32_t)queue->base.cqe) {
        size *= 2;
    }
    queue->null_mask = size - 1;
    queue->null_ring = calloc(size, sizeof *queue->null_ring);
    return queue->null_ring != NULL;
}

EXPORT struct ibv_cq *ibv_create_cq(
        struct ibv_context *context, int entries, void *queue_context, struct ibv_comp_channel *channel, int vector) {
    int result = 0;
    if (entries < 1 || entries > MAXIMUM_COMPLETIONS || vector < 0 || vector >= context->num_comp_vectors
            || (channel != NULL && channel->context != context)) {
        result = EINVAL;
    } else if (context_of(context)->dead) {
        result = EIO;
    }
    struct completion_queue *queue = result == 0 ? calloc(1, sizeof *queue) : NULL;
    if (queue == NULL) {
        errno = result == 0 ? ENOMEM : result;
        return NULL;
    }
    queue->base.context = context;
    queue->base.channel = channel;
    queue->base.cq_context = queue_context;
    queue->base.cqe = entries;
    queue->ring = calloc((size_t)entries, sizeof *queue->ring);
    bool complete = queue->ring != NULL;
    if (context->ops.poll_cq == null_mode_poll) {
        complete = allocate_null_ring(queue) && complete;
    }
    if (!complete) {
        free(queue->null_ring);
        free(queue->ring);
        free(queue);
        errno = ENOMEM;
        return NULL;
    }
    pthread_mutex_init(&queue->base.mutex, NULL);
    pthread_cond_init(&queue->base.cond, NULL);
    short_lock_init(&queue->lock);
    if (channel != NULL) {
        pthread_mutex_lock(&context->mutex);
        channel->refcnt++;
        pthread_mutex_unlock(&context->mutex);
    }
    atomic_fetch_add(&context_of(context)->objects, 1);
    COUNT(completion_queues, 1);
    return &queue->base;
}

EXPORT int ibv_resize_cq(struct ibv_cq *base, int entries) {
    struct completion_queue *queue = completion_queue_of(base);
    if (entries < 1 || entries > MAXIMUM_COMPLETIONS) {
        return EINVAL;
    }
    struct completion *larger = calloc((size_t)entries, sizeof *larger);
    if (larger == NULL) {
        return ENOMEM;
    }
    pthread_mutex_lock(&queue->lock);
    uint32_t count = atomic_load(&queue->count);
    bool fits = count <= (uint32_t)entries;
    struct completion *old = larger;
    if (fits) {
        for (uint32_t i = 0; i < count; i++) {
            larger[i] = queue->ring[(queue->first + i) % (uint32_t)base->cqe];
        }
        old = queue->ring;
        queue->ring = larger;
        queue->first = 0;
        base->cqe = entries;
    }
    pthread_mutex_unlock(&queue->lock);
    free(old);
    return fits ? 0 : EINVAL;
}

EXPORT int ibv_destroy_cq(struct ibv_cq *base) {
    struct completion_queue *queue = completion_queue_of(base);
    if (atomic_load(&queue->users) != 0) {
        return EBUSY;
    }
    struct context *context = context_of(base->context);
    uint32_t taken = 0;
    if (base->channel != NULL) {
        taken = event_queue_forget(&channel_of(base->channel)->events, base, &queue->events_taken);
    }
    uint32_t async_taken = event_queue_forget(&context->events, base, &queue->async_events_taken);
    pthread_mutex_lock(&base->mutex);
    while (base->comp_events_completed != taken || base->async_events_completed != async_taken) {
        pthread_cond_wait(&base->cond, &base->mutex);
    }
    pthread_mutex_unlock(&base->mutex);
    if (base->channel != NULL) {
        pthread_mutex_lock(&base->context->mutex);
        base->channel->refcnt--;
        pthread_mutex_unlock(&base->context->mutex);
    }
    atomic_fetch_sub(&context->objects, 1);
    pthread_mutex_destroy(&queue->lock);
    pthread_cond_destroy(&base->cond);
    pthread_mutex_destroy(&base->mutex);
    free(queue->null_ring);
    free(queue->ring);
    free(queue);
    COUNT(completion_queues, -1);
    return 0;
}

static void notify(struct completion_queue *queue, bool solicited) {
    if (queue->armed == NOT_ARMED || (queue->armed == ARMED_FOR_SOLICITED && !solicited)) {
        return;
    }
    queue->armed = NOT_ARMED;
    if (queue->base.channel != NULL) {
        COUNT(events, 1);
        event_queue_put(&channel_of(queue->base.channel)->events, &queue->base, 0, &queue->events_taken);
    }
}

bool completion_queue_put(struct ibv_cq *base, const struct completion *completion, bool solicited) {
    struct completion_queue *queue = completion_queue_of(base);
    pthread_mutex_lock(&queue->lock);
    uint32_t count = atomic_load_explicit(&queue->count, memory_order_relaxed);
    if (!queue->overflowed && count == (uint32_t)base->cqe) {
        /* For good: present completions can still be polled, but none is added. */
        queue->overflowed = true;
        COUNT(overflows, 1);
        async_event_put(base->context, base, IBV_EVENT_CQ_ERR, &queue->async_events_taken);
    }
    bool kept = !queue->overflowed;
    if (kept) {
        queue->ring[(queue->first + count) % (uint32_t)base->cqe] = *completion;
        atomic_store_explicit(&queue->count, count + 1, memory_order_release);
        notify(queue, solicited || completion->status != IBV_WC_SUCCESS);
    }
    pthread_mutex_unlock(&queue->lock);
    return kept;
}

/* Frees the entries that a completion held. */
static void release(const struct completion *completion) {
    if (completion->receive_queue != NULL) {
        atomic_fetch_add(&completion->receive_queue->released, 1);
    } else {
        atomic_store(&completion->pair->released, completion->send_end);
    }
}

static void tell(const struct completion *completion, struct ibv_wc *told) {
    memset(told, GARBAGE, sizeof *told);
    told->wr_id = completion->id;
    told->status = completion->status;
    told->vendor_err = completion->status == IBV_WC_SUCCESS ? 0 : VENDOR_ERROR + (uint32_t)completion->status;
    told->qp_num = completion->pair->base.qp_num;
    if (completion->status != IBV_WC_SUCCESS) {
        return;
    }
    told->opcode = completion->opcode;
    told->wc_flags = completion->has_immediate ? IBV_WC_WITH_IMM : 0;
    if (completion->has_immediate) {
        told->imm_data = completion->immediate;
    }
    /* Not for sends and writes. */
    if (completion->opcode != IBV_WC_SEND && completion->opcode != IBV_WC_RDMA_WRITE) {
        told->byte_len = completion->bytes;
    }
}

int completion_queue_poll(struct ibv_cq *base, int maximum, struct ibv_wc *completions) {
    struct completion_queue *queue = completion_queue_of(base);
    COUNT(polls, 1);
    if (atomic_load_explicit(&queue->count, memory_order_acquire) == 0) {
        return 0;
    }
    pthread_mutex_lock(&queue->lock);
    uint32_t count = atomic_load_explicit(&queue->count, memory_order_relaxed);
    int polled = 0;
    while (polled < maximum && count > 0) {
        const struct completion *completion = &queue->ring[queue->first];
        tell(completion, &completions[polled++]);
        release(completion);
        queue->first = (queue->first + 1) % (uint32_t)base->cqe;
        count--;
    }
    atomic_store_explicit(&queue->count, count, memory_order_relaxed);
    pthread_mutex_unlock(&queue->lock);
    COUNT(completions, polled);
    return polled;
}

void completion_queue_forget(struct ibv_cq *base, const struct queue_pair *pair) {
    struct completion_queue *queue = completion_queue_of(base);
    pthread_mutex_lock(&queue->lock);
    uint32_t count = atomic_load(&queue->count);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < count; i++) {
        struct completion *completion = &queue->ring[(queue->first + i) % (uint32_t)base->cqe];
        if (completion->pair == pair) {
            release(completion);
        } else {
            queue->ring[(queue->first + kept++) % (uint32_t)base->cqe] = *completion;
        }
    }
    atomic_store(&queue->count, kept);
    pthread_mutex_unlock(&queue->lock);
}

int completion_queue_arm(struct ibv_cq *base, int solicited_only) {
    struct completion_queue *queue = completion_queue_of(base);
    pthread_mutex_lock(&queue->lock);
    if (queue->armed != ARMED) {
        queue->armed = solicited_only ? ARMED_FOR_SOLICITED : ARMED;
    }
    pthread_mutex_unlock(&queue->lock);
    return 0;
}
