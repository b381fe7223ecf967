#include "check.h"
#include "sluice_reduce.h"

#include <errno.h>
#include <string.h>

#define SUPPORTED(variant) (sluice_reduce_use(variant) == 0)
#define LARGEST 1500
#define MARGIN 64
#define UNTOUCHED 0x5a

static const char *const variant_names[SLUICE_REDUCE_VARIANTS] = {
    [SLUICE_REDUCE_PLAIN] = "plain",
    [SLUICE_REDUCE_AVX2] = "AVX2",
    [SLUICE_REDUCE_AVX512] = "AVX-512",
};

static bool tried[SLUICE_REDUCE_VARIANTS];

static const size_t element_bytes[] = {1, 1, 4, 4, 8, 8, 2, 2, 4, 8};

/* In memory of exactly its size, so that the sanitizers notice a read beyond it. */
static uint8_t *operands[SLUICE_REDUCE_OPERANDS];
static void *allocated[SLUICE_REDUCE_OPERANDS];
static uint64_t seed = 1;

static uint64_t random_bits(void) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return seed >> 33 ^ seed << 31;
}

/* Zeros, denormals, least and greatest, infinities and NaNs of a type with so many bits for mantissa and exponent. */
static uint64_t special(int mantissa, int exponent) {
    uint64_t fraction = (UINT64_C(1) << mantissa) - 1;
    uint64_t highest = ((UINT64_C(1) << exponent) - 1) << mantissa;
    const uint64_t values[] = {0,       1,           fraction, fraction + 1,      highest - 1,
                               highest, highest + 1, highest | fraction, highest | (random_bits() & fraction)};
    return values[random_bits() % (sizeof values / sizeof values[0])] | (random_bits() & 1) << (mantissa + exponent);
}

static uint64_t element_of(enum sluice_reduce_type type) {
    uint64_t bits = random_bits();
    bool is_special = bits % 16 == 0;
    /* Of a middle size, so that sums and products round rather than overflow. */
    switch (type) {
    case SLUICE_FLOAT16:
        return is_special ? special(10, 5) : bits % 4 == 1 ? bits : (bits & 0x8bff) | 0x3400;
    case SLUICE_BFLOAT16:
        return is_special ? special(7, 8) : bits % 4 == 1 ? bits : (bits & 0x81ff) | 0x3e00;
    case SLUICE_FLOAT32:
        return is_special ? special(23, 8) : bits % 4 == 1 ? bits : (bits & 0x81ffffff) | 0x3e000000;
    case SLUICE_FLOAT64:
        return is_special ? special(52, 11)
                : bits % 4 == 1 ? bits
                                : (bits & UINT64_C(0x801fffffffffffff)) | UINT64_C(0x3fe0000000000000);
    default:
        return is_special ? UINT64_C(0x8000000080000080) : bits;
    }
}

void tell_variants(const char *kernels, const bool *were_tried) {
    int used = sluice_reduce_variant();
    printf("%s, bit by bit as plain C:", kernels);
    for (int variant = 0; variant < SLUICE_REDUCE_VARIANTS; variant++) {
        CHECK_SAME(were_tried[variant], SUPPORTED(variant));
        printf(" %s %s%s", variant_names[variant],
                were_tried[variant] ? "tried" : "NOT TRIED, as this processor lacks it",
                variant + 1 < SLUICE_REDUCE_VARIANTS ? "," : "\n");
    }
    CHECK_SAME(sluice_reduce_use(used), 0);
}

static void allocate(enum sluice_reduce_type type, int count, size_t elements) {
    size_t bytes = element_bytes[type];
    for (int i = 0; i < count; i++) {
        /* Unaligned, each in its own way. */
        size_t offset = (size_t)i % 9;
        allocated[i] = malloc(offset + elements * bytes);
        CHECK(allocated[i] != NULL);
        operands[i] = (uint8_t *)allocated[i] + offset;
        for (size_t j = 0; j < elements; j++) {
            uint64_t element = element_of(type);
            memcpy(operands[i] + j * bytes, &element, bytes);
        }
    }
}

static void release(int count) {
    for (int i = 0; i < count; i++) {
        free(allocated[i]);
    }
}

static void reduce(
        enum sluice_reduce_type type,
        enum sluice_reduce_operation operation,
        void *to,
        int count,
        size_t elements,
        bool streaming) {
    struct sluice_reduction reduction = {
        .type = type,
        .operation = operation,
        .to = to,
        .from = (const void *const *)operands,
        .operands = count,
        .divisor = count,
        .count = (int64_t)elements,
        .streaming = streaming,
    };
    CHECK_SAME(sluice_reduce(&reduction), 0);
}

/* The bits that the plain variant gives, element for element, so that there is neither a vector nor a rest. */
static void expect(
        enum sluice_reduce_type type, enum sluice_reduce_operation operation, uint8_t *to, int count, size_t elements) {
    CHECK(SUPPORTED(SLUICE_REDUCE_PLAIN));
    size_t bytes = element_bytes[type];
    for (size_t i = 0; i < elements; i++) {
        reduce(type, operation, to + i * bytes, count, 1, false);
        for (int j = 0; j < count; j++) {
            operands[j] += bytes;
        }
    }
    for (int j = 0; j < count; j++) {
        operands[j] -= elements * bytes;
    }
}

static void check_result(const uint8_t *actual, const uint8_t *expected, size_t bytes, int variant, int type, int operation) {
    for (size_t i = 0; i < bytes; i++) {
        if (actual[i] != expected[i]) {
            fprintf(stderr, "variant %d, type %d, operation %d: byte %zu of %zu differs\n", variant, type, operation, i,
                    bytes);
            exit(1);
        }
    }
    for (size_t i = 0; i < MARGIN; i++) {
        CHECK_SAME(actual[-1 - (int64_t)i], UNTOUCHED);
        CHECK_SAME(actual[bytes + i], UNTOUCHED);
    }
}

static void check_variants(int type, int operation, int count, size_t elements) {
    static uint8_t expected[LARGEST * 8];
    static uint8_t actual[LARGEST * 8 + 4 * MARGIN] __attribute__((aligned(64)));
    size_t bytes = elements * element_bytes[type];
    allocate(type, count, elements);
    expect(type, operation, expected, count, elements);
    for (int variant = 0; variant < SLUICE_REDUCE_VARIANTS; variant++) {
        if (!SUPPORTED(variant)) {
            continue;
        }
        tried[variant] = true;
        for (int way = 0; way < 4; way++) {
            /* Aligned to a line, to an element, to nothing; with and without streaming. */
            const size_t offsets[] = {0, 0, element_bytes[type], 3};
            uint8_t *to = actual + MARGIN + offsets[way];
            memset(to - MARGIN, UNTOUCHED, bytes + 2 * MARGIN);
            reduce(type, operation, to, count, elements, way > 0);
            check_result(to, expected, bytes, variant, type, operation);
        }
    }
    release(count);
}

/* The target is each operand in turn. */
static void check_in_place(int type, int operation, int count, size_t elements) {
    static uint8_t expected[LARGEST * 8];
    for (int variant = 0; variant < SLUICE_REDUCE_VARIANTS; variant++) {
        if (!SUPPORTED(variant)) {
            continue;
        }
        for (int i = 0; i < count; i++) {
            allocate(type, count, elements);
            expect(type, operation, expected, count, elements);
            CHECK(SUPPORTED(variant));
            reduce(type, operation, operands[i], count, elements, true);
            CHECK(memcmp(operands[i], expected, elements * element_bytes[type]) == 0);
            release(count);
        }
    }
}

static void check_numbers(void) {
    uint8_t byte = 7;
    const void *from[] = {&byte, &byte};
    const struct sluice_reduction good = {
        .type = SLUICE_UINT8, .operation = SLUICE_SUM, .to = &byte, .from = from, .operands = 2, .count = 1};
    struct sluice_reduction bad[] = {good, good, good, good, good, good, good, good};
    bad[0].type = SLUICE_REDUCE_TYPES;
    bad[1].type = (enum sluice_reduce_type)-1;
    bad[2].operation = SLUICE_REDUCE_OPERATIONS;
    bad[3].operands = 0;
    bad[4].operands = SLUICE_REDUCE_OPERANDS + 1;
    bad[5].count = -1;
    bad[6].operation = SLUICE_AVERAGE;
    bad[7].operation = SLUICE_AVERAGE;
    bad[7].divisor = SLUICE_REDUCE_DIVISOR + 1;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        CHECK_SAME(sluice_reduce(&bad[i]), -EINVAL);
    }
    CHECK_SAME(byte, 7);
    CHECK_SAME(sluice_reduce(&good), 0);
    CHECK_SAME(byte, 14);
    CHECK_SAME(sluice_reduce_use(-1), -EINVAL);
    CHECK_SAME(sluice_reduce_use(SLUICE_REDUCE_VARIANTS), -EINVAL);
    CHECK(sluice_reduce_streamed_from() > 0);
}

void test_reduce(void) {
    static const size_t sizes[] = {0, 1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 33, 63, 64, 65, 127, 129, 200, LARGEST};
    int best = sluice_reduce_variant();
    check_numbers();
    for (int type = 0; type < SLUICE_REDUCE_TYPES; type++) {
        for (int operation = 0; operation < SLUICE_REDUCE_OPERATIONS; operation++) {
            for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
                check_variants(type, operation, 2, sizes[i]);
            }
            check_variants(type, operation, 1, 100);
            check_variants(type, operation, 3, 333);
            check_variants(type, operation, SLUICE_REDUCE_OPERANDS, 77);
            check_in_place(type, operation, 2, 301);
            check_in_place(type, operation, 5, 99);
        }
    }
    tell_variants("reductions", tried);
    CHECK_SAME(sluice_reduce_use(best), 0);
}
