#include "ceiling.h"

#define MAGIC UINT64_C(0x534c43454c494e47)

struct hello {
    uint64_t magic;
    uint64_t mode;
    uint64_t size;
    uint64_t waiting;
};

int hello_send(int socket, const struct plan *plan) {
    struct hello hello = {.magic = MAGIC, .mode = plan->mode, .size = plan->size, .waiting = plan->waiting};
    struct iovec part = {.iov_base = &hello, .iov_len = sizeof hello};
    return send_all(socket, &part, 1);
}

int hello_receive(int socket, struct plan *plan) {
    struct hello hello;
    struct iovec part = {.iov_base = &hello, .iov_len = sizeof hello};
    if (receive_all(socket, &part, 1) != 0) {
        return complain("no initiator has sent a plan", 0);
    }
    if (hello.magic != MAGIC || hello.mode < MODE_PUT || hello.mode > MODE_PING_PONG || hello.size < 1
            || hello.size > MAXIMUM_SIZE || hello.waiting < WAITING_SPIN || hello.waiting > WAITING_BLOCK) {
        return complain("the peer is no initiator", 0);
    }
    *plan = (struct plan){
        .mode = (enum mode)hello.mode,
        .size = hello.size,
        .waiting = (enum waiting)hello.waiting,
    };
    return 0;
}
