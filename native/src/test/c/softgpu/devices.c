#include "gpu.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

atomic_int sticky;

static struct device devices[MAXIMUM_DEVICES];
static int visible[MAXIMUM_DEVICES];
static int visible_count;
static atomic_bool peers;
static size_t memory_bytes;
static pthread_once_t set_up_once = PTHREAD_ONCE_INIT;

static uint64_t number(const char *variable, uint64_t otherwise) {
    const char *text = getenv(variable);
    return text == NULL || text[0] == '\0' ? otherwise : strtoull(text, NULL, 10);
}

void device_uuid_of(int index, struct cuda_uuid *uuid) {
    memcpy(uuid->bytes, "software GPU no ", sizeof uuid->bytes);
    uuid->bytes[15] = (uint8_t)('0' + index);
}

static bool is_named(int index, const char *text) {
    char name[64] = "GPU-";
    struct cuda_uuid uuid;
    device_uuid_of(index, &uuid);
    size_t at = 4;
    for (size_t i = 0; i < sizeof uuid.bytes; i++) {
        at += (size_t)snprintf(
                name + at, sizeof name - at, "%s%02x", i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", uuid.bytes[i]);
    }
    char digit[2] = {(char)('0' + index), '\0'};
    return strcmp(text, name) == 0 || strcmp(text, digit) == 0;
}

static void set_up(void) {
    int count = (int)number("SOFT_GPU_DEVICES", 2);
    count = count < 0 ? 0 : count > MAXIMUM_DEVICES ? MAXIMUM_DEVICES : count;
    atomic_store(&peers, getenv("SOFT_GPU_NO_PEERS") == NULL);
    memory_bytes = (size_t)number("SOFT_GPU_MEMORY", UINT64_C(64) << 30);
    atomic_store(&fault_delay, number("SOFT_GPU_DELAY_NANOS", 0));
    for (int i = 0; i < MAXIMUM_DEVICES; i++) {
        devices[i].index = i;
    }
    const char *wish = getenv("CUDA_VISIBLE_DEVICES");
    if (wish == NULL) {
        for (int i = 0; i < count; i++) {
            visible[visible_count++] = i;
        }
        return;
    }
    char text[512];
    snprintf(text, sizeof text, "%s", wish);
    char *rest = NULL;
    for (char *part = strtok_r(text, ",", &rest); part != NULL; part = strtok_r(NULL, ",", &rest)) {
        int found = -1;
        for (int i = 0; i < count; i++) {
            found = is_named(i, part) ? i : found;
        }
        /* As the driver does: the first that is none ends the list. */
        if (found < 0 || visible_count == MAXIMUM_DEVICES) {
            return;
        }
        visible[visible_count++] = found;
    }
}

int device_count(void) {
    pthread_once(&set_up_once, set_up);
    return visible_count;
}

struct device *device_at(int ordinal) {
    return ordinal < 0 || ordinal >= device_count() ? NULL : &devices[visible[ordinal]];
}

int ordinal_of(int index) {
    for (int i = 0; i < device_count(); i++) {
        if (visible[i] == index) {
            return i;
        }
    }
    return -1;
}

bool devices_are_peers(void) {
    device_count();
    return atomic_load(&peers);
}

EXPORT void soft_gpu_peers(int on) {
    device_count();
    atomic_store(&peers, on != 0);
}

size_t device_memory(void) {
    device_count();
    return memory_bytes;
}

EXPORT cuda_result cuInit(unsigned flags) {
    return flags != 0 ? CUDA_INVALID_VALUE : device_count() == 0 ? CUDA_NO_DEVICE : CUDA_SUCCESS;
}

EXPORT cuda_result cuDriverGetVersion(int *version) {
    *version = 13000;
    return CUDA_SUCCESS;
}

#define ERRORS(X) \
    X(CUDA_SUCCESS, "CUDA_SUCCESS", "no error") \
    X(CUDA_INVALID_VALUE, "CUDA_ERROR_INVALID_VALUE", "invalid argument") \
    X(CUDA_OUT_OF_MEMORY, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory") \
    X(CUDA_NOT_INITIALIZED, "CUDA_ERROR_NOT_INITIALIZED", "initialization error") \
    X(CUDA_NO_DEVICE, "CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected") \
    X(CUDA_INVALID_DEVICE, "CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal") \
    X(CUDA_INVALID_IMAGE, "CUDA_ERROR_INVALID_IMAGE", "device kernel image is invalid") \
    X(CUDA_INVALID_CONTEXT, "CUDA_ERROR_INVALID_CONTEXT", "invalid device context") \
    X(CUDA_MAP_FAILED, "CUDA_ERROR_MAP_FAILED", "mapping of buffer object failed") \
    X(CUDA_PEER_ACCESS_UNSUPPORTED, "CUDA_ERROR_PEER_ACCESS_UNSUPPORTED", "peer access is not supported between these two devices") \
    X(CUDA_INVALID_PTX, "CUDA_ERROR_INVALID_PTX", "a PTX JIT compilation failed") \
    X(CUDA_INVALID_HANDLE, "CUDA_ERROR_INVALID_HANDLE", "invalid resource handle") \
    X(CUDA_NOT_FOUND, "CUDA_ERROR_NOT_FOUND", "named symbol not found") \
    X(CUDA_NOT_READY, "CUDA_ERROR_NOT_READY", "device not ready") \
    X(CUDA_ILLEGAL_ADDRESS, "CUDA_ERROR_ILLEGAL_ADDRESS", "an illegal memory access was encountered") \
    X(CUDA_PEER_ACCESS_ALREADY_ENABLED, "CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED", "peer access is already enabled") \
    X(CUDA_HOST_MEMORY_ALREADY_REGISTERED, "CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED", "part or all of the requested memory range is already mapped") \
    X(CUDA_HOST_MEMORY_NOT_REGISTERED, "CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED", "pointer does not correspond to a registered memory region") \
    X(CUDA_NOT_SUPPORTED, "CUDA_ERROR_NOT_SUPPORTED", "operation not supported")

static const char *text_of(cuda_result error, bool name) {
    switch (error) {
#define CASE(value, first, second) \
    case value: \
        return name ? first : second;
        ERRORS(CASE)
#undef CASE
        default:
            return NULL;
    }
}

EXPORT cuda_result cuGetErrorName(cuda_result error, const char **text) {
    *text = text_of(error, true);
    return *text == NULL ? CUDA_INVALID_VALUE : CUDA_SUCCESS;
}

EXPORT cuda_result cuGetErrorString(cuda_result error, const char **text) {
    *text = text_of(error, false);
    return *text == NULL ? CUDA_INVALID_VALUE : CUDA_SUCCESS;
}

EXPORT cuda_result cuDeviceGetCount(int *count) {
    STICKY();
    *count = device_count();
    return CUDA_SUCCESS;
}

EXPORT cuda_result cuDeviceGet(cuda_device *device, int ordinal) {
    STICKY();
    if (device_at(ordinal) == NULL) {
        return CUDA_INVALID_DEVICE;
    }
    *device = ordinal;
    return CUDA_SUCCESS;
}

#define DEVICE(name, ordinal) \
    STICKY(); \
    struct device *name = device_at(ordinal); \
    if (name == NULL) { \
        return CUDA_INVALID_DEVICE; \
    }

EXPORT cuda_result cuDeviceGetName(char *name, int length, cuda_device ordinal) {
    DEVICE(device, ordinal)
    snprintf(name, (size_t)length, "Software GPU %d", device->index);
    return CUDA_SUCCESS;
}

EXPORT cuda_result cuDeviceGetUuid_v2(struct cuda_uuid *uuid, cuda_device ordinal) {
    DEVICE(device, ordinal)
    device_uuid_of(device->index, uuid);
    return CUDA_SUCCESS;
}

EXPORT cuda_result cuDeviceGetPCIBusId(char *id, int length, cuda_device ordinal) {
    DEVICE(device, ordinal)
    snprintf(id, (size_t)length, "0000:%02x:00.0", 0x10 + device->index);
    return CUDA_SUCCESS;
}

EXPORT cuda_result cuDeviceTotalMem_v2(size_t *bytes, cuda_device ordinal) {
    DEVICE(device, ordinal)
    (void)device;
    *bytes = device_memory();
    return CUDA_SUCCESS;
}

EXPORT cuda_result cuDeviceGetAttribute(int *value, int attribute, cuda_device ordinal) {
    DEVICE(device, ordinal)
    (void)device;
    switch (attribute) {
        case CUDA_MULTIPROCESSOR_COUNT:
            *value = 4;
            return CUDA_SUCCESS;
        case CUDA_ASYNC_ENGINE_COUNT:
            *value = 2;
            return CUDA_SUCCESS;
        case CUDA_COMPUTE_CAPABILITY_MAJOR:
            *value = 9;
            return CUDA_SUCCESS;
        case CUDA_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED:
        case CUDA_POSIX_FILE_DESCRIPTOR_SUPPORTED:
        case CUDA_GPU_DIRECT_RDMA_WITH_VIRTUAL_MEMORY_SUPPORTED:
        case CUDA_GPU_DIRECT_RDMA_SUPPORTED:
        case CUDA_CAN_USE_64_BIT_STREAM_MEMORY_OPERATIONS:
            *value = 1;
            return CUDA_SUCCESS;
        case CUDA_GPU_DIRECT_RDMA_FLUSH_WRITES_OPTIONS:
            *value = dma_flush_ways();
            return CUDA_SUCCESS;
        case CUDA_DMA_BUF_SUPPORTED:
            *value = dma_buffers_are_supported();
            return CUDA_SUCCESS;
        case CUDA_COMPUTE_CAPABILITY_MINOR:
            *value = 0;
            return CUDA_SUCCESS;
        case CUDA_GPU_DIRECT_RDMA_WRITES_ORDERING:
            *value = dma_ordering();
            return CUDA_SUCCESS;
        default:
            return CUDA_INVALID_VALUE;
    }
}

EXPORT cuda_result cuDeviceCanAccessPeer(int *can, cuda_device ordinal, cuda_device peer) {
    DEVICE(device, ordinal)
    DEVICE(other, peer)
    *can = device != other && devices_are_peers();
    return CUDA_SUCCESS;
}

EXPORT cuda_result cuDeviceGetP2PAttribute(int *value, int attribute, cuda_device from, cuda_device to) {
    DEVICE(device, from)
    DEVICE(other, to)
    if (device == other) {
        return CUDA_INVALID_DEVICE;
    }
    bool is_refused = attribute == CUDA_PEER_NATIVE_ATOMICS_SUPPORTED && atomic_load(&fault_atomics);
    *value = attribute != CUDA_PEER_PERFORMANCE_RANK && !is_refused && devices_are_peers();
    return CUDA_SUCCESS;
}
