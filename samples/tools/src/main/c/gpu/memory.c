#include "gpu.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static cuda_address map(int device, cuda_allocation allocation, size_t bytes) {
    cuda_address address = 0;
    struct cuda_access access = {
        .location = {.type = CUDA_LOCATION_DEVICE, .id = device},
        .flags = CUDA_ACCESS_READ_WRITE,
    };
    check(cuda.range_reserve(&address, bytes, 0, 0, 0), "cuMemAddressReserve");
    check(cuda.range_map(address, bytes, 0, allocation, 0), "cuMemMap");
    check(cuda.range_set_access(address, bytes, &access, 1), "cuMemSetAccess");
    return address;
}

struct shared_memory memory_share(int device, size_t bytes, bool by_handle) {
    struct shared_memory shared = {.bytes = bytes, .descriptor = -1};
    int has_descriptors = 0;
    check(cuda.device_attribute(&has_descriptors, CUDA_POSIX_FILE_DESCRIPTOR_SUPPORTED, device), "cuDeviceGetAttribute");
    if (by_handle || !has_descriptors) {
        shared.address = memory_allocate(bytes);
        check(cuda.ipc_handle(&shared.handle, shared.address), "cuIpcGetMemHandle");
        return shared;
    }
    struct cuda_allocation_properties properties = {
        .type = CUDA_ALLOCATION_PINNED,
        .handle_types = CUDA_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
        .location = {.type = CUDA_LOCATION_DEVICE, .id = device},
    };
    size_t granule = 0;
    cuda_allocation allocation = 0;
    check(cuda.allocation_granularity(&granule, &properties, CUDA_GRANULARITY_RECOMMENDED), "cuMemGetAllocationGranularity");
    shared.bytes = (bytes + granule - 1) / granule * granule;
    check(cuda.allocation_create(&allocation, shared.bytes, &properties, 0), "cuMemCreate");
    check(cuda.allocation_export(&shared.descriptor, allocation, CUDA_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0),
            "cuMemExportToShareableHandle");
    shared.address = map(device, allocation, shared.bytes);
    return shared;
}

cuda_address memory_import(int device, const struct shared_memory *shared) {
    cuda_address address = 0;
    cuda_allocation allocation = 0;
    if (shared->descriptor < 0) {
        check(cuda.ipc_open(&address, shared->handle, CUDA_IPC_LAZY_ENABLE_PEER_ACCESS), "cuIpcOpenMemHandle");
        return address;
    }
    check(cuda.allocation_import(
                  &allocation, (void *)(intptr_t)shared->descriptor, CUDA_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR),
            "cuMemImportFromShareableHandle");
    return map(device, allocation, shared->bytes);
}

cuda_address memory_allocate(size_t bytes) {
    cuda_address address = 0;
    check(cuda.memory_allocate(&address, bytes), "cuMemAlloc");
    return address;
}

void *pinned_allocate(size_t bytes, cuda_address *address) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    size_t whole = (bytes + page - 1) / page * page;
    void *memory = aligned_alloc(page, whole);
    if (memory == NULL) {
        fail("no memory", "the system has none");
    }
    memset(memory, 0, whole);
    check(cuda.host_register(memory, whole, CUDA_HOST_PORTABLE | CUDA_HOST_DEVICE_MAP), "cuMemHostRegister");
    check(cuda.host_device_address(address, memory, 0), "cuMemHostGetDevicePointer");
    return memory;
}
