#include "cuda_library.h"
#include "foreign_library.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#define DEFAULT_LIBRARY "libcuda.so.1"

struct cuda_library cuda;

static pthread_mutex_t loading_lock = PTHREAD_MUTEX_INITIALIZER;
static bool was_tried;
static char cause[SLUICE_CUDA_CAUSE_BYTES];
static atomic_bool is_loaded;
static struct foreign_claim claim;

/* Converts a function address through an object pointer, as POSIX specifies for dlsym. */
static bool find(void *library, const char *symbol, void *member) {
    void *address = dlsym(library, symbol);
    memcpy(member, &address, sizeof address);
    return address != NULL;
}

static const char *missing_symbol(void *library, struct cuda_library *found) {
#define CUDA_FIND(name, symbol, parameters) \
    if (!find(library, #symbol, &found->name)) { \
        return #symbol; \
    }
    CUDA_FUNCTIONS(CUDA_FIND)
#undef CUDA_FIND
#define CUDA_FIND(name, symbol, parameters) find(library, #symbol, &found->name);
    CUDA_NEWER_FUNCTIONS(CUDA_FIND)
#undef CUDA_FIND
    return NULL;
}

static bool initialise(const char *file) {
    cuda_result result = cuda.initialise(0);
    if (result == CUDA_SUCCESS) {
        return true;
    }
    char text[SLUICE_CUDA_CAUSE_BYTES / 2];
    sluice_cuda_error_text(-result, text, sizeof text);
    snprintf(cause, sizeof cause, "%s cannot be initialised: %s", file, text);
    return false;
}

struct loading {
    const char *file;
    bool is_loaded;
};

static void load(void *argument) {
    struct loading *loading = argument;
    const char *file = loading->file;
    void *library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) {
        const char *error = dlerror();
        snprintf(cause, sizeof cause, "%s cannot be loaded: %s", file, error == NULL ? "no reason is given" : error);
        return;
    }
    const char *missing = missing_symbol(library, &cuda);
    if (missing != NULL) {
        snprintf(cause, sizeof cause, "%s lacks the function %s: a driver of version 515 (CUDA 11.7) or newer has it", file, missing);
        memset(&cuda, 0, sizeof cuda);
        dlclose(library);
        return;
    }
    /* An initialised driver is never unloaded: it has threads. */
    loading->is_loaded = initialise(file);
}

const char *sluice_cuda_load(const char *path) {
    pthread_mutex_lock(&loading_lock);
    if (!was_tried) {
        was_tried = true;
        struct loading loading = {.file = path == NULL || path[0] == '\0' ? DEFAULT_LIBRARY : path};
        foreign_library_run(load, &loading, &claim);
        atomic_store_explicit(&is_loaded, loading.is_loaded, memory_order_release);
    }
    const char *result = atomic_load_explicit(&is_loaded, memory_order_relaxed) ? NULL : cause;
    pthread_mutex_unlock(&loading_lock);
    return result;
}

bool sluice_cuda_loaded(void) {
    return atomic_load_explicit(&is_loaded, memory_order_acquire);
}

uint32_t sluice_cuda_claimed_signals(void) {
    pthread_mutex_lock(&loading_lock);
    uint32_t signals = claim.signals;
    pthread_mutex_unlock(&loading_lock);
    return signals;
}

const char *sluice_cuda_claimant(void) {
    return claim.library;
}

int sluice_cuda_driver_version(void) {
    int version = 0;
    if (!sluice_cuda_loaded()) {
        return -CUDA_NOT_INITIALIZED;
    }
    cuda_result result = cuda.driver_version(&version);
    return result == CUDA_SUCCESS ? version : -result;
}

void sluice_cuda_error_text(int error, char *text, size_t length) {
    if (error <= SLUICE_CUDA_SYSTEM_ERROR) {
        char message[SLUICE_ERROR_MESSAGE_BYTES];
        sluice_error_message(SLUICE_CUDA_SYSTEM_ERROR - error, message);
        snprintf(text, length, "%s", message);
        return;
    }
    const char *name = NULL;
    const char *meaning = NULL;
    if (cuda.error_name == NULL || cuda.error_name(-error, &name) != CUDA_SUCCESS || name == NULL) {
        snprintf(text, length, "the driver's error %d", -error);
        return;
    }
    bool is_explained = cuda.error_string(-error, &meaning) == CUDA_SUCCESS && meaning != NULL;
    snprintf(text, length, "%s: %s", name, is_explained ? meaning : "the driver says no more");
}
