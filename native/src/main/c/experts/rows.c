#include "rows.h"

#include <errno.h>

#if defined(__x86_64__)

#include <immintrin.h>

#define LINE_BYTES 64
/* A line of each part is copied in turn, because the hardware prefetches within each page on its own. */
#define PARTS 4
/* The prefetch distance; beyond the end a prefetch has no effect. */
#define AHEAD_BYTES 256

static void stream_lines(char *to, const char *from, size_t part) {
    for (size_t line = 0; line < part; line += LINE_BYTES) {
#pragma GCC unroll 4
        for (size_t i = 0; i < PARTS; i++) {
            const char *source = from + line + i * part;
            __m128i *target = (__m128i *)(void *)(to + line + i * part);
            __m128i pieces[4];
            _mm_prefetch((const char *)((uintptr_t)source + AHEAD_BYTES), _MM_HINT_T0);
#pragma GCC unroll 4
            for (size_t j = 0; j < 4; j++) {
                pieces[j] = _mm_loadu_si128((const __m128i *)(const void *)(source + j * 16));
            }
#pragma GCC unroll 4
            for (size_t j = 0; j < 4; j++) {
                _mm_stream_si128(target + j, pieces[j]);
            }
        }
    }
}

__attribute__((target("avx512f"))) static void stream_lines_avx512(char *to, const char *from, size_t part) {
    for (size_t line = 0; line < part; line += LINE_BYTES) {
#pragma GCC unroll 4
        for (size_t i = 0; i < PARTS; i++) {
            const char *source = from + line + i * part;
            _mm_prefetch((const char *)((uintptr_t)source + AHEAD_BYTES), _MM_HINT_T0);
            _mm512_stream_si512((__m512i *)(void *)(to + line + i * part), _mm512_loadu_si512(source));
        }
    }
}

static void stream_row(char *to, const char *from, size_t bytes) {
    /* Only whole cache lines can be streamed. */
    size_t head = -(uintptr_t)to & (LINE_BYTES - 1);
    if (bytes < head + LINE_BYTES) {
        memcpy(to, from, bytes);
        return;
    }
    memcpy(to, from, head);
    size_t part = (bytes - head) / (LINE_BYTES * PARTS) * LINE_BYTES;
    if (__builtin_cpu_supports("avx512f")) {
        stream_lines_avx512(to + head, from + head, part);
    } else {
        stream_lines(to + head, from + head, part);
    }
    size_t done = head + PARTS * part;
    memcpy(to + done, from + done, bytes - done);
}

void sluice_experts_copy_row(char *to, const char *from, size_t bytes, bool past_caches) {
    if (past_caches) {
        stream_row(to, from, bytes);
    } else {
        memcpy(to, from, bytes);
    }
}

void sluice_experts_end_copies(bool past_caches) {
    if (past_caches) {
        /* Streaming stores are weakly ordered: the fence makes them visible before the caller's next store. */
        _mm_sfence();
    }
}

#else

void sluice_experts_copy_row(char *to, const char *from, size_t bytes, bool past_caches) {
    (void)past_caches;
    memcpy(to, from, bytes);
}

void sluice_experts_end_copies(bool past_caches) {
    (void)past_caches;
}

#endif

int64_t sluice_experts_copy(
        void *to,
        int64_t to_offset,
        int64_t to_stride,
        int64_t to_rows,
        const void *to_indices,
        int64_t to_indices_offset,
        const void *from,
        int64_t from_offset,
        int64_t from_stride,
        int64_t from_rows,
        const void *from_indices,
        int64_t from_indices_offset,
        int64_t bytes,
        int first,
        int count,
        int past_caches) {
    if (first < 0 || count < 0 || bytes < 0) {
        return -EINVAL;
    }
    const char *to_table = table_at(to_indices, to_indices_offset);
    const char *from_table = table_at(from_indices, from_indices_offset);
    int64_t done = 0;
    for (; done < count; done++) {
        int64_t to_row = row_index(to_table, first + done);
        int64_t from_row = row_index(from_table, first + done);
        if (to_row >= to_rows || from_row >= from_rows) {
            break;
        }
        if (to_row >= 0 && from_row >= 0) {
            sluice_experts_copy_row(
                    (char *)to + to_offset + to_row * to_stride, (const char *)from + from_offset + from_row * from_stride,
                    (size_t)bytes, past_caches != 0);
        }
    }
    sluice_experts_end_copies(past_caches != 0);
    return done;
}

int64_t sluice_experts_gather(
        void *to,
        int64_t to_offset,
        int64_t to_stride,
        const void *addresses,
        int64_t addresses_offset,
        int64_t bytes,
        int first,
        int count,
        int past_caches) {
    if (first < 0 || count < 0 || bytes < 0) {
        return -EINVAL;
    }
    const char *table = (const char *)addresses + addresses_offset;
    for (int64_t i = first; i < (int64_t)first + count; i++) {
        const char *from = (const char *)(intptr_t)read_int64(table + i * 8);
        if (from != NULL) {
            sluice_experts_copy_row((char *)to + to_offset + i * to_stride, from, (size_t)bytes, past_caches != 0);
        }
    }
    sluice_experts_end_copies(past_caches != 0);
    return count;
}
