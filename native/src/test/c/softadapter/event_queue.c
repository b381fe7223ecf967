#include "adapter.h"

#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

/*
 * The descriptor's counter is above 0 just as long as there are events. Each event is written, for polls that are
 * triggered by edges.
 */

int event_queue_open(struct event_queue *queue) {
    queue->fd = eventfd(0, EFD_CLOEXEC);
    if (queue->fd < 0) {
        return errno;
    }
    pthread_mutex_init(&queue->lock, NULL);
    queue->first = NULL;
    queue->last = &queue->first;
    return 0;
}

void event_queue_close(struct event_queue *queue) {
    while (queue->first != NULL) {
        struct event *event = queue->first;
        queue->first = event->next;
        free(event);
    }
    pthread_mutex_destroy(&queue->lock);
    close(queue->fd);
}

void event_queue_put(struct event_queue *queue, void *source, int type, uint32_t *taken) {
    struct event *event = malloc(sizeof *event);
    if (event == NULL) {
        fputs("soft adapter: no memory for an event\n", stderr);
        abort();
    }
    *event = (struct event){.source = source, .type = type, .taken = taken};
    pthread_mutex_lock(&queue->lock);
    *queue->last = event;
    queue->last = &event->next;
    eventfd_write(queue->fd, 1);
    pthread_mutex_unlock(&queue->lock);
}

static void quieten(struct event_queue *queue) {
    eventfd_t count;
    if (queue->first == NULL) {
        eventfd_read(queue->fd, &count);
    }
}

static bool take_first(struct event_queue *queue, struct event *taken) {
    pthread_mutex_lock(&queue->lock);
    struct event *event = queue->first;
    if (event != NULL) {
        queue->first = event->next;
        if (queue->first == NULL) {
            queue->last = &queue->first;
        }
        quieten(queue);
        ++*event->taken;
    }
    pthread_mutex_unlock(&queue->lock);
    if (event == NULL) {
        return false;
    }
    *taken = *event;
    free(event);
    return true;
}

int event_queue_take(struct event_queue *queue, struct event *event) {
    while (!take_first(queue, event)) {
        if (fcntl(queue->fd, F_GETFL) & O_NONBLOCK) {
            errno = EAGAIN;
            return -1;
        }
        struct pollfd wait = {.fd = queue->fd, .events = POLLIN};
        if (poll(&wait, 1, -1) < 0) {
            return -1;
        }
    }
    return 0;
}

uint32_t event_queue_forget(struct event_queue *queue, void *source, const uint32_t *taken) {
    pthread_mutex_lock(&queue->lock);
    bool some = queue->first != NULL;
    struct event **link = &queue->first;
    while (*link != NULL) {
        struct event *event = *link;
        if (event->source == source) {
            *link = event->next;
            free(event);
        } else {
            link = &event->next;
        }
    }
    queue->last = link;
    if (some) {
        quieten(queue);
    }
    uint32_t count = *taken;
    pthread_mutex_unlock(&queue->lock);
    return count;
}
