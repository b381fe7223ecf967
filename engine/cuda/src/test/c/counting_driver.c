/*
 * Goes before the machine's CUDA driver and counts the handles and descriptors of other processes that a program opens, for
 * KilledPeers on real GPUs:
 *
 *   cc -shared -fPIC -Wl,--no-as-needed -o libcounting.so counting_driver.c -l:libcuda.so.1 -ldl
 *   java -Dsluice.cuda.real=true -Dsluice.cuda.library=$PWD/libcounting.so ... io.sluice.cuda.KilledPeers 50 10000
 *
 * All other functions are found in the driver, on which the library depends.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>

struct ipc_handle {
    unsigned char bytes[64];
};

typedef int (*open_handle)(uint64_t *address, struct ipc_handle handle, unsigned flags);
typedef int (*import_descriptor)(uint64_t *allocation, void *descriptor, int type);

static atomic_long imports;

int cuIpcOpenMemHandle_v2(uint64_t *address, struct ipc_handle handle, unsigned flags) {
    atomic_fetch_add(&imports, 1);
    return ((open_handle)dlsym(RTLD_NEXT, "cuIpcOpenMemHandle_v2"))(address, handle, flags);
}

int cuMemImportFromShareableHandle(uint64_t *allocation, void *descriptor, int type) {
    atomic_fetch_add(&imports, 1);
    return ((import_descriptor)dlsym(RTLD_NEXT, "cuMemImportFromShareableHandle"))(allocation, descriptor, type);
}

int64_t soft_gpu_count(const char *what) {
    return strcmp(what, "imports") == 0 ? atomic_load(&imports) : 0;
}
