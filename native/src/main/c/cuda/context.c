#include "cuda_library.h"

#include <stdatomic.h>
#include <time.h>

#define SHORTEST_NAP_NANOS 20000
#define LONGEST_NAP_NANOS 1000000

int cuda_enter(struct sluice_cuda_device *device, struct cuda_scope *scope) {
    cuda_context current = NULL;
    scope->is_pushed = false;
    if (device == NULL) {
        return -CUDA_INVALID_VALUE;
    }
    cuda_result result = cuda.current_context(&current);
    if (result == CUDA_SUCCESS && current == device->context) {
        return 0;
    }
    result = cuda.push_context(device->context);
    scope->is_pushed = result == CUDA_SUCCESS;
    return cuda_failed(device, result);
}

void cuda_leave(struct cuda_scope *scope) {
    cuda_context popped;
    if (scope->is_pushed) {
        cuda.pop_context(&popped);
    }
}

/*
 * Sticky errors, after which every later call of the process fails: those for which "CUresult" of the CUDA Driver API
 * says that the context cannot be used or the process must be restarted.
 */
static bool stays(cuda_result result) {
    return result == CUDA_ILLEGAL_ADDRESS || result == 702 || result == 709 || result == 710
            || (result >= 714 && result <= 719) || result == 721 || result == 214 || result == 220 || result == 226
            || result == CUDA_DEINITIALIZED || result == CUDA_MPS_CLIENT_TERMINATED;
}

int cuda_failed(struct sluice_cuda_device *device, cuda_result result) {
    int none = 0;
    if (stays(result)) {
        atomic_compare_exchange_strong(&device->fault, &none, -result);
    }
    return -result;
}

int sluice_cuda_device_fault(struct sluice_cuda_device *device) {
    return device == NULL ? -CUDA_INVALID_VALUE : atomic_load(&device->fault);
}

int sluice_cuda_device_make_current(struct sluice_cuda_device *device) {
    return device == NULL ? -CUDA_INVALID_VALUE : cuda_failed(device, cuda.set_current_context(device->context));
}

void cuda_await_idle(const struct sluice_cuda_device *device) {
    cuda_event event;
    struct timespec nap = {.tv_nsec = SHORTEST_NAP_NANOS};
    if (cuda.context_record == NULL || cuda.event_create(&event, CUDA_EVENT_DISABLE_TIMING) != CUDA_SUCCESS) {
        return;
    }
    if (cuda.context_record(device->context, event) == CUDA_SUCCESS) {
        while (cuda.event_query(event) == CUDA_NOT_READY) {
            nanosleep(&nap, NULL);
            nap.tv_nsec = nap.tv_nsec < LONGEST_NAP_NANOS ? 2 * nap.tv_nsec : nap.tv_nsec;
        }
    }
    cuda.event_destroy(event);
}
