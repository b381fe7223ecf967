/*
 * Puts: a header and the payload in one system call; the target receives both in one and acknowledges in one.
 * Gets: a request in one system call; the target answers with a header and the payload in one.
 */
#include "ceiling.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#define ACKNOWLEDGEMENTS 512

/* Bytes that have come of acknowledgements, the last of which may not be whole. */
struct inbox {
    unsigned char bytes[ACKNOWLEDGEMENTS * sizeof(uint64_t)];
    size_t held;
};

/* Without a payload only the header goes. */
static int send_frame(int socket, struct frame frame, unsigned char *payload) {
    struct iovec parts[] = {
        {.iov_base = &frame, .iov_len = sizeof frame},
        {.iov_base = payload, .iov_len = (size_t)frame.length},
    };
    return send_all(socket, parts, payload == NULL ? 1 : 2);
}

static int receive_frame(int socket, struct frame *frame, unsigned char *payload, uint64_t size) {
    struct iovec parts[] = {
        {.iov_base = frame, .iov_len = sizeof *frame},
        {.iov_base = payload, .iov_len = (size_t)size},
    };
    return receive_all(socket, parts, payload == NULL ? 1 : 2);
}

static int take_answer(int socket, uint64_t size, unsigned char *memory, uint64_t *done) {
    struct frame frame;
    if (receive_frame(socket, &frame, memory, size) != 0) {
        return complain("no answer came", 0);
    }
    bool expected = frame.id == (*done)++ && frame.length == size;
    return expected ? 0 : complain("another get was answered than was sent", 0);
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

int one_sided_initiate(int socket, const struct plan *plan, unsigned char *memory, struct figures *figures) {
    bool put = plan->mode == MODE_PUT;
    struct inbox inbox = {.held = 0};
    uint64_t sent = 0;
    uint64_t done = 0;
    bool running = true;
    struct stopwatch watch = stopwatch_start(plan);
    while (running || done < sent) {
        for (; running && sent - done < plan->inflight; sent++) {
            if (send_frame(socket, (struct frame){.id = sent, .length = plan->size}, put ? memory : NULL) != 0) {
                return -1;
            }
        }
        if ((put ? take_acknowledgements(socket, &inbox, &done) : take_answer(socket, plan->size, memory, &done)) != 0) {
            return -1;
        }
        running = running && stopwatch_runs(&watch, plan, done);
    }
    stopwatch_figures(&watch, figures);
    return 0;
}

int one_sided_serve(int socket, const struct plan *plan, unsigned char *memory) {
    bool put = plan->mode == MODE_PUT;
    for (;;) {
        struct frame frame;
        int received = receive_frame(socket, &frame, put ? memory : NULL, plan->size);
        if (received != 0) {
            return received < 0 ? -1 : 0;
        }
        if (frame.length != plan->size) {
            return complain("a put or get of another size than was said", 0);
        }
        struct iovec acknowledgement = {.iov_base = &frame.id, .iov_len = sizeof frame.id};
        if ((put ? send_all(socket, &acknowledgement, 1) : send_frame(socket, frame, memory)) != 0) {
            return -1;
        }
    }
}
