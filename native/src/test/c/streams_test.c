#include "check.h"

#include <string.h>
#include <sys/epoll.h>
#include <sys/uio.h>

#define SIZE (4 * 1024 * 1024)

static uint8_t source[SIZE];
static uint8_t target[SIZE];

static int64_t send_some(int fd, const uint8_t *from, int64_t length, bool vector) {
    if (!vector) {
        return sluice_stream_send(fd, from, length);
    }
    int64_t half = length / 2;
    struct iovec pieces[3] = {
        {.iov_base = (void *)from, .iov_len = (size_t)half},
        {.iov_base = NULL, .iov_len = 0},
        {.iov_base = (void *)(from + half), .iov_len = (size_t)(length - half)},
    };
    return sluice_stream_send_vector(fd, pieces, 3);
}

static int64_t receive_some(int fd, uint8_t *to, int64_t length, bool vector) {
    if (!vector) {
        return sluice_stream_receive(fd, to, length);
    }
    int64_t half = length / 2;
    struct iovec pieces[2] = {
        {.iov_base = to, .iov_len = (size_t)half},
        {.iov_base = to + half, .iov_len = (size_t)(length - half)},
    };
    return sluice_stream_receive_vector(fd, pieces, 2);
}

static void check_stream(bool vector) {
    int client, server;
    connect_pair(false, &client, &server);
    /* Far less than is sent, so that the sender has to meet a full buffer. */
    CHECK_SAME(sluice_socket_set_send_buffer(client, 16 * 1024), 0);
    CHECK_SAME(sluice_socket_set_receive_buffer(server, 16 * 1024), 0);
    for (size_t i = 0; i < SIZE; i++) {
        source[i] = (uint8_t)(i * 31 + i / 251);
    }
    memset(target, 0, sizeof target);
    CHECK_SAME(receive_some(server, target, SIZE, vector), -EAGAIN);

    int64_t sent = 0;
    int64_t received = 0;
    bool was_full = false;
    while (received < SIZE) {
        while (sent < SIZE) {
            int64_t result = send_some(client, source + sent, SIZE - sent, vector);
            if (result == -EAGAIN) {
                was_full = true;
                break;
            }
            CHECK(result > 0);
            sent += result;
        }
        await_ready(server, EPOLLIN);
        int64_t room = SIZE - received < 8192 ? SIZE - received : 8192;
        int64_t result = receive_some(server, target + received, room, vector);
        CHECK(result > 0);
        received += result;
    }
    CHECK(was_full);
    CHECK(memcmp(source, target, SIZE) == 0);

    CHECK_SAME(sluice_socket_shutdown(client), 0);
    await_ready(server, EPOLLIN);
    CHECK_SAME(receive_some(server, target, SIZE, vector), 0);
    CHECK_SAME(send_some(client, source, 1, vector), -EPIPE);
    CHECK_SAME(sluice_socket_close(client), 0);
    CHECK_SAME(sluice_socket_close(server), 0);
}

static void check_bad_memory(void) {
    int client, server;
    connect_pair(false, &client, &server);
    CHECK_SAME(sluice_stream_send(client, source, 16), 16);
    await_ready(server, EPOLLIN);
    int64_t page = sluice_memory_page_size();
    int64_t gone = sluice_memory_map(page, false);
    CHECK(gone > 0);
    CHECK_SAME(sluice_memory_unmap((void *)gone, page), 0);

    struct iovec piece = {.iov_base = (void *)gone, .iov_len = 16};
    CHECK_SAME(sluice_stream_receive(server, (void *)gone, 16), -EFAULT);
    CHECK_SAME(sluice_stream_receive_vector(server, &piece, 1), -EFAULT);
    CHECK_SAME(sluice_stream_send(client, (void *)gone, 16), -EFAULT);
    CHECK_SAME(sluice_stream_send_vector(client, &piece, 1), -EFAULT);
    CHECK_SAME(sluice_stream_receive(server, target, -1), -EINVAL);
    CHECK_SAME(sluice_stream_receive(server, target, 0), -EINVAL);
    CHECK_SAME(sluice_stream_receive_vector(server, &piece, 0), -EINVAL);
    CHECK_SAME(sluice_stream_send(client, source, -1), -EINVAL);
    CHECK_SAME(sluice_stream_send_vector(client, &piece, -1), -EINVAL);
    CHECK_SAME(sluice_stream_send_vector(client, &piece, 0), 0);

    /* Nothing was lost by that. */
    CHECK_SAME(sluice_stream_receive(server, target, SIZE), 16);
    CHECK_SAME(sluice_socket_close(client), 0);
    CHECK_SAME(sluice_socket_close(server), 0);
}

void test_streams(void) {
    check_stream(false);
    check_stream(true);
    check_bad_memory();
}
