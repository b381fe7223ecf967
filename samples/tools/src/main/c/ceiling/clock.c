#include "ceiling.h"

#include <time.h>

#define NANOS_PER_SECOND INT64_C(1000000000)

int64_t clock_nanos(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * NANOS_PER_SECOND + now.tv_nsec;
}

struct stopwatch stopwatch_start(const struct plan *plan) {
    return (struct stopwatch){.warm = clock_nanos() + plan->warmup};
}

bool stopwatch_runs(struct stopwatch *watch, const struct plan *plan, uint64_t operations) {
    int64_t now = clock_nanos();
    if (watch->begin == 0) {
        if (now >= watch->warm) {
            watch->begin = now;
            watch->operations = operations;
        }
        return true;
    }
    if (now - watch->begin < plan->duration) {
        return true;
    }
    watch->end = now;
    watch->operations = operations - watch->operations;
    return false;
}

bool stopwatch_measures(const struct stopwatch *watch) {
    return watch->begin != 0;
}

void stopwatch_figures(const struct stopwatch *watch, struct figures *figures) {
    *figures = (struct figures){.nanos = watch->end - watch->begin, .operations = watch->operations};
}
