/*
 * GCC's vectors of one variant: a file that defines VARIANT, WIDTH, TARGET and narrowed includes this and the kernels once.
 * Nothing may depend on the width of a vector, and products are added apart, never fused.
 */
#include "expert_variant.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#define INLINE static inline __attribute__((always_inline)) TARGET
#define VECTOR(type) type __attribute__((vector_size(WIDTH)))

typedef VECTOR(uint16_t) u16_vector;
typedef VECTOR(int16_t) s16_vector;
typedef VECTOR(int32_t) s32_vector;
typedef VECTOR(uint32_t) u32_vector;
typedef VECTOR(uint64_t) u64_vector;
typedef VECTOR(float) f32_vector;

/* The channels of WIDTH bytes of bfloat16: each pair lies in one element of `even` and of `odd`. */
struct halves {
    u32_vector even;
    u32_vector odd;
};

INLINE u32_vector load(const char *from) {
    u32_vector bytes;
    memcpy(&bytes, from, WIDTH);
    return bytes;
}

INLINE void store(char *to, u32_vector bytes) {
    memcpy(to, &bytes, WIDTH);
}

#ifndef CHOOSE

/* A mask has all bits of an element or none. */
INLINE u32_vector choose(u32_vector mask, u32_vector is, u32_vector is_not) {
    return (mask & is) | (~mask & is_not);
}

INLINE u32_vector joined(u32_vector lower, u32_vector upper) {
    return (lower & 0xffff) | (upper & 0xffff0000);
}

#else

INLINE u32_vector choose(u32_vector mask, u32_vector is, u32_vector is_not) {
    return (u32_vector)CHOOSE(mask, is, is_not);
}

/* The lower halves of elements of one vector and the upper halves of those of another one. */
INLINE u32_vector joined(u32_vector lower, u32_vector upper) {
    return (u32_vector)JOIN(lower, upper);
}

#endif

INLINE struct halves widened(u32_vector pairs) {
    return (struct halves){.even = pairs << 16, .odd = pairs & 0xffff0000};
}

/* To nearest even, in the upper half. */
INLINE u32_vector rounded(u32_vector x) {
    return x + 0x7fff + ((x >> 16) & 1);
}

/* As bfloat16_of. */
INLINE u32_vector narrowed_bf16(struct halves x) {
    f32_vector even = (f32_vector)x.even;
    f32_vector odd = (f32_vector)x.odd;
    u32_vector is_nan = joined((u32_vector)(even != even), (u32_vector)(odd != odd));
    return choose(is_nan, (u32_vector){} + 0x7fc07fc0, joined(rounded(x.even) >> 16, rounded(x.odd)));
}

/* The greatest and the least of a group's absolute values, as bits, of which those of NaN are the greatest. */
struct extremes {
    uint32_t greatest;
    uint32_t least;
};

#if defined(__x86_64__)

#define GREATEST_OF_LINE(x, y) _mm_max_epi16(x, y)
#define LEAST_OF_LINE(x, y) _mm_min_epi16(x, y)
#define REDUCED(operation, vector) \
    ({ \
        __m128i parts[WIDTH / 16]; \
        memcpy(parts, &(vector), WIDTH); \
        __m128i all = parts[0]; \
        for (size_t part = 1; part < WIDTH / 16; part++) { \
            all = operation(all, parts[part]); \
        } \
        all = operation(all, _mm_shuffle_epi32(all, 0x4e)); \
        all = operation(all, _mm_shuffle_epi32(all, 0xb1)); \
        all = operation(all, _mm_srli_epi32(all, 16)); \
        (uint32_t) _mm_cvtsi128_si32(all) & 0xffff; \
    })

#else

#define REDUCED(operation, vector) \
    ({ \
        uint16_t all = (vector)[0]; \
        for (size_t i = 1; i < WIDTH / 2; i++) { \
            all = operation(all, (uint16_t)(vector)[i]); \
        } \
        (uint32_t) all; \
    })
#define GREATEST_OF_LINE(x, y) ((x) > (y) ? (x) : (y))
#define LEAST_OF_LINE(x, y) ((x) < (y) ? (x) : (y))

#endif

#ifndef GREATER

#define GREATER(x, y) choose((u32_vector)((x) > (y)), (u32_vector)(x), (u32_vector)(y))
#define LESS(x, y) choose((u32_vector)((x) < (y)), (u32_vector)(x), (u32_vector)(y))

#endif

#ifndef GREATER_WORD
#define GREATER_WORD(x, y) choose((u32_vector)((s32_vector)(x) > (s32_vector)(y)), (x), (y))
#endif

INLINE uint32_t greatest_of(const char *group) {
    s16_vector greatest = (s16_vector)load(group) & 0x7fff;
#pragma GCC unroll 16
    for (size_t at = WIDTH; at < GROUP_BYTES; at += WIDTH) {
        s16_vector values = (s16_vector)load(group + at) & 0x7fff;
        greatest = (s16_vector)GREATER(values, greatest);
    }
    return REDUCED(GREATEST_OF_LINE, greatest);
}

INLINE struct extremes extremes_of(const char *group) {
    s16_vector greatest = (s16_vector)load(group) & 0x7fff;
    s16_vector least = greatest;
#pragma GCC unroll 16
    for (size_t at = WIDTH; at < GROUP_BYTES; at += WIDTH) {
        s16_vector values = (s16_vector)load(group + at) & 0x7fff;
        greatest = (s16_vector)GREATER(values, greatest);
        least = (s16_vector)LESS(values, least);
    }
    return (struct extremes){
        .greatest = REDUCED(GREATEST_OF_LINE, greatest), .least = REDUCED(LEAST_OF_LINE, least)};
}
