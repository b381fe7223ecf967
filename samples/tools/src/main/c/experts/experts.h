/*
 * Dispatch and combine of experts by other means than this program's, on the same elements in the same formats: by copies between
 * shared memory, and by MPI. One process a rank; a block is some dispatches back to back, and then as many combines.
 */
#ifndef EXPERTS_H
#define EXPERTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GROUP 128
#define MOST_RANKS 64
#define PLAN_ARGUMENTS 9

/* The measurement, the same on each rank. Times are in nanoseconds. */
struct plan {
    /* Each token once to each rank that has one of its experts; else once to each expert. */
    bool normal;
    bool fp8;
    int tokens;
    int hidden;
    int top_k;
    int experts;
    const char *processors;
    int64_t warmup;
    int64_t duration;
};

/* main part of a command line: MODE FORMAT TOKENS HIDDEN TOP_K EXPERTS PROCESSORS WARMUP_MS DURATION_MS. */
bool plan_parse(char **arguments, struct plan *plan);

/* The length of a vector of bfloat16, and of what dispatch carries: the vector, or its codes and then its scales. */
size_t row_bytes(const struct plan *plan);
size_t payload_bytes(const struct plan *plan);

/* A vector that travels: where from, which token, and which of its terms the answer is. */
struct travel {
    int source;
    int token;
    int term;
    /* The expert that it is for; none in normal mode. */
    int expert;
};

/* Where all tokens of all ranks go. */
struct routes {
    int ranks;
    /* The most answers for a token. */
    int terms;
    int *choices[MOST_RANKS];
    float *weights[MOST_RANKS];
    /* By rank, what arrives there: by expert, source and token, or by source and token. */
    struct travel *incoming[MOST_RANKS];
    size_t counts[MOST_RANKS];
};

/* routes.c: chooses experts, each of a token another one, in the same way on all ranks. */
bool routes_make(const struct plan *plan, int ranks, struct routes *routes);
size_t routes_count(const struct routes *routes);

/* vectors.c: contents and formats. */
void vector_fill(uint16_t *vector, int hidden, int rank, int token, int maker);
void vector_quantise(const uint16_t *vector, int hidden, uint8_t *codes, float *scales);
/* Adds terms in their order, each by its weight, in float32, and rounds once; a term that is NULL is none. */
void vector_sum(uint16_t *sum, const uint16_t *const *terms, const float *weights, int count, int hidden, float *scratch);

/* The ranks that measure together. A failure ends the process. */
struct team {
    int rank;
    int ranks;
    void (*barrier)(void);
    /* Gives every rank the first one's number. */
    int64_t (*agreed)(int64_t number);
    int64_t (*greatest)(int64_t number);
};

struct exchange {
    /* Those that travel in a dispatch, of all ranks. */
    size_t vectors;
    void (*dispatch)(void);
    void (*combine)(void);
    /* Whether the last ones have brought this rank what they had to. */
    bool (*is_right)(void);
};

/* measure.c: measures; the first rank prints the figures. Gives an exit status. */
int measure(const struct plan *plan, const struct team *team, const struct exchange *exchange);

#endif
