#define _GNU_SOURCE

#include "arguments.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define NANOS_PER_MILLI INT64_C(1000000)
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
