#include "gpu.h"

#include <string.h>

#define PIECE_BYTES ((size_t)1 << 20)
#define MOST_PLACES 64

static void wait_for(struct work *work) {
    work_end(work, ++work->submitted);
    work_await(work, work->submitted);
}

static void move(struct work *work, cuda_address to, cuda_address from, size_t bytes) {
    check(cuda.copy(to, from, bytes, work->stream), "cuMemcpyAsync");
    wait_for(work);
}

/* Two pieces of pinned memory, made once. */
static uint8_t *pieces;
static cuda_address pinned;

static void open_pieces(void) {
    if (pieces == NULL) {
        pieces = pinned_allocate(2 * PIECE_BYTES, &pinned);
    }
}

void content_fill(struct work *work, cuda_address address, size_t bytes) {
    open_pieces();
    for (size_t at = 0; at < bytes; at += PIECE_BYTES) {
        size_t length = bytes - at < PIECE_BYTES ? bytes - at : PIECE_BYTES;
        for (size_t i = 0; i < length; i++) {
            pieces[i] = (uint8_t)((at + i) * UINT64_C(0x9e3779b97f4a7c15) >> 56);
        }
        move(work, address + at, pinned, length);
    }
}

void content_compare(struct work *work, cuda_address one, cuda_address other, size_t bytes) {
    open_pieces();
    size_t step = bytes / MOST_PLACES < PIECE_BYTES ? PIECE_BYTES : bytes / MOST_PLACES;
    for (size_t at = 0; at < bytes; at += step) {
        size_t length = bytes - at < PIECE_BYTES ? bytes - at : PIECE_BYTES;
        move(work, pinned, one + at, length);
        move(work, pinned + PIECE_BYTES, other + at, length);
        if (memcmp(pieces, pieces + PIECE_BYTES, length) != 0) {
            fail("wrong bytes", "the bytes that arrived differ from those sent");
        }
    }
}
