#include "ceiling.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define PAGE 4096

static uint64_t whole_pages(uint64_t size) {
    return (size + PAGE - 1) / PAGE * PAGE;
}

unsigned char *memory_of(uint64_t size) {
    unsigned char *memory = aligned_alloc(PAGE, (size_t)whole_pages(size));
    if (memory == NULL) {
        complain("no memory", 0);
        return NULL;
    }
    memset(memory, 1, (size_t)whole_pages(size));
    return memory;
}

static void *map_shared(int file, uint64_t size) {
    if (ftruncate(file, (off_t)size) < 0) {
        return MAP_FAILED;
    }
    return mmap(NULL, (size_t)size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
}

unsigned char *shared_memory_of(uint64_t size) {
    int file = memfd_create("ceiling", MFD_CLOEXEC);
    if (file < 0) {
        complain("memfd_create", errno);
        return NULL;
    }
    void *memory = map_shared(file, whole_pages(size));
    int error = errno;
    close(file);
    if (memory == MAP_FAILED) {
        complain("no shared memory", error);
        return NULL;
    }
    memset(memory, 1, (size_t)whole_pages(size));
    return memory;
}

void shared_memory_release(unsigned char *memory, uint64_t size) {
    if (memory != NULL) {
        munmap(memory, (size_t)whole_pages(size));
    }
}
