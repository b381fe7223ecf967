/*
 * The part of the CUDA driver API that Sluice uses, declared here so that the build needs no CUDA toolkit. Names,
 * numbers and layouts are those of NVIDIA's cuda.h (CUDA Driver API reference manual, 13.0).
 */
#ifndef CUDA_API_H
#define CUDA_API_H

#include <stddef.h>
#include <stdint.h>

typedef int cuda_result;
typedef int cuda_device;
typedef uint64_t cuda_address;
typedef uint64_t cuda_allocation;
typedef struct CUctx_st *cuda_context;
typedef struct CUstream_st *cuda_stream;
typedef struct CUevent_st *cuda_event;
typedef struct CUmod_st *cuda_module;
typedef struct CUfunc_st *cuda_function;
typedef struct CUgraph_st *cuda_graph;
typedef struct CUgraphNode_st *cuda_node;
typedef struct CUgraphExec_st *cuda_graph_program;

enum {
    CUDA_SUCCESS = 0,
    CUDA_INVALID_VALUE = 1,
    CUDA_OUT_OF_MEMORY = 2,
    CUDA_NOT_INITIALIZED = 3,
    CUDA_DEINITIALIZED = 4,
    CUDA_NO_DEVICE = 100,
    CUDA_INVALID_DEVICE = 101,
    CUDA_INVALID_IMAGE = 200,
    CUDA_INVALID_CONTEXT = 201,
    CUDA_MAP_FAILED = 205,
    CUDA_PEER_ACCESS_UNSUPPORTED = 217,
    CUDA_INVALID_PTX = 218,
    CUDA_UNSUPPORTED_PTX_VERSION = 222,
    CUDA_INVALID_HANDLE = 400,
    CUDA_NOT_FOUND = 500,
    CUDA_NOT_READY = 600,
    CUDA_ILLEGAL_ADDRESS = 700,
    CUDA_PEER_ACCESS_ALREADY_ENABLED = 704,
    CUDA_HOST_MEMORY_ALREADY_REGISTERED = 712,
    CUDA_HOST_MEMORY_NOT_REGISTERED = 713,
    CUDA_LAUNCH_FAILED = 719,
    CUDA_NOT_SUPPORTED = 801,
    CUDA_MPS_CLIENT_TERMINATED = 810,
    CUDA_STREAM_CAPTURE_UNSUPPORTED = 900,
    CUDA_UNKNOWN = 999,
};

enum {
    CUDA_MULTIPROCESSOR_COUNT = 16,
    CUDA_ASYNC_ENGINE_COUNT = 40,
    CUDA_COMPUTE_CAPABILITY_MAJOR = 75,
    CUDA_COMPUTE_CAPABILITY_MINOR = 76,
    CUDA_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED = 102,
    CUDA_POSIX_FILE_DESCRIPTOR_SUPPORTED = 103,
    CUDA_GPU_DIRECT_RDMA_WITH_VIRTUAL_MEMORY_SUPPORTED = 110,
    CUDA_GPU_DIRECT_RDMA_SUPPORTED = 116,
    CUDA_GPU_DIRECT_RDMA_FLUSH_WRITES_OPTIONS = 117,
    CUDA_GPU_DIRECT_RDMA_WRITES_ORDERING = 118,
    CUDA_CAN_USE_64_BIT_STREAM_MEMORY_OPERATIONS = 122,
    CUDA_DMA_BUF_SUPPORTED = 124,
};

enum {
    CUDA_POINTER_MEMORY_TYPE = 2,
    CUDA_POINTER_BUFFER_ID = 7,
    CUDA_POINTER_IS_MANAGED = 8,
    CUDA_POINTER_DEVICE_ORDINAL = 9,
    CUDA_POINTER_IS_LEGACY_IPC_CAPABLE = 10,
    CUDA_POINTER_RANGE_START = 11,
    CUDA_POINTER_RANGE_BYTES = 12,
    CUDA_POINTER_IS_MAPPED = 13,
    CUDA_POINTER_ALLOWED_HANDLE_TYPES = 14,
    CUDA_POINTER_IS_GPU_DIRECT_RDMA_CAPABLE = 15,
    CUDA_POINTER_POOL_HANDLE = 17,
    CUDA_POINTER_MAPPING_BYTES = 18,
    CUDA_POINTER_MAPPING_START = 19,
    CUDA_POINTER_BLOCK_ID = 20,
};

enum {
    CUDA_MEMORY_TYPE_HOST = 1,
    CUDA_MEMORY_TYPE_DEVICE = 2,
};

enum {
    CUDA_PEER_PERFORMANCE_RANK = 1,
    CUDA_PEER_ACCESS_SUPPORTED = 2,
    CUDA_PEER_NATIVE_ATOMICS_SUPPORTED = 3,
};

#define CUDA_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR 1
#define CUDA_ALLOCATION_PINNED 1
#define CUDA_LOCATION_DEVICE 1
#define CUDA_ACCESS_READ_WRITE 3
#define CUDA_GRANULARITY_RECOMMENDED 1
#define CUDA_STREAM_NON_BLOCKING 1
#define CUDA_EVENT_DISABLE_TIMING 2
#define CUDA_IPC_LAZY_ENABLE_PEER_ACCESS 1
#define CUDA_HOST_PORTABLE 1
#define CUDA_HOST_DEVICE_MAP 2
#define CUDA_RANGE_HANDLE_DMA_BUF 1
#define CUDA_WAIT_VALUE_GREATER_OR_EQUAL 0
#define CUDA_FLUSH_CURRENT_CONTEXT 0
#define CUDA_FLUSH_TO_OWNER 100
#define CUDA_JIT_ERROR_LOG 5
#define CUDA_JIT_ERROR_LOG_BYTES 6
#define CUDA_FUNCTION_SHARED_BYTES 8
#define CUDA_NODE_PRIORITY 8
#define CUDA_NODE_ATTRIBUTE_BYTES 64

#define CUDA_UUID_BYTES 16
#define CUDA_IPC_HANDLE_BYTES 64

struct cuda_uuid {
    uint8_t bytes[CUDA_UUID_BYTES];
};

struct cuda_ipc_handle {
    uint8_t bytes[CUDA_IPC_HANDLE_BYTES];
};

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

/* CUDA_KERNEL_NODE_PARAMS of version 1, as cuGraphAddKernelNode without a suffix takes it. */
struct cuda_kernel_node {
    cuda_function function;
    unsigned grid_x;
    unsigned grid_y;
    unsigned grid_z;
    unsigned block_x;
    unsigned block_y;
    unsigned block_z;
    unsigned shared_bytes;
    void **arguments;
    void **extra;
};

/* CUlaunchAttributeValue. */
union cuda_node_attribute {
    int priority;
    uint64_t bytes[CUDA_NODE_ATTRIBUTE_BYTES / sizeof(uint64_t)];
};

/* FUNCTION(member name, symbol name, parameters) for each function that every driver from 11.7 on has. */
#define CUDA_FUNCTIONS(FUNCTION) \
    FUNCTION(initialise, cuInit, (unsigned flags)) \
    FUNCTION(driver_version, cuDriverGetVersion, (int *version)) \
    FUNCTION(error_name, cuGetErrorName, (cuda_result error, const char **text)) \
    FUNCTION(error_string, cuGetErrorString, (cuda_result error, const char **text)) \
    FUNCTION(device_count, cuDeviceGetCount, (int *count)) \
    FUNCTION(device_get, cuDeviceGet, (cuda_device *device, int ordinal)) \
    FUNCTION(device_name, cuDeviceGetName, (char *name, int length, cuda_device device)) \
    FUNCTION(device_uuid, cuDeviceGetUuid_v2, (struct cuda_uuid *uuid, cuda_device device)) \
    FUNCTION(device_bus_id, cuDeviceGetPCIBusId, (char *id, int length, cuda_device device)) \
    FUNCTION(device_memory, cuDeviceTotalMem_v2, (size_t *bytes, cuda_device device)) \
    FUNCTION(device_attribute, cuDeviceGetAttribute, (int *value, int attribute, cuda_device device)) \
    FUNCTION(can_access_peer, cuDeviceCanAccessPeer, (int *can, cuda_device device, cuda_device peer)) \
    FUNCTION(peer_attribute, cuDeviceGetP2PAttribute, (int *value, int attribute, cuda_device from, cuda_device to)) \
    FUNCTION(retain_context, cuDevicePrimaryCtxRetain, (cuda_context *context, cuda_device device)) \
    FUNCTION(release_context, cuDevicePrimaryCtxRelease_v2, (cuda_device device)) \
    FUNCTION(current_context, cuCtxGetCurrent, (cuda_context *context)) \
    FUNCTION(set_current_context, cuCtxSetCurrent, (cuda_context context)) \
    FUNCTION(push_context, cuCtxPushCurrent_v2, (cuda_context context)) \
    FUNCTION(pop_context, cuCtxPopCurrent_v2, (cuda_context *context)) \
    FUNCTION(stream_priorities, cuCtxGetStreamPriorityRange, (int *least, int *greatest)) \
    FUNCTION(enable_peer_access, cuCtxEnablePeerAccess, (cuda_context peer, unsigned flags)) \
    FUNCTION(memory_info, cuMemGetInfo_v2, (size_t *free, size_t *total)) \
    FUNCTION(allocation_granularity, cuMemGetAllocationGranularity, \
            (size_t *bytes, const struct cuda_allocation_properties *properties, int option)) \
    FUNCTION(allocation_create, cuMemCreate, \
            (cuda_allocation *allocation, size_t bytes, const struct cuda_allocation_properties *properties, \
             unsigned long long flags)) \
    FUNCTION(allocation_release, cuMemRelease, (cuda_allocation allocation)) \
    FUNCTION(allocation_of, cuMemRetainAllocationHandle, (cuda_allocation *allocation, void *address)) \
    FUNCTION(allocation_properties, cuMemGetAllocationPropertiesFromHandle, \
            (struct cuda_allocation_properties *properties, cuda_allocation allocation)) \
    FUNCTION(allocation_export, cuMemExportToShareableHandle, \
            (void *handle, cuda_allocation allocation, int type, unsigned long long flags)) \
    FUNCTION(allocation_import, cuMemImportFromShareableHandle, (cuda_allocation *allocation, void *handle, int type)) \
    FUNCTION(range_reserve, cuMemAddressReserve, \
            (cuda_address *address, size_t bytes, size_t alignment, cuda_address wish, unsigned long long flags)) \
    FUNCTION(range_free, cuMemAddressFree, (cuda_address address, size_t bytes)) \
    FUNCTION(range_map, cuMemMap, \
            (cuda_address address, size_t bytes, size_t offset, cuda_allocation allocation, unsigned long long flags)) \
    FUNCTION(range_unmap, cuMemUnmap, (cuda_address address, size_t bytes)) \
    FUNCTION(range_set_access, cuMemSetAccess, \
            (cuda_address address, size_t bytes, const struct cuda_access *access, size_t count)) \
    FUNCTION(memory_allocate, cuMemAlloc_v2, (cuda_address *address, size_t bytes)) \
    FUNCTION(memory_free, cuMemFree_v2, (cuda_address address)) \
    FUNCTION(pointer_attributes, cuPointerGetAttributes, \
            (unsigned count, int *attributes, void **values, cuda_address address)) \
    FUNCTION(host_register, cuMemHostRegister_v2, (void *address, size_t bytes, unsigned flags)) \
    FUNCTION(host_unregister, cuMemHostUnregister, (void *address)) \
    FUNCTION(host_device_address, cuMemHostGetDevicePointer_v2, (cuda_address *address, void *host, unsigned flags)) \
    FUNCTION(ipc_handle, cuIpcGetMemHandle, (struct cuda_ipc_handle *handle, cuda_address address)) \
    FUNCTION(ipc_open, cuIpcOpenMemHandle_v2, (cuda_address *address, struct cuda_ipc_handle handle, unsigned flags)) \
    FUNCTION(ipc_close, cuIpcCloseMemHandle, (cuda_address address)) \
    FUNCTION(stream_create, cuStreamCreateWithPriority, (cuda_stream *stream, unsigned flags, int priority)) \
    FUNCTION(stream_destroy, cuStreamDestroy_v2, (cuda_stream stream)) \
    FUNCTION(stream_query, cuStreamQuery, (cuda_stream stream)) \
    FUNCTION(stream_wait_event, cuStreamWaitEvent, (cuda_stream stream, cuda_event event, unsigned flags)) \
    FUNCTION(stream_write_value, cuStreamWriteValue64_v2, \
            (cuda_stream stream, cuda_address address, uint64_t value, unsigned flags)) \
    FUNCTION(stream_call, cuLaunchHostFunc, (cuda_stream stream, void (*function)(void *argument), void *argument)) \
    FUNCTION(stream_capturing, cuStreamIsCapturing, (cuda_stream stream, int *is_capturing)) \
    FUNCTION(stream_priority, cuStreamGetPriority, (cuda_stream stream, int *priority)) \
    FUNCTION(event_create, cuEventCreate, (cuda_event *event, unsigned flags)) \
    FUNCTION(event_destroy, cuEventDestroy_v2, (cuda_event event)) \
    FUNCTION(event_record, cuEventRecord, (cuda_event event, cuda_stream stream)) \
    FUNCTION(event_query, cuEventQuery, (cuda_event event)) \
    FUNCTION(event_elapsed, cuEventElapsedTime, (float *milliseconds, cuda_event begin, cuda_event end)) \
    FUNCTION(graph_create, cuGraphCreate, (cuda_graph *graph, unsigned flags)) \
    FUNCTION(graph_destroy, cuGraphDestroy, (cuda_graph graph)) \
    FUNCTION(graph_add_kernel, cuGraphAddKernelNode, \
            (cuda_node *node, cuda_graph graph, const cuda_node *before, size_t count, const struct cuda_kernel_node *kernel)) \
    FUNCTION(graph_set_kernel, cuGraphKernelNodeSetAttribute, \
            (cuda_node node, int attribute, const union cuda_node_attribute *value)) \
    FUNCTION(graph_instantiate, cuGraphInstantiateWithFlags, \
            (cuda_graph_program *program, cuda_graph graph, unsigned long long flags)) \
    FUNCTION(graph_upload, cuGraphUpload, (cuda_graph_program program, cuda_stream stream)) \
    FUNCTION(graph_launch, cuGraphLaunch, (cuda_graph_program program, cuda_stream stream)) \
    FUNCTION(graph_program_destroy, cuGraphExecDestroy, (cuda_graph_program program)) \
    FUNCTION(copy, cuMemcpyAsync, (cuda_address to, cuda_address from, size_t bytes, cuda_stream stream)) \
    FUNCTION(fill, cuMemsetD8Async, (cuda_address address, unsigned char value, size_t bytes, cuda_stream stream)) \
    FUNCTION(module_load, cuModuleLoadData, (cuda_module *module, const void *image)) \
    FUNCTION(module_compile, cuModuleLoadDataEx, \
            (cuda_module *module, const void *image, unsigned count, int *options, void **values)) \
    FUNCTION(module_unload, cuModuleUnload, (cuda_module module)) \
    FUNCTION(module_function, cuModuleGetFunction, (cuda_function *function, cuda_module module, const char *name)) \
    FUNCTION(function_set, cuFuncSetAttribute, (cuda_function function, int attribute, int value)) \
    FUNCTION(launch, cuLaunchKernel, \
            (cuda_function function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x, unsigned block_y, \
             unsigned block_z, unsigned shared_bytes, cuda_stream stream, void **arguments, void **extra))

/* ... and for each that older drivers lack, where the member is NULL. */
#define CUDA_NEWER_FUNCTIONS(FUNCTION) \
    FUNCTION(range_handle, cuMemGetHandleForAddressRange, \
            (void *handle, cuda_address address, size_t bytes, int type, unsigned long long flags)) \
    FUNCTION(flush_remote_writes, cuFlushGPUDirectRDMAWrites, (int target, int scope)) \
    FUNCTION(function_load, cuFuncLoad, (cuda_function function)) \
    FUNCTION(context_record, cuCtxRecordEvent, (cuda_context context, cuda_event event)) \
    FUNCTION(function_parameter, cuFuncGetParamInfo, \
            (cuda_function function, size_t index, size_t *offset, size_t *bytes))

#endif
