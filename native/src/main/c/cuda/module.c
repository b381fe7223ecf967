#include "cuda_stream.h"

#include <stdlib.h>

int64_t sluice_cuda_module_load(struct sluice_cuda_device *device, const void *image) {
    return sluice_cuda_module_compile(device, image, NULL, 0);
}

static cuda_result load(cuda_module *module, const void *image, char *log, int log_bytes) {
    int options[] = {CUDA_JIT_ERROR_LOG, CUDA_JIT_ERROR_LOG_BYTES};
    void *values[] = {log, (void *)(uintptr_t)(unsigned)log_bytes};
    if (log == NULL || log_bytes <= 0) {
        return cuda.module_load(module, image);
    }
    cuda_result result = cuda.module_compile(module, image, sizeof options / sizeof *options, options, values);
    log[log_bytes - 1] = '\0';
    return result;
}

int64_t sluice_cuda_module_compile(struct sluice_cuda_device *device, const void *image, char *log, int log_bytes) {
    struct cuda_scope scope;
    if (log != NULL && log_bytes > 0) {
        log[0] = '\0';
    }
    int entered = cuda_enter(device, &scope);
    if (entered < 0) {
        return entered;
    }
    struct sluice_cuda_module *module = malloc(sizeof *module);
    if (module == NULL) {
        cuda_leave(&scope);
        return cuda_system_error(ENOMEM);
    }
    module->device = device;
    cuda_result result = image == NULL ? CUDA_INVALID_VALUE : load(&module->module, image, log, log_bytes);
    cuda_leave(&scope);
    if (result != CUDA_SUCCESS) {
        free(module);
        return cuda_failed(device, result);
    }
    return (int64_t)(intptr_t)module;
}

int64_t sluice_cuda_module_function(struct sluice_cuda_module *module, const char *name) {
    struct cuda_scope scope;
    cuda_function function = NULL;
    int entered = cuda_enter(module == NULL ? NULL : module->device, &scope);
    if (entered < 0) {
        return entered;
    }
    cuda_result result = name == NULL ? CUDA_INVALID_VALUE : cuda.module_function(&function, module->module, name);
    /* A kernel loaded at its first launch would wait there for all work of the device. */
    if (result == CUDA_SUCCESS && cuda.function_load != NULL) {
        result = cuda.function_load(function);
    }
    cuda_leave(&scope);
    return result == CUDA_SUCCESS ? (int64_t)(intptr_t)function : cuda_failed(module->device, result);
}

int64_t sluice_cuda_module_parameter(struct sluice_cuda_module *module, void *function, int index) {
    struct cuda_scope scope;
    size_t offset = 0;
    size_t bytes = 0;
    int entered = cuda_enter(module == NULL ? NULL : module->device, &scope);
    if (entered < 0) {
        return entered;
    }
    cuda_result result = cuda.function_parameter == NULL ? CUDA_NOT_SUPPORTED
            : function == NULL || index < 0             ? CUDA_INVALID_VALUE
                                                        : cuda.function_parameter(function, (size_t)index, &offset, &bytes);
    cuda_leave(&scope);
    return result == CUDA_SUCCESS ? (int64_t)bytes : cuda_failed(module->device, result);
}

int sluice_cuda_module_shared_bytes(struct sluice_cuda_module *module, void *function, int bytes) {
    struct cuda_scope scope;
    int entered = cuda_enter(module == NULL ? NULL : module->device, &scope);
    if (entered < 0) {
        return entered;
    }
    cuda_result result =
            function == NULL ? CUDA_INVALID_VALUE : cuda.function_set(function, CUDA_FUNCTION_SHARED_BYTES, bytes);
    cuda_leave(&scope);
    return cuda_failed(module->device, result);
}

int sluice_cuda_module_unload(struct sluice_cuda_module *module) {
    struct cuda_scope scope;
    int entered = cuda_enter(module == NULL ? NULL : module->device, &scope);
    if (entered < 0) {
        return entered;
    }
    struct sluice_cuda_device *device = module->device;
    cuda_await_idle(device);
    cuda_result result = cuda.module_unload(module->module);
    cuda_leave(&scope);
    free(module);
    return cuda_failed(device, result);
}
