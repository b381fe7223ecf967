/* The structures of normal.cuh and normal.cu, and what places in a window depend on. */
#ifndef NORMAL_PARAMETERS_H
#define NORMAL_PARAMETERS_H

#include "expert_parameters.h"

#define MOST_BLOCKS 256
#define WORD_COUNTS 3
#define ROWS_OF_PIECE 2

struct normal {
    struct expert_buffer buffer;
    uint64_t at;
    uint64_t words_at;
    uint64_t done_at;
    uint64_t arrived_at;
    uint64_t counts_at;
    uint64_t slots_at;
    uint64_t combined_at;
    uint64_t slot_bytes;
    uint64_t scales_in_slot;
    uint64_t choices_in_slot;
    uint64_t weights_in_slot;
    uint64_t sources_in_slot;
    uint64_t counts_in_slot;
    uint32_t experts;
    uint32_t hidden;
    uint32_t most_tokens;
    uint32_t top_k;
};

struct dispatch {
    uint64_t x;
    uint64_t choices;
    uint64_t weights;
    uint64_t to;
    uint64_t handle;
    uint64_t summary;
    uint64_t patience;
    uint32_t tokens;
    uint32_t slot;
    uint32_t worst;
    uint32_t alignment;
};

struct progress {
    uint64_t generation;
    uint32_t sends;
    uint32_t tokens;
};

struct layout {
    uint64_t choices;
    uint64_t to;
    uint64_t tokens;
};

struct combine {
    uint64_t y;
    uint64_t bias;
    uint64_t out;
    uint64_t handle;
    uint64_t rows;
    uint64_t patience;
    uint32_t tokens;
    uint32_t senders;
};

#endif
