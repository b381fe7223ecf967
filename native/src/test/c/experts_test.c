#include "check.h"
#include "sluice_experts.h"
#include "sluice_reduce.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#define SUPPORTED(variant) (sluice_reduce_use(variant) == 0)
#define ROWS 3
#define UNTOUCHED 0x5a

static bool tried[SLUICE_REDUCE_VARIANTS];
static uint64_t seed = 28;

static uint64_t random_bits(void) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return seed >> 33 ^ seed << 31;
}

/*
 * Memory of exactly its size, so that the sanitizers notice an access beyond it, at an address with some offset from one that
 * is aligned.
 */
struct memory {
    void *allocated;
    uint8_t *bytes;
    size_t size;
};

static struct memory memory_of(size_t size, size_t offset) {
    struct memory memory = {.allocated = malloc(offset + size), .size = size};
    CHECK(memory.allocated != NULL);
    memory.bytes = (uint8_t *)memory.allocated + offset;
    memset(memory.bytes, UNTOUCHED, size);
    return memory;
}

static void release(struct memory *memory, int count) {
    for (int i = 0; i < count; i++) {
        free(memory[i].allocated);
    }
}

/* Values of bfloat16 around a size, with some that are special if asked for. */
static void fill(struct memory rows, uint16_t exponent, bool is_special) {
    const uint16_t special[] = {0, 0x8000, 1, 0x7f80, 0xff80, 0x7fc0, 0x7f7f};
    for (size_t i = 0; i + 2 <= rows.size; i += 2) {
        uint64_t bits = random_bits();
        uint16_t value = (uint16_t)((bits & 0x807f) | ((exponent - (bits >> 20) % 9) << 7));
        if (is_special && bits >> 40 & 1) {
            value = special[(bits >> 48) % (sizeof special / sizeof special[0])];
        }
        memcpy(rows.bytes + i, &value, sizeof value);
    }
}

/* Every function once, on memory of just the size that it needs; the results in the order of the calls. */
enum {
    CODES,
    SCALES,
    MESSAGES,
    PAYLOADS,
    COLUMNS,
    TOKENS,
    FLOATS,
    ENCODED,
    SIZES,
    DECODED,
    DECODED_ROWS,
    DEQUANTIZED_ROWS,
    SUMS,
    BIASED_SUMS,
    LOGFMT_SUMS,
    COPIES,
    RESULTS
};

static void run(struct memory rows, int hidden, int form, size_t offset, struct memory *results) {
    size_t groups = (size_t)hidden / SLUICE_EXPERTS_GROUP;
    size_t columns = form == SLUICE_EXPERTS_PACKED ? (groups + 3) / 4 : groups;
    size_t row = 2 * (size_t)hidden;
    size_t message = SLUICE_EXPERTS_HEADER_BYTES + (size_t)hidden + 4 * groups;
    size_t encoded = row + 4 * groups;
    const size_t sizes[RESULTS] = {
        [CODES] = ROWS * (size_t)hidden,
        [SCALES] = ROWS * 4 * columns,
        [MESSAGES] = ROWS * message,
        [PAYLOADS] = ROWS * (size_t)hidden,
        [COLUMNS] = ROWS * 4 * columns,
        [TOKENS] = ROWS * 4,
        [FLOATS] = ROWS * 2 * row,
        [ENCODED] = ROWS * encoded,
        [SIZES] = ROWS * 4,
        [DECODED] = ROWS * 2 * row,
        [DECODED_ROWS] = ROWS * row,
        [DEQUANTIZED_ROWS] = ROWS * row,
        [SUMS] = row,
        [BIASED_SUMS] = row,
        [LOGFMT_SUMS] = row,
        [COPIES] = ROWS * row,
    };
    for (int i = 0; i < RESULTS; i++) {
        results[i] = memory_of(sizes[i], offset);
    }
    int message_form = form == SLUICE_EXPERTS_PACKED ? SLUICE_EXPERTS_ROUNDED : form;
    CHECK_SAME(sluice_experts_quantize(results[CODES].bytes, 0, hidden, results[SCALES].bytes, 0, 4, 4 * ROWS,
            rows.bytes, 0, (int64_t)row, form, hidden, 0, ROWS), ROWS);
    CHECK_SAME(sluice_experts_pack(results[MESSAGES].bytes, 0, (int64_t)message, rows.bytes, 0, (int64_t)row,
            message_form, hidden, 0, ROWS), ROWS);
    const int32_t order[] = {2, 0, 1};
    CHECK_SAME(sluice_experts_unpack(results[PAYLOADS].bytes, 0, hidden, results[COLUMNS].bytes, 0, 4, 4 * ROWS,
            results[TOKENS].bytes, 0, results[MESSAGES].bytes, 0, (int64_t)message, ROWS, order, 0, form, hidden, 0,
            ROWS, true), ROWS);
    CHECK_SAME(sluice_experts_dequantize(results[FLOATS].bytes, 0, 2 * (int64_t)row, SLUICE_EXPERTS_FLOAT32,
            results[CODES].bytes, 0, hidden, results[SCALES].bytes, 0, 4, 4 * ROWS, form, hidden, 0, ROWS), ROWS);
    CHECK_SAME(sluice_experts_encode_logfmt(results[ENCODED].bytes, 0, (int64_t)encoded, results[SIZES].bytes, 0,
            rows.bytes, 0, (int64_t)row, hidden, 0, ROWS), ROWS);
    CHECK_SAME(sluice_experts_decode_logfmt(results[DECODED].bytes, 0, 2 * (int64_t)row, SLUICE_EXPERTS_FLOAT32,
            results[ENCODED].bytes, 0, (int64_t)encoded, hidden, 0, ROWS), ROWS);
    CHECK_SAME(sluice_experts_decode_logfmt(results[DECODED_ROWS].bytes, 0, (int64_t)row, SLUICE_EXPERTS_BFLOAT16,
            results[ENCODED].bytes, 0, (int64_t)encoded, hidden, 0, ROWS), ROWS);
    CHECK_SAME(sluice_experts_dequantize(results[DEQUANTIZED_ROWS].bytes, 0, (int64_t)row, SLUICE_EXPERTS_BFLOAT16,
            results[CODES].bytes, 0, hidden, results[SCALES].bytes, 0, 4, 4 * ROWS, form, hidden, 0, ROWS), ROWS);
    CHECK_SAME(sluice_experts_sum_rows(results[BIASED_SUMS].bytes, 0, (int64_t)row, rows.bytes, 0, (int64_t)row, ROWS,
            order, 0, rows.bytes, 0, (int64_t)row, hidden, ROWS, 0, 1), 1);
    const float weights[] = {0.7f, -0.3f, 1.9f};
    const int64_t choices[] = {3, -1, 0};
    CHECK_SAME(sluice_experts_sum_slots(results[SUMS].bytes, 0, (int64_t)row, rows.bytes, 0, (int64_t)row, choices, 0,
            weights, 0, SLUICE_EXPERTS_BFLOAT16, hidden, ROWS, 0, 1), 1);
    const int64_t addresses[] = {
        (int64_t)(intptr_t)results[ENCODED].bytes, (int64_t)(intptr_t)(results[ENCODED].bytes + encoded),
        (int64_t)(intptr_t)(results[ENCODED].bytes + 2 * encoded)};
    CHECK_SAME(sluice_experts_sum_at(results[LOGFMT_SUMS].bytes, 0, (int64_t)row, addresses, 0, weights, 0, NULL, 0, 0,
            SLUICE_EXPERTS_LOGFMT, hidden, ROWS, 0, 1), 1);
    CHECK_SAME(sluice_experts_copy(results[COPIES].bytes, 0, (int64_t)row, ROWS, order, 0, rows.bytes, 0, (int64_t)row,
            ROWS, NULL, 0, (int64_t)row, 0, ROWS, true), ROWS);
    CHECK(memcmp(results[COPIES].bytes + 2 * row, rows.bytes, row) == 0);
    CHECK(memcmp(results[PAYLOADS].bytes + hidden, results[CODES].bytes, (size_t)hidden) == 0);
    CHECK_SAME(results[TOKENS].bytes[0], 2);
}

static void check_variants(int hidden, int form, uint16_t exponent, bool is_special) {
    struct memory rows = memory_of(ROWS * 2 * (size_t)hidden, 1);
    fill(rows, exponent, is_special);
    struct memory expected[RESULTS];
    CHECK(SUPPORTED(SLUICE_REDUCE_PLAIN));
    run(rows, hidden, form, 0, expected);
    for (int variant = 0; variant < SLUICE_REDUCE_VARIANTS; variant++) {
        for (size_t offset = 0; SUPPORTED(variant) && offset < 8; offset += 7) {
            tried[variant] = true;
            struct memory results[RESULTS];
            run(rows, hidden, form, offset, results);
            for (int i = 0; i < RESULTS; i++) {
                if (memcmp(results[i].bytes, expected[i].bytes, expected[i].size) != 0) {
                    fprintf(stderr, "variant %d, %d channels, form %d: result %d differs\n", variant, hidden, form, i);
                    exit(1);
                }
            }
            release(results, RESULTS);
        }
    }
    release(expected, RESULTS);
    release(&rows, 1);
}

/* Any bytes are an encoded row: its extremes say where each section lies, and never beyond the row. */
static void check_any_bytes(void) {
    int hidden = 5 * SLUICE_EXPERTS_GROUP;
    size_t size = 2 * (size_t)hidden + 4 * 5;
    struct memory memory[] = {memory_of(size, 3), memory_of(2 * (size_t)hidden, 1)};
    for (int round = 0; round < 300; round++) {
        for (size_t i = 0; i < size; i++) {
            memory[0].bytes[i] = (uint8_t)(random_bits() >> 8);
        }
        for (size_t i = 0; i < 5 && round % 2 == 0; i++) {
            memory[0].bytes[4 * i + 1] = 0x3d;
            memory[0].bytes[4 * i + 3] = 0x3c;
        }
        for (int variant = 0; variant < SLUICE_REDUCE_VARIANTS; variant++) {
            if (SUPPORTED(variant)) {
                CHECK_SAME(sluice_experts_decode_logfmt(memory[1].bytes, 0, 0, SLUICE_EXPERTS_BFLOAT16, memory[0].bytes,
                        0, 0, hidden, 0, 1), 1);
            }
        }
    }
    release(memory, 2);
}

/* A table may be in memory that others write to: an index beyond the rows ends the call before the row. */
static void check_tables(void) {
    struct memory memory[] = {memory_of(ROWS * 256, 0), memory_of(ROWS * 256, 0)};
    const int32_t indices[] = {0, -5, 1, ROWS, 0};
    const uint8_t *from = memory[0].bytes;
    uint8_t *to = memory[1].bytes;
    CHECK_SAME(sluice_experts_copy(to, 0, 256, ROWS, indices, 0, from, 0, 256, ROWS, NULL, 0, 256, 0, 3, 0), 3);
    CHECK_SAME(sluice_experts_copy(to, 0, 256, ROWS, indices, 0, from, 0, 256, ROWS, NULL, 0, 256, 2, 3, 0), 1);
    CHECK_SAME(sluice_experts_copy(to, 0, 256, ROWS, NULL, 0, from, 0, 256, ROWS, indices, 0, 256, 0, 5, 1), 3);
    CHECK_SAME(sluice_experts_sum_rows(to, 0, 256, from, 0, 256, ROWS, indices, 0, NULL, 0, 0, 128, 1, 0, 3), 3);
    CHECK_SAME(sluice_experts_sum_rows(to, 0, 256, from, 0, 256, ROWS, indices, 0, from, 0, 0, 128, 2, 0, 2), 1);
    CHECK_SAME(sluice_experts_unpack(to, 0, 0, NULL, 0, 0, 0, to, 0, from, 0, 272, 2, indices, 0, SLUICE_EXPERTS_NONE,
            128, 3, 1, 0), 0);
    release(memory, 2);
}

static void check_numbers(void) {
    uint8_t memory[1024] = {0};
    CHECK_SAME(sluice_experts_pack(memory, 0, 0, memory, 512, 0, SLUICE_EXPERTS_PACKED, 128, 0, 1), -EINVAL);
    CHECK_SAME(sluice_experts_pack(memory, 0, 0, memory, 512, 0, SLUICE_EXPERTS_NONE, 127, 0, 1), -EINVAL);
    CHECK_SAME(sluice_experts_pack(memory, 0, 0, memory, 512, 0, SLUICE_EXPERTS_NONE, 128, -1, 1), -EINVAL);
    CHECK_SAME(sluice_experts_quantize(memory, 0, 0, memory, 0, 0, 0, memory, 512, 0, SLUICE_EXPERTS_NONE, 128, 0, 1),
            -EINVAL);
    CHECK_SAME(sluice_experts_dequantize(memory, 0, 0, SLUICE_EXPERTS_LOGFMT, memory, 0, 0, memory, 0, 0, 0, 0, 128, 0,
            1), -EINVAL);
    CHECK_SAME(sluice_experts_unpack(memory, 0, 0, NULL, 0, 0, 0, memory, 0, memory, 512, 1, 1, NULL, 0, 4, 128, 0, 1,
            0), -EINVAL);
    CHECK_SAME(sluice_experts_copy(memory, 0, 1, 1, NULL, 0, memory, 512, 1, 1, NULL, 0, -1, 0, 1, 0), -EINVAL);
    CHECK_SAME(sluice_experts_gather(memory, 0, 1, memory, 512, 1, 0, -1, 0), -EINVAL);
    CHECK_SAME(sluice_experts_encode_logfmt(memory, 0, 0, memory, 0, memory, 512, 0, 0, 0, 1), -EINVAL);
    CHECK_SAME(sluice_experts_decode_logfmt(memory, 0, 0, SLUICE_EXPERTS_LOGFMT, memory, 512, 0, 128, 0, 1), -EINVAL);
    CHECK_SAME(sluice_experts_sum_slots(memory, 0, 0, memory, 512, 0, memory, 0, memory, 0, SLUICE_EXPERTS_FLOAT32, 128,
            1, 0, 1), -EINVAL);
    CHECK_SAME(sluice_experts_sum_rows(memory, 0, 0, memory, 512, 0, 1, memory, 0, NULL, 0, 0, 128, 0, 0, 1), -EINVAL);
    CHECK_SAME(sluice_experts_sum_at(memory, 0, 0, memory, 0, NULL, 0, memory, 0, 0, SLUICE_EXPERTS_LOGFMT, 128, 1, 0,
            1), -EINVAL);
}

void test_experts(void) {
    static const int hidden[] = {128, 384, 512, 640, 1024, 1536, 2048, 7168};
    int best = sluice_reduce_variant();
    check_numbers();
    check_tables();
    check_any_bytes();
    for (size_t i = 0; i < sizeof hidden / sizeof hidden[0]; i++) {
        for (int form = SLUICE_EXPERTS_EXACT; form <= SLUICE_EXPERTS_PACKED; form++) {
            check_variants(hidden[i], form, 123, false);
            check_variants(hidden[i], form, 130, false);
            check_variants(hidden[i], form, 123, true);
        }
    }
    tell_variants("kernels of experts", tried);
    CHECK_SAME(sluice_reduce_use(best), 0);
}
