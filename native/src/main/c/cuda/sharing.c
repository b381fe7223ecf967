#include "cuda_library.h"

#include <string.h>

int sluice_cuda_memory_ipc_handle(
        struct sluice_cuda_device *device, uint64_t base, uint8_t handle[SLUICE_CUDA_IPC_HANDLE_BYTES]) {
    struct cuda_scope scope;
    struct cuda_ipc_handle made;
    int entered = cuda_enter(device, &scope);
    if (entered < 0) {
        return entered;
    }
    cuda_result result = cuda.ipc_handle(&made, base);
    cuda_leave(&scope);
    if (result == CUDA_SUCCESS) {
        memcpy(handle, made.bytes, sizeof made.bytes);
    }
    return cuda_failed(device, result);
}

int64_t sluice_cuda_memory_ipc_open(
        struct sluice_cuda_device *device, const uint8_t handle[SLUICE_CUDA_IPC_HANDLE_BYTES]) {
    struct cuda_scope scope;
    struct cuda_ipc_handle given;
    cuda_address address = 0;
    int entered = cuda_enter(device, &scope);
    if (entered < 0) {
        return entered;
    }
    memcpy(given.bytes, handle, sizeof given.bytes);
    cuda_result result = cuda.ipc_open(&address, given, CUDA_IPC_LAZY_ENABLE_PEER_ACCESS);
    cuda_leave(&scope);
    return result == CUDA_SUCCESS ? (int64_t)address : cuda_failed(device, result);
}

int sluice_cuda_memory_ipc_close(struct sluice_cuda_device *device, uint64_t base) {
    struct cuda_scope scope;
    int entered = cuda_enter(device, &scope);
    if (entered < 0) {
        return entered;
    }
    cuda_await_idle(device);
    cuda_result result = cuda.ipc_close(base);
    cuda_leave(&scope);
    return cuda_failed(device, result);
}

int sluice_cuda_memory_dma_buffer(struct sluice_cuda_device *device, uint64_t address, int64_t bytes) {
    struct cuda_scope scope;
    int descriptor = -1;
    int entered = cuda_enter(device, &scope);
    if (entered < 0) {
        return entered;
    }
    cuda_result result = cuda.range_handle == NULL ? CUDA_NOT_SUPPORTED
            : bytes <= 0 ? CUDA_INVALID_VALUE
            : cuda.range_handle(&descriptor, address, (size_t)bytes, CUDA_RANGE_HANDLE_DMA_BUF, 0);
    cuda_leave(&scope);
    return result == CUDA_SUCCESS ? cuda_close_on_exec(descriptor) : cuda_failed(device, result);
}

int sluice_cuda_memory_flush_remote_writes(struct sluice_cuda_device *device) {
    struct cuda_scope scope;
    int entered = cuda_enter(device, &scope);
    if (entered < 0) {
        return entered;
    }
    cuda_result result = cuda.flush_remote_writes == NULL
            ? CUDA_NOT_SUPPORTED
            : cuda.flush_remote_writes(CUDA_FLUSH_CURRENT_CONTEXT, CUDA_FLUSH_TO_OWNER);
    cuda_leave(&scope);
    return cuda_failed(device, result);
}

int sluice_cuda_memory_enable_peer(struct sluice_cuda_device *device, struct sluice_cuda_device *peer) {
    struct cuda_scope scope;
    int entered = cuda_enter(device, &scope);
    if (entered < 0) {
        return entered;
    }
    cuda_result result = peer == NULL ? CUDA_INVALID_VALUE : cuda.enable_peer_access(peer->context, 0);
    cuda_leave(&scope);
    return result == CUDA_PEER_ACCESS_ALREADY_ENABLED ? 0 : cuda_failed(device, result);
}

int64_t sluice_cuda_host_register(struct sluice_cuda_device *device, void *address, int64_t bytes) {
    struct cuda_scope scope;
    cuda_address mapped = 0;
    int entered = cuda_enter(device, &scope);
    if (entered < 0) {
        return entered;
    }
    cuda_result result = bytes <= 0
            ? CUDA_INVALID_VALUE
            : cuda.host_register(address, (size_t)bytes, CUDA_HOST_PORTABLE | CUDA_HOST_DEVICE_MAP);
    if (result == CUDA_SUCCESS) {
        result = cuda.host_device_address(&mapped, address, 0);
        if (result != CUDA_SUCCESS) {
            cuda.host_unregister(address);
        }
    }
    cuda_leave(&scope);
    return result == CUDA_SUCCESS ? (int64_t)mapped : cuda_failed(device, result);
}

int64_t sluice_cuda_host_address(struct sluice_cuda_device *device, void *address) {
    struct cuda_scope scope;
    cuda_address mapped = 0;
    int entered = cuda_enter(device, &scope);
    if (entered < 0) {
        return entered;
    }
    cuda_result result = cuda.host_device_address(&mapped, address, 0);
    cuda_leave(&scope);
    return result == CUDA_SUCCESS ? (int64_t)mapped : cuda_failed(device, result);
}

int sluice_cuda_host_unregister(struct sluice_cuda_device *device, void *address) {
    struct cuda_scope scope;
    int entered = cuda_enter(device, &scope);
    if (entered < 0) {
        return entered;
    }
    cuda_await_all_idle();
    cuda_result result = cuda.host_unregister(address);
    cuda_leave(&scope);
    return cuda_failed(device, result);
}
