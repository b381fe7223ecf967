/* The structures of low_latency.cuh. */
#ifndef LOW_LATENCY_PARAMETERS_H
#define LOW_LATENCY_PARAMETERS_H

#include "expert_parameters.h"

#define MOST_TOP_K 32
#define SETS 2

/* How the results of a combine travel. */
enum combine_format { AS_IT_IS, LOGFMT };

struct result_words {
    uint64_t dispatch;
    uint64_t combine;
    uint64_t rows;
};

struct low_latency_words {
    uint64_t dispatched[SETS][EXPERT_RANKS];
    uint64_t combined[SETS][EXPERT_RANKS];
    uint64_t dispatch_taken[SETS][EXPERT_RANKS];
    uint64_t combine_taken[SETS][EXPERT_RANKS];
    uint64_t dispatches;
    uint64_t combines;
    struct result_words results[2];
};

struct proxy_call {
    uint64_t value;
    uint64_t rows;
    uint32_t messages[EXPERT_RANKS];
};

/* For each array of struct low_latency_words that other ranks store. */
#define PROXY_CALLS (4 * SETS)

struct shape {
    uint64_t words_at;
    uint64_t counts_at;
    uint64_t messages_at;
    uint64_t message_bytes;
    uint64_t payload_at;
    uint64_t slots_at;
    uint32_t experts;
    uint32_t local_experts;
    uint32_t hidden;
    uint32_t tokens;
    uint32_t top_k;
    uint32_t reserved;
    uint64_t proxied;
    /* The calls, and the places of the rows of combines, by set. */
    uint64_t host;
};

struct result {
    uint64_t rows;
    uint64_t scales;
    uint64_t counts;
    uint64_t sources;
    uint64_t ranges;
    uint64_t places;
    uint64_t sent;
    uint64_t host_counts;
};

struct dispatch {
    uint64_t x;
    uint64_t choices;
    uint64_t statistics;
    uint64_t patience;
    uint32_t tokens;
    uint32_t format;
    uint32_t index;
    uint32_t reserved;
};

struct combine {
    uint64_t y;
    uint64_t choices;
    uint64_t weights;
    uint64_t out;
    uint64_t patience;
    uint32_t tokens;
    uint32_t index;
};

#endif
