#include "gpu.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct driver cuda;

/* The address of a function through an object pointer, as POSIX has it for dlsym. */
static bool find(void *library, const char *symbol, void *member) {
    void *address = dlsym(library, symbol);
    memcpy(member, &address, sizeof address);
    return address != NULL;
}

void driver_load(void) {
    const char *named = getenv("SLUICE_CUDA_LIBRARY");
    const char *file = named == NULL ? "libcuda.so.1" : named;
    void *library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) {
        not_available("no CUDA driver", dlerror());
    }
#define FIND(name, symbol, parameters) \
    if (!find(library, #symbol, &cuda.name)) { \
        not_available("the CUDA driver is too old", #symbol); \
    }
    CUDA_FUNCTIONS(FIND)
#undef FIND
#define FIND(name, symbol, parameters) find(library, #symbol, &cuda.name);
    OPTIONAL_FUNCTIONS(FIND)
#undef FIND
}

static const char *name_of(cuda_result result) {
    const char *name = NULL;
    return cuda.error_name(result, &name) == CUDA_SUCCESS && name != NULL ? name : "an unknown error";
}

void check(cuda_result result, const char *what) {
    if (result != CUDA_SUCCESS) {
        fail(what, name_of(result));
    }
}

void device_open(int device) {
    int count = 0;
    cuda_context context = NULL;
    cuda_result result = cuda.initialise(0);
    if (result != CUDA_SUCCESS) {
        not_available("no GPU", name_of(result));
    }
    check(cuda.device_count(&count), "cuDeviceGetCount");
    if (device >= count) {
        char text[64];
        snprintf(text, sizeof text, "it takes %d, and there is %d", device + 1, count);
        not_available("too few GPUs", text);
    }
    check(cuda.retain_context(&context, device), "cuDevicePrimaryCtxRetain");
    check(cuda.set_current_context(context), "cuCtxSetCurrent");
}
