#include "adapter.h"

#include <stdlib.h>

EXPORT struct ibv_comp_channel *ibv_create_comp_channel(struct ibv_context *context) {
    if (context_of(context)->dead) {
        errno = EIO;
        return NULL;
    }
    struct channel *channel = calloc(1, sizeof *channel);
    if (channel == NULL) {
        return NULL;
    }
    int result = event_queue_open(&channel->events);
    if (result != 0) {
        free(channel);
        errno = result;
        return NULL;
    }
    channel->base.context = context;
    channel->base.fd = channel->events.fd;
    atomic_fetch_add(&context_of(context)->objects, 1);
    COUNT(channels, 1);
    return &channel->base;
}

EXPORT int ibv_destroy_comp_channel(struct ibv_comp_channel *base) {
    struct channel *channel = channel_of(base);
    pthread_mutex_lock(&base->context->mutex);
    bool used = base->refcnt != 0;
    pthread_mutex_unlock(&base->context->mutex);
    if (used) {
        return EBUSY;
    }
    atomic_fetch_sub(&context_of(base->context)->objects, 1);
    event_queue_close(&channel->events);
    free(channel);
    COUNT(channels, -1);
    return 0;
}

EXPORT int ibv_get_cq_event(struct ibv_comp_channel *channel, struct ibv_cq **queue, void **queue_context) {
    struct event event;
    if (event_queue_take(&channel_of(channel)->events, &event) != 0) {
        return -1;
    }
    *queue = event.source;
    *queue_context = (*queue)->cq_context;
    return 0;
}

EXPORT void ibv_ack_cq_events(struct ibv_cq *queue, unsigned int count) {
    pthread_mutex_lock(&queue->mutex);
    queue->comp_events_completed += count;
    pthread_cond_signal(&queue->cond);
    pthread_mutex_unlock(&queue->mutex);
}
