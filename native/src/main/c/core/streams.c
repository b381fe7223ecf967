#define _GNU_SOURCE
#include "sluice.h"

#include <sys/socket.h>

int64_t sluice_stream_send(int fd, const void *bytes, int64_t length) {
    if (length < 0) {
        return -EINVAL;
    }
    int64_t result;
    do {
        result = sluice_long_result(send(fd, bytes, (size_t)length, MSG_NOSIGNAL | MSG_DONTWAIT));
    } while (result == -EINTR);
    return result;
}

int64_t sluice_stream_receive(int fd, void *bytes, int64_t length) {
    if (length < 1) {
        return -EINVAL;
    }
    int64_t result;
    do {
        result = sluice_long_result(recv(fd, bytes, (size_t)length, MSG_DONTWAIT));
    } while (result == -EINTR);
    return result;
}

int64_t sluice_stream_send_vector(int fd, void *vector, int count) {
    if (count < 0) {
        return -EINVAL;
    }
    if (count == 1) {
        // spares the kernel from fetching a message header and a vector
        const struct iovec *only = vector;
        if (only->iov_len <= INT64_MAX) {
            return sluice_stream_send(fd, only->iov_base, (int64_t)only->iov_len);
        }
    }
    struct msghdr message = {.msg_iov = vector, .msg_iovlen = (size_t)count};
    int64_t result;
    do {
        result = sluice_long_result(sendmsg(fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT));
    } while (result == -EINTR);
    return result;
}

int64_t sluice_stream_receive_vector(int fd, void *vector, int count) {
    if (count < 1) {
        return -EINVAL;
    }
    struct msghdr message = {.msg_iov = vector, .msg_iovlen = (size_t)count};
    int64_t result;
    do {
        result = sluice_long_result(recvmsg(fd, &message, MSG_DONTWAIT));
    } while (result == -EINTR);
    return result;
}
