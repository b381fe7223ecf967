#include "sluice_reduce.h"
#include "variant.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#define UNKNOWN (-1)

/*
 * Two operands and a result of this size each exceed what a core has to itself: twice its second-level cache, and a part of
 * the third level, whose size says little about one core's share of it.
 */
#define STREAMED_AT_LEAST (INT64_C(2) << 20)

static atomic_int used = UNKNOWN;

static const struct reduce_variant *const variants[SLUICE_REDUCE_VARIANTS] = {
    [SLUICE_REDUCE_PLAIN] = &sluice_reduce_plain,
    [SLUICE_REDUCE_AVX2] = &sluice_reduce_avx2,
    [SLUICE_REDUCE_AVX512] = &sluice_reduce_avx512,
};

static const size_t element_bytes[SLUICE_REDUCE_TYPES] = {
    [SLUICE_INT8] = 1,
    [SLUICE_UINT8] = 1,
    [SLUICE_INT32] = 4,
    [SLUICE_UINT32] = 4,
    [SLUICE_INT64] = 8,
    [SLUICE_UINT64] = 8,
    [SLUICE_FLOAT16] = 2,
    [SLUICE_BFLOAT16] = 2,
    [SLUICE_FLOAT32] = 4,
    [SLUICE_FLOAT64] = 8,
};

static bool is_supported(int variant) {
    if (variant == SLUICE_REDUCE_PLAIN) {
        return true;
    }
#if defined(__x86_64__)
    if (variant == SLUICE_REDUCE_AVX2) {
        return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("f16c");
    }
    if (variant == SLUICE_REDUCE_AVX512) {
        return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw")
                && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
    }
#endif
    return false;
}

int sluice_reduce_variant(void) {
    int variant = atomic_load_explicit(&used, memory_order_relaxed);
    if (variant == UNKNOWN) {
        variant = SLUICE_REDUCE_VARIANTS - 1;
        while (!is_supported(variant)) {
            variant--;
        }
        atomic_store_explicit(&used, variant, memory_order_relaxed);
    }
    return variant;
}

int sluice_reduce_use(int variant) {
    if (!is_supported(variant)) {
        return -EINVAL;
    }
    atomic_store_explicit(&used, variant, memory_order_relaxed);
    return 0;
}

int64_t sluice_reduce_streamed_from(void) {
#if !defined(__x86_64__)
    return INT64_MAX;
#elif defined(_SC_LEVEL2_CACHE_SIZE)
    int64_t own = 2 * (int64_t)sysconf(_SC_LEVEL2_CACHE_SIZE);
    return own > STREAMED_AT_LEAST ? own : STREAMED_AT_LEAST;
#else
    return STREAMED_AT_LEAST;
#endif
}

/* Less than a line, from an offset on, in a line of its own for each operand. */
static void reduce_short(reduce_kernel *kernel, const struct reduce_job *job, size_t offset, size_t bytes) {
    if (bytes == 0) {
        return;
    }
    char operands[SLUICE_REDUCE_OPERANDS][LINE_BYTES];
    const char *from[SLUICE_REDUCE_OPERANDS];
    for (int i = 0; i < job->operands; i++) {
        memset(operands[i], 0, LINE_BYTES);
        memcpy(operands[i], job->from[i] + offset, bytes);
        from[i] = operands[i];
    }
    char result[LINE_BYTES];
    struct reduce_job part = *job;
    part.to = result;
    part.from = from;
    part.bytes = LINE_BYTES;
    part.streaming = false;
    kernel(&part);
    memcpy(job->to + offset, result, bytes);
}

/* Only whole lines can be streamed, and of a result that is an operand they are in the cache already. */
static bool can_stream(const struct reduce_job *job, size_t head, size_t element) {
    for (int i = 0; i < job->operands; i++) {
        if (job->from[i] == job->to) {
            return false;
        }
    }
    return head % element == 0;
}

static void reduce_bytes(reduce_kernel *kernel, const struct reduce_job *job, size_t element) {
    size_t head = -(uintptr_t)job->to & (LINE_BYTES - 1);
    bool streaming = job->streaming && job->bytes >= head + LINE_BYTES && can_stream(job, head, element);
    if (!streaming) {
        head = 0;
    }
    reduce_short(kernel, job, 0, head);
    size_t whole = (job->bytes - head) & ~(size_t)(LINE_BYTES - 1);
    const char *from[SLUICE_REDUCE_OPERANDS];
    for (int i = 0; i < job->operands; i++) {
        from[i] = job->from[i] + head;
    }
    struct reduce_job lines = *job;
    lines.to = job->to + head;
    lines.from = from;
    lines.bytes = whole;
    lines.streaming = streaming;
    kernel(&lines);
#if defined(__x86_64__)
    if (streaming) {
        /* Streaming stores are weakly ordered: the fence makes them visible before the caller's next store. */
        _mm_sfence();
    }
#endif
    reduce_short(kernel, job, head + whole, job->bytes - head - whole);
}

int sluice_reduce(const struct sluice_reduction *reduction) {
    if ((unsigned)reduction->type >= SLUICE_REDUCE_TYPES
            || (unsigned)reduction->operation >= SLUICE_REDUCE_OPERATIONS || reduction->operands < 1
            || reduction->operands > SLUICE_REDUCE_OPERANDS || reduction->count < 0
            || (reduction->operation == SLUICE_AVERAGE
                && (reduction->divisor < 1 || reduction->divisor > SLUICE_REDUCE_DIVISOR))) {
        return -EINVAL;
    }
    size_t element = element_bytes[reduction->type];
    struct reduce_job job = {
        .to = reduction->to,
        .from = (const char *const *)reduction->from,
        .operands = reduction->operands,
        .divisor = reduction->divisor,
        .bytes = (size_t)reduction->count * element,
        .streaming = reduction->streaming,
    };
    reduce_bytes(variants[sluice_reduce_variant()]->kernels[reduction->operation][reduction->type], &job, element);
    return 0;
}

int sluice_reduce_two(
        int type,
        int operation,
        void *to,
        int64_t to_offset,
        const void *first,
        int64_t first_offset,
        const void *second,
        int64_t second_offset,
        int64_t count) {
    if (operation == SLUICE_AVERAGE) {
        return -EINVAL;
    }
    const void *from[] = {(const char *)first + first_offset, (const char *)second + second_offset};
    struct sluice_reduction reduction = {
        .type = (enum sluice_reduce_type)type,
        .operation = (enum sluice_reduce_operation)operation,
        .to = (char *)to + to_offset,
        .from = from,
        .operands = 2,
        .divisor = 1,
        .count = count,
    };
    return sluice_reduce(&reduction);
}

int sluice_reduce_divide(
        int type, void *to, int64_t to_offset, const void *from, int64_t from_offset, int divisor, int64_t count) {
    const void *dividend[] = {(const char *)from + from_offset};
    struct sluice_reduction reduction = {
        .type = (enum sluice_reduce_type)type,
        .operation = SLUICE_AVERAGE,
        .to = (char *)to + to_offset,
        .from = dividend,
        .operands = 1,
        .divisor = divisor,
        .count = count,
    };
    return sluice_reduce(&reduction);
}
