/* What a variant consists of: a function for each operation on each type. */
#ifndef VARIANT_H
#define VARIANT_H

#include "sluice_reduce.h"

#include <stddef.h>

/* A cache line, and what kernels handle at once. */
#define LINE_BYTES 64

struct reduce_job {
    /* If streaming, aligned to a line. */
    char *to;
    const char *const *from;
    int operands;
    int32_t divisor;
    /* A multiple of LINE_BYTES. */
    size_t bytes;
    bool streaming;
};

typedef void reduce_kernel(const struct reduce_job *job);

struct reduce_variant {
    reduce_kernel *kernels[SLUICE_REDUCE_OPERATIONS][SLUICE_REDUCE_TYPES];
};

/* The wider ones are empty on other processors. */
extern const struct reduce_variant sluice_reduce_plain;
extern const struct reduce_variant sluice_reduce_avx2;
extern const struct reduce_variant sluice_reduce_avx512;

#endif
