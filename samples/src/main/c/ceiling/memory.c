#include "ceiling.h"

#include <stdlib.h>
#include <string.h>

#define PAGE 4096

unsigned char *memory_of(uint64_t size) {
    uint64_t pages = (size + PAGE - 1) / PAGE;
    unsigned char *memory = aligned_alloc(PAGE, (size_t)(pages * PAGE));
    if (memory == NULL) {
        complain("no memory", 0);
        return NULL;
    }
    memset(memory, 1, (size_t)(pages * PAGE));
    return memory;
}
