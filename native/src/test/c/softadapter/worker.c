#define _GNU_SOURCE
#include "adapter.h"

#include <signal.h>
#include <stdio.h>
#include <time.h>

#define NANOS_PER_SECOND UINT64_C(1000000000)

static void append(struct worker *worker, struct queue_pair *pair) {
    if (pair->listed) {
        return;
    }
    pair->listed = true;
    pair->next_scheduled = NULL;
    if (worker->first == NULL) {
        worker->first = pair;
    } else {
        worker->last->next_scheduled = pair;
    }
    worker->last = pair;
}

static void stop_waiting(struct worker *worker, struct queue_pair *pair) {
    if (!pair->waits) {
        return;
    }
    pair->waits = false;
    if (pair->previous_waiting == NULL) {
        worker->waiting = pair->next_waiting;
    } else {
        pair->previous_waiting->next_waiting = pair->next_waiting;
    }
    if (pair->next_waiting != NULL) {
        pair->next_waiting->previous_waiting = pair->previous_waiting;
    }
}

/* Lists those whose time has come, and gives the time of the next. */
static uint64_t wake_due(struct worker *worker) {
    if (worker->waiting == NULL) {
        return NEVER;
    }
    uint64_t now = now_nanos();
    uint64_t earliest = NEVER;
    struct queue_pair *pair = worker->waiting;
    while (pair != NULL) {
        struct queue_pair *next = pair->next_waiting;
        if (pair->wake <= now) {
            stop_waiting(worker, pair);
            if (!atomic_exchange(&pair->scheduled, true)) {
                append(worker, pair);
            }
        } else if (pair->wake < earliest) {
            earliest = pair->wake;
        }
        pair = next;
    }
    return earliest;
}

/* False when the worker is to end. */
static bool await_work(struct worker *worker) {
    pthread_mutex_lock(&worker->lock);
    for (;;) {
        uint64_t wake = wake_due(worker);
        if (worker->stopping || worker->first != NULL) {
            break;
        }
        worker->idle = true;
        if (wake == NEVER) {
            pthread_cond_wait(&worker->changed, &worker->lock);
        } else {
            struct timespec until = {
                .tv_sec = (time_t)(wake / NANOS_PER_SECOND),
                .tv_nsec = (long)(wake % NANOS_PER_SECOND),
            };
            pthread_cond_timedwait(&worker->changed, &worker->lock, &until);
        }
        worker->idle = false;
    }
    bool goes_on = !worker->stopping;
    pthread_mutex_unlock(&worker->lock);
    return goes_on;
}

static struct queue_pair *next_pair(struct worker *worker) {
    pthread_mutex_lock(&worker->lock);
    struct queue_pair *pair = worker->first;
    if (pair != NULL) {
        worker->first = pair->next_scheduled;
        pair->listed = false;
        stop_waiting(worker, pair);
    }
    pthread_mutex_unlock(&worker->lock);
    return pair;
}

static void *work(void *argument) {
    struct worker *worker = argument;
    while (await_work(worker)) {
        /* Only under the world is it sure that a listed queue pair is not destroyed. */
        world_read();
        struct queue_pair *pair = next_pair(worker);
        if (pair != NULL) {
            /* Before its queue is looked at: a later post schedules it again. */
            atomic_store(&pair->scheduled, false);
            requester_run(pair);
        }
        world_release();
    }
    return NULL;
}

int worker_start(struct worker *worker, int device) {
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&worker->changed, &attributes);
    pthread_condattr_destroy(&attributes);
    short_lock_init(&worker->lock);
    worker->stopping = false;
    worker->idle = false;
    worker->first = NULL;
    worker->last = NULL;
    worker->waiting = NULL;

    /* The worker leaves signals to the client, except those of its own faults. */
    static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT};
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        sigdelset(&all, faults[i]);
    }
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int result = pthread_create(&worker->thread, NULL, work, worker);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (result == 0) {
        char name[16];
        snprintf(name, sizeof name, "soft-adapter-%d", device & 7);
        pthread_setname_np(worker->thread, name);
    }
    return result;
}

void worker_stop(struct worker *worker) {
    pthread_mutex_lock(&worker->lock);
    worker->stopping = true;
    pthread_cond_signal(&worker->changed);
    pthread_mutex_unlock(&worker->lock);
    pthread_join(worker->thread, NULL);
    pthread_mutex_destroy(&worker->lock);
    pthread_cond_destroy(&worker->changed);
}

void worker_schedule(struct queue_pair *pair) {
    if (atomic_exchange(&pair->scheduled, true)) {
        return;
    }
    struct worker *worker = &pair->device->worker;
    pthread_mutex_lock(&worker->lock);
    append(worker, pair);
    if (worker->idle) {
        worker->idle = false;
        pthread_cond_signal(&worker->changed);
    }
    pthread_mutex_unlock(&worker->lock);
}

void worker_schedule_at(struct queue_pair *pair, uint64_t nanos) {
    struct worker *worker = &pair->device->worker;
    pthread_mutex_lock(&worker->lock);
    if (pair->waits) {
        pair->wake = nanos < pair->wake ? nanos : pair->wake;
    } else {
        pair->wake = nanos;
        pair->waits = true;
        pair->previous_waiting = NULL;
        pair->next_waiting = worker->waiting;
        if (worker->waiting != NULL) {
            worker->waiting->previous_waiting = pair;
        }
        worker->waiting = pair;
    }
    pthread_mutex_unlock(&worker->lock);
}

void worker_hurry(struct worker *worker) {
    pthread_mutex_lock(&worker->lock);
    for (struct queue_pair *pair = worker->waiting; pair != NULL; pair = pair->next_waiting) {
        pair->wake = 0;
    }
    pthread_cond_signal(&worker->changed);
    pthread_mutex_unlock(&worker->lock);
}

void worker_forget(struct queue_pair *pair) {
    struct worker *worker = &pair->device->worker;
    pthread_mutex_lock(&worker->lock);
    stop_waiting(worker, pair);
    if (pair->listed) {
        struct queue_pair *before = NULL;
        for (struct queue_pair *each = worker->first; each != pair; each = each->next_scheduled) {
            before = each;
        }
        if (before == NULL) {
            worker->first = pair->next_scheduled;
        } else {
            before->next_scheduled = pair->next_scheduled;
        }
        if (worker->last == pair) {
            worker->last = before;
        }
        pair->listed = false;
    }
    pthread_mutex_unlock(&worker->lock);
}
