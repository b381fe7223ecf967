#define _GNU_SOURCE
#include "check.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* As in the code. */
#define STREAMED_FROM ((size_t)2560 << 10)
#define LARGEST ((size_t)(4 << 20) + 40000)
/* Bytes around the copy, to see that nothing else is written. */
#define MARGIN 64
#define UNTOUCHED 0x5a

static uint8_t *from;
static uint8_t *to;

typedef void copier(uint8_t *target, const uint8_t *source, size_t bytes);

static void by_size(uint8_t *target, const uint8_t *source, size_t bytes) {
    sluice_copy(to, target - to, from, source - from, (int64_t)bytes);
}

static void by_sse2(uint8_t *target, const uint8_t *source, size_t bytes) {
    sluice_copy_streaming(SLUICE_STREAMING_SSE2, target, source, bytes);
}

static void by_avx512(uint8_t *target, const uint8_t *source, size_t bytes) {
    sluice_copy_streaming(SLUICE_STREAMING_AVX512, target, source, bytes);
}

static void by_kernel(uint8_t *target, const uint8_t *source, size_t bytes) {
    CHECK_SAME(sluice_copy_by_kernel(to, target - to, from, source - from, (int64_t)bytes), 0);
}

static void check_copy(copier *copy, size_t bytes, size_t to_offset, size_t from_offset) {
    uint8_t *target = to + MARGIN + to_offset;
    memset(target - MARGIN, UNTOUCHED, bytes + 2 * MARGIN);
    copy(target, from + from_offset, bytes);
    CHECK(memcmp(target, from + from_offset, bytes) == 0);
    for (size_t i = 0; i < MARGIN; i++) {
        CHECK_SAME(target[-1 - (int64_t)i], UNTOUCHED);
        CHECK_SAME(target[bytes + i], UNTOUCHED);
    }
}

static void check_sizes(copier *copy) {
    static const size_t sizes[] = {0,     1,     63,    64,    65,    4095,  16383, 16384, 16385,
                                   16447, 16448, 32767, 32768, 65536, 65599, 1 << 20};
    static const size_t offsets[] = {0, 1, 31, 32, 63};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        for (size_t j = 0; j < 25; j++) {
            check_copy(copy, sizes[i], offsets[j / 5], offsets[j % 5]);
        }
    }
    for (int around = -1; around <= 1; around++) {
        check_copy(copy, STREAMED_FROM + (size_t)around, 0, 0);
        check_copy(copy, STREAMED_FROM + (size_t)around, 17, 5);
    }
    check_copy(copy, LARGEST, 3, 0);
}

static void check_overlap(size_t bytes, int64_t distance) {
    memcpy(to + MARGIN, from, bytes + 2 * MARGIN);
    sluice_copy(to, 2 * MARGIN + distance, to, 2 * MARGIN, (int64_t)bytes);
    CHECK(memcmp(to + 2 * MARGIN + distance, from + MARGIN, bytes) == 0);
}

/* A mapped file of two pages, of which one is left. */
static void check_missing(void) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    int file = memfd_create("cut short", 0);
    CHECK(file >= 0 && ftruncate(file, (off_t)(2 * page)) == 0);
    uint8_t *mapped = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    CHECK(mapped != MAP_FAILED && ftruncate(file, (off_t)page) == 0);
    CHECK_SAME(sluice_copy_by_kernel(to, 0, mapped, 0, (int64_t)page), 0);
    CHECK_SAME(sluice_copy_by_kernel(mapped, 0, from, 0, (int64_t)page), 0);
    CHECK_SAME(sluice_copy_by_kernel(to, 0, mapped, 0, (int64_t)(2 * page)), -EFAULT);
    CHECK_SAME(sluice_copy_by_kernel(mapped, 0, from, 0, (int64_t)(2 * page)), -EFAULT);
    CHECK_SAME(sluice_copy_by_kernel(to, 0, mapped, (int64_t)page, 1), -EFAULT);
    CHECK_SAME(sluice_copy_by_kernel(mapped, (int64_t)page, from, 0, 1), -EFAULT);
    CHECK(munmap(mapped, 2 * page) == 0 && close(file) == 0);
}

/* Pages in a table, of which the last may lie outside. */
static void check_pages(int64_t page_bytes) {
    enum { PAGES = 50 };
    int64_t sources[PAGES + 1];
    int64_t targets[PAGES + 1];
    int64_t bytes = page_bytes * PAGES;
    for (int64_t i = 0; i < PAGES; i++) {
        sources[i] = i * 7 % PAGES * page_bytes;
        targets[i] = i * 11 % PAGES * page_bytes;
    }
    memset(to, UNTOUCHED, (size_t)bytes + MARGIN);
    CHECK_SAME(sluice_copy_pages(to, bytes, targets, from, bytes, sources, 1, PAGES - 1, page_bytes), PAGES - 1);
    for (int64_t i = 1; i < PAGES; i++) {
        CHECK(memcmp(to + targets[i], from + sources[i], (size_t)page_bytes) == 0);
    }
    CHECK_SAME(to[targets[0]], UNTOUCHED);
    CHECK_SAME(to[bytes], UNTOUCHED);
    const int64_t outside[] = {-1, bytes - page_bytes + 1, INT64_MAX, INT64_MIN};
    for (int i = 0; i < 4; i++) {
        sources[PAGES] = outside[i];
        targets[PAGES] = 0;
        CHECK_SAME(sluice_copy_pages(to, bytes, targets, from, bytes, sources, 0, PAGES + 1, page_bytes), PAGES);
        sources[PAGES] = 0;
        targets[PAGES] = outside[i];
        CHECK_SAME(sluice_copy_pages(to, bytes, targets, from, bytes, sources, 0, PAGES + 1, page_bytes), PAGES);
    }
    CHECK_SAME(to[bytes], UNTOUCHED);
    CHECK_SAME(sluice_copy_pages(to, page_bytes - 1, targets, from, bytes, sources, 0, 1, page_bytes), 0);
}

void test_memory_copy(void) {
    from = malloc(LARGEST + 4 * MARGIN);
    to = malloc(LARGEST + 4 * MARGIN);
    CHECK(from != NULL && to != NULL);
    uint32_t random = 1;
    for (size_t i = 0; i < LARGEST + 4 * MARGIN; i++) {
        random = random * 1664525 + 1013904223;
        from[i] = (uint8_t)(random >> 24);
    }
    check_sizes(by_size);
    check_sizes(by_kernel);
    check_missing();
    if (sluice_copy_can_stream(SLUICE_STREAMING_SSE2)) {
        check_sizes(by_sse2);
    }
    if (sluice_copy_can_stream(SLUICE_STREAMING_AVX512)) {
        check_sizes(by_avx512);
    } else {
        puts("skipped: this processor has no AVX-512");
    }
    check_pages(1);
    check_pages(100);
    check_pages(4096);
    const int64_t distances[] = {-MARGIN, -1, 0, 1, MARGIN};
    for (int i = 0; i < 5; i++) {
        check_overlap(1000, distances[i]);
        check_overlap(4 << 20, distances[i]);
    }
    free(from);
    free(to);
}
