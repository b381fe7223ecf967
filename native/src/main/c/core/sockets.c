#define _GNU_SOURCE
#include "sluice.h"

#include <arpa/inet.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

union socket_address {
    struct sockaddr any;
    struct sockaddr_in ipv4;
    struct sockaddr_in6 ipv6;
};

static const uint8_t MAPPED_PREFIX[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};

static int set_option(int fd, int level, int name, int value) {
    return sluice_result(setsockopt(fd, level, name, &value, sizeof value));
}

/* Returns the value of an option that is never negative. */
static int get_option(int fd, int level, int name) {
    int value = 0;
    socklen_t length = sizeof value;
    int result = getsockopt(fd, level, name, &value, &length);
    return result < 0 ? -errno : value;
}

/* Fills in an address of the socket's own family; returns its length. */
static int to_socket_address(
        int fd, const uint8_t *address, size_t length, int scope, int port, union socket_address *result) {
    if ((length != 4 && length != 16) || port < 0 || port > UINT16_MAX) {
        return -EINVAL;
    }
    int family = get_option(fd, SOL_SOCKET, SO_DOMAIN);
    if (family < 0) {
        return family;
    }
    memset(result, 0, sizeof *result);
    if (family == AF_INET6) {
        result->ipv6.sin6_family = AF_INET6;
        result->ipv6.sin6_port = htons((uint16_t)port);
        uint8_t *bytes = result->ipv6.sin6_addr.s6_addr;
        if (length == 16) {
            memcpy(bytes, address, 16);
            result->ipv6.sin6_scope_id = (uint32_t)scope;
        } else {
            memcpy(bytes, MAPPED_PREFIX, sizeof MAPPED_PREFIX);
            memcpy(bytes + sizeof MAPPED_PREFIX, address, 4);
        }
        return sizeof result->ipv6;
    }
    if (family == AF_INET) {
        if (length == 16) {
            if (memcmp(address, MAPPED_PREFIX, sizeof MAPPED_PREFIX) != 0) {
                return -EAFNOSUPPORT;
            }
            address += sizeof MAPPED_PREFIX;
        }
        result->ipv4.sin_family = AF_INET;
        result->ipv4.sin_port = htons((uint16_t)port);
        memcpy(&result->ipv4.sin_addr, address, 4);
        return sizeof result->ipv4;
    }
    return -EAFNOSUPPORT;
}

static int from_socket_address(const union socket_address *from, uint8_t address[SLUICE_ADDRESS_BYTES]) {
    if (from->any.sa_family == AF_INET) {
        memcpy(address, &from->ipv4.sin_addr, 4);
        memcpy(address + 4, &from->ipv4.sin_port, 2);
        return 6;
    }
    if (from->any.sa_family == AF_INET6) {
        memcpy(address, &from->ipv6.sin6_addr, 16);
        memcpy(address + 16, &from->ipv6.sin6_port, 2);
        return 18;
    }
    return -EAFNOSUPPORT;
}

int sluice_socket_open(bool ipv6) {
    int fd = sluice_result(socket(ipv6 ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, IPPROTO_TCP));
    if (fd >= 0 && ipv6) {
        /* The system's default may be IPv6 only (net.ipv6.bindv6only). */
        int result = set_option(fd, IPPROTO_IPV6, IPV6_V6ONLY, 0);
        if (result < 0) {
            close(fd);
            return result;
        }
    }
    return fd;
}

int sluice_socket_bind(int fd, const uint8_t *address, size_t length, int scope, int port) {
    union socket_address to;
    int size = to_socket_address(fd, address, length, scope, port, &to);
    if (size < 0) {
        return size;
    }
    int result = set_option(fd, SOL_SOCKET, SO_REUSEADDR, 1);
    return result < 0 ? result : sluice_result(bind(fd, &to.any, (socklen_t)size));
}

int sluice_socket_listen(int fd, int backlog) {
    return sluice_result(listen(fd, backlog));
}

int sluice_socket_connect(int fd, const uint8_t *address, size_t length, int scope, int port) {
    union socket_address to;
    int size = to_socket_address(fd, address, length, scope, port, &to);
    if (size < 0) {
        return size;
    }
    int result = sluice_result(connect(fd, &to.any, (socklen_t)size));
    /* An interrupted connect continues; calling it again would only return EINPROGRESS. */
    return result == -EINTR ? -EINPROGRESS : result;
}

int sluice_socket_connect_result(int fd) {
    int result = get_option(fd, SOL_SOCKET, SO_ERROR);
    return result > 0 ? -result : result;
}

int sluice_socket_accept(int fd) {
    int result;
    do {
        result = sluice_result(accept4(fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC));
    } while (result == -EINTR);
    return result;
}

int sluice_socket_local_port(int fd) {
    uint8_t address[SLUICE_ADDRESS_BYTES];
    int length = sluice_socket_local_address(fd, address);
    return length < 0 ? length : address[length - 2] << 8 | address[length - 1];
}

int sluice_socket_local_address(int fd, uint8_t address[SLUICE_ADDRESS_BYTES]) {
    union socket_address local;
    socklen_t length = sizeof local;
    int result = sluice_result(getsockname(fd, &local.any, &length));
    return result < 0 ? result : from_socket_address(&local, address);
}

int sluice_socket_peer_address(int fd, uint8_t address[SLUICE_ADDRESS_BYTES]) {
    union socket_address peer;
    socklen_t length = sizeof peer;
    int result = sluice_result(getpeername(fd, &peer.any, &length));
    return result < 0 ? result : from_socket_address(&peer, address);
}

int sluice_socket_set_no_delay(int fd, bool on) {
    return set_option(fd, IPPROTO_TCP, TCP_NODELAY, on);
}

int sluice_socket_set_unpaced(int fd) {
    static const char UNPACED[] = "reno";
    return sluice_result(setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, UNPACED, sizeof UNPACED - 1));
}

int sluice_socket_set_send_buffer(int fd, int bytes) {
    return set_option(fd, SOL_SOCKET, SO_SNDBUF, bytes);
}

int sluice_socket_set_receive_buffer(int fd, int bytes) {
    return set_option(fd, SOL_SOCKET, SO_RCVBUF, bytes);
}

int sluice_socket_set_quick_ack(int fd, bool on) {
    return set_option(fd, IPPROTO_TCP, TCP_QUICKACK, on);
}

int sluice_socket_set_keep_alive(int fd, bool on) {
    return set_option(fd, SOL_SOCKET, SO_KEEPALIVE, on);
}

int sluice_socket_set_user_timeout(int fd, int milliseconds) {
    return set_option(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, milliseconds);
}

int sluice_socket_set_reset_on_close(int fd) {
    struct linger none = {.l_onoff = 1, .l_linger = 0};
    return sluice_result(setsockopt(fd, SOL_SOCKET, SO_LINGER, &none, sizeof none));
}

int sluice_socket_shutdown(int fd) {
    return sluice_result(shutdown(fd, SHUT_RDWR));
}

int sluice_socket_close(int fd) {
    int result = sluice_result(close(fd));
    /*
     * Linux has released the descriptor even then; closing again could hit a descriptor that another thread has just
     * opened.
     */
    return result == -EINTR ? 0 : result;
}

int sluice_socket_unacknowledged_bytes(int fd) {
    int bytes = 0;
    int result = ioctl(fd, SIOCOUTQ, &bytes);
    return result < 0 ? -errno : bytes;
}
