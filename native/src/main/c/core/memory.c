#define _GNU_SOURCE
#include "sluice.h"

#include <sys/mman.h>
#include <unistd.h>

int64_t sluice_memory_map(int64_t bytes, bool prefault) {
    if (bytes < 1) {
        return -EINVAL;
    }
    int flags = MAP_PRIVATE | MAP_ANONYMOUS | (prefault ? MAP_POPULATE : 0);
    void *address = mmap(NULL, (size_t)bytes, PROT_READ | PROT_WRITE, flags, -1, 0);
    return address == MAP_FAILED ? -(int64_t)errno : (int64_t)(intptr_t)address;
}

int sluice_memory_unmap(void *address, int64_t bytes) {
    return bytes < 1 ? -EINVAL : sluice_result(munmap(address, (size_t)bytes));
}

int sluice_memory_page_size(void) {
    return (int)sysconf(_SC_PAGESIZE);
}
