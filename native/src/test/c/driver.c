#include "check.h"

#include <dirent.h>
#include <netinet/in.h>
#include <sys/epoll.h>
#include <sys/wait.h>
#include <unistd.h>

void await_ready(int fd, uint32_t events) {
    struct sluice_epoll_record record;
    int epoll = sluice_epoll_create();
    CHECK(epoll >= 0);
    CHECK_SAME(sluice_epoll_add(epoll, fd, events, 7), 0);
    CHECK_SAME(sluice_epoll_await(epoll, &record, 1, BOUND_NANOS), 1);
    CHECK_SAME((int64_t)record.data, 7);
    CHECK_SAME(sluice_socket_close(epoll), 0);
}

void connect_pair(bool ipv6, int *client, int *server) {
    uint8_t loopback[16] = {[15] = 1};
    size_t length = 16;
    if (!ipv6) {
        const uint8_t bytes[4] = {127, 0, 0, 1};
        __builtin_memcpy(loopback, bytes, sizeof bytes);
        length = 4;
    }
    int listener = sluice_socket_open(ipv6);
    CHECK(listener >= 0);
    CHECK_SAME(sluice_socket_bind(listener, loopback, length, 0, 0), 0);
    CHECK_SAME(sluice_socket_listen(listener, 16), 0);
    CHECK_SAME(sluice_socket_accept(listener), -EAGAIN);

    *client = sluice_socket_open(ipv6);
    CHECK(*client >= 0);
    int result = sluice_socket_connect(*client, loopback, length, 0, sluice_socket_local_port(listener));
    CHECK(result == 0 || result == -EINPROGRESS);
    await_ready(*client, EPOLLOUT);
    CHECK_SAME(sluice_socket_connect_result(*client), 0);
    await_ready(listener, EPOLLIN);
    *server = sluice_socket_accept(listener);
    CHECK(*server >= 0);
    CHECK_SAME(sluice_socket_close(listener), 0);
}

int open_descriptors(void) {
    DIR *folder = opendir("/proc/self/fd");
    CHECK(folder != NULL);
    int count = 0;
    while (readdir(folder) != NULL) {
        count++;
    }
    closedir(folder);
    return count;
}

void await_child(int pid) {
    int status = -1;
    CHECK(pid > 0);
    CHECK_SAME(waitpid(pid, &status, 0), pid);
    CHECK_SAME(status, 0);
}

int main(int count, char **arguments) {
    if (count != 3) {
        fprintf(stderr, "usage: %s LIBRARY LIBRARY (in the places of libibverbs and libcuda)\n", arguments[0]);
        return 2;
    }
    /* Nothing here may hang for ever: the signal ends the process. */
    alarm(180);
    test_sockets();
    test_streams();
    test_epoll();
    test_event_descriptor();
    test_others();
    test_shared_memory();
    test_local_sockets();
    test_peer_memory();
    test_memory_copy();
    test_reduce();
    test_experts();
    test_foreign_library();
    test_verbs(arguments[1]);
    test_cuda(arguments[2]);
    puts("all C tests passed");
    return 0;
}
