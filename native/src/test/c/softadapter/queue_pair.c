#include "adapter.h"

#include <stdlib.h>

#define BUCKETS 4096

/* All devices'; numbers are of the process, so that soft_adapter_break_queue_pair needs no more. Under the world. */
static struct queue_pair *buckets[BUCKETS];
static uint32_t last_number = 0x10;

struct queue_pair *queue_pair_with_number(uint32_t number) {
    struct queue_pair *pair = buckets[number % BUCKETS];
    while (pair != NULL && pair->base.qp_num != number) {
        pair = pair->next_of_number;
    }
    return pair;
}

void queue_pairs_of_device(const struct device *device, void (*function)(struct queue_pair *)) {
    for (int i = 0; i < BUCKETS; i++) {
        for (struct queue_pair *pair = buckets[i]; pair != NULL; pair = pair->next_of_number) {
            if (pair->device == device) {
                function(pair);
            }
        }
    }
}

void queue_pair_fail(struct queue_pair *pair) {
    pthread_mutex_lock(&pair->lock);
    if (atomic_load(&pair->state) != IBV_QPS_RESET) {
        atomic_store(&pair->state, IBV_QPS_ERR);
    }
    pthread_mutex_unlock(&pair->lock);
    worker_schedule(pair);
}

void queue_pair_break(struct queue_pair *pair, enum ibv_event_type type) {
    async_event_put(pair->base.context, &pair->base, type, &pair->events_taken);
    queue_pair_fail(pair);
}

static int check(const struct ibv_pd *domain, const struct ibv_qp_init_attr *attributes) {
    const struct ibv_context *context = domain->context;
    const struct ibv_qp_cap *capacity = &attributes->cap;
    if (attributes->qp_type != IBV_QPT_RC) {
        return EOPNOTSUPP;
    }
    if (attributes->send_cq == NULL || attributes->recv_cq == NULL || attributes->send_cq->context != context
            || attributes->recv_cq->context != context
            || (attributes->srq != NULL && attributes->srq->context != context)) {
        return EINVAL;
    }
    if (capacity->max_send_wr > MAXIMUM_WORK_REQUESTS
            || capacity->max_send_sge > context_of(domain->context)->settings.scatter
            || capacity->max_inline_data > MAXIMUM_INLINE_BYTES) {
        return EINVAL;
    }
    if (attributes->srq == NULL
            && (capacity->max_recv_wr > MAXIMUM_WORK_REQUESTS || capacity->max_recv_sge > MAXIMUM_SCATTER)) {
        return EINVAL;
    }
    if ((uint64_t)capacity->max_send_wr * capacity->max_send_sge > context_of(domain->context)->settings.elements) {
        return ENOMEM;
    }
    return context_of(domain->context)->dead ? EIO : 0;
}

static int allocate(struct queue_pair *pair, struct ibv_pd *domain, struct ibv_srq *shared) {
    struct ibv_qp_cap *capacity = &pair->capacity;
    size_t payload = capacity->max_send_sge * sizeof(struct ibv_sge);
    if (payload < capacity->max_inline_data) {
        payload = capacity->max_inline_data;
    }
    pair->stride = (sizeof(struct send_request) + payload + 63) / 64 * 64;
    if (capacity->max_send_wr > 0) {
        pair->ring = calloc(capacity->max_send_wr, pair->stride);
        if (pair->ring == NULL) {
            return ENOMEM;
        }
    }
    if (shared != NULL) {
        capacity->max_recv_wr = 0;
        capacity->max_recv_sge = 0;
    }
    int result = receive_queue_open(&pair->own_receives, domain, capacity->max_recv_wr, capacity->max_recv_sge);
    if (result != 0) {
        free(pair->ring);
        return result;
    }
    pair->receives = &pair->own_receives;
    if (shared != NULL) {
        pair->receives = &container_of(shared, struct shared_receive_queue, base)->queue;
    }
    return 0;
}

/* Gives it a number, by which others find it. */
static int enter(struct queue_pair *pair) {
    struct device *device = pair->device;
    if ((uint64_t)device->queue_pair_count >= context_of(pair->base.context)->settings.queue_pairs) {
        return ENOMEM;
    }
    do {
        last_number = (last_number + 1) & SEQUENCE_MASK;
    } while (last_number < 0x10 || queue_pair_with_number(last_number) != NULL);
    pair->base.qp_num = last_number;
    pair->base.handle = last_number;
    struct queue_pair **bucket = &buckets[last_number % BUCKETS];
    pair->next_of_number = *bucket;
    *bucket = pair;
    device->queue_pair_count++;
    return 0;
}

static void leave(struct queue_pair *pair) {
    struct queue_pair **link = &buckets[pair->base.qp_num % BUCKETS];
    while (*link != pair) {
        link = &(*link)->next_of_number;
    }
    *link = pair->next_of_number;
    pair->device->queue_pair_count--;
}

static void use(struct queue_pair *pair, int change) {
    atomic_fetch_add(&completion_queue_of(pair->base.send_cq)->users, change);
    atomic_fetch_add(&completion_queue_of(pair->base.recv_cq)->users, change);
    if (pair->base.srq != NULL) {
        atomic_fetch_add(&container_of(pair->base.srq, struct shared_receive_queue, base)->users, change);
    }
    atomic_fetch_add(&container_of(pair->base.pd, struct domain, base)->objects, change);
    COUNT(queue_pairs, change);
}

static void free_pair(struct queue_pair *pair) {
    pthread_mutex_destroy(&pair->responder);
    pthread_mutex_destroy(&pair->lock);
    pthread_cond_destroy(&pair->base.cond);
    pthread_mutex_destroy(&pair->base.mutex);
    receive_queue_close(&pair->own_receives);
    free(pair->ring);
    free(pair);
}

static struct queue_pair *make(struct ibv_pd *domain, const struct ibv_qp_init_attr *attributes) {
    struct queue_pair *pair = calloc(1, sizeof *pair);
    if (pair == NULL) {
        errno = ENOMEM;
        return NULL;
    }
    pair->capacity = attributes->cap;
    pair->signal_all = attributes->sq_sig_all;
    int result = allocate(pair, domain, attributes->srq);
    if (result != 0) {
        free(pair);
        errno = result;
        return NULL;
    }
    pair->device = device_of(domain->context);
    pair->base.context = domain->context;
    pair->base.qp_context = attributes->qp_context;
    pair->base.pd = domain;
    pair->base.send_cq = attributes->send_cq;
    pair->base.recv_cq = attributes->recv_cq;
    pair->base.srq = attributes->srq;
    pair->base.qp_type = attributes->qp_type;
    pair->base.state = IBV_QPS_RESET;
    pthread_mutex_init(&pair->base.mutex, NULL);
    pthread_cond_init(&pair->base.cond, NULL);
    short_lock_init(&pair->lock);
    pthread_mutex_init(&pair->responder, NULL);
    return pair;
}

EXPORT struct ibv_qp *ibv_create_qp(struct ibv_pd *domain, struct ibv_qp_init_attr *attributes) {
    int result = check(domain, attributes);
    if (result != 0) {
        errno = result;
        return NULL;
    }
    struct queue_pair *pair = make(domain, attributes);
    if (pair == NULL) {
        return NULL;
    }
    world_write();
    result = enter(pair);
    world_release();
    if (result != 0) {
        free_pair(pair);
        errno = result;
        return NULL;
    }
    use(pair, 1);
    attributes->cap = pair->capacity;
    return &pair->base;
}

EXPORT int ibv_query_qp(
        struct ibv_qp *base, struct ibv_qp_attr *attributes, int mask, struct ibv_qp_init_attr *initial) {
    struct queue_pair *pair = queue_pair_of(base);
    (void)mask;
    world_read();
    *attributes = pair->attributes;
    attributes->qp_state = (enum ibv_qp_state)atomic_load(&pair->state);
    attributes->cur_qp_state = attributes->qp_state;
    attributes->cap = pair->capacity;
    world_release();
    *initial = (struct ibv_qp_init_attr){
        .qp_context = base->qp_context,
        .send_cq = base->send_cq,
        .recv_cq = base->recv_cq,
        .srq = base->srq,
        .cap = pair->capacity,
        .qp_type = base->qp_type,
        .sq_sig_all = pair->signal_all,
    };
    return 0;
}

EXPORT int ibv_destroy_qp(struct ibv_qp *base) {
    struct queue_pair *pair = queue_pair_of(base);
    world_write();
    leave(pair);
    worker_forget(pair);
    /* A request that was taken but has no completion is lost; its place in the queue is not. */
    if (pair->receiving) {
        atomic_fetch_add(&pair->receives->released, 1);
    }
    completion_queue_forget(base->send_cq, pair);
    completion_queue_forget(base->recv_cq, pair);
    world_release();
    uint32_t taken = event_queue_forget(&context_of(base->context)->events, base, &pair->events_taken);
    pthread_mutex_lock(&base->mutex);
    while (base->events_completed != taken) {
        pthread_cond_wait(&base->cond, &base->mutex);
    }
    pthread_mutex_unlock(&base->mutex);
    use(pair, -1);
    free_pair(pair);
    return 0;
}
