#include "gpu.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct CUmod_st {
    char *text;
};

struct CUfunc_st {
    const struct twin *twin;
    atomic_int shared_bytes;
};

#define SHARED_BYTES_BY_DEFAULT (48 << 10)
#define MOST_SHARED_BYTES (227 << 10)

#define MAXIMUM_FUNCTIONS 128

/* A function lives as long as the library: its handle is the same in all modules. */
static struct CUfunc_st functions[MAXIMUM_FUNCTIONS];
static int function_count;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* Writes the compiler's log to the buffer that the options name. */
static void explain(const char *what, unsigned count, const int *options, void **values) {
    char *log = NULL;
    size_t bytes = 0;
    for (unsigned i = 0; i < count; i++) {
        log = options[i] == CUDA_JIT_ERROR_LOG ? values[i] : log;
        bytes = options[i] == CUDA_JIT_ERROR_LOG_BYTES ? (unsigned)(uintptr_t)values[i] : bytes;
    }
    if (log != NULL && bytes > 0) {
        snprintf(log, bytes, "%s", what);
    }
}

EXPORT cuda_result cuModuleLoadDataEx(
        cuda_module *module, const void *image, unsigned count, int *options, void **values) {
    CONTEXT(context)
    const char *text = image;
    kernels_await(context->ordinal);
    if (image == NULL || strstr(text, ".version ") == NULL || strstr(text, ".target ") == NULL) {
        return CUDA_INVALID_IMAGE;
    }
    if (strchr(text, '{') == NULL || strchr(text, '}') == NULL) {
        explain("ptxas application ptx input, line 1; fatal   : Parsing error near '': syntax error", count, options, values);
        return CUDA_INVALID_PTX;
    }
    struct CUmod_st *made = malloc(sizeof *made);
    char *copy = strdup(text);
    if (made == NULL || copy == NULL) {
        free(made);
        free(copy);
        return CUDA_OUT_OF_MEMORY;
    }
    made->text = copy;
    COUNT(modules, 1);
    *module = made;
    return CUDA_SUCCESS;
}

EXPORT cuda_result cuModuleLoadData(cuda_module *module, const void *image) {
    return cuModuleLoadDataEx(module, image, 0, NULL, NULL);
}

EXPORT cuda_result cuModuleUnload(cuda_module module) {
    if (module == NULL) {
        return CUDA_INVALID_HANDLE;
    }
    free(module->text);
    free(module);
    COUNT(modules, -1);
    return CUDA_SUCCESS;
}

EXPORT cuda_result cuModuleGetFunction(cuda_function *function, cuda_module module, const char *name) {
    CONTEXT(context)
    (void)context;
    char entry[128];
    if (module == NULL) {
        return CUDA_INVALID_HANDLE;
    }
    snprintf(entry, sizeof entry, ".entry %s(", name);
    const struct twin *twin = twin_of(name);
    if (twin == NULL || strstr(module->text, entry) == NULL) {
        return CUDA_NOT_FOUND;
    }
    pthread_mutex_lock(&lock);
    int at = 0;
    while (at < function_count && functions[at].twin != twin) {
        at++;
    }
    if (at == function_count && at < MAXIMUM_FUNCTIONS) {
        functions[at].shared_bytes = SHARED_BYTES_BY_DEFAULT;
        functions[function_count++].twin = twin;
    }
    pthread_mutex_unlock(&lock);
    *function = &functions[at];
    return CUDA_SUCCESS;
}

EXPORT cuda_result cuFuncSetAttribute(cuda_function function, int attribute, int value) {
    CONTEXT(context)
    (void)context;
    if (attribute != CUDA_FUNCTION_SHARED_BYTES || value < 0 || value > MOST_SHARED_BYTES) {
        return CUDA_INVALID_VALUE;
    }
    atomic_store(&function->shared_bytes, value);
    return CUDA_SUCCESS;
}

EXPORT cuda_result cuFuncGetParamInfo(cuda_function function, size_t index, size_t *offset, size_t *bytes) {
    CONTEXT(context)
    (void)context;
    *offset = 0;
    for (size_t i = 0; function->twin->arguments[i] != 0; i++) {
        *bytes = function->twin->arguments[i];
        if (i == index) {
            return CUDA_SUCCESS;
        }
        *offset += *bytes;
    }
    return CUDA_INVALID_VALUE;
}

cuda_result launch_make(const struct cuda_kernel_node *kernel, struct operation **made) {
    if (kernel->function == NULL) {
        return CUDA_INVALID_HANDLE;
    }
    if (kernel->grid_x == 0 || kernel->grid_y == 0 || kernel->grid_z == 0 || kernel->block_x == 0 || kernel->block_y == 0
            || kernel->block_z == 0 || kernel->extra != NULL
            || (uint64_t)kernel->block_x * kernel->block_y * kernel->block_z > 1024
            || kernel->shared_bytes > (unsigned)atomic_load(&kernel->function->shared_bytes)) {
        return CUDA_INVALID_VALUE;
    }
    struct operation *operation = operation_make(LAUNCH);
    if (operation == NULL) {
        return CUDA_OUT_OF_MEMORY;
    }
    operation->twin = kernel->function->twin;
    operation->blocks = kernel->grid_x;
    operation->threads = kernel->block_x;
    size_t at = 0;
    for (int i = 0; operation->twin->arguments[i] != 0; i++) {
        memcpy(operation->arguments + at, kernel->arguments[i], operation->twin->arguments[i]);
        at += operation->twin->arguments[i];
    }
    *made = operation;
    return CUDA_SUCCESS;
}

EXPORT cuda_result cuLaunchKernel(
        cuda_function function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x, unsigned block_y,
        unsigned block_z, unsigned shared_bytes, cuda_stream stream, void **arguments, void **extra) {
    CONTEXT(context)
    (void)context;
    struct cuda_kernel_node kernel = {function, grid_x, grid_y, grid_z, block_x, block_y, block_z, shared_bytes, arguments, extra};
    struct operation *operation = NULL;
    cuda_result result = stream == NULL ? CUDA_INVALID_HANDLE : launch_make(&kernel, &operation);
    return result == CUDA_SUCCESS ? stream_add(stream, operation) : result;
}
