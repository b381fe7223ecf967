/*
 * Prints how fast reductions of two operands are, compared with what the memory allows: a copy of one array to another
 * that reads a third one too, in the fastest of several ways. All are timed in turn, and the median of the turns counts.
 * Its arguments are sizes of a result in KiB. It ends with status 1 if a goal is missed at the largest size.
 */
#define _GNU_SOURCE
#include "sluice_reduce.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#define TURNS 15
#define BYTES_A_TURN ((size_t)192 << 20)
#define GOAL_FLOAT32 0.9
#define GOAL_BFLOAT16 0.8

typedef void ceiling(char *to, const char *first, const char *second, size_t bytes);

/* Sizes are multiples of a line. */
#define CEILING(name, width, attribute, type, load, store) \
    attribute static void name(char *to, const char *first, const char *second, size_t bytes) { \
        for (size_t at = 0; at < bytes; at += (width)) { \
            type copied = load((const void *)(first + at)); \
            type read = load((const void *)(second + at)); \
            __asm__ volatile("" : : KEPT(read)); \
            store((void *)(to + at), copied); \
        } \
    }

#if defined(__x86_64__)

#define KEPT(value) "v"(value)
#define AVX2 __attribute__((target("avx2")))
#define AVX512 __attribute__((target("avx512f")))

CEILING(copy_sse2, 16, , __m128i, _mm_loadu_si128, _mm_storeu_si128)
CEILING(stream_sse2, 16, , __m128i, _mm_loadu_si128, _mm_stream_si128)
CEILING(copy_avx2, 32, AVX2, __m256i, _mm256_loadu_si256, _mm256_storeu_si256)
CEILING(stream_avx2, 32, AVX2, __m256i, _mm256_loadu_si256, _mm256_stream_si256)
CEILING(copy_avx512, 64, AVX512, __m512i, _mm512_loadu_si512, _mm512_storeu_si512)
CEILING(stream_avx512, 64, AVX512, __m512i, _mm512_loadu_si512, _mm512_stream_si512)

static ceiling *const ceilings[] = {copy_sse2, stream_sse2, copy_avx2, stream_avx2, copy_avx512, stream_avx512};

#else

#define KEPT(value) "r"(value)
#define LOAD(from) (*(const uint64_t *)(from))
#define STORE(to, value) (*(uint64_t *)(to) = (value))

CEILING(copy_words, 8, , uint64_t, LOAD, STORE)

static ceiling *const ceilings[] = {copy_words};

#endif

#define CEILINGS ((int)(sizeof ceilings / sizeof ceilings[0]))
#define REDUCTIONS 4

static const struct {
    const char *name;
    enum sluice_reduce_type type;
    size_t element;
    bool streaming;
} reductions[REDUCTIONS] = {
    {"float32", SLUICE_FLOAT32, 4, false},
    {"float32 streamed", SLUICE_FLOAT32, 4, true},
    {"bfloat16", SLUICE_BFLOAT16, 2, false},
    {"bfloat16 streamed", SLUICE_BFLOAT16, 2, true},
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

static double median(double *values) {
    qsort(values, TURNS, sizeof *values, ascending);
    return values[TURNS / 2];
}

static char *array_of(size_t bytes) {
    char *array = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    if (array == MAP_FAILED) {
        perror("mmap");
        exit(2);
    }
    /* Ones in both types of floats, near enough: neither denormal nor NaN. */
    memset(array, 0x3f, bytes);
    return array;
}

static void run(int what, char *to, const char *first, const char *second, size_t bytes) {
    if (what < CEILINGS) {
        ceilings[what](to, first, second, bytes);
        return;
    }
    const void *from[] = {first, second};
    struct sluice_reduction reduction = {
        .type = reductions[what - CEILINGS].type,
        .operation = SLUICE_SUM,
        .to = to,
        .from = from,
        .operands = 2,
        .count = (int64_t)(bytes / reductions[what - CEILINGS].element),
        .streaming = reductions[what - CEILINGS].streaming,
    };
    if (sluice_reduce(&reduction) != 0) {
        exit(2);
    }
}

/* Returns the ratios of the faster ways of both types. */
static void measure(size_t bytes, int ways, double *float32, double *bfloat16) {
    static double seconds[CEILINGS + REDUCTIONS][TURNS];
    char *to = array_of(bytes);
    char *first = array_of(bytes);
    char *second = array_of(bytes);
    size_t times = BYTES_A_TURN / bytes + 1;
    for (int turn = -1; turn < TURNS; turn++) {
        for (int what = 0; what < CEILINGS + REDUCTIONS; what++) {
            if (what >= ways && what < CEILINGS) {
                continue;
            }
            double begin = now();
            for (size_t i = 0; i < times; i++) {
                run(what, to, first, second, bytes);
            }
            if (turn >= 0) {
                seconds[what][turn] = (now() - begin) / (double)times;
            }
        }
    }
    double best = median(seconds[0]);
    printf("%8zu KiB, GB/s written: copies", bytes >> 10);
    for (int what = 0; what < ways; what++) {
        double each = median(seconds[what]);
        best = each < best ? each : best;
        printf(" %.2f", (double)bytes / each / 1e9);
    }
    double ratios[REDUCTIONS];
    for (int i = 0; i < REDUCTIONS; i++) {
        double each = median(seconds[CEILINGS + i]);
        ratios[i] = best / each;
        printf(", %s %.2f (%.2f)", reductions[i].name, (double)bytes / each / 1e9, ratios[i]);
    }
    printf("\n");
    *float32 = ratios[0] > ratios[1] ? ratios[0] : ratios[1];
    *bfloat16 = ratios[2] > ratios[3] ? ratios[2] : ratios[3];
    munmap(to, bytes);
    munmap(first, bytes);
    munmap(second, bytes);
}

int main(int count, char **arguments) {
    static const char *const names[] = {"plain", "AVX2", "AVX-512"};
    int variant = sluice_reduce_variant();
    int ways = CEILINGS < 2 * (variant + 1) ? CEILINGS : 2 * (variant + 1);
    printf("%s; streaming from %lld KiB on\n", names[variant], (long long)(sluice_reduce_streamed_from() >> 10));
    double float32 = 0;
    double bfloat16 = 0;
    if (count == 1) {
        measure((size_t)64 << 20, ways, &float32, &bfloat16);
    }
    for (int i = 1; i < count; i++) {
        measure((size_t)atol(arguments[i]) << 10, ways, &float32, &bfloat16);
    }
    bool reached = float32 >= GOAL_FLOAT32 && bfloat16 >= GOAL_BFLOAT16;
    printf("float32 %.2f (goal %.1f), bfloat16 %.2f (goal %.1f) of a copy that reads two arrays: %s\n", float32,
            GOAL_FLOAT32, bfloat16, GOAL_BFLOAT16, reached ? "reached" : "MISSED");
    return reached ? 0 : 1;
}
