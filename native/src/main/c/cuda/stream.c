#include "cuda_stream.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

/* A counter for kernels, in an allocation of its own: the driver allocates at least 512 bytes. */
#define COUNTER_BYTES 512

static cuda_result find_kernels(cuda_module module, struct cuda_kernels *kernels) {
    struct {
        cuda_function *function;
        const char *name;
    } wanted[] = {
        {&kernels->copy_pages, "sluice_copy_pages"},
        {&kernels->copy_strided, "sluice_copy_strided"},
        {&kernels->signal, "sluice_signal"},
        {&kernels->fetch, "sluice_fetch"},
        {&kernels->checksum, "sluice_checksum"},
    };
    cuda_result result = CUDA_SUCCESS;
    for (size_t i = 0; result == CUDA_SUCCESS && i < sizeof wanted / sizeof *wanted; i++) {
        result = cuda.module_function(wanted[i].function, module, wanted[i].name);
        /* A kernel loaded at its first launch would wait there for all work of the device. */
        if (result == CUDA_SUCCESS && cuda.function_load != NULL) {
            result = cuda.function_load(*wanted[i].function);
        }
    }
    return result;
}

static cuda_result create(struct sluice_cuda_stream *stream, cuda_module kernels, int is_urgent) {
    int least = 0;
    int greatest = 0;
    cuda_result result = find_kernels(kernels, &stream->kernels);
    if (result == CUDA_SUCCESS) {
        result = cuda.stream_priorities(&least, &greatest);
    }
    if (result == CUDA_SUCCESS) {
        result = cuda.stream_create(&stream->stream, CUDA_STREAM_NON_BLOCKING, is_urgent ? greatest : least);
    }
    if (result != CUDA_SUCCESS) {
        return result;
    }
    result = cuda.memory_allocate(&stream->blocks, COUNTER_BYTES);
    if (result == CUDA_SUCCESS) {
        result = cuda.fill(stream->blocks, 0, COUNTER_BYTES, stream->stream);
        if (result == CUDA_SUCCESS) {
            return CUDA_SUCCESS;
        }
        cuda.memory_free(stream->blocks);
    }
    cuda.stream_destroy(stream->stream);
    return result;
}

int64_t sluice_cuda_stream_create(
        struct sluice_cuda_device *device, struct sluice_cuda_module *kernels, int priority, int max_blocks) {
    struct cuda_scope scope;
    int entered = cuda_enter(device, &scope);
    if (entered < 0) {
        return entered;
    }
    struct sluice_cuda_stream *stream = calloc(1, sizeof *stream);
    cuda_result result = kernels == NULL || max_blocks < 1 ? CUDA_INVALID_VALUE : CUDA_SUCCESS;
    if (stream != NULL && result == CUDA_SUCCESS) {
        stream->device = device;
        stream->max_blocks = max_blocks;
        int words = 0;
        cuda.device_attribute(&words, CUDA_CAN_USE_64_BIT_STREAM_MEMORY_OPERATIONS, device->device);
        stream->has_words = words != 0;
        result = create(stream, kernels->module, priority > 0);
    }
    cuda_leave(&scope);
    if (stream == NULL) {
        return cuda_system_error(ENOMEM);
    }
    if (result != CUDA_SUCCESS) {
        free(stream);
        return cuda_failed(device, result);
    }
    return (int64_t)(intptr_t)stream;
}

static int64_t plain(struct sluice_cuda_device *device, bool is_adopted, cuda_stream handle, int priority) {
    struct cuda_scope scope;
    int words = 0;
    int least = 0;
    int greatest = 0;
    int entered = cuda_enter(device, &scope);
    if (entered < 0) {
        return entered;
    }
    struct sluice_cuda_stream *stream = calloc(1, sizeof *stream);
    cuda_result result = cuda.device_attribute(&words, CUDA_CAN_USE_64_BIT_STREAM_MEMORY_OPERATIONS, device->device);
    if (result == CUDA_SUCCESS && words == 0) {
        result = CUDA_NOT_SUPPORTED;
    }
    if (stream != NULL && result == CUDA_SUCCESS) {
        stream->device = device;
        stream->stream = handle;
        stream->has_words = true;
        stream->is_adopted = is_adopted;
        if (!is_adopted) {
            result = cuda.stream_priorities(&least, &greatest);
            if (result == CUDA_SUCCESS) {
                result = cuda.stream_create(&stream->stream, CUDA_STREAM_NON_BLOCKING, priority > 0 ? greatest : least);
            }
        }
    }
    cuda_leave(&scope);
    if (stream == NULL) {
        return cuda_system_error(ENOMEM);
    }
    if (result != CUDA_SUCCESS) {
        free(stream);
        return cuda_failed(device, result);
    }
    return (int64_t)(intptr_t)stream;
}

int64_t sluice_cuda_stream_open(struct sluice_cuda_device *device, int priority) {
    return plain(device, false, NULL, priority);
}

int64_t sluice_cuda_stream_adopt(struct sluice_cuda_device *device, void *handle) {
    return plain(device, true, handle, 0);
}

int sluice_cuda_stream_destroy(struct sluice_cuda_stream *stream) {
    struct cuda_scope scope;
    int entered = cuda_enter(stream == NULL ? NULL : stream->device, &scope);
    if (entered < 0) {
        return entered;
    }
    struct sluice_cuda_device *device = stream->device;
    cuda_result result = stream->is_adopted ? CUDA_SUCCESS : cuda.stream_destroy(stream->stream);
    if (stream->blocks != 0) {
        cuda_await_idle(device);
    }
    cuda_result freed = stream->blocks == 0 ? CUDA_SUCCESS : cuda.memory_free(stream->blocks);
    cuda_leave(&scope);
    free(stream);
    return cuda_failed(device, result == CUDA_SUCCESS ? freed : result);
}

int sluice_cuda_stream_query(struct sluice_cuda_stream *stream) {
    struct cuda_scope scope;
    int entered = cuda_enter(stream == NULL ? NULL : stream->device, &scope);
    if (entered < 0) {
        return entered;
    }
    cuda_result result = cuda.stream_query(stream->stream);
    cuda_leave(&scope);
    return result == CUDA_SUCCESS ? -atomic_load(&stream->failed) : cuda_failed(stream->device, result);
}

/* Runs on a thread of the driver and must not call the driver. */
static void add_one(void *argument) {
    uint64_t one = 1;
    ssize_t written = write((int)(intptr_t)argument, &one, sizeof one);
    (void)written;
}

int sluice_cuda_stream_signal(struct sluice_cuda_stream *stream, int event_descriptor) {
    struct cuda_scope scope;
    int entered = cuda_enter(stream == NULL ? NULL : stream->device, &scope);
    if (entered < 0) {
        return entered;
    }
    cuda_result result = cuda.stream_call(stream->stream, add_one, (void *)(intptr_t)event_descriptor);
    cuda_leave(&scope);
    return cuda_failed(stream->device, result);
}

int64_t sluice_cuda_stream_handle(struct sluice_cuda_stream *stream) {
    return stream == NULL ? -CUDA_INVALID_VALUE : (int64_t)(intptr_t)stream->stream;
}

static int64_t event_create(struct sluice_cuda_device *device, unsigned flags) {
    struct cuda_scope scope;
    cuda_event event = NULL;
    int entered = cuda_enter(device, &scope);
    if (entered < 0) {
        return entered;
    }
    cuda_result result = cuda.event_create(&event, flags);
    cuda_leave(&scope);
    return result == CUDA_SUCCESS ? (int64_t)(intptr_t)event : cuda_failed(device, result);
}

int64_t sluice_cuda_event_create(struct sluice_cuda_device *device) {
    return event_create(device, CUDA_EVENT_DISABLE_TIMING);
}

int64_t sluice_cuda_event_create_timed(struct sluice_cuda_device *device) {
    return event_create(device, 0);
}

int64_t sluice_cuda_event_elapsed(struct sluice_cuda_device *device, void *begin, void *end) {
    struct cuda_scope scope;
    float milliseconds = 0;
    int entered = cuda_enter(device, &scope);
    if (entered < 0) {
        return entered;
    }
    cuda_result result = begin == NULL || end == NULL ? CUDA_INVALID_VALUE : cuda.event_elapsed(&milliseconds, begin, end);
    cuda_leave(&scope);
    return result == CUDA_SUCCESS ? (int64_t)((double)milliseconds * 1e6 + 0.5) : cuda_failed(device, result);
}

int sluice_cuda_event_destroy(struct sluice_cuda_device *device, void *event) {
    struct cuda_scope scope;
    int entered = cuda_enter(device, &scope);
    if (entered < 0) {
        return entered;
    }
    cuda_result result = cuda.event_destroy(event);
    cuda_leave(&scope);
    return cuda_failed(device, result);
}

int sluice_cuda_event_query(struct sluice_cuda_device *device, void *event) {
    struct cuda_scope scope;
    int entered = cuda_enter(device, &scope);
    if (entered < 0) {
        return entered;
    }
    cuda_result result = cuda.event_query(event);
    cuda_leave(&scope);
    return cuda_failed(device, result);
}
