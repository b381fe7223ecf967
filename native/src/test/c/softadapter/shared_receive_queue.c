#include "adapter.h"

#include <stdlib.h>

static struct shared_receive_queue *shared_receive_queue_of(struct ibv_srq *queue) {
    return container_of(queue, struct shared_receive_queue, base);
}

int shared_receive_queue_post(struct ibv_srq *queue, struct ibv_recv_wr *request, struct ibv_recv_wr **bad) {
    return receive_queue_post(&shared_receive_queue_of(queue)->queue, request, bad);
}

EXPORT struct ibv_srq *ibv_create_srq(struct ibv_pd *domain, struct ibv_srq_init_attr *attributes) {
    const struct ibv_srq_attr *wanted = &attributes->attr;
    int result = 0;
    if (wanted->max_wr < 1 || wanted->max_wr > MAXIMUM_WORK_REQUESTS || wanted->max_sge > MAXIMUM_SCATTER) {
        result = EINVAL;
    } else if (context_of(domain->context)->dead) {
        result = EIO;
    }
    struct shared_receive_queue *shared = result == 0 ? calloc(1, sizeof *shared) : NULL;
    if (shared == NULL) {
        errno = result == 0 ? ENOMEM : result;
        return NULL;
    }
    result = receive_queue_open(&shared->queue, domain, wanted->max_wr, wanted->max_sge);
    if (result != 0) {
        free(shared);
        errno = result;
        return NULL;
    }
    shared->queue.shared = shared;
    shared->base.context = domain->context;
    shared->base.srq_context = attributes->srq_context;
    shared->base.pd = domain;
    pthread_mutex_init(&shared->base.mutex, NULL);
    pthread_cond_init(&shared->base.cond, NULL);
    atomic_fetch_add(&container_of(domain, struct domain, base)->objects, 1);
    COUNT(receive_queues, 1);
    return &shared->base;
}

EXPORT int ibv_modify_srq(struct ibv_srq *queue, struct ibv_srq_attr *attributes, int mask) {
    struct shared_receive_queue *shared = shared_receive_queue_of(queue);
    /* As much hardware, it doesn't resize. */
    if (mask & ~IBV_SRQ_LIMIT) {
        return EINVAL;
    }
    if (mask & IBV_SRQ_LIMIT) {
        if (attributes->srq_limit > shared->queue.depth) {
            return EINVAL;
        }
        pthread_mutex_lock(&shared->queue.lock);
        shared->queue.limit = attributes->srq_limit;
        pthread_mutex_unlock(&shared->queue.lock);
    }
    return 0;
}

EXPORT int ibv_query_srq(struct ibv_srq *queue, struct ibv_srq_attr *attributes) {
    struct receive_queue *receives = &shared_receive_queue_of(queue)->queue;
    pthread_mutex_lock(&receives->lock);
    *attributes = (struct ibv_srq_attr){
        .max_wr = receives->depth,
        .max_sge = receives->maximum_scatter,
        .srq_limit = receives->limit,
    };
    pthread_mutex_unlock(&receives->lock);
    return 0;
}

EXPORT int ibv_destroy_srq(struct ibv_srq *queue) {
    struct shared_receive_queue *shared = shared_receive_queue_of(queue);
    if (atomic_load(&shared->users) != 0) {
        return EBUSY;
    }
    uint32_t taken = event_queue_forget(&context_of(queue->context)->events, queue, &shared->events_taken);
    pthread_mutex_lock(&queue->mutex);
    while (queue->events_completed != taken) {
        pthread_cond_wait(&queue->cond, &queue->mutex);
    }
    pthread_mutex_unlock(&queue->mutex);
    atomic_fetch_sub(&container_of(queue->pd, struct domain, base)->objects, 1);
    receive_queue_close(&shared->queue);
    pthread_cond_destroy(&queue->cond);
    pthread_mutex_destroy(&queue->mutex);
    free(shared);
    COUNT(receive_queues, -1);
    return 0;
}
