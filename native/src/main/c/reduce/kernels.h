/*
 * The kernels of one variant, in GCC's vectors: a file that defines VARIANT, WIDTH, TARGET, store_streaming and the
 * conversions of 16-bit floats includes this once. Nothing here may depend on the width of a vector or the order of its
 * elements, and no product is added to something, which a compiler could fuse.
 */
#include "variant.h"

#include <string.h>

#define INLINE static inline __attribute__((always_inline)) TARGET
#define VECTOR(type) type __attribute__((vector_size(WIDTH)))

typedef VECTOR(int8_t) s8_vector;
typedef VECTOR(uint8_t) u8_vector;
typedef VECTOR(int16_t) s16_vector;
typedef VECTOR(int32_t) s32_vector;
typedef VECTOR(uint32_t) u32_vector;
typedef VECTOR(int64_t) s64_vector;
typedef VECTOR(uint64_t) u64_vector;
typedef VECTOR(float) f32_vector;
typedef VECTOR(double) f64_vector;

/* WIDTH bytes of an operand or of a result so far. Of 16-bit floats `even` and `odd` have the elements as float32. */
struct part {
    union {
        u32_vector all;
        u32_vector even;
    };
    u32_vector odd;
};

#ifndef CHOOSE

/* A mask has all bits of an element or none. */
INLINE u32_vector choose(u32_vector mask, u32_vector is, u32_vector is_not) {
    return (mask & is) | (~mask & is_not);
}

/* The lower halves of 32-bit elements of one vector and the upper halves of those of another one. */
INLINE u32_vector joined(u32_vector lower, u32_vector upper) {
    return (lower & 0xffff) | (upper & 0xffff0000);
}

#else

INLINE u32_vector choose(u32_vector mask, u32_vector is, u32_vector is_not) {
    return (u32_vector)CHOOSE(mask, is, is_not);
}

INLINE u32_vector joined(u32_vector lower, u32_vector upper) {
    return (u32_vector)JOIN(lower, upper);
}

#endif

INLINE u32_vector load(const char *from) {
    u32_vector bytes;
    memcpy(&bytes, from, WIDTH);
    return bytes;
}

INLINE void store(char *to, u32_vector bytes, bool streaming) {
    if (streaming) {
        store_streaming(to, bytes);
    } else {
        memcpy(to, &bytes, WIDTH);
    }
}

/* Loads and stores of what needs no conversion. */
INLINE struct part load_same(const char *from) {
    return (struct part){.all = load(from)};
}

INLINE u32_vector finish_same(struct part part, int32_t divisor) {
    (void)divisor;
    return part.all;
}

#define COMBINE(name, vector, expression) \
    INLINE struct part name(struct part left, struct part right) { \
        vector x = (vector)left.all; \
        vector y = (vector)right.all; \
        return (struct part){.all = (u32_vector)(expression)}; \
    }
#define LESS(x, y) choose((u32_vector)((x) < (y)), (u32_vector)(x), (u32_vector)(y))
#define GREATER(x, y) choose((u32_vector)((x) > (y)), (u32_vector)(x), (u32_vector)(y))

COMBINE(sum_8, u8_vector, x + y)
COMBINE(sum_32, u32_vector, x + y)
COMBINE(sum_64, u64_vector, x + y)
COMBINE(sum_f32, f32_vector, x + y)
COMBINE(sum_f64, f64_vector, x + y)
COMBINE(product_8, u8_vector, x *y)
COMBINE(product_32, u32_vector, x *y)
COMBINE(product_64, u64_vector, x *y)
COMBINE(product_f32, f32_vector, x *y)
COMBINE(product_f64, f64_vector, x *y)
COMBINE(min_s8, s8_vector, LESS(x, y))
COMBINE(min_u8, u8_vector, LESS(x, y))
COMBINE(min_s16, s16_vector, LESS(x, y))
COMBINE(min_s32, s32_vector, LESS(x, y))
COMBINE(min_u32, u32_vector, LESS(x, y))
COMBINE(min_s64, s64_vector, LESS(x, y))
COMBINE(min_u64, u64_vector, LESS(x, y))
COMBINE(max_s8, s8_vector, GREATER(x, y))
COMBINE(max_u8, u8_vector, GREATER(x, y))
COMBINE(max_s16, s16_vector, GREATER(x, y))
COMBINE(max_s32, s32_vector, GREATER(x, y))
COMBINE(max_u32, u32_vector, GREATER(x, y))
COMBINE(max_s64, s64_vector, GREATER(x, y))
COMBINE(max_u64, u64_vector, GREATER(x, y))

/* Integers have no vector division in any of the instruction sets. */
#define DIVIDE(name, element, wide) \
    INLINE u32_vector name(struct part part, int32_t divisor) { \
        element elements[WIDTH / sizeof(element)]; \
        memcpy(elements, &part.all, WIDTH); \
        for (size_t i = 0; i < WIDTH / sizeof(element); i++) { \
            elements[i] = (element)((wide)elements[i] / (wide)divisor); \
        } \
        return load((const char *)elements); \
    }

DIVIDE(divide_s8, int8_t, int32_t)
DIVIDE(divide_u8, uint8_t, uint32_t)
DIVIDE(divide_s32, int32_t, int32_t)
DIVIDE(divide_u32, uint32_t, uint32_t)
DIVIDE(divide_s64, int64_t, int64_t)
DIVIDE(divide_u64, uint64_t, uint64_t)

/*
 * Floats are compared as integers: the bits below the sign of a negative one are flipped, and then its order is that of
 * the integers. A NaN becomes the integer that wins.
 */
#define COMPARED(name, vector, bits, infinity, nan) \
    INLINE vector name##_flipped(vector x) { \
        return x ^ ((x >> (bits - 1)) & INT##bits##_MAX); \
    } \
    INLINE struct part name##_load(const char *from, vector winner) { \
        vector x = (vector)load(from); \
        u32_vector is_nan = (u32_vector)((x & INT##bits##_MAX) > infinity); \
        return (struct part){.all = choose(is_nan, (u32_vector)winner, (u32_vector)name##_flipped(x))}; \
    } \
    INLINE struct part name##_load_min(const char *from) { \
        return name##_load(from, (vector){} + INT##bits##_MIN); \
    } \
    INLINE struct part name##_load_max(const char *from) { \
        return name##_load(from, (vector){} + INT##bits##_MAX); \
    } \
    INLINE u32_vector name##_finish(struct part part, vector winner) { \
        vector x = (vector)part.all; \
        return choose((u32_vector)(x == winner), (u32_vector)((vector){} + nan), (u32_vector)name##_flipped(x)); \
    } \
    INLINE u32_vector name##_finish_min(struct part part, int32_t divisor) { \
        (void)divisor; \
        return name##_finish(part, (vector){} + INT##bits##_MIN); \
    } \
    INLINE u32_vector name##_finish_max(struct part part, int32_t divisor) { \
        (void)divisor; \
        return name##_finish(part, (vector){} + INT##bits##_MAX); \
    }

COMPARED(f16, s16_vector, 16, (int16_t)0x7c00, (int16_t)0x7e00)
COMPARED(bf16, s16_vector, 16, (int16_t)0x7f80, (int16_t)0x7fc0)
COMPARED(f32, s32_vector, 32, INT32_C(0x7f800000), INT32_C(0x7fc00000))
COMPARED(f64, s64_vector, 64, INT64_C(0x7ff0000000000000), INT64_C(0x7ff8000000000000))

/* Of two NaNs a processor takes the payload of the first, and a compiler may swap them. */
INLINE u32_vector one_nan_f32(f32_vector x) {
    return choose((u32_vector)(x != x), (u32_vector){} + UINT32_C(0x7fc00000), (u32_vector)x);
}

INLINE u32_vector one_nan_f64(f64_vector x) {
    return choose(
            (u32_vector)(x != x), (u32_vector)((u64_vector){} + UINT64_C(0x7ff8000000000000)), (u32_vector)x);
}

INLINE u32_vector finish_f32(struct part part, int32_t divisor) {
    (void)divisor;
    return one_nan_f32((f32_vector)part.all);
}

INLINE u32_vector finish_f64(struct part part, int32_t divisor) {
    (void)divisor;
    return one_nan_f64((f64_vector)part.all);
}

INLINE u32_vector divide_f32(struct part part, int32_t divisor) {
    return one_nan_f32((f32_vector)part.all / (float)divisor);
}

INLINE u32_vector divide_f64(struct part part, int32_t divisor) {
    return one_nan_f64((f64_vector)part.all / (double)divisor);
}

/* 16-bit floats: any two halves of the elements will do as `even` and `odd`. */
INLINE struct part sum_halves(struct part left, struct part right) {
    return (struct part){
        .even = (u32_vector)((f32_vector)left.even + (f32_vector)right.even),
        .odd = (u32_vector)((f32_vector)left.odd + (f32_vector)right.odd),
    };
}

INLINE struct part product_halves(struct part left, struct part right) {
    return (struct part){
        .even = (u32_vector)((f32_vector)left.even * (f32_vector)right.even),
        .odd = (u32_vector)((f32_vector)left.odd * (f32_vector)right.odd),
    };
}

INLINE struct part divided_halves(struct part part, int32_t divisor) {
    return (struct part){
        .even = (u32_vector)((f32_vector)part.even / (float)divisor),
        .odd = (u32_vector)((f32_vector)part.odd / (float)divisor),
    };
}

INLINE struct part load_bf16(const char *from) {
    u32_vector pairs = load(from);
    return (struct part){.even = pairs << 16, .odd = pairs & 0xffff0000};
}

/* To nearest even, in the upper half; a carry out of the mantissa goes to the exponent, at last to infinity. */
INLINE u32_vector rounded_bf16(u32_vector x) {
    return x + 0x7fff + ((x >> 16) & 1);
}

INLINE u32_vector finish_bf16(struct part part, int32_t divisor) {
    (void)divisor;
    f32_vector even = (f32_vector)part.even;
    f32_vector odd = (f32_vector)part.odd;
    u32_vector is_nan = joined((u32_vector)(even != even), (u32_vector)(odd != odd));
    u32_vector rounded = joined(rounded_bf16(part.even) >> 16, rounded_bf16(part.odd));
    return choose(is_nan, (u32_vector){} + 0x7fc07fc0, rounded);
}

INLINE u32_vector divide_bf16(struct part part, int32_t divisor) {
    return finish_bf16(divided_halves(part, divisor), 0);
}

#ifdef HAS_F16C

INLINE struct part load_f16(const char *from) {
    return (struct part){.even = (u32_vector)widened_f16(from), .odd = (u32_vector)widened_f16(from + WIDTH / 2)};
}

INLINE u32_vector finish_f16(struct part part, int32_t divisor) {
    (void)divisor;
    return (u32_vector)narrowed_f16(one_nan_f32((f32_vector)part.even), one_nan_f32((f32_vector)part.odd));
}

#else

/* Without denormal operands, which some processors are slow at. */
INLINE u32_vector widened_f16(u32_vector x) {
    u32_vector rest = (x & 0x7fff) << 13;
    u32_vector normal = rest + (112 << 23);
    u32_vector special = rest | 0x7f800000;
    const u32_vector least = (u32_vector){} + (113 << 23);
    u32_vector denormal = (u32_vector)((f32_vector)(rest | least) - (f32_vector)least);
    u32_vector finite = choose((u32_vector)(rest < (0x0400 << 13)), denormal, normal);
    return choose((u32_vector)(rest >= (0x7c00 << 13)), special, finite) | (x & 0x8000) << 16;
}

/* To nearest even: a denormal by adding 0.5, whose last bit is worth the least denormal. */
INLINE u32_vector narrowed_f16(u32_vector x) {
    u32_vector rest = x & 0x7fffffff;
    u32_vector normal = (rest - (112 << 23) + 0xfff + ((rest >> 13) & 1)) >> 13;
    u32_vector denormal = (u32_vector)((f32_vector)rest + 0.5f) - 0x3f000000;
    u32_vector special = choose((u32_vector)(rest > 0x7f800000), (u32_vector){} + 0x7e00, (u32_vector){} + 0x7c00);
    u32_vector finite = choose((u32_vector)(rest < (113 << 23)), denormal, normal);
    return choose((u32_vector)(rest >= (143 << 23)), special, finite) | ((x >> 16) & 0x8000);
}

INLINE struct part load_f16(const char *from) {
    u32_vector pairs = load(from);
    return (struct part){.even = widened_f16(pairs & 0xffff), .odd = widened_f16(pairs >> 16)};
}

INLINE u32_vector finish_f16(struct part part, int32_t divisor) {
    (void)divisor;
    return narrowed_f16(one_nan_f32((f32_vector)part.even))
            | narrowed_f16(one_nan_f32((f32_vector)part.odd)) << 16;
}

#endif

INLINE u32_vector divide_f16(struct part part, int32_t divisor) {
    return finish_f16(divided_halves(part, divisor), 0);
}

/*
 * How far two operands are fetched ahead: arithmetic fills the window in which a processor runs ahead by itself. Beyond the
 * end it has no effect.
 */
#define AHEAD_BYTES 512

/* The result of a part is stored after its operands are loaded, so the target may be an operand. */
#define KERNEL(name, load, combine, finish) \
    TARGET static void name(const struct reduce_job *job) { \
        char *to = job->to; \
        size_t bytes = job->bytes; \
        int operands = job->operands; \
        int32_t divisor = job->divisor; \
        bool streaming = job->streaming; \
        const char *const *from = job->from; \
        if (operands == 2) { \
            const char *first = from[0]; \
            const char *second = from[1]; \
            for (size_t line = 0; line < bytes; line += LINE_BYTES) { \
                __builtin_prefetch((const void *)((uintptr_t)first + line + AHEAD_BYTES)); \
                __builtin_prefetch((const void *)((uintptr_t)second + line + AHEAD_BYTES)); \
                _Pragma("GCC unroll 4") for (size_t at = line; at < line + LINE_BYTES; at += WIDTH) { \
                    struct part part = combine(load(first + at), load(second + at)); \
                    store(to + at, finish(part, divisor), streaming); \
                } \
            } \
            return; \
        } \
        for (size_t at = 0; at < bytes; at += WIDTH) { \
            struct part part = load(from[0] + at); \
            for (int i = 1; i < operands; i++) { \
                part = combine(part, load(from[i] + at)); \
            } \
            store(to + at, finish(part, divisor), streaming); \
        } \
    }

KERNEL(kernel_sum_8, load_same, sum_8, finish_same)
KERNEL(kernel_sum_32, load_same, sum_32, finish_same)
KERNEL(kernel_sum_64, load_same, sum_64, finish_same)
KERNEL(kernel_sum_f16, load_f16, sum_halves, finish_f16)
KERNEL(kernel_sum_bf16, load_bf16, sum_halves, finish_bf16)
KERNEL(kernel_sum_f32, load_same, sum_f32, finish_f32)
KERNEL(kernel_sum_f64, load_same, sum_f64, finish_f64)
KERNEL(kernel_product_8, load_same, product_8, finish_same)
KERNEL(kernel_product_32, load_same, product_32, finish_same)
KERNEL(kernel_product_64, load_same, product_64, finish_same)
KERNEL(kernel_product_f16, load_f16, product_halves, finish_f16)
KERNEL(kernel_product_bf16, load_bf16, product_halves, finish_bf16)
KERNEL(kernel_product_f32, load_same, product_f32, finish_f32)
KERNEL(kernel_product_f64, load_same, product_f64, finish_f64)
KERNEL(kernel_min_s8, load_same, min_s8, finish_same)
KERNEL(kernel_min_u8, load_same, min_u8, finish_same)
KERNEL(kernel_min_s32, load_same, min_s32, finish_same)
KERNEL(kernel_min_u32, load_same, min_u32, finish_same)
KERNEL(kernel_min_s64, load_same, min_s64, finish_same)
KERNEL(kernel_min_u64, load_same, min_u64, finish_same)
KERNEL(kernel_min_f16, f16_load_min, min_s16, f16_finish_min)
KERNEL(kernel_min_bf16, bf16_load_min, min_s16, bf16_finish_min)
KERNEL(kernel_min_f32, f32_load_min, min_s32, f32_finish_min)
KERNEL(kernel_min_f64, f64_load_min, min_s64, f64_finish_min)
KERNEL(kernel_max_s8, load_same, max_s8, finish_same)
KERNEL(kernel_max_u8, load_same, max_u8, finish_same)
KERNEL(kernel_max_s32, load_same, max_s32, finish_same)
KERNEL(kernel_max_u32, load_same, max_u32, finish_same)
KERNEL(kernel_max_s64, load_same, max_s64, finish_same)
KERNEL(kernel_max_u64, load_same, max_u64, finish_same)
KERNEL(kernel_max_f16, f16_load_max, max_s16, f16_finish_max)
KERNEL(kernel_max_bf16, bf16_load_max, max_s16, bf16_finish_max)
KERNEL(kernel_max_f32, f32_load_max, max_s32, f32_finish_max)
KERNEL(kernel_max_f64, f64_load_max, max_s64, f64_finish_max)
KERNEL(kernel_average_s8, load_same, sum_8, divide_s8)
KERNEL(kernel_average_u8, load_same, sum_8, divide_u8)
KERNEL(kernel_average_s32, load_same, sum_32, divide_s32)
KERNEL(kernel_average_u32, load_same, sum_32, divide_u32)
KERNEL(kernel_average_s64, load_same, sum_64, divide_s64)
KERNEL(kernel_average_u64, load_same, sum_64, divide_u64)
KERNEL(kernel_average_f16, load_f16, sum_halves, divide_f16)
KERNEL(kernel_average_bf16, load_bf16, sum_halves, divide_bf16)
KERNEL(kernel_average_f32, load_same, sum_f32, divide_f32)
KERNEL(kernel_average_f64, load_same, sum_f64, divide_f64)

#define OF_BITS(operation) \
    { \
        [SLUICE_INT8] = kernel_##operation##_8, [SLUICE_UINT8] = kernel_##operation##_8, \
        [SLUICE_INT32] = kernel_##operation##_32, [SLUICE_UINT32] = kernel_##operation##_32, \
        [SLUICE_INT64] = kernel_##operation##_64, [SLUICE_UINT64] = kernel_##operation##_64, FLOATS(operation) \
    }
#define OF_TYPES(operation) \
    { \
        [SLUICE_INT8] = kernel_##operation##_s8, [SLUICE_UINT8] = kernel_##operation##_u8, \
        [SLUICE_INT32] = kernel_##operation##_s32, [SLUICE_UINT32] = kernel_##operation##_u32, \
        [SLUICE_INT64] = kernel_##operation##_s64, [SLUICE_UINT64] = kernel_##operation##_u64, FLOATS(operation) \
    }
#define FLOATS(operation) \
    [SLUICE_FLOAT16] = kernel_##operation##_f16, [SLUICE_BFLOAT16] = kernel_##operation##_bf16, \
    [SLUICE_FLOAT32] = kernel_##operation##_f32, [SLUICE_FLOAT64] = kernel_##operation##_f64

const struct reduce_variant VARIANT = {{
    [SLUICE_SUM] = OF_BITS(sum),
    [SLUICE_PRODUCT] = OF_BITS(product),
    [SLUICE_MIN] = OF_TYPES(min),
    [SLUICE_MAX] = OF_TYPES(max),
    [SLUICE_AVERAGE] = OF_TYPES(average),
}};
