#include "adapter.h"

#include <stdlib.h>

int receive_queue_open(struct receive_queue *queue, struct ibv_pd *domain, uint32_t depth, uint32_t maximum_scatter) {
    queue->domain = domain;
    queue->depth = depth;
    queue->maximum_scatter = maximum_scatter;
    if (depth > 0) {
        queue->ring = calloc(depth, sizeof *queue->ring);
        if (queue->ring == NULL) {
            return ENOMEM;
        }
    }
    short_lock_init(&queue->lock);
    return 0;
}

void receive_queue_close(struct receive_queue *queue) {
    pthread_mutex_destroy(&queue->lock);
    free(queue->ring);
}

static int post_one(struct receive_queue *queue, const struct ibv_recv_wr *request) {
    if (request->num_sge < 0 || (uint32_t)request->num_sge > queue->maximum_scatter) {
        return EINVAL;
    }
    /* A slot is free again when its completion has been polled, not when it is taken. */
    if (queue->posted - atomic_load(&queue->released) >= queue->depth) {
        return ENOMEM;
    }
    struct receive_request *slot = &queue->ring[queue->posted % queue->depth];
    slot->id = request->wr_id;
    slot->count = request->num_sge;
    for (int i = 0; i < request->num_sge; i++) {
        slot->elements[i] = request->sg_list[i];
    }
    queue->posted++;
    return 0;
}

int receive_queue_post(struct receive_queue *queue, struct ibv_recv_wr *request, struct ibv_recv_wr **bad) {
    int result = 0;
    int count = 0;
    pthread_mutex_lock(&queue->lock);
    while (request != NULL && result == 0) {
        result = post_one(queue, request);
        if (result != 0) {
            *bad = request;
        } else {
            count++;
            request = request->next;
        }
    }
    pthread_mutex_unlock(&queue->lock);
    COUNT(receives, count);
    return result;
}

bool receive_queue_take(struct receive_queue *queue, struct receive_request *request) {
    struct shared_receive_queue *shared = queue->shared;
    pthread_mutex_lock(&queue->lock);
    bool some = queue->taken < queue->posted;
    if (some) {
        const struct receive_request *slot = &queue->ring[queue->taken % queue->depth];
        request->id = slot->id;
        request->count = slot->count;
        for (int i = 0; i < slot->count; i++) {
            request->elements[i] = slot->elements[i];
        }
        queue->taken++;
    }
    bool low = some && queue->posted - queue->taken < queue->limit;
    if (low) {
        queue->limit = 0;
    }
    pthread_mutex_unlock(&queue->lock);
    if (low) {
        async_event_put(shared->base.context, &shared->base, IBV_EVENT_SRQ_LIMIT_REACHED, &shared->events_taken);
    }
    return some;
}

void receive_queue_clear(struct receive_queue *queue) {
    pthread_mutex_lock(&queue->lock);
    queue->posted = 0;
    queue->taken = 0;
    atomic_store(&queue->released, 0);
    pthread_mutex_unlock(&queue->lock);
}
