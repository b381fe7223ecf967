#include "gpu.h"

#include <stdlib.h>

#define DEPTH 16

static _Thread_local struct CUctx_st *stack[DEPTH];
static _Thread_local int depth;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct CUctx_st contexts[MAXIMUM_DEVICES];

struct CUctx_st *context_current(void) {
    struct CUctx_st *current = depth == 0 ? NULL : stack[depth - 1];
    return current == NULL || current->device->retained == 0 ? NULL : current;
}

EXPORT cuda_result cuDevicePrimaryCtxRetain(cuda_context *context, cuda_device ordinal) {
    STICKY();
    struct device *device = device_at(ordinal);
    if (device == NULL) {
        return CUDA_INVALID_DEVICE;
    }
    pthread_mutex_lock(&lock);
    device->retained++;
    struct CUctx_st *made = &contexts[ordinal];
    made->device = device;
    made->ordinal = ordinal;
    device->primary = made;
    pthread_mutex_unlock(&lock);
    *context = made;
    return CUDA_SUCCESS;
}

EXPORT cuda_result cuDevicePrimaryCtxRelease_v2(cuda_device ordinal) {
    struct device *device = device_at(ordinal);
    if (device == NULL) {
        return CUDA_INVALID_DEVICE;
    }
    pthread_mutex_lock(&lock);
    bool was_retained = device->retained > 0;
    device->retained -= was_retained;
    pthread_mutex_unlock(&lock);
    return was_retained ? CUDA_SUCCESS : CUDA_INVALID_CONTEXT;
}

EXPORT cuda_result cuCtxGetCurrent(cuda_context *context) {
    *context = context_current();
    return CUDA_SUCCESS;
}

EXPORT cuda_result cuCtxSetCurrent(cuda_context context) {
    if (context == NULL) {
        depth -= depth > 0;
        return CUDA_SUCCESS;
    }
    depth += depth == 0;
    stack[depth - 1] = context;
    return CUDA_SUCCESS;
}

EXPORT cuda_result cuCtxPushCurrent_v2(cuda_context context) {
    if (context == NULL || depth == DEPTH) {
        return CUDA_INVALID_CONTEXT;
    }
    stack[depth++] = context;
    return CUDA_SUCCESS;
}

EXPORT cuda_result cuCtxPopCurrent_v2(cuda_context *context) {
    if (depth == 0) {
        return CUDA_INVALID_CONTEXT;
    }
    *context = stack[--depth];
    return CUDA_SUCCESS;
}

EXPORT cuda_result cuCtxGetStreamPriorityRange(int *least, int *greatest) {
    CONTEXT(context)
    (void)context;
    *least = 0;
    *greatest = -5;
    return CUDA_SUCCESS;
}

EXPORT cuda_result cuCtxEnablePeerAccess(cuda_context peer, unsigned flags) {
    CONTEXT(context)
    if (peer == NULL || flags != 0) {
        return CUDA_INVALID_VALUE;
    }
    if (!devices_are_peers() || peer->device == context->device) {
        return CUDA_PEER_ACCESS_UNSUPPORTED;
    }
    world_write();
    bool *reaches = &context->device->reaches[peer->device->index];
    bool was_enabled = *reaches;
    *reaches = true;
    world_release();
    return was_enabled ? CUDA_PEER_ACCESS_ALREADY_ENABLED : CUDA_SUCCESS;
}

EXPORT int soft_gpu_current(void) {
    struct CUctx_st *context = context_current();
    return context == NULL ? -1 : context->ordinal;
}
