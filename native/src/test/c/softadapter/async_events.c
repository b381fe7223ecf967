#include "adapter.h"

void async_event_put(struct ibv_context *context, void *source, enum ibv_event_type type, uint32_t *taken) {
    COUNT(async_events, 1);
    event_queue_put(&context_of(context)->events, source, type, taken);
}

EXPORT int ibv_get_async_event(struct ibv_context *context, struct ibv_async_event *event) {
    struct event taken;
    if (event_queue_take(&context_of(context)->events, &taken) != 0) {
        return -1;
    }
    memset(event, 0, sizeof *event);
    event->event_type = (enum ibv_event_type)taken.type;
    switch (event->event_type) {
    case IBV_EVENT_CQ_ERR:
        event->element.cq = taken.source;
        break;
    case IBV_EVENT_QP_FATAL:
    case IBV_EVENT_QP_REQ_ERR:
    case IBV_EVENT_QP_ACCESS_ERR:
    case IBV_EVENT_COMM_EST:
    case IBV_EVENT_QP_LAST_WQE_REACHED:
        event->element.qp = taken.source;
        break;
    case IBV_EVENT_SRQ_LIMIT_REACHED:
        event->element.srq = taken.source;
        break;
    default:
        event->element.port_num = PORT;
        break;
    }
    return 0;
}

static void acknowledge(pthread_mutex_t *mutex, pthread_cond_t *condition, uint32_t *acknowledged) {
    pthread_mutex_lock(mutex);
    ++*acknowledged;
    pthread_cond_signal(condition);
    pthread_mutex_unlock(mutex);
}

EXPORT void ibv_ack_async_event(struct ibv_async_event *event) {
    switch (event->event_type) {
    case IBV_EVENT_CQ_ERR: {
        struct ibv_cq *queue = event->element.cq;
        acknowledge(&queue->mutex, &queue->cond, &queue->async_events_completed);
        break;
    }
    case IBV_EVENT_QP_FATAL:
    case IBV_EVENT_QP_REQ_ERR:
    case IBV_EVENT_QP_ACCESS_ERR:
    case IBV_EVENT_COMM_EST:
    case IBV_EVENT_QP_LAST_WQE_REACHED: {
        struct ibv_qp *pair = event->element.qp;
        acknowledge(&pair->mutex, &pair->cond, &pair->events_completed);
        break;
    }
    case IBV_EVENT_SRQ_LIMIT_REACHED: {
        struct ibv_srq *queue = event->element.srq;
        acknowledge(&queue->mutex, &queue->cond, &queue->events_completed);
        break;
    }
    default:
        break;
    }
}
