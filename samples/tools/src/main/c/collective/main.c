#define _GNU_SOURCE

#include "arguments.h"
#include "collective.h"

#include <errno.h>
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAXIMUM_SIZE (UINT64_C(1) << 30)
#define MOST_PROCESSORS 1024

/* Binds this process to one of the processors in a list such as 0,2, in turn. */
static bool bind_to(const char *list, int rank) {
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

bool plan_parse(char **arguments, int rank, struct plan *plan) {
    *plan = (struct plan){.mode = arguments[0], .barrier = strcmp(arguments[0], "barrier") == 0};
    return number(arguments[1], 0, MAXIMUM_SIZE, &plan->size) && times(arguments + 3, &plan->warmup, &plan->duration)
           && bind_to(arguments[2], rank);
}
