/* The functions of the CUDA driver, resolved by name, and declarations shared by the files of cuda. */
#ifndef CUDA_LIBRARY_H
#define CUDA_LIBRARY_H

#include "cuda_api.h"
#include "sluice_cuda.h"

struct cuda_library {
#define CUDA_MEMBER(name, symbol, parameters) cuda_result(*name) parameters;
    CUDA_FUNCTIONS(CUDA_MEMBER)
    CUDA_NEWER_FUNCTIONS(CUDA_MEMBER)
#undef CUDA_MEMBER
};

/* Complete once sluice_cuda_loaded(), and constant afterwards. Code that has a device has loaded it. */
extern struct cuda_library cuda;

struct sluice_cuda_device {
    /* Of those that are open. */
    struct sluice_cuda_device *next;
    cuda_device device;
    int ordinal;
    cuda_context context;
    /* The first sticky error: written once, read by any thread. */
    _Atomic int fault;
};

/* The state that a call must restore. */
struct cuda_scope {
    bool is_pushed;
};

/*
 * Makes the context of a device current; returns 0 or a negated error. On a thread where it is current already, such as
 * a poller, nothing changes; on others cuda_leave restores the previous context.
 */
int cuda_enter(struct sluice_cuda_device *device, struct cuda_scope *scope);
void cuda_leave(struct cuda_scope *scope);

/* Returns a negated error, and keeps it with the device if it is sticky. */
int cuda_failed(struct sluice_cuda_device *device, cuda_result result);

/*
 * Waits until a device, whose context is current, has done what it was given. Before it frees or unpins memory, the driver waits for
 * that itself, but under a lock that calls of other threads then wait for. Returns at once with a driver older than 12.5.
 */
void cuda_await_idle(const struct sluice_cuda_device *device);

/* The same for all devices that are open: pinned memory is mapped in all contexts. */
void cuda_await_all_idle(void);

/* Marks a descriptor opened by the driver close-on-exec; returns the descriptor or a negated error. */
int cuda_close_on_exec(int descriptor);

static inline int cuda_system_error(int error) {
    return SLUICE_CUDA_SYSTEM_ERROR - error;
}

#endif
