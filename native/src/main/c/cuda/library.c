#include "cuda_library.h"
#include "foreign_library.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#define DEFAULT_LIBRARY "libcuda.so.1"

struct cuda_library cuda;

static struct foreign_library library = FOREIGN_LIBRARY;

static const char *missing_symbol(void *handle, struct cuda_library *found) {
#define CUDA_FIND(name, symbol, parameters) \
    if (!foreign_library_find(handle, #symbol, &found->name)) { \
        return #symbol; \
    }
    CUDA_FUNCTIONS(CUDA_FIND)
#undef CUDA_FIND
#define CUDA_FIND(name, symbol, parameters) foreign_library_find(handle, #symbol, &found->name);
    CUDA_NEWER_FUNCTIONS(CUDA_FIND)
#undef CUDA_FIND
    return NULL;
}

static bool prepare(void *handle, const char *file, char *cause) {
    const char *missing = missing_symbol(handle, &cuda);
    if (missing != NULL) {
        snprintf(cause, FOREIGN_CAUSE_BYTES, "%s lacks the function %s: a driver of version 515 (CUDA 11.7) or newer has it",
                file, missing);
        memset(&cuda, 0, sizeof cuda);
        dlclose(handle);
        return false;
    }
    /* An initialised driver is never unloaded: it has threads. */
    cuda_result result = cuda.initialise(0);
    if (result == CUDA_SUCCESS) {
        return true;
    }
    char text[FOREIGN_CAUSE_BYTES / 2];
    sluice_cuda_error_text(-result, text, sizeof text);
    snprintf(cause, FOREIGN_CAUSE_BYTES, "%s cannot be initialised: %s", file, text);
    return false;
}

const char *sluice_cuda_load(const char *path) {
    return foreign_library_load(&library, path == NULL || path[0] == '\0' ? DEFAULT_LIBRARY : path, prepare);
}

bool sluice_cuda_loaded(void) {
    return foreign_library_is_loaded(&library);
}

uint32_t sluice_cuda_claimed_signals(void) {
    return foreign_library_claimed_signals(&library);
}

const char *sluice_cuda_claimant(void) {
    return library.claim.library;
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
