#define _GNU_SOURCE
#include "adapter.h"

#include "../dma_buffer.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

/* Any other descriptor that can be mapped is a buffer, too: all of it. */
static int open_plain(int descriptor, struct dma_range *range) {
    struct stat status;
    if (fstat(descriptor, &status) != 0) {
        return -1;
    }
    *range = (struct dma_range){.offset = 0, .bytes = (uint64_t)status.st_size};
    return fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
}

/* A new descriptor of the memory, or -1 with errno. */
static int open_memory(int descriptor, struct dma_range *range) {
    union {
        struct cmsghdr header;
        char bytes[CMSG_SPACE(sizeof(int))];
    } control;
    struct iovec data = {.iov_base = range, .iov_len = sizeof *range};
    struct msghdr message = {
        .msg_iov = &data, .msg_iovlen = 1, .msg_control = control.bytes, .msg_controllen = sizeof control.bytes};
    ssize_t length = recvmsg(descriptor, &message, MSG_PEEK | MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    if (length < 0) {
        return errno == ENOTSOCK ? open_plain(descriptor, range) : -1;
    }
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    int memory = -1;
    if (header != NULL && header->cmsg_type == SCM_RIGHTS) {
        memcpy(&memory, CMSG_DATA(header), sizeof memory);
    }
    if (length != (ssize_t)sizeof *range && memory >= 0) {
        close(memory);
        memory = -1;
    }
    errno = EINVAL;
    return memory;
}

void *dma_buffer_map(int descriptor, uint64_t offset, uint64_t length, int protection, size_t *mapped) {
    if (atomic_load(&fault_dma_buffers)) {
        errno = EOPNOTSUPP;
        return NULL;
    }
    struct dma_range range;
    int memory = open_memory(descriptor, &range);
    if (memory < 0) {
        return NULL;
    }
    uint64_t mask = (uint64_t)sysconf(_SC_PAGESIZE) - 1;
    void *start = MAP_FAILED;
    errno = EINVAL;
    if (length <= range.bytes && offset <= range.bytes - length) {
        uint64_t from = (range.offset + offset) & ~mask;
        *mapped = (size_t)(range.offset + offset + length - from);
        start = mmap(NULL, *mapped, protection, MAP_SHARED, memory, (off_t)from);
    }
    int error = errno;
    close(memory);
    errno = error;
    return start == MAP_FAILED ? NULL : start;
}
