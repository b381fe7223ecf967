/* What the twins of the kernels in normal.cu share: the rows that a dispatch sends. */
#ifndef EXPERTS_NORMAL_H
#define EXPERTS_NORMAL_H

#include "experts.h"
#include "normal_parameters.h"

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
