#define _GNU_SOURCE
#include "check.h"

#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

/* The parent's memory and the child's at the same address: three pages, then one without access. */
struct peer {
    int pid;
    int process;
    int go_on;
    int64_t page;
    uint8_t *bytes;
    uint8_t *local;
};

static struct sluice_peer_record record(const void *local, const void *peer, int64_t length) {
    return (struct sluice_peer_record){(uint64_t)(uintptr_t)local, (uint64_t)(uintptr_t)peer, length};
}

/* The child ends when the pipe's other end is closed, or when its memory has changed otherwise than it should. */
static int be_peer(const struct peer *peer, int ready, int go_on) {
    memset(peer->bytes, 1, (size_t)(3 * peer->page));
    CHECK_SAME(write(ready, "x", 1), 1);
    char ignored;
    CHECK_SAME(read(go_on, &ignored, 1), 0);
    return peer->bytes[0] == 1 && peer->bytes[100] == 9 && peer->bytes[3 * peer->page - 1] == 9 ? 0 : 1;
}

static void start(struct peer *peer) {
    peer->page = sluice_memory_page_size();
    peer->bytes = (uint8_t *)sluice_memory_map(4 * peer->page, true);
    peer->local = (uint8_t *)sluice_memory_map(4 * peer->page, true);
    CHECK_SAME(mprotect(peer->bytes + 3 * peer->page, (size_t)peer->page, PROT_NONE), 0);
    int ready[2], go_on[2];
    CHECK_SAME(pipe2(ready, O_CLOEXEC), 0);
    CHECK_SAME(pipe2(go_on, O_CLOEXEC), 0);
    peer->pid = fork();
    CHECK(peer->pid >= 0);
    if (peer->pid == 0) {
        close(go_on[1]);
        _exit(be_peer(peer, ready[1], go_on[0]));
    }
    char byte;
    CHECK_SAME(read(ready[0], &byte, 1), 1);
    CHECK_SAME(sluice_socket_close(ready[0]), 0);
    CHECK_SAME(sluice_socket_close(ready[1]), 0);
    CHECK_SAME(sluice_socket_close(go_on[0]), 0);
    peer->go_on = go_on[1];
    peer->process = sluice_peer_open_process(peer->pid);
    CHECK(peer->process >= 0);
    CHECK_SAME(fcntl(peer->process, F_GETFD), FD_CLOEXEC);
    CHECK_SAME(sluice_peer_is_alive(peer->process), 1);
}

static int64_t read_records(const struct peer *peer, const struct sluice_peer_record *records, int count) {
    return sluice_peer_read(peer->process, peer->pid, records, count);
}

static void check_transfers(const struct peer *peer) {
    int64_t page = peer->page;
    struct sluice_peer_record records[SLUICE_PEER_RECORDS + 1];
    for (int i = 0; i <= SLUICE_PEER_RECORDS; i++) {
        records[i] = record(peer->local + 3 * i, peer->bytes + 100 + 100 * (i % 2), i % 4);
    }
    /* 0 + 1 + 2 + 3 bytes each four records. */
    CHECK_SAME(read_records(peer, records, SLUICE_PEER_RECORDS), 6 * SLUICE_PEER_RECORDS / 4);
    /* The first byte is the probe's. */
    const uint8_t expected[] = {1, 0, 0, 1, 0, 0, 1, 1, 0, 1, 1, 1, 0, 0, 0, 1};
    CHECK(memcmp(peer->local, expected, sizeof expected) == 0);
    CHECK_SAME(read_records(peer, records, 0), -EINVAL);
    CHECK_SAME(read_records(peer, records, -1), -EINVAL);
    CHECK_SAME(read_records(peer, records, SLUICE_PEER_RECORDS + 1), -EINVAL);
    CHECK_SAME(read_records(peer, records, 1), 0);

    memset(peer->local, 9, (size_t)page);
    const struct sluice_peer_record two[] = {
            record(peer->local, peer->bytes + 100, 1), record(peer->local, peer->bytes + 2 * page, page)};
    CHECK_SAME(sluice_peer_write(peer->process, peer->pid, two, 2), page + 1);
    memset(peer->local, 0, (size_t)page);
    const struct sluice_peer_record back = record(peer->local, peer->bytes + 3 * page - 5, 5);
    CHECK_SAME(read_records(peer, &back, 1), 5);
    CHECK(memcmp(peer->local, "\x9\x9\x9\x9\x9\0", 6) == 0);
}

static void check_faults(const struct peer *peer) {
    int64_t page = peer->page;
    const uint8_t *forbidden = peer->bytes + 3 * page;
    const void *kernel = (const void *)UINT64_C(0xffff800000000000);
    const void *nowhere[] = {(void *)16, kernel, forbidden};
    for (int i = 0; i < 3; i++) {
        /* Alone, after one that is good (and one that is empty), on either side, read and written. */
        const struct sluice_peer_record theirs[] = {
                record(peer->local, peer->bytes, 7), record(NULL, NULL, 0), record(peer->local + 7, nowhere[i], 8),
                record(peer->local + 15, peer->bytes, 7)};
        CHECK_SAME(read_records(peer, theirs, 4), 7);
        CHECK_SAME(read_records(peer, theirs + 1, 3), -EFAULT);
        CHECK_SAME(read_records(peer, theirs + 2, 1), -EFAULT);
        CHECK_SAME(sluice_peer_write(peer->process, peer->pid, theirs + 2, 2), -EFAULT);
        const struct sluice_peer_record ours[] = {
                record(peer->local, peer->bytes, 7), record(nowhere[i], peer->bytes, 8),
                record(peer->local, peer->bytes, 7)};
        CHECK_SAME(read_records(peer, ours, 3), 7);
        CHECK_SAME(read_records(peer, ours + 1, 2), -EFAULT);
    }
    /* In the middle of a record. */
    const struct sluice_peer_record across[] = {
            record(peer->local, peer->bytes + page, 10), record(peer->local + 10, forbidden - 20, 100)};
    CHECK_SAME(read_records(peer, across, 2), 30);
    const struct sluice_peer_record rest = record(peer->local, forbidden, 80);
    CHECK_SAME(read_records(peer, &rest, 1), -EFAULT);

    const struct sluice_peer_record bad[] = {
            record(peer->local, peer->bytes, 1), record(peer->local, peer->bytes, -1)};
    CHECK_SAME(read_records(peer, bad, 2), -EINVAL);
    /* More than the kernel counts at once, and nearly all of which is not there. */
    const struct sluice_peer_record large[] = {
            record(peer->local, peer->bytes, 1), record(peer->local, peer->bytes, INT64_MAX)};
    int64_t copied = read_records(peer, large, 2);
    CHECK(copied >= 1 && copied <= 1 + 3 * page);
}

static void check_own(void) {
    int process = sluice_peer_open_process(getpid());
    CHECK(process >= 0);
    uint8_t from[8] = "sluice", to[8] = "";
    const struct sluice_peer_record own = record(to, from, 8);
    CHECK_SAME(sluice_peer_read(process, getpid(), &own, 1), 8);
    CHECK(memcmp(from, to, 8) == 0);
    CHECK_SAME(sluice_socket_close(process), 0);
    CHECK_SAME(sluice_peer_read(process, getpid(), &own, 1), -EBADF);
    CHECK_SAME(sluice_peer_read(-1, getpid(), &own, 1), -EBADF);
}

/* Runs as a user who may not trace the parent. */
static void check_not_allowed(void) {
    int parent = getpid();
    uint8_t bytes[8];
    const struct sluice_peer_record any = record(bytes, bytes, 8);
    int child = fork();
    if (child == 0) {
        if (setresuid(65534, 65534, 65534) != 0) {
            _exit(1);
        }
        int process = sluice_peer_open_process(parent);
        CHECK(process >= 0);
        CHECK_SAME(sluice_peer_read(process, parent, &any, 1), -EPERM);
        CHECK_SAME(sluice_peer_write(process, parent, &any, 1), -EPERM);
        _exit(0);
    }
    await_child(child);
}

/* The descriptor's process has ended: a new process with its number is left alone. */
static void check_ended(struct peer *peer) {
    struct sluice_peer_record any = record(peer->local, peer->bytes, 8);
    CHECK_SAME(sluice_socket_close(peer->go_on), 0);
    await_ready(peer->process, EPOLLIN);
    CHECK_SAME(sluice_peer_is_alive(peer->process), 0);
    CHECK_SAME(read_records(peer, &any, 1), -ESRCH);
    await_child(peer->pid);
    CHECK_SAME(sluice_peer_is_alive(peer->process), 0);
    CHECK_SAME(read_records(peer, &any, 1), -ESRCH);
    CHECK_SAME(sluice_peer_write(peer->process, peer->pid, &any, 1), -ESRCH);
    CHECK_SAME(sluice_peer_read(peer->process, getpid(), &any, 1), -ESRCH);
    CHECK_SAME(sluice_peer_open_process(peer->pid), -ESRCH);
    CHECK_SAME(sluice_peer_open_process(0), -EINVAL);
    CHECK_SAME(sluice_peer_open_process(-1), -EINVAL);
    CHECK_SAME(sluice_socket_close(peer->process), 0);
    CHECK_SAME(sluice_peer_is_alive(peer->process), -EBADF);
    CHECK_SAME(sluice_peer_is_alive(-1), -EBADF);
}

void test_peer_memory(void) {
    int before = open_descriptors();
    struct peer peer;
    start(&peer);
    const struct sluice_peer_record probe = record(peer.local, peer.bytes, 1);
    int64_t result = read_records(&peer, &probe, 1);
    if (result == -EPERM || result == -ENOSYS) {
        puts("skipped: this environment forbids process_vm_readv");
        CHECK_SAME(sluice_socket_close(peer.go_on), 0);
        CHECK_SAME(waitpid(peer.pid, NULL, 0), peer.pid);
        CHECK_SAME(sluice_socket_close(peer.process), 0);
    } else {
        check_transfers(&peer);
        check_faults(&peer);
        check_own();
        if (geteuid() == 0) {
            check_not_allowed();
        } else {
            puts("skipped: another user's process, which takes root");
        }
        check_ended(&peer);
    }
    CHECK_SAME(sluice_memory_unmap(peer.bytes, 4 * peer.page), 0);
    CHECK_SAME(sluice_memory_unmap(peer.local, 4 * peer.page), 0);
    CHECK_SAME(open_descriptors(), before);
}
