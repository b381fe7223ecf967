#include "cuda_library.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define MOST_DEVICES 64

static pthread_mutex_t open_lock = PTHREAD_MUTEX_INITIALIZER;
static struct sluice_cuda_device *open_devices;

int sluice_cuda_device_count(void) {
    int count = 0;
    if (!sluice_cuda_loaded()) {
        return -CUDA_NOT_INITIALIZED;
    }
    cuda_result result = cuda.device_count(&count);
    return result == CUDA_SUCCESS ? count : -result;
}

/* An attribute unknown to an older driver reads as 0. */
static int attribute(cuda_device device, int which) {
    int value = 0;
    return cuda.device_attribute(&value, which, device) == CUDA_SUCCESS ? value : 0;
}

int sluice_cuda_device_query(int ordinal, struct sluice_cuda_device_record *record) {
    cuda_device device;
    struct cuda_uuid uuid;
    size_t bytes;
    if (!sluice_cuda_loaded()) {
        return -CUDA_NOT_INITIALIZED;
    }
    if (record == NULL) {
        return -CUDA_INVALID_VALUE;
    }
    memset(record, 0, sizeof *record);
    cuda_result result = cuda.device_get(&device, ordinal);
    if (result == CUDA_SUCCESS) {
        result = cuda.device_uuid(&uuid, device);
    }
    if (result == CUDA_SUCCESS) {
        result = cuda.device_memory(&bytes, device);
    }
    if (result == CUDA_SUCCESS) {
        result = cuda.device_name(record->name, sizeof record->name, device);
    }
    if (result == CUDA_SUCCESS) {
        result = cuda.device_bus_id(record->bus_id, sizeof record->bus_id, device);
    }
    if (result != CUDA_SUCCESS) {
        return -result;
    }
    memcpy(record->uuid, uuid.bytes, sizeof record->uuid);
    record->memory_bytes = (int64_t)bytes;
    record->ordinal = ordinal;
    record->compute_major = attribute(device, CUDA_COMPUTE_CAPABILITY_MAJOR);
    record->compute_minor = attribute(device, CUDA_COMPUTE_CAPABILITY_MINOR);
    record->multiprocessors = attribute(device, CUDA_MULTIPROCESSOR_COUNT);
    record->copy_engines = attribute(device, CUDA_ASYNC_ENGINE_COUNT);
    record->has_descriptors = attribute(device, CUDA_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED)
            && attribute(device, CUDA_POSIX_FILE_DESCRIPTOR_SUPPORTED);
    record->has_dma_buffers = cuda.range_handle != NULL && attribute(device, CUDA_DMA_BUF_SUPPORTED);
    record->has_rdma = attribute(device, CUDA_GPU_DIRECT_RDMA_SUPPORTED);
    record->rdma_flush = attribute(device, CUDA_GPU_DIRECT_RDMA_FLUSH_WRITES_OPTIONS);
    record->rdma_ordering = attribute(device, CUDA_GPU_DIRECT_RDMA_WRITES_ORDERING);
    record->has_stream_words = attribute(device, CUDA_CAN_USE_64_BIT_STREAM_MEMORY_OPERATIONS);
    return 0;
}

int sluice_cuda_device_link(int ordinal, int peer) {
    cuda_device from;
    cuda_device to;
    int can_access = 0;
    int native_atomics = 0;
    int rank = 0;
    if (!sluice_cuda_loaded()) {
        return -CUDA_NOT_INITIALIZED;
    }
    cuda_result result = cuda.device_get(&from, ordinal);
    if (result == CUDA_SUCCESS) {
        result = cuda.device_get(&to, peer);
    }
    if (result == CUDA_SUCCESS) {
        result = cuda.can_access_peer(&can_access, from, to);
    }
    if (result != CUDA_SUCCESS) {
        return -result;
    }
    if (can_access) {
        cuda.peer_attribute(&native_atomics, CUDA_PEER_NATIVE_ATOMICS_SUPPORTED, from, to);
        cuda.peer_attribute(&rank, CUDA_PEER_PERFORMANCE_RANK, from, to);
    }
    return (can_access != 0) | (native_atomics != 0) << 1 | (rank & 0xffff) << 2;
}

int64_t sluice_cuda_device_open(int ordinal) {
    if (!sluice_cuda_loaded()) {
        return -CUDA_NOT_INITIALIZED;
    }
    struct sluice_cuda_device *device = calloc(1, sizeof *device);
    if (device == NULL) {
        return cuda_system_error(ENOMEM);
    }
    device->ordinal = ordinal;
    cuda_result result = cuda.device_get(&device->device, ordinal);
    if (result == CUDA_SUCCESS) {
        result = cuda.retain_context(&device->context, device->device);
    }
    if (result != CUDA_SUCCESS) {
        free(device);
        return -result;
    }
    pthread_mutex_lock(&open_lock);
    device->next = open_devices;
    open_devices = device;
    pthread_mutex_unlock(&open_lock);
    return (int64_t)(intptr_t)device;
}

static void remove_open(const struct sluice_cuda_device *device) {
    pthread_mutex_lock(&open_lock);
    struct sluice_cuda_device **link = &open_devices;
    while (*link != NULL && *link != device) {
        link = &(*link)->next;
    }
    if (*link != NULL) {
        *link = device->next;
    }
    pthread_mutex_unlock(&open_lock);
}

/* Retains the context of each device that is open; returns how many they are. */
static int retain_all(struct sluice_cuda_device *retained) {
    int count = 0;
    pthread_mutex_lock(&open_lock);
    for (struct sluice_cuda_device *each = open_devices; each != NULL && count < MOST_DEVICES; each = each->next) {
        bool is_new = true;
        for (int i = 0; i < count; i++) {
            is_new = is_new && retained[i].device != each->device;
        }
        /* It is active, so that this makes none. */
        if (is_new && cuda.retain_context(&retained[count].context, each->device) == CUDA_SUCCESS) {
            retained[count++].device = each->device;
        }
    }
    pthread_mutex_unlock(&open_lock);
    return count;
}

void cuda_await_all_idle(void) {
    struct sluice_cuda_device retained[MOST_DEVICES] = {0};
    int count = cuda.context_record == NULL ? 0 : retain_all(retained);
    for (int i = 0; i < count; i++) {
        struct cuda_scope scope;
        if (cuda_enter(&retained[i], &scope) == 0) {
            cuda_await_idle(&retained[i]);
            cuda_leave(&scope);
        }
        cuda.release_context(retained[i].device);
    }
}

int sluice_cuda_device_close(struct sluice_cuda_device *device) {
    if (device == NULL) {
        return -CUDA_INVALID_VALUE;
    }
    remove_open(device);
    cuda_result result = cuda.release_context(device->device);
    free(device);
    return -result;
}

int sluice_cuda_device_free_memory(struct sluice_cuda_device *device, int64_t *bytes) {
    struct cuda_scope scope;
    size_t free_bytes = 0;
    size_t total = 0;
    int entered = cuda_enter(device, &scope);
    if (entered < 0 || bytes == NULL) {
        cuda_leave(&scope);
        return entered < 0 ? entered : -CUDA_INVALID_VALUE;
    }
    cuda_result result = cuda.memory_info(&free_bytes, &total);
    cuda_leave(&scope);
    *bytes = (int64_t)free_bytes;
    return cuda_failed(device, result);
}
