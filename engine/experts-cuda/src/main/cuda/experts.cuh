/*
 * What the kernels of all modes share.
 *
 * Each rank launches the same kernels, and has a window that all others have mapped. It begins with a struct window; BufferLayout says
 * where the parts of the modes are.
 *
 * A call has a generation, its number among those of its kind, counted in the GPU's memory by the kernels, so that a graph may be launched
 * again and again. Signals in the windows carry it, in 64 bits, with 16 bits of what ranks must have in common, so that nothing is
 * cleared. Two sets of all that other ranks write, for odd and even generations, are used in turns; a rank says when it has taken what a
 * set had.
 *
 * A wait is bounded. When the rank that it is for does not come, has left or calls something else, or the host says so, an error word
 * says who, and this and later kernels end without doing anything; what they should have written is undefined. A rank that ends as another
 * has left has left as well, and says so: a third may wait for it alone. No block waits for another block of its
 * launch, so that a grid may have more blocks than run at once.
 */
#ifndef EXPERTS_CUH
#define EXPERTS_CUH

#include <cstdint>

static const unsigned MOST_RANKS = 64;
/* How often a wait looks before it looks at the clock as well. */
static const unsigned LOOKS = 256;
/* One thread at a time asks the host, which is far away. */
static const uint64_t ASKING_NANOSECONDS = 50000;

enum failure { MISSING, DIFFERS, LEFT, NO_EXPERT, NAMED_TWICE, NOT_DISPATCHED, OVERFULL, NOT_PREPARED };

/* In the host's memory. */
struct words {
    uint64_t is_revoked;    // by the host
    uint64_t failure;       // the kind in the upper half, the rank and 1 in the lower
    uint64_t token;         // of a choice that is not valid
    uint64_t expert;
};

/* In the GPU's memory, for itself. */
struct state {
    uint64_t asked_at;      // when a thread last looked whether the host has ended the buffer, in nanoseconds
    unsigned blocks;        // of this launch that have ended
    unsigned failed;
};

struct window {
    uint64_t left[MOST_RANKS];  // a rank that makes no more calls stores which rank is lost, itself or another, and 1
    struct state state;
};

struct buffer {
    char *windows[MOST_RANKS];  // of each rank, as this GPU reaches it
    struct state *state;        // of this rank
    words *host;
    unsigned rank;
    unsigned ranks;
};

/* ---- words that other GPUs store ---- */

static __device__ __forceinline__ uint64_t nanoseconds() {
    uint64_t time;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(time));
    return time;
}

static __device__ __forceinline__ void store_release(uint64_t *to, uint64_t value) {
    asm volatile("st.release.sys.global.u64 [%0], %1;" ::"l"(to), "l"(value) : "memory");
}

static __device__ __forceinline__ uint64_t load_acquire(const uint64_t *from) {
    uint64_t value;
    asm volatile("ld.acquire.sys.global.u64 %0, [%1];" : "=l"(value) : "l"(from) : "memory");
    return value;
}

/* ---- failures ---- */

static __device__ bool has_failed(const buffer &buffer) {
    return *(volatile unsigned *)&buffer.state->failed != 0;
}

/* Tells a rank that this one makes no more calls, as a rank is lost. */
static __device__ void leave(const buffer &buffer, unsigned peer, unsigned lost) {
    store_release(&((window *)buffer.windows[peer])->left[buffer.rank], (uint64_t)lost + 1);
}

/* The first failure counts. */
static __device__ void fail(const buffer &buffer, failure kind, unsigned rank, uint64_t token, uint64_t expert) {
    if (atomicExch(&buffer.state->failed, 1) == 0) {
        *(volatile uint64_t *)&buffer.host->token = token;
        *(volatile uint64_t *)&buffer.host->expert = expert;
        __threadfence_system();
        *(volatile uint64_t *)&buffer.host->failure = (uint64_t)kind << 32 | (rank + 1);
#pragma unroll 1
        for (unsigned peer = 0; kind == LEFT && peer < buffer.ranks; peer++) {
            if (peer != buffer.rank) {
                leave(buffer, peer, rank);
            }
        }
    }
}

struct watch {
    unsigned looks;
    unsigned is_left;       // by the rank, when it last looked
    uint64_t end;
};

static __device__ bool is_revoked(const buffer &buffer, uint64_t now) {
    unsigned long long *asked_at = (unsigned long long *)&buffer.state->asked_at;
    uint64_t last = *(volatile unsigned long long *)asked_at;
    return now - last > ASKING_NANOSECONDS && atomicCAS(asked_at, last, now) == last
            && *(volatile uint64_t *)&buffer.host->is_revoked != 0;
}

/* Whether to wait no longer for a rank, after a look that did not see it; patience is in nanoseconds. */
static __device__ bool is_over(watch *waited, const buffer &buffer, unsigned rank, uint64_t patience) {
    if (++waited->looks % LOOKS != 0) {
        return false;
    }
    if (has_failed(buffer)) {
        return true;
    }
    uint64_t now = nanoseconds();
    if (waited->end == 0) {
        waited->end = now + patience;
    }
    uint64_t left = load_acquire(&((const window *)buffer.windows[buffer.rank])->left[rank]);
    if (left != 0) {
        // what it had sent before it left is here by now, and is looked for once more
        if (!waited->is_left) {
            waited->is_left = 1;
            return false;
        }
        fail(buffer, LEFT, (unsigned)left - 1, 0, 0);
        return true;
    }
    if (now < waited->end && !is_revoked(buffer, now)) {
        return false;
    }
    fail(buffer, MISSING, rank, 0, 0);
    return true;
}

/* ---- signals ---- */

static const unsigned SIGNATURE_BITS = 16;

/* What a signal holds. */
static __device__ __forceinline__ uint64_t signal_of(uint64_t generation, unsigned signature) {
    return generation << SIGNATURE_BITS | (signature & ((1u << SIGNATURE_BITS) - 1));
}

/* Waits until a rank has stored a signal of this generation or a later one; false if it does not come, or has called something else. */
static __device__ bool await_signal(
        const uint64_t *signal, uint64_t value, const buffer &buffer, unsigned rank, uint64_t patience) {
    watch waited = {};
    for (;;) {
        uint64_t seen = load_acquire(signal);
        if (seen >> SIGNATURE_BITS >= value >> SIGNATURE_BITS) {
            if (seen >> SIGNATURE_BITS == value >> SIGNATURE_BITS && seen != value) {
                fail(buffer, DIFFERS, rank, 0, 0);
                return false;
            }
            return true;
        }
        if (is_over(&waited, buffer, rank, patience)) {
            return false;
        }
    }
}

/* ---- a launch ---- */

/* Whether the threads of a block go on; they decide alike. */
static __device__ __forceinline__ bool may_begin(const buffer &buffer) {
    return !__syncthreads_or(has_failed(buffer));
}

/*
 * True for one thread of the last block: all that the launch has read and written lies before it. Every block calls it once, at its end.
 */
static __device__ bool ends_launch(const buffer &buffer) {
    __syncthreads();
    if (threadIdx.x != 0) {
        return false;
    }
    __threadfence_system();
    if (atomicAdd(&buffer.state->blocks, 1u) != gridDim.x - 1) {
        return false;
    }
    *(volatile unsigned *)&buffer.state->blocks = 0;
    __threadfence_system();
    return true;
}

/*
 * As ends_launch, for a launch that stores nothing for other ranks before: one fence orders all that its blocks have read before what the
 * last of them stores.
 */
static __device__ bool ends_reading(const buffer &buffer) {
    __syncthreads();
    if (threadIdx.x != 0) {
        return false;
    }
    __threadfence();
    if (atomicAdd(&buffer.state->blocks, 1u) != gridDim.x - 1) {
        return false;
    }
    *(volatile unsigned *)&buffer.state->blocks = 0;
    __threadfence_system();
    return true;
}

#endif
