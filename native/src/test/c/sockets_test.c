#include "check.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>

static const uint8_t LOOPBACK[4] = {127, 0, 0, 1};

static void check_addresses(bool ipv6) {
    int client, server;
    connect_pair(ipv6, &client, &server);
    uint8_t near[SLUICE_ADDRESS_BYTES];
    uint8_t far[SLUICE_ADDRESS_BYTES];
    int length = ipv6 ? 18 : 6;
    CHECK_SAME(sluice_socket_local_address(client, near), length);
    CHECK_SAME(sluice_socket_peer_address(server, far), length);
    CHECK(memcmp(near, far, (size_t)length) == 0);
    CHECK_SAME(near[length - 2] << 8 | near[length - 1], sluice_socket_local_port(client));
    CHECK_SAME(sluice_socket_shutdown(client), 0);
    CHECK_SAME(sluice_socket_close(client), 0);
    CHECK_SAME(sluice_socket_close(server), 0);
}

static void check_ipv4_peer_of_ipv6_socket(void) {
    const uint8_t anywhere[16] = {0};
    const uint8_t mapped[16] = {[10] = 0xff, [11] = 0xff, [12] = 127, [15] = 1};
    int listener = sluice_socket_open(true);
    CHECK_SAME(sluice_socket_bind(listener, anywhere, 16, 0, 0), 0);
    CHECK_SAME(sluice_socket_listen(listener, 4), 0);
    int port = sluice_socket_local_port(listener);

    /* The same IPv4 address: 4 bytes or mapped, from a socket of either family. */
    for (int i = 0; i < 4; i++) {
        int client = sluice_socket_open(i & 1);
        int result = i & 2 ? sluice_socket_connect(client, mapped, 16, 0, port)
                           : sluice_socket_connect(client, LOOPBACK, 4, 0, port);
        CHECK(result == 0 || result == -EINPROGRESS);
        await_ready(listener, EPOLLIN);
        int server = sluice_socket_accept(listener);
        uint8_t peer[SLUICE_ADDRESS_BYTES];
        CHECK_SAME(sluice_socket_peer_address(server, peer), 18);
        CHECK(memcmp(peer, mapped, sizeof mapped) == 0);
        CHECK_SAME(sluice_socket_close(server), 0);
        CHECK_SAME(sluice_socket_close(client), 0);
    }
    CHECK_SAME(sluice_socket_close(listener), 0);
}

static void check_refused(void) {
    int listener = sluice_socket_open(false);
    CHECK_SAME(sluice_socket_bind(listener, LOOPBACK, 4, 0, 0), 0);
    int port = sluice_socket_local_port(listener);
    int client = sluice_socket_open(false);
    int result = sluice_socket_connect(client, LOOPBACK, 4, 0, port);
    if (result == -EINPROGRESS) {
        await_ready(client, EPOLLOUT);
        result = sluice_socket_connect_result(client);
    }
    CHECK_SAME(result, -ECONNREFUSED);
    CHECK_SAME(sluice_socket_close(client), 0);
    CHECK_SAME(sluice_socket_close(listener), 0);
}

static void check_bad_arguments(void) {
    const uint8_t foreign[16] = {0x20, 0x01};
    int fd = sluice_socket_open(false);
    CHECK_SAME(sluice_socket_bind(fd, LOOPBACK, 3, 0, 0), -EINVAL);
    CHECK_SAME(sluice_socket_bind(fd, LOOPBACK, 4, 0, -1), -EINVAL);
    CHECK_SAME(sluice_socket_bind(fd, LOOPBACK, 4, 0, 65536), -EINVAL);
    CHECK_SAME(sluice_socket_connect(fd, foreign, 16, 0, 1), -EAFNOSUPPORT);
    CHECK_SAME(sluice_socket_close(fd), 0);
    CHECK_SAME(sluice_socket_close(fd), -EBADF);
    CHECK_SAME(sluice_socket_bind(fd, LOOPBACK, 4, 0, 0), -EBADF);
    CHECK_SAME(sluice_socket_listen(fd, 1), -EBADF);
    CHECK_SAME(sluice_socket_accept(fd), -EBADF);
    CHECK_SAME(sluice_socket_connect_result(fd), -EBADF);
    CHECK_SAME(sluice_socket_local_port(fd), -EBADF);
    CHECK_SAME(sluice_socket_shutdown(fd), -EBADF);
    CHECK_SAME(sluice_socket_unacknowledged_bytes(fd), -EBADF);
}

static void check_options(void) {
    int client, server;
    connect_pair(false, &client, &server);
    CHECK_SAME(sluice_socket_set_no_delay(client, true), 0);
    CHECK_SAME(sluice_socket_set_reset_on_close(client), 0);
    CHECK_SAME(sluice_socket_set_quick_ack(client, true), 0);
    CHECK_SAME(sluice_socket_set_keep_alive(client, true), 0);
    CHECK_SAME(sluice_socket_set_send_buffer(client, 64 * 1024), 0);
    CHECK_SAME(sluice_socket_set_receive_buffer(client, 64 * 1024), 0);
    CHECK_SAME(sluice_socket_set_user_timeout(client, 5000), 0);
    CHECK_SAME(sluice_socket_set_user_timeout(client, -1), -EINVAL);
    CHECK_SAME(sluice_socket_unacknowledged_bytes(client), 0);
    CHECK_SAME(sluice_socket_close(client), 0);
    /* it was asked for a reset */
    uint8_t byte;
    await_ready(server, EPOLLIN);
    CHECK_SAME(sluice_stream_receive(server, &byte, 1), -ECONNRESET);
    CHECK_SAME(sluice_socket_close(server), 0);
}

static bool is_unpaced(int fd) {
    char name[16] = "";
    socklen_t length = sizeof name;
    CHECK_SAME(getsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, name, &length), 0);
    return strcmp(name, "reno") == 0;
}

static void check_unpaced(void) {
    int listener = sluice_socket_open(false);
    CHECK_SAME(sluice_socket_set_unpaced(listener), 0);
    CHECK_SAME(sluice_socket_bind(listener, LOOPBACK, 4, 0, 0), 0);
    CHECK_SAME(sluice_socket_listen(listener, 4), 0);
    int client = sluice_socket_open(false);
    CHECK_SAME(sluice_socket_set_unpaced(client), 0);
    int result = sluice_socket_connect(client, LOOPBACK, 4, 0, sluice_socket_local_port(listener));
    CHECK(result == 0 || result == -EINPROGRESS);
    await_ready(listener, EPOLLIN);
    int server = sluice_socket_accept(listener);
    CHECK(is_unpaced(client));
    /* accepted sockets inherit it */
    CHECK(is_unpaced(server));
    CHECK_SAME(sluice_socket_close(server), 0);
    CHECK_SAME(sluice_socket_close(client), 0);
    CHECK_SAME(sluice_socket_close(listener), 0);
    CHECK_SAME(sluice_socket_set_unpaced(listener), -EBADF);
}

static bool has_ipv6(void) {
    const uint8_t loopback[16] = {[15] = 1};
    int fd = sluice_socket_open(true);
    if (fd < 0) {
        return false;
    }
    int result = sluice_socket_bind(fd, loopback, 16, 0, 0);
    CHECK_SAME(sluice_socket_close(fd), 0);
    return result == 0;
}

void test_sockets(void) {
    check_addresses(false);
    check_refused();
    check_bad_arguments();
    check_options();
    check_unpaced();
    if (has_ipv6()) {
        check_addresses(true);
        check_ipv4_peer_of_ipv6_socket();
    } else {
        puts("skipped: this machine has no IPv6");
    }
}
