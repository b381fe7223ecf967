#define _GNU_SOURCE
#include "../dma_buffer.h"
#include "gpu.h"

#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static atomic_bool refused;
static atomic_int ordering;
static atomic_int flush_ways = 1;

EXPORT void soft_gpu_refuse_dma_buffers(int refuse) {
    atomic_store(&refused, refuse != 0);
}

EXPORT void soft_gpu_rdma(int scope, int ways) {
    atomic_store(&ordering, scope);
    atomic_store(&flush_ways, ways);
}

bool dma_buffers_are_supported(void) {
    return !atomic_load(&refused);
}

int dma_ordering(void) {
    return atomic_load(&ordering);
}

int dma_flush_ways(void) {
    return atomic_load(&flush_ways);
}

/* A buffer that is a range of the memory; -1 if there can be none. */
static int make_buffer(int memory, struct dma_range range) {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, ends) != 0) {
        return -1;
    }
    union {
        struct cmsghdr header;
        char bytes[CMSG_SPACE(sizeof(int))];
    } control;
    memset(&control, 0, sizeof control);
    struct iovec data = {.iov_base = &range, .iov_len = sizeof range};
    struct msghdr message = {
        .msg_iov = &data, .msg_iovlen = 1, .msg_control = control.bytes, .msg_controllen = sizeof control.bytes};
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof memory);
    memcpy(CMSG_DATA(header), &memory, sizeof memory);
    bool sent = sendmsg(ends[0], &message, MSG_DONTWAIT) == (ssize_t)sizeof range;
    close(ends[0]);
    if (!sent) {
        close(ends[1]);
        return -1;
    }
    return ends[1];
}

EXPORT cuda_result cuMemGetHandleForAddressRange(
        void *handle, cuda_address address, size_t bytes, int type, unsigned long long flags) {
    CONTEXT(context)
    (void)context;
    uint64_t mask = (uint64_t)sysconf(_SC_PAGESIZE) - 1;
    if (type != CUDA_RANGE_HANDLE_DMA_BUF || flags != 0 || ((address | bytes) & mask) != 0 || bytes == 0) {
        return CUDA_INVALID_VALUE;
    }
    if (!dma_buffers_are_supported()) {
        return CUDA_NOT_SUPPORTED;
    }
    world_read();
    struct mapping *mapping = mapping_of(address);
    int fd = -1;
    if (mapping != NULL && mapping->kind != HOST && mapping->allocation->is_rdma_capable) {
        uint64_t at = address - mapping->address;
        uint64_t pages = (mapping->bytes + mask) & ~mask;
        if (bytes <= pages - at) {
            fd = make_buffer(mapping->allocation->fd, (struct dma_range){mapping->offset + at, bytes});
        }
    }
    world_release();
    memcpy(handle, &fd, sizeof fd);
    return fd < 0 ? CUDA_INVALID_VALUE : CUDA_SUCCESS;
}

EXPORT cuda_result cuFlushGPUDirectRDMAWrites(int target, int scope) {
    CONTEXT(context)
    (void)context;
    if (target != CUDA_FLUSH_CURRENT_CONTEXT || scope < CUDA_FLUSH_TO_OWNER) {
        return CUDA_INVALID_VALUE;
    }
    if ((dma_flush_ways() & 1) == 0) {
        return CUDA_NOT_SUPPORTED;
    }
    COUNT(flushes, 1);
    return CUDA_SUCCESS;
}
