#include "gpu.h"

#include <stdlib.h>
#include <time.h>

EXPORT cuda_result cuEventCreate(cuda_event *event, unsigned flags) {
    CONTEXT(context)
    (void)context;
    if (flags != 0 && flags != CUDA_EVENT_DISABLE_TIMING) {
        return CUDA_INVALID_VALUE;
    }
    struct CUevent_st *made = calloc(1, sizeof *made);
    if (made == NULL) {
        return CUDA_OUT_OF_MEMORY;
    }
    pthread_mutex_init(&made->lock, NULL);
    pthread_cond_init(&made->changed, NULL);
    made->references = 1;
    made->is_timed = flags == 0;
    COUNT(events, 1);
    *event = made;
    return CUDA_SUCCESS;
}

void event_release(struct CUevent_st *event) {
    pthread_mutex_lock(&event->lock);
    int left = --event->references;
    pthread_mutex_unlock(&event->lock);
    if (left == 0) {
        pthread_cond_destroy(&event->changed);
        pthread_mutex_destroy(&event->lock);
        free(event);
        COUNT(events, -1);
    }
}

EXPORT cuda_result cuEventDestroy_v2(cuda_event event) {
    if (event == NULL) {
        return CUDA_INVALID_HANDLE;
    }
    event_release(event);
    return CUDA_SUCCESS;
}

void event_happens(struct CUevent_st *event, uint64_t recording) {
    pthread_mutex_lock(&event->lock);
    event->happened = recording > event->happened ? recording : event->happened;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    event->happened_at = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
    pthread_cond_broadcast(&event->changed);
    pthread_mutex_unlock(&event->lock);
}

bool event_has_happened(struct CUevent_st *event, uint64_t recording) {
    pthread_mutex_lock(&event->lock);
    bool has = event->happened >= recording;
    pthread_mutex_unlock(&event->lock);
    return has;
}

static uint64_t last_recording(struct CUevent_st *event, bool next) {
    pthread_mutex_lock(&event->lock);
    event->recorded += next;
    uint64_t recording = event->recorded;
    event->references++;
    pthread_mutex_unlock(&event->lock);
    return recording;
}

static cuda_result add(cuda_stream stream, cuda_event event, enum operation_kind kind) {
    if (event == NULL || stream == NULL) {
        return CUDA_INVALID_HANDLE;
    }
    struct operation *operation = operation_make(kind);
    if (operation == NULL) {
        return CUDA_OUT_OF_MEMORY;
    }
    operation->event = event;
    operation->recording = last_recording(event, kind == RECORD);
    return stream_add(stream, operation);
}

EXPORT cuda_result cuEventRecord(cuda_event event, cuda_stream stream) {
    CONTEXT(context)
    (void)context;
    return add(stream, event, RECORD);
}

EXPORT cuda_result cuStreamWaitEvent(cuda_stream stream, cuda_event event, unsigned flags) {
    CONTEXT(context)
    (void)context;
    return flags == 0 ? add(stream, event, WAIT_EVENT) : CUDA_INVALID_VALUE;
}

/* What a driver would not wait for counts as done. */
EXPORT cuda_result cuCtxRecordEvent(cuda_context of, cuda_event event) {
    CONTEXT(context)
    if (event == NULL || of != context) {
        return CUDA_INVALID_HANDLE;
    }
    pthread_mutex_lock(&event->lock);
    event->of_context = context->ordinal + 1;
    pthread_mutex_unlock(&event->lock);
    return CUDA_SUCCESS;
}

EXPORT cuda_result cuEventQuery(cuda_event event) {
    STICKY();
    if (event == NULL) {
        return CUDA_INVALID_HANDLE;
    }
    pthread_mutex_lock(&event->lock);
    int of_context = event->of_context;
    bool has_happened = event->happened >= event->recorded;
    pthread_mutex_unlock(&event->lock);
    if (of_context > 0) {
        has_happened = !kernels_are_awaited(of_context - 1);
    }
    return has_happened ? CUDA_SUCCESS : CUDA_NOT_READY;
}

/* When a timed event has happened last. */
static uint64_t time_of(struct CUevent_st *event, cuda_result *result) {
    pthread_mutex_lock(&event->lock);
    uint64_t time = event->happened_at;
    if (!event->is_timed || event->recorded == 0) {
        *result = CUDA_INVALID_HANDLE;
    } else if (event->happened < event->recorded && *result == CUDA_SUCCESS) {
        *result = CUDA_NOT_READY;
    }
    pthread_mutex_unlock(&event->lock);
    return time;
}

EXPORT cuda_result cuEventElapsedTime(float *milliseconds, cuda_event begin, cuda_event end) {
    STICKY();
    if (begin == NULL || end == NULL) {
        return CUDA_INVALID_HANDLE;
    }
    cuda_result result = CUDA_SUCCESS;
    uint64_t began = time_of(begin, &result);
    uint64_t ended = time_of(end, &result);
    *milliseconds = (float)((double)(int64_t)(ended - began) / 1e6);
    return result;
}
