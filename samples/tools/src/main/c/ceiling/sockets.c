#include "ceiling.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* Only this machine may reach the target. */
static struct sockaddr_in loopback(uint16_t port) {
    struct sockaddr_in address;
    memset(&address, 0, sizeof address);
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return address;
}

static int closed(int socket, const char *what) {
    int error = errno;
    close(socket);
    return complain(what, error);
}

static int without_delay(int socket) {
    int on = 1;
    return setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

int socket_accept_one(uint16_t port) {
    struct sockaddr_in address = loopback(port);
    int on = 1;
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (listener < 0) {
        return complain("socket", errno);
    }
    if (setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) < 0
            || bind(listener, (struct sockaddr *)&address, sizeof address) < 0 || listen(listener, 1) < 0) {
        return closed(listener, "listen");
    }
    int accepted;
    do {
        accepted = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
    } while (accepted < 0 && errno == EINTR);
    if (accepted < 0) {
        return closed(listener, "accept");
    }
    close(listener);
    return without_delay(accepted) < 0 ? closed(accepted, "TCP_NODELAY") : accepted;
}

int socket_connect(uint16_t port) {
    struct sockaddr_in address = loopback(port);
    int connected = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (connected < 0) {
        return complain("socket", errno);
    }
    if (connect(connected, (struct sockaddr *)&address, sizeof address) < 0) {
        return closed(connected, "connect");
    }
    return without_delay(connected) < 0 ? closed(connected, "TCP_NODELAY") : connected;
}

int socket_do_not_block(int socket) {
    int flags = fcntl(socket, F_GETFL);
    if (flags < 0 || fcntl(socket, F_SETFL, flags | O_NONBLOCK) < 0) {
        return complain("O_NONBLOCK", errno);
    }
    return 0;
}

/* Drops the first bytes of what is still to be moved. */
static void advance(struct msghdr *message, size_t bytes) {
    while (message->msg_iovlen > 0 && bytes >= message->msg_iov->iov_len) {
        bytes -= message->msg_iov->iov_len;
        message->msg_iov++;
        message->msg_iovlen--;
    }
    if (message->msg_iovlen > 0) {
        message->msg_iov->iov_base = (char *)message->msg_iov->iov_base + bytes;
        message->msg_iov->iov_len -= bytes;
    }
}

int send_all(int socket, struct iovec *parts, size_t count) {
    struct msghdr message = {.msg_iov = parts, .msg_iovlen = count};
    while (message.msg_iovlen > 0) {
        /* As writev, but a peer that has ended gives an error and no signal. */
        ssize_t sent = sendmsg(socket, &message, MSG_NOSIGNAL);
        if (sent >= 0) {
            advance(&message, (size_t)sent);
        } else if (errno != EINTR) {
            return complain("send", errno);
        }
    }
    return 0;
}

int receive_all(int socket, struct iovec *parts, size_t count) {
    struct msghdr message = {.msg_iov = parts, .msg_iovlen = count};
    bool begun = false;
    while (message.msg_iovlen > 0) {
        ssize_t received = recvmsg(socket, &message, MSG_WAITALL);
        if (received > 0) {
            begun = true;
            advance(&message, (size_t)received);
        } else if (received == 0) {
            return begun ? complain("the peer has ended within a frame", 0) : 1;
        } else if (errno != EINTR) {
            return complain("receive", errno);
        }
    }
    return 0;
}
