#include "gpu.h"

#include <stdlib.h>
#include <time.h>

#define NANOS_PER_SECOND INT64_C(1000000000)
#define MAXIMUM_SAMPLES (1 << 20)

int64_t clock_nanos(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * NANOS_PER_SECOND + now.tv_nsec;
}

static void submit(struct work *work, struct operation operation) {
    operation.submit(work, ++work->submitted, operation.argument);
}

static int compare(const void *one, const void *other) {
    int64_t a = *(const int64_t *)one;
    int64_t b = *(const int64_t *)other;
    return (a > b) - (a < b);
}

/* Runs for a time, and until all has ended. */
static struct figures run(
        struct work *work, const struct plan *plan, struct operation operation, int64_t nanos, int64_t *samples) {
    uint64_t before = work->submitted;
    uint64_t count = 0;
    int64_t begin = clock_nanos();
    int64_t last = begin;
    do {
        submit(work, operation);
        if (work->submitted - before >= plan->inflight) {
            work_await(work, work->submitted - plan->inflight + 1);
        }
        int64_t now = clock_nanos();
        if (count < MAXIMUM_SAMPLES) {
            samples[count++] = now - last;
        }
        last = now;
    } while (last - begin < nanos);
    work_await(work, work->submitted);
    struct figures figures = {.operations = work->submitted - before, .nanos = clock_nanos() - begin};
    if (plan->inflight == 1) {
        qsort(samples, (size_t)count, sizeof *samples, compare);
        figures.median_nanos = samples[count / 2];
    }
    return figures;
}

struct figures measure(struct work *work, const struct plan *plan, struct operation operation) {
    int64_t *samples = allocate(MAXIMUM_SAMPLES, sizeof *samples);
    run(work, plan, operation, plan->warmup, samples);
    struct figures figures = run(work, plan, operation, plan->duration, samples);
    free(samples);
    return figures;
}
