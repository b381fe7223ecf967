#define _GNU_SOURCE

#include "arguments.h"
#include "collective.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define NANOS_PER_SECOND INT64_C(1000000000)
/* As in this program's own measurement. */
#define BLOCK_NANOS INT64_C(30000000)
#define ROUND_BYTES (UINT64_C(4) << 20)
#define MOST_SLOTS 256
#define MOST_TIMES 5
#define LINE 64

static int64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * NANOS_PER_SECOND + time.tv_nsec;
}

/* Buffers that operations of a block use, one after the other; and what they took. */
struct run {
    const struct plan *plan;
    const struct library *library;
    size_t count;
    size_t stride;
    int64_t slots;
    float *source;
    float *target;
    uint64_t operation;
    int64_t began[MOST_SLOTS];
    int64_t ended[MOST_SLOTS];
    struct latencies *latencies;
    int64_t nanos;
    uint64_t operations;
    bool measuring;
};

static bool run_make(struct run *run) {
    uint64_t size = run->plan->size;
    run->count = (size_t)(size / sizeof(float));
    run->stride = (size_t)((size + LINE) / LINE * LINE / sizeof(float));
    uint64_t slots = size == 0 ? MOST_SLOTS : ROUND_BYTES / size;
    run->slots = slots > MOST_SLOTS ? MOST_SLOTS : slots < 1 ? 1 : (int64_t)slots;
    size_t bytes = (size_t)run->slots * run->stride * sizeof(float);
    run->source = aligned_alloc(LINE, bytes);
    run->target = aligned_alloc(LINE, bytes);
    run->latencies = latencies_make();
    return run->source != NULL && run->target != NULL && run->latencies != NULL
           && content_make(run->library->rank, run->library->ranks);
}

static void operate(struct run *run, int64_t slot) {
    size_t at = (size_t)slot * run->stride;
    if (run->plan->barrier) {
        run->library->barrier();
    } else {
        run->library->all_reduce(run->source + at, run->target + at, run->count);
    }
}

static bool is_right(struct run *run, int64_t slot) {
    if (run->plan->barrier) {
        /* No rank goes on before all have come. */
        return run->ended[slot] >= run->library->greatest(run->began[slot]);
    }
    size_t at = (size_t)slot * run->stride;
    return content_is_right(
            run->source + at, run->target + at, run->count, run->operation + (uint64_t)slot, run->plan->in_place);
}

/* Gives the nanoseconds of a block, or -1 if a result was wrong. */
static int64_t block(struct run *run, int64_t length) {
    for (int64_t slot = 0; slot < length && !run->plan->barrier; slot++) {
        size_t at = (size_t)slot * run->stride;
        content_fill(
                run->source + at, run->target + at, run->count, run->operation + (uint64_t)slot, run->plan->in_place);
    }
    run->library->barrier();
    int64_t last = now();
    int64_t start = last;
    for (int64_t slot = 0; slot < length; slot++) {
        run->began[slot] = last;
        operate(run, slot);
        run->ended[slot] = now();
        if (run->measuring) {
            latencies_add(run->latencies, run->ended[slot] - last);
        }
        last = run->ended[slot];
    }
    if (run->measuring) {
        run->nanos += last - start;
        run->operations += (uint64_t)length;
    }
    bool right = true;
    for (int64_t slot = 0; slot < length; slot++) {
        right &= is_right(run, slot);
    }
    run->operation += (uint64_t)length;
    return right ? last - start : -1;
}

/* The length of the next block; 0 for none, negative for the first that counts. */
static int64_t next(struct run *run, int64_t each, int64_t start, int64_t *measuring_start, int64_t warmed) {
    int64_t length = BLOCK_NANOS / (each < 1 ? 1 : each);
    length = length > run->slots ? run->slots : length < 1 ? 1 : length;
    int64_t time = now();
    if (run->measuring) {
        bool over = (time - *measuring_start) / MOST_TIMES >= run->plan->duration;
        return run->nanos >= run->plan->duration || over ? 0 : length;
    }
    if (warmed >= run->plan->warmup || (time - start) / MOST_TIMES >= run->plan->warmup) {
        *measuring_start = time;
        return -length;
    }
    return length;
}

static void print(const struct run *run, int64_t nanos) {
    printf("{\"mode\":\"%s\",\"ranks\":%d,\"size\":%" PRIu64 ",\"nanos\":%" PRId64 ",\"operations\":%" PRIu64
           ",\"median_nanos\":%" PRId64 ",\"p99_nanos\":%" PRId64 "}\n",
            run->plan->mode, run->library->ranks, run->plan->size, nanos, run->operations,
            latencies_quantile(run->latencies, 0.5), latencies_quantile(run->latencies, 0.99));
}

int measure(const struct plan *plan, const struct library *library) {
    static struct run run;
    run.plan = plan;
    run.library = library;
    if (!run_make(&run)) {
        fprintf(stderr, "rank %d: no memory for %" PRIu64 " bytes\n", library->rank, plan->size);
        return STATUS_FAILED;
    }
    int64_t start = now();
    int64_t measuring_start = start;
    int64_t warmed = 0;
    bool right = true;
    int64_t length = library->agreed(1);
    while (length != 0) {
        int64_t nanos = block(&run, length);
        right &= nanos >= 0;
        warmed += nanos;
        int64_t decided = next(&run, nanos / length, start, &measuring_start, warmed);
        length = library->agreed(decided);
        if (length < 0) {
            run.measuring = true;
            length = -length;
        }
    }
    int64_t nanos = library->greatest(run.nanos);
    if (library->greatest(right ? 0 : 1) != 0) {
        fprintf(stderr, "rank %d: %s\n", library->rank, right ? "another rank has wrong elements" : "wrong elements");
        return STATUS_FAILED;
    }
    if (library->rank == 0) {
        print(&run, nanos);
    }
    return 0;
}
