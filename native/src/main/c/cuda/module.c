#include "cuda_stream.h"

#include <stdlib.h>

int64_t sluice_cuda_module_load(struct sluice_cuda_device *device, const void *image) {
    struct cuda_scope scope;
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
    cuda_result result = image == NULL ? CUDA_INVALID_VALUE : cuda.module_load(&module->module, image);
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
    cuda_result result = cuda.module_function(&function, module->module, name);
    cuda_leave(&scope);
    return result == CUDA_SUCCESS ? (int64_t)(intptr_t)function : cuda_failed(module->device, result);
}

int sluice_cuda_module_unload(struct sluice_cuda_module *module) {
    struct cuda_scope scope;
    int entered = cuda_enter(module == NULL ? NULL : module->device, &scope);
    if (entered < 0) {
        return entered;
    }
    struct sluice_cuda_device *device = module->device;
    cuda_result result = cuda.module_unload(module->module);
    cuda_leave(&scope);
    free(module);
    return cuda_failed(device, result);
}
