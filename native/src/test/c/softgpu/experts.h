/* What the twins of the kernels of experts share: the waits of experts.cuh. One block does all. */
#ifndef EXPERTS_H
#define EXPERTS_H

#include "expert_parameters.h"
#include "gpu.h"

/* The buffer's state; NULL if it is out of reach. */
struct expert_state *expert_state_of(int ordinal, const struct expert_buffer *buffer);

/* The first failure counts. False if the words are out of reach. */
bool expert_fail(
        int ordinal, const struct expert_buffer *buffer, enum expert_failure kind, unsigned rank, uint64_t token,
        uint64_t expert);

uint64_t expert_signal(uint64_t generation, uint32_t signature);

/* Stores a word that another GPU waits for, behind all that was written before. */
bool expert_store(int ordinal, uint64_t address, uint64_t value);

/*
 * Looks for a signal of a rank. STEP_DONE: it is here. STEP_AGAIN: look again later. STEP_FAILED: it was given up, and the buffer has
 * failed; or, if that cannot be said, a word is out of reach. `own` are the two words of the operation, 0 at first.
 */
enum step expert_await(
        int ordinal, const struct expert_buffer *buffer, uint64_t *own, uint64_t signal, uint64_t value, unsigned rank,
        uint64_t patience);

#endif
