#define _GNU_SOURCE

#include "arguments.h"
#include "experts.h"

#include <inttypes.h>
#include <stdio.h>
#include <time.h>

#define NANOS_PER_SECOND INT64_C(1000000000)
/* As in this program's own measurement. */
#define BLOCK_NANOS INT64_C(30000000)
#define MOST_ROUNDS 10000
/* A dispatch on its own would find in the caches what combine has left; this many unless they take long. */
#define LEAST_ROUNDS 3
#define LONGEST_NANOS INT64_C(300000000)
#define MOST_TIMES 5

static int64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * NANOS_PER_SECOND + time.tv_nsec;
}

/*
 * From the first rank's start to the last one's end. Of ranks that share a processor one gets it after the other; by its own
 * clock alone each would have it to itself. All run on this machine and have the same clock.
 */
static int64_t block(const struct team *team, void (*operation)(void), int64_t length) {
    team->barrier();
    int64_t start = now();
    for (int64_t i = 0; i < length; i++) {
        operation();
    }
    int64_t end = now();
    return team->greatest(end) + team->greatest(-start);
}

struct progress {
    int64_t start;
    int64_t warmed;
    int64_t measuring_start;
    int64_t dispatch_nanos;
    int64_t combine_nanos;
    int64_t rounds;
    bool measuring;
};

/* The length of the next block; 0 for none, negative for the first that counts. */
static int64_t next(const struct plan *plan, const struct progress *progress, int64_t each) {
    each = each < 1 ? 1 : each;
    int64_t length = BLOCK_NANOS / each;
    if (length < LEAST_ROUNDS) {
        length = LEAST_ROUNDS * each <= LONGEST_NANOS ? LEAST_ROUNDS : 1;
    }
    length = length > MOST_ROUNDS ? MOST_ROUNDS : length;
    int64_t time = now();
    if (progress->measuring) {
        bool over = (time - progress->measuring_start) / MOST_TIMES >= plan->duration;
        return progress->dispatch_nanos + progress->combine_nanos >= plan->duration || over ? 0 : length;
    }
    bool warm = progress->warmed >= plan->warmup || (time - progress->start) / MOST_TIMES >= plan->warmup;
    return warm ? -length : length;
}

int measure(const struct plan *plan, const struct team *team, const struct exchange *exchange) {
    struct progress progress = {.start = now()};
    int64_t length = team->agreed(1);
    while (length != 0) {
        int64_t dispatched = block(team, exchange->dispatch, length);
        int64_t combined = block(team, exchange->combine, length);
        if (progress.measuring) {
            progress.dispatch_nanos += dispatched;
            progress.combine_nanos += combined;
            progress.rounds += length;
        } else {
            progress.warmed += dispatched + combined;
        }
        length = team->agreed(next(plan, &progress, (dispatched + combined) / length));
        if (length < 0) {
            progress.measuring = true;
            progress.measuring_start = now();
            length = -length;
        }
    }
    bool right = exchange->is_right();
    if (team->greatest(right ? 0 : 1) != 0) {
        fprintf(stderr, "rank %d: %s\n", team->rank, right ? "another rank has wrong elements" : "wrong elements");
        return STATUS_FAILED;
    }
    if (team->rank == 0) {
        printf("{\"rounds\":%" PRId64 ",\"vectors\":%zu,\"dispatch_nanos\":%" PRId64 ",\"combine_nanos\":%" PRId64 "}\n",
               progress.rounds, exchange->vectors, progress.dispatch_nanos, progress.combine_nanos);
    }
    return 0;
}
