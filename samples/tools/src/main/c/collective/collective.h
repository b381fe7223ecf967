/*
 * Collectives of other libraries, measured as this program measures its own: one process a rank, operations back to back in
 * blocks behind a barrier, each block with content of its own, which is compared element by element while the clock stands.
 */
#ifndef COLLECTIVE_H
#define COLLECTIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What to measure, the same on each rank. Times are in nanoseconds, sizes in bytes. */
struct plan {
    /* Of all-reduce: whether one way of the library or the other; see its file. */
    const char *mode;
    bool barrier;
    /* Whether the result takes the place of what is given. */
    bool in_place;
    uint64_t size;
    int64_t warmup;
    int64_t duration;
};

/* What a library does. The functions return when the rank may use its memory again; a failure ends the process. */
struct library {
    int rank;
    int ranks;
    void (*all_reduce)(const float *source, float *target, size_t count);
    void (*barrier)(void);
    /* Gives every rank the first one's number. */
    int64_t (*agreed)(int64_t number);
    int64_t (*greatest)(int64_t number);
};

/* main.c: parses MODE SIZE PROCESSORS WARMUP_MS DURATION_MS; binds this process to one of the processors, by its rank. */
bool plan_parse(char **arguments, int rank, struct plan *plan);

/* measure.c: measures; the first rank prints the figures. Gives an exit status. */
int measure(const struct plan *plan, const struct library *library);

/* content.c: what ranks give, and what must come of it. */
bool content_make(int rank, int ranks);
void content_fill(float *source, float *target, size_t count, uint64_t operation, bool in_place);
bool content_is_right(const float *source, const float *target, size_t count, uint64_t operation, bool in_place);

/* latencies.c: how long operations took. */
struct latencies;
struct latencies *latencies_make(void);
void latencies_add(struct latencies *latencies, int64_t nanos);
/* What a part of them took at most. */
int64_t latencies_quantile(const struct latencies *latencies, double part);

#ifdef __cplusplus
}
#endif

#endif
