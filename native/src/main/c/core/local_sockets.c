#define _GNU_SOURCE
#include "sluice.h"

#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#define BACKLOG 16

/* Constants that older headers of the system lack. */
#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD 77
#endif
#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif

/* Room for the most descriptors of a message: those that did not fit would be dropped unnoticed. */
union control {
    struct cmsghdr header;
    char bytes[CMSG_SPACE(SLUICE_LOCAL_DESCRIPTORS * sizeof(int)) + CMSG_SPACE(sizeof(struct ucred))];
};

_Static_assert(
        sizeof(((struct sockaddr_un *)0)->sun_path) == SLUICE_LOCAL_ADDRESS_BYTES + 1, "another length of an address");

/* Fills in an address; returns its length. */
static int to_local_address(const uint8_t *address, size_t length, struct sockaddr_un *result) {
    if (length < 1 || length > SLUICE_LOCAL_ADDRESS_BYTES) {
        return -EINVAL;
    }
    bool is_path = address[0] != 0;
    if (is_path && memchr(address, 0, length) != NULL) {
        /* The kernel would accept a shorter path. */
        return -EINVAL;
    }
    memset(result, 0, sizeof *result);
    result->sun_family = AF_UNIX;
    memcpy(result->sun_path, address, length);
    return (int)(offsetof(struct sockaddr_un, sun_path) + length + (is_path ? 1 : 0));
}

static int open_local(void) {
    return sluice_result(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
}

static int bind_and_listen(int fd, const struct sockaddr_un *to, int size) {
    /* The file of a path inherits the socket's mode, so that it is never accessible to others, not even briefly. */
    int result = sluice_result(fchmod(fd, S_IRUSR | S_IWUSR));
    if (result < 0) {
        return result;
    }
    result = sluice_result(bind(fd, (const struct sockaddr *)to, (socklen_t)size));
    if (result < 0) {
        return result;
    }
    result = sluice_result(listen(fd, BACKLOG));
    if (result < 0 && to->sun_path[0] != 0) {
        unlink(to->sun_path);
    }
    return result;
}

int sluice_local_listen(const uint8_t *address, size_t length) {
    struct sockaddr_un to;
    int size = to_local_address(address, length, &to);
    if (size < 0) {
        return size;
    }
    int fd = open_local();
    if (fd < 0) {
        return fd;
    }
    int result = bind_and_listen(fd, &to, size);
    if (result < 0) {
        close(fd);
        return result;
    }
    return fd;
}

int sluice_local_connect(const uint8_t *address, size_t length) {
    struct sockaddr_un to;
    int size = to_local_address(address, length, &to);
    if (size < 0) {
        return size;
    }
    int fd = open_local();
    if (fd < 0) {
        return fd;
    }
    int result;
    do {
        /* Completes or fails at once: such a connect is never pending. */
        result = sluice_result(connect(fd, (const struct sockaddr *)&to, (socklen_t)size));
    } while (result == -EINTR);
    if (result < 0) {
        close(fd);
        return result;
    }
    return fd;
}

int sluice_local_accept(int fd) {
    return sluice_socket_accept(fd);
}

int sluice_local_send(int fd, const void *bytes, int length, const void *descriptors, int count) {
    if (length < 1 || count < 0 || count > SLUICE_LOCAL_DESCRIPTORS) {
        return -EINVAL;
    }
    union control control;
    struct iovec piece = {.iov_base = (void *)(uintptr_t)bytes, .iov_len = (size_t)length};
    struct msghdr message = {.msg_iov = &piece, .msg_iovlen = 1};
    if (count > 0) {
        size_t size = (size_t)count * sizeof(int);
        memset(&control, 0, CMSG_SPACE(size));
        control.header.cmsg_level = SOL_SOCKET;
        control.header.cmsg_type = SCM_RIGHTS;
        control.header.cmsg_len = CMSG_LEN(size);
        memcpy(CMSG_DATA(&control.header), descriptors, size);
        message.msg_control = &control;
        message.msg_controllen = CMSG_SPACE(size);
    }
    int result;
    do {
        result = sluice_result((int)sendmsg(fd, &message, MSG_DONTWAIT | MSG_NOSIGNAL));
    } while (result == -EINTR);
    return result;
}

/* Takes the descriptors out of a message: at most one for every four bytes of room. */
static int take_descriptors(struct msghdr *message, int descriptors[sizeof(union control) / sizeof(int)]) {
    int count = 0;
    for (struct cmsghdr *header = CMSG_FIRSTHDR(message); header != NULL; header = CMSG_NXTHDR(message, header)) {
        if (header->cmsg_level == SOL_SOCKET && header->cmsg_type == SCM_RIGHTS) {
            size_t added = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
            memcpy(descriptors + count, CMSG_DATA(header), added * sizeof(int));
            count += (int)added;
        }
    }
    return count;
}

int64_t sluice_local_receive(int fd, void *bytes, int length, void *descriptors, int maximum) {
    if (length < 1 || maximum < 0 || maximum > SLUICE_LOCAL_DESCRIPTORS) {
        return -EINVAL;
    }
    union control control;
    struct iovec piece = {.iov_base = bytes, .iov_len = (size_t)length};
    struct msghdr message = {
            .msg_iov = &piece, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
    int64_t result;
    do {
        result = sluice_long_result(recvmsg(fd, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC));
    } while (result == -EINTR);
    if (result < 0) {
        return result;
    }
    int received[sizeof control / sizeof(int)];
    int count = take_descriptors(&message, received);
    bool fits = (message.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) == 0 && count <= maximum;
    if (fits && result > 0) {
        if (count > 0) {
            memcpy(descriptors, received, (size_t)count * sizeof(int));
        }
        return (int64_t)count << 32 | result;
    }
    for (int i = 0; i < count; i++) {
        close(received[i]);
    }
    return fits ? 0 : -EMSGSIZE;
}

int64_t sluice_local_peer(int fd) {
    struct ucred peer;
    socklen_t length = sizeof peer;
    int result = sluice_result(getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &length));
    if (result < 0) {
        return result;
    }
    if (peer.uid == (uid_t)-1) {
        return -ENOTCONN;
    }
    return (int64_t)peer.pid << 32 | (int64_t)peer.uid;
}

int sluice_local_peer_process(int fd) {
    int process = -1;
    socklen_t length = sizeof process;
    int result = sluice_result(getsockopt(fd, SOL_SOCKET, SO_PEERPIDFD, &process, &length));
    if (result != -ENOPROTOOPT) {
        return result < 0 ? result : process;
    }
    /* Before Linux 6.5. */
    int64_t peer = sluice_local_peer(fd);
    if (peer < 0) {
        return (int)peer;
    }
    return peer >> 32 == 0 ? -ESRCH : sluice_result((int)syscall(SYS_pidfd_open, (pid_t)(peer >> 32), 0));
}

int sluice_local_user_id(void) {
    return (int)geteuid();
}

int sluice_local_process_id(void) {
    return getpid();
}
