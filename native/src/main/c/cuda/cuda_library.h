/* The functions of the CUDA driver, looked up by name, and what the files of cuda share. */
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

/* Complete once sluice_cuda_loaded(), and never changed after. Code that has a device has loaded it. */
extern struct cuda_library cuda;

struct sluice_cuda_device {
    cuda_device device;
    int ordinal;
    cuda_context context;
    /* The first error that stays with the process: written once, read by any thread. */
    _Atomic int fault;
};

/* The state that a call must restore. */
struct cuda_scope {
    bool is_pushed;
};

/*
 * Makes the context of a device current; 0 or a negated error. A thread whose context it is already, as a poller's, changes
 * nothing; one with another, or with none, as a caller's, has its own back after cuda_leave.
 */
int cuda_enter(struct sluice_cuda_device *device, struct cuda_scope *scope);
void cuda_leave(struct cuda_scope *scope);

/* A negated error, kept with the device if it is one that stays. */
int cuda_failed(struct sluice_cuda_device *device, cuda_result result);

/* A descriptor that the driver has opened is not for programs that this one starts; the descriptor or a negated error. */
int cuda_close_on_exec(int descriptor);

static inline int cuda_system_error(int error) {
    return SLUICE_CUDA_SYSTEM_ERROR - error;
}

#endif
