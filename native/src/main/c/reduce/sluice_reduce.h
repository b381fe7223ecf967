/*
 * Reductions of arrays: element by element, in the order of the operands.
 *
 * Every variant gives the same bits. Integers wrap around. A sum or product of floats is rounded to nearest even after
 * each operand, one of 16-bit floats is computed in float32 and rounded to 16 bits once, at the end. Of zeros, -0 is
 * below +0. Any NaN gives NaN, and each NaN of a result is the positive quiet one without payload.
 */
#ifndef SLUICE_REDUCE_H
#define SLUICE_REDUCE_H

#include <stdbool.h>
#include <stdint.h>

enum sluice_reduce_type {
    SLUICE_INT8,
    SLUICE_UINT8,
    SLUICE_INT32,
    SLUICE_UINT32,
    SLUICE_INT64,
    SLUICE_UINT64,
    SLUICE_FLOAT16,
    SLUICE_BFLOAT16,
    SLUICE_FLOAT32,
    SLUICE_FLOAT64,
    SLUICE_REDUCE_TYPES
};

enum sluice_reduce_operation {
    SLUICE_SUM,
    SLUICE_PRODUCT,
    SLUICE_MIN,
    SLUICE_MAX,
    /* The sum by the divisor: of integers the wrapped sum, truncated; of 16-bit floats the sum in float32. */
    SLUICE_AVERAGE,
    SLUICE_REDUCE_OPERATIONS
};

/* The instructions that are used. */
enum sluice_reduce_variant { SLUICE_REDUCE_PLAIN, SLUICE_REDUCE_AVX2, SLUICE_REDUCE_AVX512, SLUICE_REDUCE_VARIANTS };

#define SLUICE_REDUCE_OPERANDS 64
/* A float32 holds every integer up to this. */
#define SLUICE_REDUCE_DIVISOR (1 << 24)

struct sluice_reduction {
    enum sluice_reduce_type type;
    enum sluice_reduce_operation operation;
    /* May be one of the operands; may not overlap one in another way. No address has to be aligned. */
    void *to;
    const void *const *from;
    int operands;
    /* For averages. */
    int divisor;
    int64_t count;
    /* Whether to bypass the caches: for results too large for them. Ignored if the target is an operand. */
    bool streaming;
};

/* Returns 0, or -EINVAL if a number is out of its range. */
int sluice_reduce(const struct sluice_reduction *reduction);
/*
 * The functions that Java calls by name, with the memory and offsets into it. The first reduces two operands by an
 * operation that is no average; the second divides, and its target may be the dividend.
 */
__attribute__((visibility("default"))) int sluice_reduce_two(
        int type,
        int operation,
        void *to,
        int64_t to_offset,
        const void *first,
        int64_t first_offset,
        const void *second,
        int64_t second_offset,
        int64_t count);
__attribute__((visibility("default"))) int sluice_reduce_divide(
        int type, void *to, int64_t to_offset, const void *from, int64_t from_offset, int divisor, int64_t count);
/* The size of a result, in bytes, from which streaming is faster on this processor. */
int64_t sluice_reduce_streamed_from(void);
/* The variant that this process uses: the widest that the processor has, or the one last set. */
int sluice_reduce_variant(void);
/* For tests: returns 0, or -EINVAL for a variant that the processor lacks. */
int sluice_reduce_use(int variant);

#endif
