#include "adapter.h"

#include <inttypes.h>
#include <stdio.h>

int mappings_check(uint64_t address, uint64_t length, bool writable) {
    FILE *mappings = fopen("/proc/self/maps", "re");
    if (mappings == NULL) {
        return EFAULT;
    }
    uint64_t covered = address;
    uint64_t end = address + length;
    char line[512];
    bool at_start = true;
    while (covered < end && fgets(line, sizeof line, mappings) != NULL) {
        /* A long path gives a line in several parts. */
        bool is_start = at_start;
        at_start = strchr(line, '\n') != NULL;
        uint64_t from;
        uint64_t to;
        char rights[5];
        if (!is_start || sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s", &from, &to, rights) != 3 || to <= covered) {
            continue;
        }
        if (from > covered || rights[0] != 'r' || (writable && rights[1] != 'w')) {
            break;
        }
        covered = to;
    }
    fclose(mappings);
    return covered < end ? EFAULT : 0;
}
