#include "collective.h"

#include <stdlib.h>

/* Below so many nanoseconds each has a counter of its own; above, as many share one as keep three digits. */
#define LINEAR 2048
#define STEPS (LINEAR / 2)
#define COUNTERS (LINEAR + 52 * STEPS)

struct latencies {
    uint64_t total;
    uint64_t counts[COUNTERS];
};

struct latencies *latencies_make(void) {
    return calloc(1, sizeof(struct latencies));
}

static size_t place(int64_t nanos) {
    if (nanos < LINEAR) {
        return nanos < 0 ? 0 : (size_t)nanos;
    }
    int shift = 53 - __builtin_clzll((uint64_t)nanos);
    return LINEAR + (size_t)(shift - 1) * STEPS + (size_t)(nanos >> shift) - STEPS;
}

void latencies_add(struct latencies *latencies, int64_t nanos) {
    latencies->counts[place(nanos)]++;
    latencies->total++;
}

static int64_t longest_at(size_t place) {
    if (place < LINEAR) {
        return (int64_t)place;
    }
    int shift = (int)((place - LINEAR) / STEPS) + 1;
    return (int64_t)(((place - LINEAR) % STEPS + STEPS + 1) << shift) - 1;
}

int64_t latencies_quantile(const struct latencies *latencies, double part) {
    uint64_t wanted = (uint64_t)((double)latencies->total * part);
    uint64_t seen = 0;
    for (size_t i = 0; i < COUNTERS; i++) {
        seen += latencies->counts[i];
        if (seen > wanted) {
            return longest_at(i);
        }
    }
    return 0;
}
