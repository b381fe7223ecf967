#include "gpu.h"
#include "nccl.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

struct nccl_library nccl;

void nccl_load(void) {
    /* Multicast of NVLink can take the GPUs of a shared machine out of service. */
    setenv("NCCL_NVLS_ENABLE", "0", 1);
    const char *named = getenv("SLUICE_NCCL_LIBRARY");
    void *library = dlopen(named == NULL ? "libnccl.so.2" : named, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) {
        not_available("no NCCL; SLUICE_NCCL_LIBRARY names its file", dlerror());
    }
#define FIND(name, symbol, result, parameters) \
    void *name = dlsym(library, #symbol); \
    if (name == NULL) { \
        not_available("NCCL lacks a function", #symbol); \
    } \
    memcpy(&nccl.name, &name, sizeof name);
    NCCL_FUNCTIONS(FIND)
#undef FIND
}

void nccl_check(int result, const char *what) {
    if (result != 0) {
        fail(what, nccl.error_text(result));
    }
}
