#define _GNU_SOURCE
#include "check.h"

#include <fcntl.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#define COUNT(received) ((int)((received) >> 32))
#define LENGTH(received) ((int32_t)(received))

/* In the abstract namespace, where a name goes with its socket. */
static size_t abstract_name(uint8_t name[SLUICE_LOCAL_ADDRESS_BYTES]) {
    static int number;
    name[0] = 0;
    return 1 + (size_t)snprintf((char *)name + 1, 100, "sluice test %d %d", getpid(), number++);
}

static void connect_local(int *client, int *server) {
    uint8_t name[SLUICE_LOCAL_ADDRESS_BYTES];
    size_t length = abstract_name(name);
    int listener = sluice_local_listen(name, length);
    CHECK(listener >= 0);
    CHECK_SAME(sluice_local_accept(listener), -EAGAIN);
    *client = sluice_local_connect(name, length);
    CHECK(*client >= 0);
    *server = sluice_local_accept(listener);
    CHECK(*server >= 0);
    CHECK_SAME(sluice_local_listen(name, length), -EADDRINUSE);
    CHECK_SAME(sluice_socket_close(listener), 0);
    CHECK_SAME(sluice_local_connect(name, length), -ECONNREFUSED);
}

static void close_both(int client, int server) {
    CHECK_SAME(sluice_socket_close(client), 0);
    CHECK_SAME(sluice_socket_close(server), 0);
}

static void check_messages(void) {
    int client, server;
    connect_local(&client, &server);
    char bytes[16];
    CHECK_SAME(fcntl(client, F_GETFL) & O_NONBLOCK, O_NONBLOCK);
    CHECK_SAME(fcntl(server, F_GETFL) & O_NONBLOCK, O_NONBLOCK);
    CHECK_SAME(fcntl(client, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
    CHECK_SAME(fcntl(server, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
    CHECK_SAME(sluice_local_receive(server, bytes, sizeof bytes, NULL, 0), -EAGAIN);
    CHECK_SAME(sluice_local_send(client, "one", 3, NULL, 0), 3);
    CHECK_SAME(sluice_local_send(client, "second", 6, NULL, 0), 6);
    CHECK_SAME(sluice_local_receive(server, bytes, sizeof bytes, NULL, 0), 3);
    CHECK(memcmp(bytes, "one", 3) == 0);
    CHECK_SAME(sluice_local_receive(server, bytes, 5, NULL, 0), -EMSGSIZE);
    CHECK_SAME(sluice_local_receive(server, bytes, sizeof bytes, NULL, 0), -EAGAIN);
    int64_t result = 0;
    for (int sent = 0; result >= 0; sent++) {
        CHECK(sent < 1000 * 1000);
        result = sluice_local_send(client, bytes, sizeof bytes, NULL, 0);
    }
    CHECK_SAME(result, -EAGAIN);
    do {
        result = sluice_local_receive(server, bytes, sizeof bytes, NULL, 0);
    } while (result == sizeof bytes);
    CHECK_SAME(result, -EAGAIN);
    CHECK_SAME(sluice_local_send(client, bytes, sizeof bytes, NULL, 0), sizeof bytes);
    CHECK_SAME(sluice_socket_close(client), 0);
    CHECK_SAME(sluice_local_receive(server, bytes, sizeof bytes, NULL, 0), sizeof bytes);
    CHECK_SAME(sluice_local_receive(server, bytes, sizeof bytes, NULL, 0), 0);
    CHECK_SAME(sluice_local_send(server, bytes, 1, NULL, 0), -EPIPE);
    CHECK_SAME(sluice_socket_close(server), 0);
}

static void check_bad_arguments(void) {
    int client, server;
    connect_local(&client, &server);
    char bytes[4] = {0};
    int none[1] = {-1};
    CHECK_SAME(sluice_local_send(client, bytes, 0, NULL, 0), -EINVAL);
    CHECK_SAME(sluice_local_send(client, bytes, -1, NULL, 0), -EINVAL);
    CHECK_SAME(sluice_local_send(client, bytes, 1, none, -1), -EINVAL);
    CHECK_SAME(sluice_local_send(client, bytes, 1, none, SLUICE_LOCAL_DESCRIPTORS + 1), -EINVAL);
    CHECK_SAME(sluice_local_send(client, bytes, 1, none, 1), -EBADF);
    CHECK_SAME(sluice_local_receive(server, bytes, 0, NULL, 0), -EINVAL);
    CHECK_SAME(sluice_local_receive(server, bytes, 1, none, -1), -EINVAL);
    CHECK_SAME(sluice_local_receive(server, bytes, 1, none, SLUICE_LOCAL_DESCRIPTORS + 1), -EINVAL);
    CHECK_SAME(sluice_local_receive(server, bytes, 1, none, 1), -EAGAIN);
    close_both(client, server);
    CHECK_SAME(sluice_local_send(client, bytes, 1, NULL, 0), -EBADF);
    CHECK_SAME(sluice_local_receive(client, bytes, 1, NULL, 0), -EBADF);
    CHECK_SAME(sluice_local_accept(client), -EBADF);
    CHECK_SAME(sluice_local_peer(client), -EBADF);
    uint8_t address[SLUICE_LOCAL_ADDRESS_BYTES + 1];
    memset(address, 'a', sizeof address);
    CHECK_SAME(sluice_local_listen(address, 0), -EINVAL);
    CHECK_SAME(sluice_local_listen(address, sizeof address), -EINVAL);
    CHECK_SAME(sluice_local_connect(address, sizeof address), -EINVAL);
    CHECK_SAME(sluice_local_connect(address, sizeof address - 1), -ENOENT);
    address[5] = 0;
    CHECK_SAME(sluice_local_listen(address, 10), -EINVAL);
}

/* Each of them is a duplicate of a pipe's writing end: whether one has leaked shows at the reading end, too. */
static void send_pipes(int socket, int pipe_end, int count, int length) {
    int descriptors[SLUICE_LOCAL_DESCRIPTORS];
    for (int i = 0; i < count; i++) {
        descriptors[i] = pipe_end;
    }
    char bytes[16] = {0};
    CHECK_SAME(sluice_local_send(socket, bytes, length, descriptors, count), length);
}

/* Sends as a peer may with sendmsg: any number of control messages. */
static void send_raw(int socket, const int *descriptors, int messages, int each, size_t bytes) {
    union {
        struct cmsghdr header;
        char room[4096];
    } control;
    memset(&control, 0, sizeof control);
    struct iovec piece = {.iov_base = control.room, .iov_len = bytes};
    size_t size = CMSG_SPACE(sizeof(struct ucred)) + (size_t)messages * CMSG_SPACE((size_t)each * sizeof(int));
    struct msghdr message = {
            .msg_iov = &piece, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = size};
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    struct ucred self = {.pid = getpid(), .uid = geteuid(), .gid = getegid()};
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_CREDENTIALS;
    header->cmsg_len = CMSG_LEN(sizeof self);
    memcpy(CMSG_DATA(header), &self, sizeof self);
    for (int i = 0; i < messages; i++) {
        header = CMSG_NXTHDR(&message, header);
        header->cmsg_level = SOL_SOCKET;
        header->cmsg_type = SCM_RIGHTS;
        header->cmsg_len = CMSG_LEN((size_t)each * sizeof(int));
        memcpy(CMSG_DATA(header), descriptors + i * each, (size_t)each * sizeof(int));
    }
    CHECK_SAME(sendmsg(socket, &message, MSG_DONTWAIT), (int64_t)bytes);
}

static void check_received(int64_t received, int length, const int *descriptors, int count) {
    CHECK_SAME(LENGTH(received), length);
    CHECK_SAME(COUNT(received), count);
    for (int i = 0; i < count; i++) {
        CHECK_SAME(fcntl(descriptors[i], F_GETFD), FD_CLOEXEC);
        CHECK_SAME(sluice_socket_close(descriptors[i]), 0);
    }
}

static void check_descriptors(void) {
    int client, server;
    connect_local(&client, &server);
    int ends[2];
    CHECK_SAME(pipe2(ends, O_CLOEXEC | O_NONBLOCK), 0);
    int open = open_descriptors();
    char bytes[16];
    int got[SLUICE_LOCAL_DESCRIPTORS + 1];

    /* The limits, and room that is just enough. */
    const int counts[] = {1, 2, 3, SLUICE_LOCAL_DESCRIPTORS};
    for (int i = 0; i < 4; i++) {
        got[counts[i]] = 1234;
        send_pipes(client, ends[1], counts[i], 9);
        check_received(sluice_local_receive(server, bytes, 9, got, counts[i]), 9, got, counts[i]);
        CHECK_SAME(got[counts[i]], 1234);
        CHECK_SAME(open_descriptors(), open);
    }
    send_pipes(client, ends[1], 0, 9);
    check_received(sluice_local_receive(server, bytes, 16, got, 3), 9, got, 0);

    /* No room for the bytes, for the descriptors, for both. */
    for (int i = 0; i < 4; i++) {
        int count = counts[i];
        got[0] = 1234;
        send_pipes(client, ends[1], count, 9);
        CHECK_SAME(sluice_local_receive(server, bytes, 8, got, count), -EMSGSIZE);
        send_pipes(client, ends[1], count, 9);
        CHECK_SAME(sluice_local_receive(server, bytes, 9, got, count - 1), -EMSGSIZE);
        send_pipes(client, ends[1], count, 9);
        CHECK_SAME(sluice_local_receive(server, bytes, 9, NULL, 0), -EMSGSIZE);
        send_pipes(client, ends[1], count, 9);
        CHECK_SAME(sluice_local_receive(server, bytes, 1, NULL, 0), -EMSGSIZE);
        send_pipes(client, ends[1], count, 9);
        CHECK_SAME(sluice_local_receive(server, (void *)16, 9, got, count), -EFAULT);
        CHECK_SAME(open_descriptors(), open);
        CHECK_SAME(got[0], 1234);
    }

    /* Several control messages, and a message without bytes. */
    const int three[] = {ends[1], ends[0], ends[1]};
    send_raw(client, three, 3, 1, 5);
    check_received(sluice_local_receive(server, bytes, 16, got, 3), 5, got, 3);
    const int yes = 1;
    CHECK_SAME(setsockopt(server, SOL_SOCKET, SO_PASSCRED, &yes, sizeof yes), 0);
    send_raw(client, three, 1, 3, 5);
    check_received(sluice_local_receive(server, bytes, 16, got, 3), 5, got, 3);
    send_pipes(client, ends[1], SLUICE_LOCAL_DESCRIPTORS, 9);
    check_received(
            sluice_local_receive(server, bytes, 16, got, SLUICE_LOCAL_DESCRIPTORS), 9, got, SLUICE_LOCAL_DESCRIPTORS);
    send_raw(client, three, 3, 1, 5);
    CHECK_SAME(sluice_local_receive(server, bytes, 16, got, 2), -EMSGSIZE);
    send_raw(client, three, 3, 1, 0);
    CHECK_SAME(sluice_local_receive(server, bytes, 16, got, 3), 0);
    send_raw(client, three, 0, 0, 0);
    CHECK_SAME(sluice_local_receive(server, bytes, 16, got, 3), 0);
    CHECK_SAME(sluice_local_receive(server, bytes, 16, got, 3), -EAGAIN);
    CHECK_SAME(open_descriptors(), open);

    /* A process that may not open as many as came. */
    struct rlimit limit;
    CHECK_SAME(getrlimit(RLIMIT_NOFILE, &limit), 0);
    int highest = dup(0);
    CHECK_SAME(sluice_socket_close(highest), 0);
    struct rlimit low = {.rlim_cur = (rlim_t)highest + 3, .rlim_max = limit.rlim_max};
    send_pipes(client, ends[1], 10, 9);
    CHECK_SAME(setrlimit(RLIMIT_NOFILE, &low), 0);
    CHECK_SAME(sluice_local_receive(server, bytes, 16, got, 10), -EMSGSIZE);
    CHECK_SAME(setrlimit(RLIMIT_NOFILE, &limit), 0);
    CHECK_SAME(open_descriptors(), open);

    /* All duplicates are gone when the reading end sees the end. */
    CHECK_SAME(sluice_socket_close(ends[1]), 0);
    CHECK_SAME(read(ends[0], bytes, 1), 0);
    CHECK_SAME(sluice_socket_close(ends[0]), 0);

    /* A peer that closes without having received all. */
    CHECK_SAME(sluice_local_send(client, bytes, 1, NULL, 0), 1);
    CHECK_SAME(sluice_socket_close(server), 0);
    CHECK_SAME(sluice_local_receive(client, bytes, 16, NULL, 0), -ECONNRESET);
    CHECK_SAME(sluice_socket_close(client), 0);
}

static void check_backlog(void) {
    uint8_t name[SLUICE_LOCAL_ADDRESS_BYTES];
    size_t length = abstract_name(name);
    int listener = sluice_local_listen(name, length);
    int waiting[64];
    int count = 0;
    for (;;) {
        waiting[count] = sluice_local_connect(name, length);
        if (waiting[count] < 0) {
            break;
        }
        CHECK(++count < 64);
    }
    CHECK_SAME(waiting[count], -EAGAIN);
    CHECK(count >= 16);
    while (count > 0) {
        CHECK_SAME(sluice_socket_close(waiting[--count]), 0);
    }
    CHECK_SAME(sluice_socket_close(listener), 0);
}

/* Becomes an unprivileged user: the file's mode, and the limit of descriptors in flight. */
static int be_nobody(const uint8_t *path, size_t length) {
    struct rlimit few = {.rlim_cur = 32, .rlim_max = 32};
    int client, server;
    connect_local(&client, &server);
    if (setrlimit(RLIMIT_NOFILE, &few) != 0 || setresuid(65534, 65534, 65534) != 0) {
        return 1;
    }
    CHECK_SAME(sluice_local_user_id(), 65534);
    CHECK_SAME(sluice_local_connect(path, length), -EACCES);
    int result = 0;
    for (int i = 0; i < 100 && result >= 0; i++) {
        const int descriptors[] = {client, client, client, client, client, client, client, client};
        result = sluice_local_send(client, "x", 1, descriptors, 8);
    }
    CHECK_SAME(result, -ETOOMANYREFS);
    return 0;
}

static void check_path(void) {
    char folder[] = "/tmp/sluice-XXXXXX";
    CHECK(mkdtemp(folder) != NULL);
    CHECK_SAME(chmod(folder, 0755), 0);
    uint8_t path[SLUICE_LOCAL_ADDRESS_BYTES];
    size_t length = (size_t)snprintf((char *)path, sizeof path, "%s/socket", folder);
    mode_t mask = umask(0);
    int listener = sluice_local_listen(path, length);
    umask(mask);
    CHECK(listener >= 0);
    struct stat file;
    CHECK_SAME(stat((char *)path, &file), 0);
    CHECK_SAME(file.st_mode, S_IFSOCK | 0600);
    int client = sluice_local_connect(path, length);
    CHECK(client >= 0);
    CHECK_SAME(sluice_local_listen(path, length), -EADDRINUSE);
    if (geteuid() == 0) {
        int child = fork();
        if (child == 0) {
            _exit(be_nobody(path, length));
        }
        await_child(child);
    } else {
        puts("skipped: another user's socket, which takes root");
    }
    close_both(client, listener);
    CHECK_SAME(sluice_local_connect(path, length), -ECONNREFUSED);
    CHECK_SAME(unlink((char *)path), 0);
    CHECK_SAME(sluice_local_connect(path, length), -ENOENT);

    /* Another type of socket. */
    struct sockaddr_un stream = {.sun_family = AF_UNIX};
    memcpy(stream.sun_path, path, length);
    listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    CHECK_SAME(bind(listener, (struct sockaddr *)&stream, sizeof stream), 0);
    CHECK_SAME(listen(listener, 1), 0);
    CHECK_SAME(sluice_local_connect(path, length), -EPROTOTYPE);
    CHECK_SAME(sluice_socket_close(listener), 0);
    CHECK_SAME(unlink((char *)path), 0);
    CHECK_SAME(rmdir(folder), 0);
    CHECK_SAME(sluice_local_listen(path, length), -ENOENT);
}

static void check_peer(void) {
    uint8_t name[SLUICE_LOCAL_ADDRESS_BYTES];
    size_t length = abstract_name(name);
    int listener = sluice_local_listen(name, length);
    int parent = getpid();
    int child = fork();
    if (child == 0) {
        int client = sluice_local_connect(name, length);
        CHECK(client >= 0);
        CHECK_SAME(sluice_local_peer(client), (int64_t)parent << 32 | geteuid());
        _exit(0);
    }
    await_ready(listener, EPOLLIN);
    int server = sluice_local_accept(listener);
    CHECK(server >= 0);
    CHECK_SAME(sluice_local_peer(server), (int64_t)child << 32 | (uint32_t)sluice_local_user_id());
    int process = sluice_local_peer_process(server);
    CHECK(process >= 0);
    await_ready(process, EPOLLIN);
    CHECK_SAME(sluice_socket_close(process), 0);
    await_child(child);
    close_both(listener, server);
    CHECK_SAME(sluice_local_process_id(), parent);

    int ends[2];
    CHECK_SAME(pipe2(ends, O_CLOEXEC), 0);
    CHECK_SAME(sluice_local_peer(ends[0]), -ENOTSOCK);
    CHECK_SAME(sluice_local_peer_process(ends[0]), -ENOTSOCK);
    close_both(ends[0], ends[1]);
    int socket = sluice_socket_open(false);
    CHECK_SAME(sluice_local_peer(socket), -ENOTCONN);
    CHECK(sluice_local_peer_process(socket) < 0);
    CHECK_SAME(sluice_socket_close(socket), 0);
}

void test_local_sockets(void) {
    int before = open_descriptors();
    check_messages();
    check_bad_arguments();
    check_descriptors();
    check_backlog();
    check_path();
    check_peer();
    CHECK_SAME(open_descriptors(), before);
}
