/* A ping-pong of 8 bytes whose sides both spin on sockets that do not block, or both block. */
#include "ceiling.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/socket.h>

/* Round trips whose distribution is told: the last so many. */
#define SAMPLES ((size_t)1 << 20)

static void pause_for_the_other_side(enum waiting waiting) {
    if (waiting == WAITING_YIELD) {
        sched_yield();
    }
}

static int prepare(int socket, enum waiting waiting) {
    return waiting == WAITING_BLOCK ? 0 : socket_do_not_block(socket);
}

static bool again(void) {
    return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
}

/* 8 bytes never go in parts: the socket's buffer is empty when they are sent. */
static int send_ball(int socket, uint64_t ball, enum waiting waiting) {
    for (;;) {
        ssize_t sent = send(socket, &ball, sizeof ball, MSG_NOSIGNAL);
        if (sent == (ssize_t)sizeof ball) {
            return 0;
        }
        if (sent >= 0 || !again()) {
            return complain("send", sent < 0 ? errno : 0);
        }
        pause_for_the_other_side(waiting);
    }
}

/* 1 when the peer has ended. */
static int receive_ball(int socket, uint64_t *ball, enum waiting waiting) {
    for (;;) {
        ssize_t received = recv(socket, ball, sizeof *ball, 0);
        if (received == (ssize_t)sizeof *ball) {
            return 0;
        }
        if (received == 0) {
            return 1;
        }
        if (received > 0 || !again()) {
            return complain("receive", received < 0 ? errno : 0);
        }
        pause_for_the_other_side(waiting);
    }
}

static int ascending(const void *left, const void *right) {
    uint32_t a = *(const uint32_t *)left;
    uint32_t b = *(const uint32_t *)right;
    return (a > b) - (a < b);
}

static void distribution(uint32_t *samples, size_t taken, struct figures *figures) {
    size_t count = taken < SAMPLES ? taken : SAMPLES;
    if (count == 0) {
        return;
    }
    qsort(samples, count, sizeof *samples, ascending);
    figures->median_nanos = samples[count / 2];
    figures->p99_nanos = samples[count * 99 / 100];
}

static int run(int socket, const struct plan *plan, uint32_t *samples, struct figures *figures) {
    size_t taken = 0;
    uint64_t done = 0;
    struct stopwatch watch = stopwatch_start(plan);
    do {
        uint64_t back = 0;
        int64_t begin = clock_nanos();
        if (send_ball(socket, done, plan->waiting) != 0) {
            return -1;
        }
        if (receive_ball(socket, &back, plan->waiting) != 0 || back != done) {
            return complain("the ball did not come back", 0);
        }
        int64_t nanos = clock_nanos() - begin;
        if (stopwatch_measures(&watch)) {
            samples[taken++ % SAMPLES] = nanos < UINT32_MAX ? (uint32_t)nanos : UINT32_MAX;
        }
        done++;
    } while (stopwatch_runs(&watch, plan, done));
    stopwatch_figures(&watch, figures);
    distribution(samples, taken, figures);
    return 0;
}

int ping_pong_initiate(int socket, const struct plan *plan, struct figures *figures) {
    uint32_t *samples = (uint32_t *)memory_of(SAMPLES * sizeof *samples);
    int result = samples == NULL || prepare(socket, plan->waiting) != 0 ? -1 : run(socket, plan, samples, figures);
    free(samples);
    return result;
}

int ping_pong_serve(int socket, const struct plan *plan) {
    if (prepare(socket, plan->waiting) != 0) {
        return -1;
    }
    for (;;) {
        uint64_t ball;
        int received = receive_ball(socket, &ball, plan->waiting);
        if (received != 0) {
            return received < 0 ? -1 : 0;
        }
        if (send_ball(socket, ball, plan->waiting) != 0) {
            return -1;
        }
    }
}
