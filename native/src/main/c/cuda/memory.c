#include "cuda_library.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

static struct cuda_allocation_properties properties_on(const struct sluice_cuda_device *device) {
    struct cuda_allocation_properties properties = {
        .type = CUDA_ALLOCATION_PINNED,
        .handle_types = CUDA_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
        .location = {.type = CUDA_LOCATION_DEVICE, .id = device->device},
    };
    int rdma = 0;
    cuda.device_attribute(&rdma, CUDA_GPU_DIRECT_RDMA_WITH_VIRTUAL_MEMORY_SUPPORTED, device->device);
    properties.is_gpu_direct_rdma_capable = rdma != 0;
    return properties;
}

static cuda_result granularity(const struct sluice_cuda_device *device, size_t *bytes) {
    struct cuda_allocation_properties properties = properties_on(device);
    return cuda.allocation_granularity(bytes, &properties, CUDA_GRANULARITY_RECOMMENDED);
}

int64_t sluice_cuda_memory_granularity(struct sluice_cuda_device *device) {
    struct cuda_scope scope;
    size_t bytes = 0;
    int entered = cuda_enter(device, &scope);
    if (entered < 0) {
        return entered;
    }
    cuda_result result = granularity(device, &bytes);
    cuda_leave(&scope);
    return result == CUDA_SUCCESS ? (int64_t)bytes : cuda_failed(device, result);
}

/* Maps an allocation for access by the device only; the mapping keeps the allocation alive. */
static cuda_result map(
        const struct sluice_cuda_device *device, cuda_allocation allocation, size_t bytes, cuda_address *address) {
    struct cuda_access access = {
        .location = {.type = CUDA_LOCATION_DEVICE, .id = device->device},
        .flags = CUDA_ACCESS_READ_WRITE,
    };
    cuda_result result = cuda.range_reserve(address, bytes, 0, 0, 0);
    if (result != CUDA_SUCCESS) {
        return result;
    }
    result = cuda.range_map(*address, bytes, 0, allocation, 0);
    if (result == CUDA_SUCCESS) {
        result = cuda.range_set_access(*address, bytes, &access, 1);
        if (result == CUDA_SUCCESS) {
            return CUDA_SUCCESS;
        }
        cuda.range_unmap(*address, bytes);
    }
    cuda.range_free(*address, bytes);
    return result;
}

int64_t sluice_cuda_memory_allocate(struct sluice_cuda_device *device, int64_t bytes) {
    struct cuda_scope scope;
    size_t granule = 0;
    cuda_allocation allocation;
    cuda_address address = 0;
    int entered = cuda_enter(device, &scope);
    if (entered < 0) {
        return entered;
    }
    cuda_result result = granularity(device, &granule);
    if (result == CUDA_SUCCESS && (bytes <= 0 || (uint64_t)bytes % granule != 0)) {
        result = CUDA_INVALID_VALUE;
    }
    if (result == CUDA_SUCCESS) {
        struct cuda_allocation_properties properties = properties_on(device);
        result = cuda.allocation_create(&allocation, (size_t)bytes, &properties, 0);
    }
    if (result == CUDA_SUCCESS) {
        result = map(device, allocation, (size_t)bytes, &address);
        cuda.allocation_release(allocation);
    }
    cuda_leave(&scope);
    return result == CUDA_SUCCESS ? (int64_t)address : cuda_failed(device, result);
}

int sluice_cuda_memory_free(struct sluice_cuda_device *device, uint64_t address, int64_t bytes) {
    struct cuda_scope scope;
    int entered = cuda_enter(device, &scope);
    if (entered < 0) {
        return entered;
    }
    cuda_await_idle(device);
    cuda_result result = cuda.range_unmap(address, (size_t)bytes);
    if (result == CUDA_SUCCESS) {
        result = cuda.range_free(address, (size_t)bytes);
    }
    cuda_leave(&scope);
    return cuda_failed(device, result);
}

int cuda_close_on_exec(int descriptor) {
    int flags = fcntl(descriptor, F_GETFD);
    if (flags < 0 || fcntl(descriptor, F_SETFD, flags | FD_CLOEXEC) < 0) {
        int error = errno;
        close(descriptor);
        return cuda_system_error(error);
    }
    return descriptor;
}

int sluice_cuda_memory_export(struct sluice_cuda_device *device, uint64_t address) {
    struct cuda_scope scope;
    cuda_allocation allocation;
    int descriptor = -1;
    int entered = cuda_enter(device, &scope);
    if (entered < 0) {
        return entered;
    }
    cuda_result result = cuda.allocation_of(&allocation, (void *)(uintptr_t)address);
    if (result == CUDA_SUCCESS) {
        result = cuda.allocation_export(&descriptor, allocation, CUDA_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0);
        cuda.allocation_release(allocation);
    }
    cuda_leave(&scope);
    return result == CUDA_SUCCESS ? cuda_close_on_exec(descriptor) : cuda_failed(device, result);
}

int64_t sluice_cuda_memory_import(struct sluice_cuda_device *device, int descriptor, int64_t bytes) {
    struct cuda_scope scope;
    cuda_allocation allocation;
    cuda_address address = 0;
    int entered = cuda_enter(device, &scope);
    if (entered < 0) {
        return entered;
    }
    cuda_result result = bytes > 0 ? CUDA_SUCCESS : CUDA_INVALID_VALUE;
    if (result == CUDA_SUCCESS) {
        result = cuda.allocation_import(
                &allocation, (void *)(intptr_t)descriptor, CUDA_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
    }
    if (result == CUDA_SUCCESS) {
        result = map(device, allocation, (size_t)bytes, &address);
        cuda.allocation_release(allocation);
    }
    cuda_leave(&scope);
    return result == CUDA_SUCCESS ? (int64_t)address : cuda_failed(device, result);
}

static int kind_of(unsigned type, unsigned is_managed) {
    if (is_managed) {
        return SLUICE_CUDA_MEMORY_MANAGED;
    }
    return type == CUDA_MEMORY_TYPE_DEVICE ? SLUICE_CUDA_MEMORY_DEVICE
            : type == CUDA_MEMORY_TYPE_HOST ? SLUICE_CUDA_MEMORY_HOST
                                            : SLUICE_CUDA_MEMORY_NONE;
}

/*
 * Of the virtual-memory API the driver has told the range that was reserved, in which allocations may lie side by side, and gaps:
 * finds the allocation. False for a gap.
 */
static bool find_allocation(uint64_t address, struct sluice_cuda_memory_record *record) {
    cuda_address start = 0;
    size_t bytes = 0;
    unsigned long long block_id = 0;
    unsigned is_mapped = 0;
    cuda_allocation allocation;
    int attributes[] = {
        CUDA_POINTER_MAPPING_START, CUDA_POINTER_MAPPING_BYTES, CUDA_POINTER_BLOCK_ID, CUDA_POINTER_IS_MAPPED};
    void *values[] = {&start, &bytes, &block_id, &is_mapped};
    if (cuda.pointer_attributes(sizeof attributes / sizeof *attributes, attributes, values, address) != CUDA_SUCCESS) {
        /* Older drivers do not know them all. */
        return true;
    }
    if (address < start || address - start >= bytes) {
        return is_mapped != 0;
    }
    bool is_within = start >= record->base && bytes <= (uint64_t)record->bytes
            && start - record->base <= (uint64_t)record->bytes - bytes;
    /* What a handle of another process has opened is not of this API. */
    if (is_within && cuda.allocation_of(&allocation, (void *)(uintptr_t)address) == CUDA_SUCCESS) {
        cuda.allocation_release(allocation);
        record->base = start;
        record->bytes = (int64_t)bytes;
        record->block_id = block_id;
    }
    return true;
}

int sluice_cuda_memory_describe(uint64_t address, struct sluice_cuda_memory_record *record) {
    unsigned type = 0;
    unsigned is_managed = 0;
    int ordinal = -1;
    unsigned long long buffer_id = 0;
    unsigned is_legacy_capable = 0;
    unsigned long long handle_types = 0;
    unsigned is_rdma_capable = 0;
    void *pool = NULL;
    cuda_address base = 0;
    size_t bytes = 0;
    int attributes[] = {
        CUDA_POINTER_MEMORY_TYPE, CUDA_POINTER_IS_MANAGED, CUDA_POINTER_DEVICE_ORDINAL, CUDA_POINTER_BUFFER_ID,
        CUDA_POINTER_IS_LEGACY_IPC_CAPABLE, CUDA_POINTER_ALLOWED_HANDLE_TYPES, CUDA_POINTER_IS_GPU_DIRECT_RDMA_CAPABLE,
        CUDA_POINTER_POOL_HANDLE, CUDA_POINTER_RANGE_START, CUDA_POINTER_RANGE_BYTES,
    };
    void *values[] = {
        &type, &is_managed, &ordinal, &buffer_id, &is_legacy_capable, &handle_types, &is_rdma_capable, &pool, &base,
        &bytes};
    if (!sluice_cuda_loaded()) {
        return -CUDA_NOT_INITIALIZED;
    }
    if (record == NULL) {
        return -CUDA_INVALID_VALUE;
    }
    memset(record, 0, sizeof *record);
    record->ordinal = -1;
    /* Needs no context. For an unknown address all fields are zero, which is not an error. */
    cuda_result result = cuda.pointer_attributes(sizeof attributes / sizeof *attributes, attributes, values, address);
    if (result != CUDA_SUCCESS) {
        return result == CUDA_INVALID_VALUE ? 0 : -result;
    }
    record->kind = kind_of(type, is_managed);
    if (record->kind == SLUICE_CUDA_MEMORY_NONE) {
        return 0;
    }
    record->base = base;
    record->bytes = (int64_t)bytes;
    record->buffer_id = buffer_id;
    record->ordinal = ordinal;
    record->is_rdma_capable = is_rdma_capable != 0;
    if (record->kind == SLUICE_CUDA_MEMORY_DEVICE && pool == NULL) {
        /* First: a driver may name handle types of what cuMemAlloc has made, which has no handle of the virtual-memory API. */
        record->sharing = is_legacy_capable                                      ? SLUICE_CUDA_SHARED_BY_HANDLE
                : handle_types & CUDA_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR ? SLUICE_CUDA_SHARED_BY_DESCRIPTOR
                                                                                 : SLUICE_CUDA_NOT_SHARED;
        if (!is_legacy_capable && !find_allocation(address, record)) {
            memset(record, 0, sizeof *record);
            record->ordinal = -1;
        }
    }
    return 0;
}
