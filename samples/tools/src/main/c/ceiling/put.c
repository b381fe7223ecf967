/* Puts: a header and the payload in one system call; the target receives both in one and acknowledges in one. */
#include "ceiling.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#define ACKNOWLEDGEMENTS 512

/* Bytes that have come of acknowledgements, the last of which may not be whole. */
struct inbox {
    unsigned char bytes[ACKNOWLEDGEMENTS * sizeof(uint64_t)];
    size_t held;
};

static int send_put(int socket, uint64_t id, unsigned char *payload, uint64_t size) {
    struct frame frame = {.id = id, .length = size};
    struct iovec parts[] = {
        {.iov_base = &frame, .iov_len = sizeof frame},
        {.iov_base = payload, .iov_len = (size_t)size},
    };
    return send_all(socket, parts, 2);
}

/* Waits for one acknowledgement, and takes all that have come. */
static int take_acknowledgements(int socket, struct inbox *inbox, uint64_t *done) {
    ssize_t received;
    do {
        received = recv(socket, inbox->bytes + inbox->held, sizeof inbox->bytes - inbox->held, 0);
    } while (received < 0 && errno == EINTR);
    if (received <= 0) {
        return complain("no acknowledgement came", received < 0 ? errno : 0);
    }
    inbox->held += (size_t)received;
    size_t taken = 0;
    for (; inbox->held - taken >= sizeof(uint64_t); taken += sizeof(uint64_t)) {
        uint64_t id;
        memcpy(&id, inbox->bytes + taken, sizeof id);
        if (id != *done) {
            return complain("another put was acknowledged than was sent", 0);
        }
        ++*done;
    }
    inbox->held -= taken;
    memmove(inbox->bytes, inbox->bytes + taken, inbox->held);
    return 0;
}

static int run(int socket, const struct plan *plan, unsigned char *payload, struct figures *figures) {
    struct inbox inbox = {.held = 0};
    uint64_t sent = 0;
    uint64_t done = 0;
    struct stopwatch watch = stopwatch_start(plan);
    do {
        for (; sent - done < plan->inflight; sent++) {
            if (send_put(socket, sent, payload, plan->size) != 0) {
                return -1;
            }
        }
        if (take_acknowledgements(socket, &inbox, &done) != 0) {
            return -1;
        }
    } while (stopwatch_runs(&watch, plan, done));
    stopwatch_figures(&watch, figures);
    while (done < sent) {
        if (take_acknowledgements(socket, &inbox, &done) != 0) {
            return -1;
        }
    }
    return 0;
}

int put_initiate(int socket, const struct plan *plan, struct figures *figures) {
    unsigned char *payload = memory_of(plan->size);
    int result = payload == NULL ? -1 : run(socket, plan, payload, figures);
    free(payload);
    return result;
}

static int serve(int socket, const struct plan *plan, unsigned char *memory) {
    for (;;) {
        struct frame frame;
        struct iovec parts[] = {
            {.iov_base = &frame, .iov_len = sizeof frame},
            {.iov_base = memory, .iov_len = (size_t)plan->size},
        };
        int received = receive_all(socket, parts, 2);
        if (received != 0) {
            return received < 0 ? -1 : 0;
        }
        if (frame.length != plan->size) {
            return complain("a put of another size than was said", 0);
        }
        struct iovec acknowledgement = {.iov_base = &frame.id, .iov_len = sizeof frame.id};
        if (send_all(socket, &acknowledgement, 1) != 0) {
            return -1;
        }
    }
}

int put_serve(int socket, const struct plan *plan) {
    unsigned char *memory = memory_of(plan->size);
    int result = memory == NULL ? -1 : serve(socket, plan, memory);
    free(memory);
    return result;
}
