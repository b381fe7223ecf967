/*
 * Prints how fast the kernels of expert parallelism are, in GB/s of bfloat16 rows that they read, and what share that is of a
 * copy of as many rows. All are timed in turn, and the median of the turns counts. Arguments: tokens and channels a token.
 */
#define _GNU_SOURCE
#include "sluice_experts.h"
#include "sluice_reduce.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#define TURNS 9
#define BYTES_A_TURN ((size_t)64 << 20)
#define OPERANDS 8

static int tokens;
static int hidden;
/* OPERANDS rows a token, bfloat16. */
static char *rows;
static char *encoded;
static char *to;
static char *scales;
static int64_t *choices;
static float *weights;
static int32_t *indices;

enum kernel {
    COPY,
    COPY_PAST_CACHES,
    COPY_TABLE,
    PACK,
    QUANTIZE_EXACT,
    QUANTIZE_ROUNDED,
    UNPACK,
    ENCODE_LOGFMT,
    DECODE_LOGFMT,
    SUM,
    SUM_LOGFMT,
    KERNELS
};

static const struct {
    const char *name;
    /* Rows a token. */
    int rows;
} kernels[KERNELS] = {
    [COPY] = {"copy", 1},
    [COPY_PAST_CACHES] = {"copy past the caches", 1},
    [COPY_TABLE] = {"copy by a table", 1},
    [PACK] = {"pack bfloat16", 1},
    [QUANTIZE_EXACT] = {"quantise", 1},
    [QUANTIZE_ROUNDED] = {"quantise, rounded scales", 1},
    [UNPACK] = {"unpack bfloat16", 1},
    [ENCODE_LOGFMT] = {"encode LogFMT", 1},
    [DECODE_LOGFMT] = {"decode LogFMT", 1},
    [SUM] = {"sum of 8", OPERANDS},
    [SUM_LOGFMT] = {"sum of 8 in LogFMT", OPERANDS},
};

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static int ascending(const void *left, const void *right) {
    double x = *(const double *)left;
    double y = *(const double *)right;
    return (x > y) - (x < y);
}

static void *array_of(size_t bytes) {
    void *array = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    if (array == MAP_FAILED) {
        perror("mmap");
        exit(2);
    }
    return array;
}

static int64_t run(enum kernel kernel) {
    int64_t row = 2 * (int64_t)hidden;
    int64_t most = row + 4 * (hidden / SLUICE_EXPERTS_GROUP);
    int64_t message = SLUICE_EXPERTS_HEADER_BYTES + row;
    int64_t columns = 4 * (int64_t)tokens;
    switch (kernel) {
    case COPY:
    case COPY_PAST_CACHES:
        return sluice_experts_copy(
                to, 0, row, tokens, NULL, 0, rows, 0, row, tokens, NULL, 0, row, 0, tokens, kernel == COPY_PAST_CACHES);
    case COPY_TABLE:
        return sluice_experts_copy(to, 0, row, tokens, NULL, 0, rows, 0, row, tokens, indices, 0, row, 0, tokens, false);
    case PACK:
        return sluice_experts_pack(to, 0, message, rows, 0, row, SLUICE_EXPERTS_NONE, hidden, 0, tokens);
    case QUANTIZE_EXACT:
    case QUANTIZE_ROUNDED:
        return sluice_experts_quantize(
                to, 0, hidden, scales, 0, 4, columns, rows, 0, row,
                kernel == QUANTIZE_EXACT ? SLUICE_EXPERTS_EXACT : SLUICE_EXPERTS_ROUNDED, hidden, 0, tokens);
    case UNPACK:
        return sluice_experts_unpack(
                to, 0, row, NULL, 0, 0, 0, scales, 0, rows, 0, message, tokens, indices, 0, SLUICE_EXPERTS_NONE, hidden,
                0, tokens, false);
    case ENCODE_LOGFMT:
        return sluice_experts_encode_logfmt(to, 0, most, scales, 0, rows, 0, row, hidden, 0, tokens);
    case DECODE_LOGFMT:
        return sluice_experts_decode_logfmt(to, 0, row, SLUICE_EXPERTS_BFLOAT16, encoded, 0, most, hidden, 0, tokens);
    case SUM:
    case SUM_LOGFMT:
        return sluice_experts_sum_slots(
                to, 0, row, kernel == SUM ? rows : encoded, 0, kernel == SUM ? row : most, choices, 0, weights, 0,
                kernel == SUM ? SLUICE_EXPERTS_BFLOAT16 : SLUICE_EXPERTS_LOGFMT, hidden, OPERANDS, 0, tokens);
    default:
        return -1;
    }
}

/* Values of a normal distribution, near enough, of about 0.1. */
static void prepare(void) {
    size_t slots = (size_t)tokens * OPERANDS;
    size_t row = 2 * (size_t)hidden;
    size_t most = row + 4 * ((size_t)hidden / SLUICE_EXPERTS_GROUP);
    rows = array_of(slots * row + SLUICE_EXPERTS_HEADER_BYTES * (size_t)tokens);
    encoded = array_of(slots * most);
    to = array_of((size_t)tokens * (most + SLUICE_EXPERTS_HEADER_BYTES));
    scales = array_of(slots * 4 * ((size_t)hidden / SLUICE_EXPERTS_GROUP + 1));
    choices = array_of(slots * sizeof *choices);
    weights = array_of(slots * sizeof *weights);
    indices = array_of(slots * sizeof *indices);
    uint64_t seed = 1;
    for (size_t i = 0; i < slots * (size_t)hidden; i++) {
        float sum = 0;
        for (int j = 0; j < 4; j++) {
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            sum += (float)(int32_t)(seed >> 32) * 0x1p-31f;
        }
        sum *= 0.09f;
        memcpy(rows + 2 * i, (const char *)&sum + 2, 2);
    }
    for (size_t i = 0; i < slots; i++) {
        weights[i] = 0.125f;
        indices[i] = (int32_t)((i * 37) % (size_t)tokens);
    }
    if (sluice_experts_encode_logfmt(
                encoded, 0, (int64_t)most, scales, 0, rows, 0, (int64_t)row, hidden, 0, (int)slots)
        != (int64_t)slots) {
        exit(2);
    }
}

int main(int count, char **arguments) {
    static const char *const names[] = {"plain", "AVX2", "AVX-512"};
    static double seconds[KERNELS][TURNS];
    tokens = count > 1 ? atoi(arguments[1]) : 128;
    hidden = count > 2 ? atoi(arguments[2]) : 7168;
    prepare();
    int best = sluice_reduce_variant();
    for (int variant = 0; variant <= best; variant++) {
        sluice_reduce_use(variant);
        for (int turn = -1; turn < TURNS; turn++) {
            for (int kernel = 0; kernel < KERNELS; kernel++) {
                size_t bytes = (size_t)tokens * 2 * (size_t)hidden * (size_t)kernels[kernel].rows;
                size_t times = BYTES_A_TURN / bytes + 1;
                double begin = now();
                for (size_t i = 0; i < times; i++) {
                    if (run((enum kernel)kernel) != tokens) {
                        return 2;
                    }
                }
                if (turn >= 0) {
                    seconds[kernel][turn] = (now() - begin) / (double)times / (double)bytes;
                }
            }
        }
        printf("%s, %d tokens of %d channels, GB/s read (share of a copy):", names[variant], tokens, hidden);
        for (int kernel = 0; kernel < KERNELS; kernel++) {
            qsort(seconds[kernel], TURNS, sizeof seconds[kernel][0], ascending);
            double each = seconds[kernel][TURNS / 2];
            printf("\n    %-26s %6.2f (%.2f)", kernels[kernel].name, 1e-9 / each, seconds[COPY][TURNS / 2] / each);
        }
        printf("\n");
    }
    return 0;
}
