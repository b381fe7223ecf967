#define _GNU_SOURCE
#include "sluice.h"

#include <poll.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

/* Missing from older headers; the same on all platforms. */
#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif

typedef ssize_t copier(
        pid_t pid, const struct iovec *local, unsigned long local_count, const struct iovec *peer,
        unsigned long peer_count, unsigned long flags);

int sluice_peer_open_process(int pid) {
    return sluice_result((int)syscall(SYS_pidfd_open, pid, 0));
}

int sluice_peer_is_alive(int process) {
    struct pollfd ended = {.fd = process, .events = POLLIN};
    int result;
    do {
        result = sluice_result(poll(&ended, 1, 0));
    } while (result == -EINTR);
    if (result < 0) {
        return result;
    }
    /* poll ignores negative descriptors. */
    if (process < 0 || (ended.revents & POLLNVAL) != 0) {
        return -EBADF;
    }
    return result == 0;
}

/* Fills in the pieces from a position in the records on; returns how many. Empty records yield none. */
static int gather(
        const struct sluice_peer_record *records, int count, int64_t offset, int maximum, struct iovec *local,
        struct iovec *peer) {
    int pieces = 0;
    for (int i = 0; i < count && pieces < maximum; i++, offset = 0) {
        size_t length = (size_t)(records[i].length - offset);
        if (length > 0) {
            local[pieces] = (struct iovec){(void *)(uintptr_t)(records[i].local + (uint64_t)offset), length};
            peer[pieces] = (struct iovec){(void *)(uintptr_t)(records[i].peer + (uint64_t)offset), length};
            pieces++;
        }
    }
    return pieces;
}

/* Copies in order until all is copied or an error occurs. */
static int64_t copy_records(copier *copy, int pid, const struct sluice_peer_record *records, int count) {
    struct iovec local[SLUICE_PEER_RECORDS];
    struct iovec peer[SLUICE_PEER_RECORDS];
    int64_t total = 0;
    /* into the first remaining record */
    int64_t offset = 0;
    int at_once = count;
    for (;;) {
        int pieces = gather(records, count, offset, at_once, local, peer);
        if (pieces == 0) {
            return total;
        }
        int64_t copied = sluice_long_result(copy(pid, local, (unsigned long)pieces, peer, (unsigned long)pieces, 0));
        if (copied == -EINTR) {
            continue;
        }
        if (copied <= 0) {
            /* The kernel checks all pieces before it copies any: a bad one must not block those before it. */
            if (pieces > 1) {
                at_once = 1;
                continue;
            }
            return total > 0 ? total : copied < 0 ? copied : -EFAULT;
        }
        total += copied;
        for (offset += copied; count > 0 && offset >= records->length; records++, count--) {
            offset -= records->length;
        }
    }
}

static int64_t copy_alive(copier *copy, int process, int pid, const struct sluice_peer_record *records, int count) {
    if (count < 1 || count > SLUICE_PEER_RECORDS) {
        return -EINVAL;
    }
    for (int i = 0; i < count; i++) {
        if (records[i].length < 0) {
            return -EINVAL;
        }
    }
    int alive = sluice_peer_is_alive(process);
    if (alive <= 0) {
        return alive < 0 ? alive : -ESRCH;
    }
    int64_t result = copy_records(copy, pid, records, count);
    if (result > 0) {
        /* Only while the process is alive is it certain that its id has not been reused. */
        alive = sluice_peer_is_alive(process);
        if (alive <= 0) {
            return alive < 0 ? alive : -ESRCH;
        }
    }
    return result;
}

int64_t sluice_peer_read(int process, int pid, const void *records, int count) {
    return copy_alive(process_vm_readv, process, pid, records, count);
}

int64_t sluice_peer_write(int process, int pid, const void *records, int count) {
    return copy_alive(process_vm_writev, process, pid, records, count);
}
