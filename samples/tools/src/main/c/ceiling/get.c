/* Gets: a request in one system call; the target answers with a header and the payload in one. */
#include "ceiling.h"

#include <stdlib.h>

static int send_request(int socket, uint64_t id, uint64_t size) {
    struct frame request = {.id = id, .length = size};
    struct iovec part = {.iov_base = &request, .iov_len = sizeof request};
    return send_all(socket, &part, 1);
}

static int take_answer(int socket, uint64_t id, unsigned char *memory, uint64_t size) {
    struct frame frame;
    struct iovec parts[] = {
        {.iov_base = &frame, .iov_len = sizeof frame},
        {.iov_base = memory, .iov_len = (size_t)size},
    };
    if (receive_all(socket, parts, 2) != 0) {
        return complain("no answer came", 0);
    }
    return frame.id == id && frame.length == size ? 0 : complain("another get was answered than was sent", 0);
}

static int run(int socket, const struct plan *plan, unsigned char *memory, struct figures *figures) {
    uint64_t sent = 0;
    uint64_t done = 0;
    struct stopwatch watch = stopwatch_start(plan);
    do {
        for (; sent - done < plan->inflight; sent++) {
            if (send_request(socket, sent, plan->size) != 0) {
                return -1;
            }
        }
        if (take_answer(socket, done++, memory, plan->size) != 0) {
            return -1;
        }
    } while (stopwatch_runs(&watch, plan, done));
    stopwatch_figures(&watch, figures);
    while (done < sent) {
        if (take_answer(socket, done++, memory, plan->size) != 0) {
            return -1;
        }
    }
    return 0;
}

int get_initiate(int socket, const struct plan *plan, struct figures *figures) {
    unsigned char *memory = memory_of(plan->size);
    int result = memory == NULL ? -1 : run(socket, plan, memory, figures);
    free(memory);
    return result;
}

static int serve(int socket, const struct plan *plan, unsigned char *memory) {
    for (;;) {
        struct frame frame;
        struct iovec request = {.iov_base = &frame, .iov_len = sizeof frame};
        int received = receive_all(socket, &request, 1);
        if (received != 0) {
            return received < 0 ? -1 : 0;
        }
        if (frame.length != plan->size) {
            return complain("a get of another size than was said", 0);
        }
        struct iovec parts[] = {
            {.iov_base = &frame, .iov_len = sizeof frame},
            {.iov_base = memory, .iov_len = (size_t)plan->size},
        };
        if (send_all(socket, parts, 2) != 0) {
            return -1;
        }
    }
}

int get_serve(int socket, const struct plan *plan) {
    unsigned char *memory = memory_of(plan->size);
    int result = memory == NULL ? -1 : serve(socket, plan, memory);
    free(memory);
    return result;
}
