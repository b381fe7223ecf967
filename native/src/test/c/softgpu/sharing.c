#define _GNU_SOURCE
#include "gpu.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define MAGIC UINT32_C(0x55504753)

/* The 64 bytes of a handle. */
struct handle {
    uint32_t magic;
    int32_t process;
    int32_t fd;
    int32_t zero;
    uint64_t bytes;
    uint64_t buffer_id;
};

_Static_assert(sizeof(struct handle) <= CUDA_IPC_HANDLE_BYTES, "a handle has no room");

EXPORT cuda_result cuMemExportToShareableHandle(
        void *handle, cuda_allocation allocation, int type, unsigned long long flags) {
    STICKY();
    struct allocation *exported = (struct allocation *)(uintptr_t)allocation;
    if (allocation == 0 || flags != 0 || type != CUDA_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR
            || (exported->handle_types & type) == 0) {
        return CUDA_INVALID_VALUE;
    }
    int fd = dup(exported->fd);
    memcpy(handle, &fd, sizeof fd);
    return fd < 0 ? CUDA_OUT_OF_MEMORY : CUDA_SUCCESS;
}

EXPORT cuda_result cuMemImportFromShareableHandle(cuda_allocation *allocation, void *handle, int type) {
    STICKY();
    struct allocation *adopted;
    if (type != CUDA_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR || atomic_load(&fault_import)) {
        return CUDA_INVALID_VALUE;
    }
    int fd = fcntl((int)(intptr_t)handle, F_DUPFD_CLOEXEC, 0);
    if (fd < 0) {
        return CUDA_INVALID_VALUE;
    }
    world_write();
    cuda_result result = allocation_adopt(fd, &adopted);
    world_release();
    if (result != CUDA_SUCCESS) {
        close(fd);
        return result;
    }
    *allocation = (cuda_allocation)(uintptr_t)adopted;
    return CUDA_SUCCESS;
}

EXPORT cuda_result cuIpcGetMemHandle(struct cuda_ipc_handle *handle, cuda_address address) {
    CONTEXT(context)
    (void)context;
    world_read();
    struct mapping *mapping = mapping_of(address);
    bool can = mapping != NULL && mapping->kind == LEGACY;
    struct handle made = {.magic = MAGIC, .process = getpid()};
    if (can) {
        made.fd = mapping->allocation->fd;
        made.bytes = mapping->bytes;
        made.buffer_id = mapping->allocation->buffer_id;
    }
    world_release();
    memset(handle, 0, sizeof *handle);
    memcpy(handle, &made, sizeof made);
    return can ? CUDA_SUCCESS : CUDA_INVALID_VALUE;
}

EXPORT cuda_result cuIpcOpenMemHandle_v2(cuda_address *address, struct cuda_ipc_handle handle, unsigned flags) {
    CONTEXT(context)
    struct handle given;
    char path[64];
    struct allocation *allocation = NULL;
    memcpy(&given, &handle, sizeof given);
    if (given.magic != MAGIC || flags != CUDA_IPC_LAZY_ENABLE_PEER_ACCESS) {
        return CUDA_INVALID_VALUE;
    }
    if (given.process == getpid()) {
        return CUDA_INVALID_CONTEXT;
    }
    snprintf(path, sizeof path, "/proc/%d/fd/%d", given.process, given.fd);
    int fd = atomic_load(&fault_import) ? -1 : open(path, O_RDWR | O_CLOEXEC);
    if (fd < 0) {
        return CUDA_INVALID_VALUE;
    }
    world_write();
    cuda_result result = allocation_adopt(fd, &allocation);
    if (result != CUDA_SUCCESS) {
        close(fd);
    } else {
        bool may_reach = allocation->device == context->device->index || devices_are_peers();
        size_t taken = (allocation->bytes + GRANULE - 1) & ~(GRANULE - 1);
        *address = may_reach ? range_take(taken, GRANULE) : 0;
        if (*address == 0
                || mapping_add(*address, allocation->bytes, 0, allocation, OPENED, 1u << context->ordinal) == NULL) {
            allocation_release(allocation);
            result = may_reach ? CUDA_OUT_OF_MEMORY : CUDA_PEER_ACCESS_UNSUPPORTED;
        }
    }
    world_release();
    return result;
}

EXPORT cuda_result cuIpcCloseMemHandle(cuda_address address) {
    CONTEXT(context)
    (void)context;
    world_write();
    struct mapping *mapping = mapping_of(address);
    bool is_base = mapping != NULL && mapping->kind == OPENED && mapping->address == address;
    if (is_base) {
        struct allocation *allocation = mapping->allocation;
        size_t taken = (mapping->bytes + GRANULE - 1) & ~(GRANULE - 1);
        mapping_remove(mapping);
        range_give_back(address, taken);
        allocation_release(allocation);
    }
    world_release();
    return is_base ? CUDA_SUCCESS : CUDA_INVALID_VALUE;
}

/* ---- memory of the host ---- */

EXPORT cuda_result cuMemHostRegister_v2(void *address, size_t bytes, unsigned flags) {
    CONTEXT(context)
    (void)context;
    cuda_address at = (cuda_address)(uintptr_t)address | HOST_BIT;
    if (address == NULL || bytes == 0 || flags != (CUDA_HOST_PORTABLE | CUDA_HOST_DEVICE_MAP)) {
        return CUDA_INVALID_VALUE;
    }
    if (atomic_load(&fault_pins)) {
        return CUDA_OUT_OF_MEMORY;
    }
    kernels_await(-1);
    world_write();
    cuda_result result = overlaps(at, bytes)
            ? CUDA_HOST_MEMORY_ALREADY_REGISTERED
            : mapping_add(at, bytes, 0, NULL, HOST, ~0u) == NULL ? CUDA_OUT_OF_MEMORY : CUDA_SUCCESS;
    world_release();
    if (result == CUDA_SUCCESS) {
        COUNT(registrations, 1);
    }
    return result;
}

EXPORT cuda_result cuMemHostUnregister(void *address) {
    CONTEXT(context)
    (void)context;
    kernels_await_locked(-1);
    streams_await(-1);
    cuda_address at = (cuda_address)(uintptr_t)address | HOST_BIT;
    world_write();
    struct mapping *mapping = mapping_of(at);
    bool is_base = mapping != NULL && mapping->kind == HOST && mapping->address == at;
    if (is_base) {
        mapping_remove(mapping);
    }
    world_release();
    if (is_base) {
        COUNT(registrations, -1);
    }
    return is_base ? CUDA_SUCCESS : CUDA_HOST_MEMORY_NOT_REGISTERED;
}

EXPORT cuda_result cuMemHostGetDevicePointer_v2(cuda_address *address, void *host, unsigned flags) {
    CONTEXT(context)
    (void)context;
    cuda_address at = (cuda_address)(uintptr_t)host | HOST_BIT;
    world_read();
    bool is_registered = mapping_of(at) != NULL && flags == 0;
    world_release();
    *address = at;
    return is_registered ? CUDA_SUCCESS : CUDA_INVALID_VALUE;
}

/* ---- what lies at an address ---- */

static cuda_result put_attribute(const struct mapping *mapping, cuda_address address, int attribute, void *value) {
    const struct allocation *allocation = mapping == NULL ? NULL : mapping->allocation;
    /* As drivers say of the virtual-memory API: all that was reserved, also where nothing is mapped. */
    cuda_address reserved = 0;
    size_t reserved_bytes = 0;
    bool is_reserved = (mapping == NULL || mapping->kind == VIRTUAL) && range_of(address, &reserved, &reserved_bytes);
    unsigned word = 0;
    unsigned long long longer = 0;
    switch (attribute) {
        case CUDA_POINTER_MEMORY_TYPE:
            word = is_reserved || allocation != NULL ? CUDA_MEMORY_TYPE_DEVICE : mapping == NULL ? 0 : CUDA_MEMORY_TYPE_HOST;
            memcpy(value, &word, sizeof word);
            return CUDA_SUCCESS;
        case CUDA_POINTER_IS_MANAGED:
            memcpy(value, &word, sizeof word);
            return CUDA_SUCCESS;
        case CUDA_POINTER_DEVICE_ORDINAL: {
            /* As drivers say: of what a handle has opened, the GPU that has opened it. */
            int ordinal = allocation == NULL ? -1
                    : mapping->kind == OPENED ? __builtin_ctz(mapping->access)
                                              : ordinal_of(allocation->device);
            memcpy(value, &ordinal, sizeof ordinal);
            return CUDA_SUCCESS;
        }
        case CUDA_POINTER_BUFFER_ID:
            longer = allocation == NULL ? 0 : allocation->buffer_id;
            memcpy(value, &longer, sizeof longer);
            return CUDA_SUCCESS;
        case CUDA_POINTER_IS_LEGACY_IPC_CAPABLE:
            word = mapping != NULL && mapping->kind == LEGACY && !allocation->is_pooled;
            memcpy(value, &word, sizeof word);
            return CUDA_SUCCESS;
        case CUDA_POINTER_ALLOWED_HANDLE_TYPES:
            /* Some drivers name types of what cuMemAlloc has made, too. */
            longer = allocation == NULL ? 0
                    : mapping->kind == LEGACY ? CUDA_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR
                                              : (unsigned long long)allocation->handle_types;
            memcpy(value, &longer, sizeof longer);
            return CUDA_SUCCESS;
        case CUDA_POINTER_IS_GPU_DIRECT_RDMA_CAPABLE:
            word = allocation != NULL && allocation->is_rdma_capable;
            memcpy(value, &word, sizeof word);
            return CUDA_SUCCESS;
        case CUDA_POINTER_RANGE_START: {
            cuda_address base = is_reserved ? reserved : mapping == NULL ? 0 : mapping->address;
            memcpy(value, &base, sizeof base);
            return CUDA_SUCCESS;
        }
        case CUDA_POINTER_RANGE_BYTES: {
            size_t bytes = is_reserved ? reserved_bytes : mapping == NULL ? 0 : mapping->bytes;
            memcpy(value, &bytes, sizeof bytes);
            return CUDA_SUCCESS;
        }
        case CUDA_POINTER_IS_MAPPED:
            word = mapping != NULL;
            memcpy(value, &word, sizeof word);
            return CUDA_SUCCESS;
        case CUDA_POINTER_MAPPING_START: {
            cuda_address start = mapping == NULL ? 0 : mapping->address;
            memcpy(value, &start, sizeof start);
            return CUDA_SUCCESS;
        }
        case CUDA_POINTER_MAPPING_BYTES: {
            size_t bytes = mapping == NULL ? 0 : mapping->bytes;
            memcpy(value, &bytes, sizeof bytes);
            return CUDA_SUCCESS;
        }
        case CUDA_POINTER_BLOCK_ID:
            longer = allocation == NULL ? 0 : allocation->buffer_id;
            memcpy(value, &longer, sizeof longer);
            return CUDA_SUCCESS;
        case CUDA_POINTER_POOL_HANDLE: {
            const void *pool = allocation != NULL && allocation->is_pooled ? (const void *)&pools : NULL;
            memcpy(value, &pool, sizeof pool);
            return CUDA_SUCCESS;
        }
        default:
            return CUDA_INVALID_VALUE;
    }
}

EXPORT cuda_result cuPointerGetAttributes(unsigned count, int *attributes, void **values, cuda_address address) {
    STICKY();
    cuda_result result = CUDA_SUCCESS;
    world_read();
    const struct mapping *mapping = mapping_of(address);
    for (unsigned i = 0; result == CUDA_SUCCESS && i < count; i++) {
        result = put_attribute(mapping, address, attributes[i], values[i]);
    }
    world_release();
    return result;
}
