/* What a variant consists of: kernels that do one row each. And the parts of rows that all variants share. */
#ifndef EXPERT_VARIANT_H
#define EXPERT_VARIANT_H

#include "sluice_experts.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#define GROUP SLUICE_EXPERTS_GROUP
/* A group of channels of bfloat16. */
#define GROUP_BYTES (2 * GROUP)

/* Where a row's scales go: of exponents four lie in each element of the column. */
struct scale_column {
    char *at;
    int64_t stride;
    enum sluice_experts_scales form;
};

struct sum_job {
    char *to;
    const char *const *from;
    const float *weights;
    int operands;
    int groups;
};

struct experts_variant {
    void (*quantize)(const char *from, char *to, const struct scale_column *scales, int groups);
    /* Returns the size of the encoded row. */
    size_t (*encode)(const char *from, char *to, int groups);
    void (*decode)(const char *from, char *to, bool is_float32, int groups);
    void (*sum)(const struct sum_job *job);
    void (*sum_logfmt)(const struct sum_job *job);
};

/* The wider ones are empty on other processors. */
extern const struct experts_variant sluice_experts_plain;
extern const struct experts_variant sluice_experts_avx2;
extern const struct experts_variant sluice_experts_avx512;

const struct experts_variant *sluice_experts_kernels(void);

/* Whether rows have a number of channels that there is, and there are none below 0. */
static inline bool is_valid_call(int hidden, int first, int count) {
    return hidden > 0 && hidden <= SLUICE_EXPERTS_HIDDEN && hidden % GROUP == 0 && first >= 0 && count >= 0;
}

static inline uint32_t bits_of_float(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static inline float float_of_bits(uint32_t bits) {
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static inline int32_t read_int32(const char *from) {
    int32_t value;
    memcpy(&value, from, sizeof value);
    return value;
}

static inline int64_t read_int64(const char *from) {
    int64_t value;
    memcpy(&value, from, sizeof value);
    return value;
}

/* To nearest even; each NaN is the positive quiet one without payload. */
static inline uint16_t bfloat16_of(float value) {
    uint32_t bits = bits_of_float(value);
    if (value != value) {
        return 0x7fc0;
    }
    return (uint16_t)((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}

/* The factor of a group's values, and what undoes it. */
struct scale {
    float factor;
    float inverse;
};

/* As DeepEP: a group of tinier values than the first has the scale of that. */
static inline struct scale scale_of(float greatest, enum sluice_experts_scales form) {
    const float least = 1e-4f;
    const float largest = 448;
    float inverse = (greatest >= least ? greatest : least) * (1 / largest);
    if (greatest > 0x1.fffffep127f) {
        return (struct scale){.factor = 0, .inverse = greatest};
    }
    if (form == SLUICE_EXPERTS_EXACT) {
        return (struct scale){.factor = largest / (greatest >= least ? greatest : least), .inverse = inverse};
    }
    /* Neither denormal nor near to infinity, so its exponent and the opposite one are those of normal numbers. */
    uint32_t bits = bits_of_float(inverse);
    uint32_t exponent = (bits >> 23) + ((bits & 0x7fffff) != 0);
    return (struct scale){.factor = float_of_bits((254 - exponent) << 23), .inverse = float_of_bits(exponent << 23)};
}

/* Exponents share an element of the column. */
#define PACKED_GROUPS 4

static inline void write_scale(const struct scale_column *scales, int group, float inverse) {
    if (scales->form != SLUICE_EXPERTS_PACKED) {
        memcpy(scales->at + group * scales->stride, &inverse, sizeof inverse);
        return;
    }
    char *element = scales->at + group / PACKED_GROUPS * scales->stride;
    uint32_t packed = 0;
    if (group % PACKED_GROUPS != 0) {
        memcpy(&packed, element, sizeof packed);
    }
    packed |= (bits_of_float(inverse) >> 23) << 8 * (group % PACKED_GROUPS);
    memcpy(element, &packed, sizeof packed);
}

/* Quantises a group that has NaNs or infinities, and returns the inverse of its scale. */
float sluice_experts_quantize_special(const char *from, char *to, enum sluice_experts_scales form);

#endif
