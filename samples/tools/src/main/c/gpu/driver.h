/* The part of the CUDA driver API that this program uses, with NVIDIA's names and numbers, so that it needs no toolkit. */
#ifndef DRIVER_H
#define DRIVER_H

#include <stddef.h>
#include <stdint.h>

typedef int cuda_result;
typedef uint64_t cuda_address;
typedef uint64_t cuda_allocation;

#define CUDA_SUCCESS 0
#define CUDA_NOT_READY 600
#define CUDA_POSIX_FILE_DESCRIPTOR_SUPPORTED 103
#define CUDA_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR 1
#define CUDA_ALLOCATION_PINNED 1
#define CUDA_LOCATION_DEVICE 1
#define CUDA_ACCESS_READ_WRITE 3
#define CUDA_GRANULARITY_RECOMMENDED 1
#define CUDA_STREAM_NON_BLOCKING 1
#define CUDA_IPC_LAZY_ENABLE_PEER_ACCESS 1
#define CUDA_HOST_PORTABLE 1
#define CUDA_HOST_DEVICE_MAP 2
#define CUDA_BATCH_IN_STREAM_ORDER 1

struct cuda_location {
    int type;
    int id;
};

struct cuda_allocation_properties {
    int type;
    int handle_types;
    struct cuda_location location;
    void *win32_attributes;
    uint8_t compression;
    uint8_t is_gpu_direct_rdma_capable;
    uint16_t usage;
    uint8_t reserved[4];
};

struct cuda_access {
    struct cuda_location location;
    int flags;
};

struct cuda_ipc_handle {
    uint8_t bytes[64];
};

/* Of a batch of copies. */
struct cuda_copy_attributes {
    int source_order;
    struct cuda_location source;
    struct cuda_location destination;
    unsigned flags;
};

/* FUNCTION(member, symbol, parameters) */
#define DRIVER_FUNCTIONS(FUNCTION) \
    FUNCTION(initialise, cuInit, (unsigned flags)) \
    FUNCTION(error_name, cuGetErrorName, (cuda_result error, const char **text)) \
    FUNCTION(device_count, cuDeviceGetCount, (int *count)) \
    FUNCTION(device_attribute, cuDeviceGetAttribute, (int *value, int attribute, int device)) \
    FUNCTION(retain_context, cuDevicePrimaryCtxRetain, (void **context, int device)) \
    FUNCTION(set_current_context, cuCtxSetCurrent, (void *context)) \
    FUNCTION(granularity, cuMemGetAllocationGranularity, \
            (size_t *bytes, const struct cuda_allocation_properties *properties, int option)) \
    FUNCTION(allocation_create, cuMemCreate, \
            (cuda_allocation *allocation, size_t bytes, const struct cuda_allocation_properties *properties, \
             unsigned long long flags)) \
    FUNCTION(allocation_export, cuMemExportToShareableHandle, \
            (void *handle, cuda_allocation allocation, int type, unsigned long long flags)) \
    FUNCTION(allocation_import, cuMemImportFromShareableHandle, (cuda_allocation *allocation, void *handle, int type)) \
    FUNCTION(range_reserve, cuMemAddressReserve, \
            (cuda_address *address, size_t bytes, size_t alignment, cuda_address wish, unsigned long long flags)) \
    FUNCTION(range_map, cuMemMap, \
            (cuda_address address, size_t bytes, size_t offset, cuda_allocation allocation, unsigned long long flags)) \
    FUNCTION(range_set_access, cuMemSetAccess, \
            (cuda_address address, size_t bytes, const struct cuda_access *access, size_t count)) \
    FUNCTION(memory_allocate, cuMemAlloc_v2, (cuda_address *address, size_t bytes)) \
    FUNCTION(ipc_handle, cuIpcGetMemHandle, (struct cuda_ipc_handle *handle, cuda_address address)) \
    FUNCTION(ipc_open, cuIpcOpenMemHandle_v2, (cuda_address *address, struct cuda_ipc_handle handle, unsigned flags)) \
    FUNCTION(host_register, cuMemHostRegister_v2, (void *address, size_t bytes, unsigned flags)) \
    FUNCTION(host_device_address, cuMemHostGetDevicePointer_v2, (cuda_address *address, void *host, unsigned flags)) \
    FUNCTION(stream_create, cuStreamCreateWithPriority, (void **stream, unsigned flags, int priority)) \
    FUNCTION(stream_query, cuStreamQuery, (void *stream)) \
    FUNCTION(stream_write_value, cuStreamWriteValue64_v2, \
            (void *stream, cuda_address address, uint64_t value, unsigned flags)) \
    FUNCTION(copy, cuMemcpyAsync, (cuda_address to, cuda_address from, size_t bytes, void *stream)) \
    FUNCTION(fill, cuMemsetD8Async, (cuda_address address, unsigned char value, size_t bytes, void *stream)) \
    FUNCTION(module_load, cuModuleLoadData, (void **module, const void *image)) \
    FUNCTION(module_function, cuModuleGetFunction, (void **function, void *module, const char *name)) \
    FUNCTION(launch, cuLaunchKernel, \
            (void *function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x, unsigned block_y, \
             unsigned block_z, unsigned shared_bytes, void *stream, void **arguments, void **extra))

/* Those that a driver may lack, which are NULL then: the batch call came with CUDA 12.8, and in 13.0 in another form. */
#define NEWER_DRIVER_FUNCTIONS(FUNCTION) \
    FUNCTION(copy_batch_12, cuMemcpyBatchAsync, \
            (cuda_address *to, cuda_address *from, size_t *bytes, size_t count, struct cuda_copy_attributes *attributes, \
             size_t *first, size_t attribute_count, size_t *failed, void *stream)) \
    FUNCTION(copy_batch, cuMemcpyBatchAsync_v2, \
            (cuda_address *to, cuda_address *from, size_t *bytes, size_t count, struct cuda_copy_attributes *attributes, \
             size_t *first, size_t attribute_count, void *stream))

struct driver {
#define MEMBER(name, symbol, parameters) cuda_result(*name) parameters;
    DRIVER_FUNCTIONS(MEMBER)
    NEWER_DRIVER_FUNCTIONS(MEMBER)
#undef MEMBER
};

extern struct driver cuda;

#endif
