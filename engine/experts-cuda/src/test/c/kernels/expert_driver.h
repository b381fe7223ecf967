/* What the parts of the driver for the kernels of experts share. */
#ifndef EXPERT_DRIVER_H
#define EXPERT_DRIVER_H

#include "expert_parameters.h"
#include "kernels.h"

#define GROUP 128
#define TOP_K 4
#define LOCAL_EXPERTS 4
#define EXPERTS (RANKS * LOCAL_EXPERTS)
#define FORMATS 4

/* What parts of a window begin at multiples of. */
#define ALIGNMENT 256
#define HEADER_BYTES (EXPERT_RANKS * sizeof(uint64_t) + ALIGNMENT)

uint64_t aligned(uint64_t offset);

/* Makes a window of so many bytes. */
struct expert_buffer make_buffer(struct rank *rank, uint64_t window_bytes, struct expert_words **words);

/* Waits for what was launched, and for nothing to have failed. */
void succeed(struct rank *rank, const struct expert_words *words, const char *what);

/* ---- tokens of all ranks; each rank knows all ---- */

/* How many a rank has, of so many at most. */
unsigned tokens_of(unsigned rank, unsigned most);

/* A token's experts, each another one; -1 for none. */
void choose(unsigned rank, unsigned token, int64_t *choices);

float weight_of(unsigned rank, unsigned token, unsigned k);

bool goes_to(unsigned from, unsigned token, unsigned rank);

void fill_token(uint16_t *to, unsigned rank, unsigned token, unsigned hidden);

/* What a maker, an expert or a rank, makes of a token; what every second makes is below 1. */
void fill_answer(uint16_t *to, unsigned rank, unsigned token, unsigned maker, unsigned hidden);

/* Codes and scales of a token's vector; of FP8_UE8M0 the exponents alone, a byte each. */
void quantise(const uint16_t *from, uint8_t *codes, uint8_t *scales, unsigned hidden, enum format format);

/* What a row is once it was encoded in LogFMT and decoded. */
void pass_logfmt(const uint16_t *from, float *to, unsigned hidden);

/* ---- the modes ---- */

void run_low_latency(struct rank *rank);

void run_normal(struct rank *rank);

#endif
