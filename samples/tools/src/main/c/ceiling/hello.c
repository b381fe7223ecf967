#include "ceiling.h"

#define MAGIC UINT64_C(0x534c43454c494e47)

/* Both sides are one program on one machine, so the plan crosses as it lies here. */
struct hello {
    uint64_t magic;
    struct plan plan;
};

int hello_send(int socket, const struct plan *plan) {
    struct hello hello = {.magic = MAGIC, .plan = *plan};
    struct iovec part = {.iov_base = &hello, .iov_len = sizeof hello};
    return send_all(socket, &part, 1);
}

int hello_receive(int socket, struct plan *plan) {
    struct hello hello;
    struct iovec part = {.iov_base = &hello, .iov_len = sizeof hello};
    if (receive_all(socket, &part, 1) != 0) {
        return complain("no initiator has said what comes", 0);
    }
    *plan = hello.plan;
    bool known = hello.magic == MAGIC && plan->mode >= MODE_PUT && plan->mode <= MODE_PING_PONG && plan->size >= 1
            && plan->size <= MAXIMUM_SIZE && plan->waiting >= WAITING_SPIN && plan->waiting <= WAITING_BLOCK;
    return known ? 0 : complain("what has connected is no initiator", 0);
}
