/* What the twins of the kernels in normal.cu share: its structures, and the rows that a dispatch sends. */
#ifndef EXPERTS_NORMAL_H
#define EXPERTS_NORMAL_H

#include "experts.h"

enum format { BF16, FP8, FP8_ROUNDED, FP8_UE8M0 };

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

/* What all ranks have said of a call. */
struct meeting {
    uint32_t counts[EXPERT_RANKS][EXPERT_RANKS];
    uint32_t slots[EXPERT_RANKS];
};

/* False if the bytes are out of reach. */
bool normal_put(int ordinal, uint64_t to, const void *bytes, uint64_t count);

/* Where a rank receives. */
uint64_t normal_slot_at(const struct normal *in, const struct meeting *met, unsigned rank);

/* Sends each token once to each rank that has a position for it, behind the first row there. False if something is out of reach. */
bool normal_send_rows(
        int ordinal, const struct dispatch *what, const struct normal *in, const struct meeting *met,
        const int32_t *positions, const uint32_t *first, enum format format);

/* Marks the rows behind those received, up to the worst case. False if something is out of reach. */
bool normal_mark_rows(
        int ordinal, const struct dispatch *what, const struct normal *in, uint64_t slot, uint32_t received);

#endif
