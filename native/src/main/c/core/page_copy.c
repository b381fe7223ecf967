#include "sluice.h"

#include <string.h>

/* How much of the next page is prefetched while one is copied: from there on the hardware prefetcher takes over. */
#define FETCHED_AHEAD 256
#define LINE_BYTES 64

static bool fits(int64_t offset, int64_t page_bytes, int64_t bytes) {
    return offset >= 0 && page_bytes <= bytes && offset <= bytes - page_bytes;
}

int64_t sluice_copy_pages(
        void *to,
        int64_t to_bytes,
        const int64_t *to_offsets,
        const void *from,
        int64_t from_bytes,
        const int64_t *from_offsets,
        int64_t first,
        int64_t count,
        int64_t page_bytes) {
    const int64_t *targets = to_offsets + first;
    const int64_t *sources = from_offsets + first;
    for (int64_t i = 0; i < count; i++) {
        if (!fits(targets[i], page_bytes, to_bytes) || !fits(sources[i], page_bytes, from_bytes)) {
            return i;
        }
        if (i + 1 < count && fits(sources[i + 1], page_bytes, from_bytes)) {
            const char *next = (const char *)from + sources[i + 1];
            for (int64_t ahead = 0; ahead < FETCHED_AHEAD && ahead < page_bytes; ahead += LINE_BYTES) {
                __builtin_prefetch(next + ahead);
            }
        }
        /* Both may belong to one region and overlap. */
        memmove((char *)to + targets[i], (const char *)from + sources[i], (size_t)page_bytes);
    }
    return count;
}
