#include "arguments.h"
#include "ceiling.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int usage(void) {
    fputs("usage: ceiling target PORT\n"
          "       ceiling put|get PORT SIZE INFLIGHT WARMUP_MS DURATION_MS\n"
          "       ceiling ping-pong PORT spin|yield|block WARMUP_MS DURATION_MS\n"
          "       ceiling memcpy|shared-memcpy SIZE SPAN WARMUP_MS DURATION_MS\n"
          "       ceiling process-vm-writev SIZE WARMUP_MS DURATION_MS\n",
            stderr);
    return STATUS_USAGE;
}

static bool plan_times(char **arguments, struct plan *plan) {
    return times(arguments, &plan->warmup, &plan->duration);
}

static bool waiting(const char *name, enum waiting *value) {
    static const char *const names[] = {[WAITING_SPIN] = "spin", [WAITING_YIELD] = "yield", [WAITING_BLOCK] = "block"};
    for (enum waiting way = WAITING_SPIN; way <= WAITING_BLOCK; way++) {
        if (strcmp(name, names[way]) == 0) {
            *value = way;
            return true;
        }
    }
    return false;
}

static void print(const char *mode, const struct plan *plan, const struct figures *figures) {
    printf("{\"mode\":\"%s\",\"size\":%" PRIu64 ",\"inflight\":%" PRIu64 ",\"nanos\":%" PRId64
           ",\"operations\":%" PRIu64 ",\"median_nanos\":%" PRId64 ",\"p99_nanos\":%" PRId64 "}\n",
            mode, plan->size, plan->inflight, figures->nanos, figures->operations, figures->median_nanos,
            figures->p99_nanos);
}

/* Without figures this is the target. */
static int exchange(int socket, const struct plan *plan, struct figures *figures) {
    int result = -1;
    if (plan->mode == MODE_PING_PONG) {
        result = figures == NULL ? ping_pong_serve(socket, plan) : ping_pong_initiate(socket, plan, figures);
    } else {
        unsigned char *memory = memory_of(plan->size);
        if (memory != NULL) {
            result = figures == NULL ? one_sided_serve(socket, plan, memory)
                                     : one_sided_initiate(socket, plan, memory, figures);
        }
        free(memory);
    }
    close(socket);
    return result;
}

static int serve(uint64_t port) {
    struct plan plan;
    int socket = socket_accept_one((uint16_t)port);
    return socket < 0 || hello_receive(socket, &plan) != 0 ? -1 : exchange(socket, &plan, NULL);
}

static int initiate(uint64_t port, const struct plan *plan, struct figures *figures) {
    int socket = socket_connect((uint16_t)port);
    return socket < 0 || hello_send(socket, plan) != 0 ? -1 : exchange(socket, plan, figures);
}

/* A port is for what takes two processes, a span for copies. Gives an exit status. */
static int measure(const char *mode, uint64_t port, uint64_t span, const struct plan *plan) {
    struct figures figures;
    int result;
    if (port != 0) {
        result = initiate(port, plan, &figures);
    } else if (span != 0) {
        result = memory_copy(plan, span, strcmp(mode, "shared-memcpy") == 0, &figures);
    } else {
        result = cross_memory_write(plan, &figures);
    }
    if (result != 0) {
        return STATUS_FAILED;
    }
    print(mode, plan, &figures);
    return 0;
}

int main(int count, char **arguments) {
    struct plan plan = {.inflight = 1, .size = sizeof(uint64_t), .waiting = WAITING_SPIN};
    uint64_t port = 0;
    uint64_t span = 0;
    const char *mode = count > 1 ? arguments[1] : "";
    if (count == 3 && strcmp(mode, "target") == 0) {
        return !number(arguments[2], 1, UINT16_MAX, &port) ? usage() : serve(port) == 0 ? 0 : STATUS_FAILED;
    }
    bool valid = false;
    if (count == 7 && (strcmp(mode, "put") == 0 || strcmp(mode, "get") == 0)) {
        plan.mode = strcmp(mode, "put") == 0 ? MODE_PUT : MODE_GET;
        valid = number(arguments[2], 1, UINT16_MAX, &port) && number(arguments[3], 1, MAXIMUM_SIZE, &plan.size)
                && number(arguments[4], 1, MAXIMUM_INFLIGHT, &plan.inflight) && plan_times(arguments + 5, &plan);
    } else if (count == 6 && strcmp(mode, "ping-pong") == 0) {
        plan.mode = MODE_PING_PONG;
        valid = waiting(arguments[3], &plan.waiting)
                && number(arguments[2], 1, UINT16_MAX, &port) && plan_times(arguments + 4, &plan);
    } else if (count == 6 && (strcmp(mode, "memcpy") == 0 || strcmp(mode, "shared-memcpy") == 0)) {
        valid = number(arguments[2], 1, MAXIMUM_SIZE, &plan.size)
                && number(arguments[3], plan.size, MAXIMUM_SIZE, &span) && plan_times(arguments + 4, &plan);
    } else if (count == 5 && strcmp(mode, "process-vm-writev") == 0) {
        valid = number(arguments[2], 1, MAXIMUM_SIZE, &plan.size) && plan_times(arguments + 3, &plan);
    }
    return valid ? measure(mode, port, span, &plan) : usage();
}
