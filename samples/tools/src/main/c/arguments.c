#define _GNU_SOURCE

#include "arguments.h"

#include <errno.h>
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NANOS_PER_MILLI INT64_C(1000000)
#define MOST_PROCESSORS 1024
#define MAXIMUM_MILLIS (UINT64_C(24) * 60 * 60 * 1000)

bool number(const char *text, uint64_t least, uint64_t most, uint64_t *value) {
    char *end = NULL;
    errno = 0;
    unsigned long long parsed = strtoull(text, &end, 10);
    if (errno != 0 || end == text || *end != '\0' || *text == '-' || parsed < least || parsed > most) {
        fprintf(stderr, "%s: %s is not from %" PRIu64 " to %" PRIu64 "\n", program_invocation_short_name, text, least, most);
        return false;
    }
    *value = parsed;
    return true;
}

bool times(char **arguments, int64_t *warmup, int64_t *duration) {
    uint64_t before = 0;
    uint64_t measured = 0;
    if (!number(arguments[0], 0, MAXIMUM_MILLIS, &before) || !number(arguments[1], 1, MAXIMUM_MILLIS, &measured)) {
        return false;
    }
    *warmup = (int64_t)before * NANOS_PER_MILLI;
    *duration = (int64_t)measured * NANOS_PER_MILLI;
    return true;
}

bool bind_to(const char *list, int rank) {
    int processors[MOST_PROCESSORS];
    int count = 0;
    for (const char *at = list; *at != '\0' && count < MOST_PROCESSORS;) {
        char *end = NULL;
        processors[count++] = (int)strtol(at, &end, 10);
        if (end == at) {
            fprintf(stderr, "%s names no processors\n", list);
            return false;
        }
        at = *end == ',' ? end + 1 : end;
    }
    if (count == 0) {
        return true;
    }
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(processors[rank % count], &set);
    if (sched_setaffinity(0, sizeof(set), &set) != 0) {
        fprintf(stderr, "processor %d: %s\n", processors[rank % count], strerror(errno));
        return false;
    }
    return true;
}

int launched_rank(void) {
    static const char *const names[] = {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        const char *rank = getenv(names[i]);
        if (rank != NULL) {
            return atoi(rank);
        }
    }
    return 0;
}
