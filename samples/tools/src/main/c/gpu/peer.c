#include "gpu.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

struct peer peer_start(void (*work)(int socket, const void *argument), const void *argument) {
    int sockets[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) < 0) {
        fail_errno("socketpair");
    }
    pid_t process = fork();
    if (process < 0) {
        fail_errno("fork");
    }
    if (process == 0) {
        /* A kernel that waits for the other GPU would keep this process. */
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        close(sockets[0]);
        work(sockets[1], argument);
        _exit(0);
    }
    close(sockets[1]);
    return (struct peer){.socket = sockets[0], .process = process};
}

union control {
    struct cmsghdr header;
    char bytes[CMSG_SPACE(sizeof(int))];
};

void peer_send(int socket, const void *message, size_t bytes, int descriptor) {
    union control control;
    struct iovec part = {.iov_base = (void *)(uintptr_t)message, .iov_len = bytes};
    struct msghdr header = {.msg_iov = &part, .msg_iovlen = 1};
    if (descriptor >= 0) {
        memset(&control, 0, sizeof control);
        header.msg_control = &control;
        header.msg_controllen = sizeof control;
        struct cmsghdr *rights = CMSG_FIRSTHDR(&header);
        rights->cmsg_level = SOL_SOCKET;
        rights->cmsg_type = SCM_RIGHTS;
        rights->cmsg_len = CMSG_LEN(sizeof descriptor);
        memcpy(CMSG_DATA(rights), &descriptor, sizeof descriptor);
    }
    if (sendmsg(socket, &header, MSG_NOSIGNAL) != (ssize_t)bytes) {
        fail_errno("sendmsg");
    }
}

static ssize_t receive(int socket, struct msghdr *header) {
    ssize_t received;
    do {
        received = recvmsg(socket, header, MSG_CMSG_CLOEXEC);
    } while (received < 0 && errno == EINTR);
    return received;
}

/* It has said why. */
static _Noreturn void end_as(struct peer peer) {
    int status = 0;
    while (waitpid(peer.process, &status, 0) < 0 && errno == EINTR) {
    }
    exit(WIFEXITED(status) && WEXITSTATUS(status) != 0 ? WEXITSTATUS(status) : STATUS_FAILED);
}

void peer_receive(struct peer peer, void *message, size_t bytes, int *descriptor) {
    union control control;
    struct iovec part = {.iov_base = message, .iov_len = bytes};
    struct msghdr header = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
    if (receive(peer.socket, &header) != (ssize_t)bytes) {
        end_as(peer);
    }
    struct cmsghdr *rights = CMSG_FIRSTHDR(&header);
    if (descriptor != NULL) {
        *descriptor = -1;
        if (rights != NULL && rights->cmsg_type == SCM_RIGHTS) {
            memcpy(descriptor, CMSG_DATA(rights), sizeof *descriptor);
        }
    }
}

void peer_wait(int socket) {
    char byte;
    ssize_t count;
    do {
        count = read(socket, &byte, 1);
    } while (count > 0 || (count < 0 && errno == EINTR));
}
