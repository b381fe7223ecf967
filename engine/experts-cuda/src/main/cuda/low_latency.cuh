/*
 * What all calls of low latency have in common: a token travels once to each rank that has experts of its, and its results come back one by one.
 *
 * The part of a rank's window, at `words_at` (struct low_latency_words), `counts_at`, `messages_at` and `slots_at`, has two sets, for odd
 * and even generations, of all but the words of the rank itself:
 *
 *   counts     [2][ranks][local experts + 1] of 32 bits: the tokens of a rank for each expert, and its messages
 *   messages   [2][ranks][tokens]: a token of a rank, with the place among those of its rank that it has at each of its experts here
 *   slots      [2][tokens * top_k]: results of experts for the tokens of this rank
 *   extremes   [2][tokens * top_k][groups] of 32 bits, behind the slots: those of results in LogFMT
 *
 * The last block of a launch that sends says so, with a signal for each rank that lies behind all that was sent, also to ranks that get
 * nothing. The rows of a rank are in the order of its tokens, so that results are the same in every run.
 *
 * Where the GPU does not reach the memory of a rank, `windows` has a mirror of its window in this GPU's own memory, and the host carries
 * what lies there: the last block says in the host's memory what that is (struct proxy), and its word follows it.
 */
#ifndef LOW_LATENCY_CUH
#define LOW_LATENCY_CUH

#include "experts.cuh"

#include <cstddef>

static const unsigned THREADS = 512;
static const unsigned WARP = 32;
static const unsigned ALL = 0xffffffff;
static const unsigned GROUP = 128;          // channels that share a scale
static const unsigned MOST_TOP_K = 32;
/* Warps that copy a row together. */
static const unsigned COPIERS = 8;
static const unsigned COPY_THREADS = COPIERS * WARP;
static const unsigned COPIES_AT_ONCE = 4;
static const unsigned SLOT_BITS = 26;       // of a token and k; the rank is above

enum format { BF16, FP8, FP8_ROUNDED, FP8_UE8M0 };

enum combine_format { AS_IT_IS, LOGFMT };

struct result_words {
    uint64_t dispatch;      // the generation that has brought the result
    uint64_t combine;       // the generation that sends it back
    uint64_t rows;          // in use
};

struct low_latency_words {
    /* Stored by other ranks: what they have sent, by set. */
    uint64_t dispatched[2][MOST_RANKS];
    uint64_t combined[2][MOST_RANKS];
    /* Stored by other ranks: the generation that they have taken from a set of theirs, which may be written again. */
    uint64_t dispatch_taken[2][MOST_RANKS];
    uint64_t combine_taken[2][MOST_RANKS];
    /* Of this rank, counted by its GPU. */
    uint64_t dispatches;
    uint64_t combines;
    result_words results[2];
};

/* In the host's memory. A call is written again when all ranks have taken what it had, so that the host has seen it. */
struct proxy_call {
    uint64_t value;         // of the word that the ranks get, stored last
    uint64_t rows;          // of a combine: the places of so many
    unsigned messages[MOST_RANKS];  // of a dispatch: for each rank
};

struct proxy {
    proxy_call calls[8];    // for each array of words that other ranks store, in their order
    uint64_t places[];      // of the rows of combines, by set
};

/* The same on all ranks, but for the last two. */
struct shape {
    uint64_t words_at;
    uint64_t counts_at;
    uint64_t messages_at;
    uint64_t message_bytes;
    uint64_t payload_at;    // in a message
    uint64_t slots_at;
    unsigned experts;
    unsigned local_experts;
    unsigned hidden;
    unsigned tokens;        // the most of a rank
    unsigned top_k;
    unsigned reserved;
    uint64_t proxied;       // a bit for each rank that the host carries to
    proxy *host;            // or NULL
};

struct result {
    char *rows;             // [L, R * M, H]
    unsigned *scales;       // [L, H / 128, R * M] or [L, H / 512, R * M]
    unsigned *counts;       // [L]
    unsigned *sources;      // [L, R * M]
    uint64_t *ranges;       // [L, R]
    uint64_t *places;       // of the rows in use: the row; and where its result goes, the rank and the slot there
    unsigned *sent;         // [M, K]: the expert that a token was sent to, and 1
    unsigned *host_counts;  // [L], in the host's memory
};

struct dispatch {
    const char *x;
    const int64_t *choices;
    unsigned *statistics;   // or NULL
    uint64_t patience;
    unsigned tokens;
    unsigned format;
    unsigned index;         // of the result
    unsigned reserved;
};

struct combine {
    const char *y;
    const int64_t *choices;
    const float *weights;
    char *out;
    uint64_t patience;
    unsigned tokens;
    unsigned index;         // of the result
};

static __device__ __forceinline__ low_latency_words *words_of(const buffer &buffer, const shape &shape, unsigned rank) {
    return (low_latency_words *)(buffer.windows[rank] + shape.words_at);
}

static __device__ __forceinline__ unsigned *counts_of(
        const buffer &buffer, const shape &shape, unsigned owner, unsigned set, unsigned source) {
    return (unsigned *)(buffer.windows[owner] + shape.counts_at)
            + (uint64_t)(set * buffer.ranks + source) * (shape.local_experts + 1);
}

static __device__ __forceinline__ char *message_of(
        const buffer &buffer, const shape &shape, unsigned owner, unsigned set, unsigned source, unsigned index) {
    return buffer.windows[owner] + shape.messages_at
            + ((uint64_t)(set * buffer.ranks + source) * shape.tokens + index) * shape.message_bytes;
}

/* ---- what all calls do ---- */

/*
 * Whether a launch goes on: no earlier one has failed, and each rank has stored a signal, if one is waited for. The threads of a block
 * decide alike.
 */
static __device__ bool may_begin(const buffer &buffer, const uint64_t *signals, uint64_t value, uint64_t patience) {
    // on its way while the signals are looked at
    bool is_failed = has_failed(buffer);
    bool is_over = false;
    for (unsigned peer = threadIdx.x; value != 0 && peer < buffer.ranks; peer += blockDim.x) {
        is_over |= !await_signal(&signals[peer], value, buffer, peer, patience);
    }
    return !__syncthreads_or(is_over || is_failed);
}

/* What ranks store when they have taken what the set of a generation had before; 0 if it had nothing. */
static __device__ __forceinline__ uint64_t taken_before(uint64_t generation) {
    return generation > 2 ? signal_of(generation - 2, 0) : 0;
}

#define WORD_AT(field, set, rank) \
    (offsetof(low_latency_words, field) + ((uint64_t)(set) * MOST_RANKS + (rank)) * sizeof(uint64_t))

/* What the host is told of a word. */
static __device__ __forceinline__ proxy_call *proxy_call_of(const shape &shape, uint64_t word_at) {
    return &shape.host->calls[word_at / (MOST_RANKS * sizeof(uint64_t))];
}

/* Stores a word for each rank; by the thread that ends a launch. */
static __device__ void tell_ranks(const buffer &buffer, const shape &shape, uint64_t word_at, uint64_t value) {
    for (unsigned step = 1; step <= buffer.ranks; step++) {
        unsigned peer = (buffer.rank + step) % buffer.ranks;
        char *words = (char *)words_of(buffer, shape, peer);
        // behind the fence of ends_launch
        asm volatile("st.relaxed.sys.global.u64 [%0], %1;" ::"l"(words + word_at), "l"(value) : "memory");
    }
    if (shape.proxied != 0) {
        store_release(&proxy_call_of(shape, word_at)->value, value);
    }
}

/* ---- 8-bit floats ---- */

static __device__ __forceinline__ unsigned greatest_of(unsigned pair, unsigned greatest) {
    return __vmaxu2(pair & 0x7fff7fff, greatest);
}

/* The greatest absolute value of 16 channels, as the bits of bfloat16; NaN does not count. */
static __device__ unsigned greatest_of(const uint4 &first, const uint4 &second) {
    unsigned pairs[8] = {first.x, first.y, first.z, first.w, second.x, second.y, second.z, second.w};
    unsigned most = 0;
#pragma unroll
    for (unsigned i = 0; i < 8; i++) {
        most = greatest_of(pairs[i], most);
    }
    unsigned greatest = max(most & 0xffff, most >> 16);
    if (greatest > 0x7f80) {
        greatest = 0;
        for (unsigned i = 0; i < 8; i++) {
            unsigned lower = pairs[i] & 0x7fff;
            unsigned upper = pairs[i] >> 16 & 0x7fff;
            greatest = lower <= 0x7f80 ? max(greatest, lower) : greatest;
            greatest = upper <= 0x7f80 ? max(greatest, upper) : greatest;
        }
    }
    return greatest;
}

/* By what channels are multiplied; and the scale, by which the receiver multiplies their codes. */
static __device__ float factor_of(unsigned greatest, unsigned format, float *scale) {
    float amax = __uint_as_float(greatest << 16);
    if (greatest == 0x7f80) {
        *scale = amax;
        return 0;
    }
    amax = amax >= 1e-4f ? amax : 1e-4f;
    *scale = amax * (1 / 448.0f);
    if (format == FP8) {
        return __fdiv_rn(448.0f, amax);
    }
    // a normal number, and so is its inverse
    unsigned bits = __float_as_uint(*scale);
    unsigned exponent = (bits + 0x7fffff) >> 23;
    *scale = __uint_as_float(exponent << 23);
    return __uint_as_float((254 - exponent) << 23);
}

/* The nearest code of e4m3fn, to even: absolute values are 448 at most, or round to it. */
static __device__ __forceinline__ unsigned code_of(float scaled) {
    unsigned bits = __float_as_uint(scaled);
    unsigned rest = bits & 0x7fffffff;
    // the last bit of the sum is worth that of the code, which for denormal ones is 2^-9
    unsigned denormal = __float_as_uint(__uint_as_float(rest) + 16384.0f) - 0x46800000;
    unsigned normal = ((rest + 0x7ffff + (rest >> 20 & 1)) >> 20) - (120 << 3);
    unsigned code = (rest < 0x3c800000 ? denormal : normal) | (bits >> 24 & 0x80);
    return rest > 0x7f800000 ? 0x7f : code;
}

static __device__ __forceinline__ unsigned codes_of(unsigned pair, float factor) {
    return code_of(__uint_as_float(pair << 16) * factor) | code_of(__uint_as_float(pair & 0xffff0000) * factor) << 8;
}

static __device__ uint4 codes_of(const uint4 &first, const uint4 &second, float factor) {
    return make_uint4(
            codes_of(first.x, factor) | codes_of(first.y, factor) << 16,
            codes_of(first.z, factor) | codes_of(first.w, factor) << 16,
            codes_of(second.x, factor) | codes_of(second.y, factor) << 16,
            codes_of(second.z, factor) | codes_of(second.w, factor) << 16);
}

#endif
