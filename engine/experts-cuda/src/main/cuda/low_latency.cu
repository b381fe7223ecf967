/*
 * Low latency: a token travels once to each rank that has experts of its, and its results come back one by one.
 *
 * The part of a rank's window, at `words_at` (struct low_latency_words), `counts_at`, `messages_at` and `slots_at`, has two sets, for odd
 * and even generations, of all but the words of the rank itself:
 *
 *   counts     [2][ranks][local experts + 1] of 32 bits: the tokens of a rank for each expert, and its messages
 *   messages   [2][ranks][tokens]: a token of a rank, with the place among those of its rank that it has at each of its experts here
 *   slots      [2][tokens * top_k]: results of experts for the tokens of this rank
 *
 * The last block of a launch that sends says so, with a signal for each rank that lies behind all that was sent, also to ranks that get
 * nothing. The rows of a rank are in the order of its tokens, so that results are the same in every run.
 */
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

/* The same on all ranks. */
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
    bool is_over = has_failed(buffer);
    for (unsigned peer = threadIdx.x; value != 0 && !is_over && peer < buffer.ranks; peer += blockDim.x) {
        is_over = !await_signal(&signals[peer], value, buffer, peer, patience);
    }
    return !__syncthreads_or(is_over);
}

/* What ranks store when they have taken what the set of a generation had before; 0 if it had nothing. */
static __device__ __forceinline__ uint64_t taken_before(uint64_t generation) {
    return generation > 2 ? signal_of(generation - 2, 0) : 0;
}

/* Stores a word for each rank; by the thread that ends a launch. */
static __device__ void tell_ranks(const buffer &buffer, const shape &shape, uint64_t word_at, uint64_t value) {
    for (unsigned step = 1; step <= buffer.ranks; step++) {
        unsigned peer = (buffer.rank + step) % buffer.ranks;
        char *words = (char *)words_of(buffer, shape, peer);
        // behind the fence of ends_launch
        asm volatile("st.relaxed.sys.global.u64 [%0], %1;" ::"l"(words + word_at), "l"(value) : "memory");
    }
}

#define WORD_AT(field, set, rank) \
    (offsetof(low_latency_words, field) + ((uint64_t)(set) * MOST_RANKS + (rank)) * sizeof(uint64_t))

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

/* ---- dispatch, the half that sends ---- */

/* How many tokens choose one of so many experts from one on. All threads of the block. */
static __device__ unsigned count_tokens(const dispatch &what, unsigned top_k, unsigned first, unsigned experts) {
    unsigned count = 0;
    for (unsigned begin = 0; begin < what.tokens; begin += blockDim.x) {
        unsigned token = begin + threadIdx.x;
        bool is_chosen = false;
        for (unsigned k = 0; token < what.tokens && k < top_k; k++) {
            is_chosen |= (uint64_t)what.choices[(uint64_t)token * top_k + k] - first < experts;
        }
        count += __syncthreads_count(is_chosen);
    }
    return count;
}

/* Where a token goes; in the memory of its block. */
struct routes {
    int expert[MOST_TOP_K];         // or -1
    unsigned rank[MOST_TOP_K];
    unsigned before[MOST_TOP_K];    // tokens that go to the expert
    unsigned messages[MOST_TOP_K];  // tokens that go to its rank
    unsigned is_first[MOST_TOP_K];  // of its rank
};

/* Reads the choices of a token, and counts what earlier tokens have in common with it. False if they are not valid. */
static __device__ bool find_routes(
        routes *routes, const dispatch &what, const buffer &buffer, const shape &shape, unsigned *sent, unsigned token) {
    unsigned top_k = shape.top_k;
    unsigned lane = threadIdx.x % WARP;
    __syncthreads();
    bool is_bad = false;
    if (threadIdx.x < top_k) {
        int64_t expert = what.choices[(uint64_t)token * top_k + threadIdx.x];
        is_bad = expert < -1 || expert >= (int64_t)shape.experts;
        if (is_bad) {
            fail(buffer, NO_EXPERT, buffer.rank, token, (uint64_t)expert);
        }
        routes->expert[threadIdx.x] = (int)expert;
        routes->rank[threadIdx.x] = expert < 0 ? MOST_RANKS : (unsigned)expert / shape.local_experts;
        routes->before[threadIdx.x] = 0;
        routes->messages[threadIdx.x] = 0;
        sent[(uint64_t)token * top_k + threadIdx.x] = (unsigned)(expert + 1);
    }
    if (__syncthreads_or(is_bad)) {
        return false;
    }
    if (threadIdx.x < top_k) {
        bool is_first = routes->expert[threadIdx.x] >= 0;
        for (unsigned k = 0; k < threadIdx.x; k++) {
            is_first &= routes->rank[k] != routes->rank[threadIdx.x];
            is_bad |= routes->expert[k] >= 0 && routes->expert[k] == routes->expert[threadIdx.x];
        }
        routes->is_first[threadIdx.x] = is_first;
        if (is_bad) {
            fail(buffer, NAMED_TWICE, buffer.rank, token, routes->expert[threadIdx.x]);
        }
    }
    // lane k counts for choice k
    unsigned before = 0;
    unsigned messages = 0;
    for (unsigned begin = threadIdx.x - lane; begin < token; begin += blockDim.x) {
        unsigned other = begin + lane;
        unsigned same_expert = 0;
        unsigned same_rank = 0;
        for (unsigned k = 0; other < token && k < top_k; k++) {
            int64_t expert = what.choices[(uint64_t)other * top_k + k];
            for (unsigned i = 0; i < top_k; i++) {
                int own = routes->expert[i];
                unsigned first = routes->rank[i] * shape.local_experts;
                same_expert |= (unsigned)(expert == own) << i;
                same_rank |= (unsigned)((uint64_t)expert - first < shape.local_experts) << i;
            }
        }
        for (unsigned i = 0; i < top_k; i++) {
            unsigned experts = __popc(__ballot_sync(ALL, same_expert >> i & 1));
            unsigned ranks = __popc(__ballot_sync(ALL, same_rank >> i & 1));
            before += lane == i ? experts : 0;
            messages += lane == i ? ranks : 0;
        }
    }
    if (lane < top_k && (before | messages) != 0) {
        atomicAdd(&routes->before[lane], before);
        atomicAdd(&routes->messages[lane], messages);
    }
    return !__syncthreads_or(is_bad);
}

/* The token's part of the message for each rank apart from its vector. */
static __device__ void put_headers(
        const routes &routes, const buffer &buffer, const shape &shape, unsigned set, unsigned token) {
    unsigned k = threadIdx.x;
    if (k > shape.top_k) {
        return;
    }
    for (unsigned i = 0; i < shape.top_k; i++) {
        if (!routes.is_first[i]) {
            continue;
        }
        unsigned rank = routes.rank[i];
        uint64_t *header = (uint64_t *)message_of(buffer, shape, rank, set, buffer.rank, routes.messages[i]);
        if (k == shape.top_k) {
            header[0] = token;
            continue;
        }
        uint64_t local = (unsigned)routes.expert[k] - rank * shape.local_experts;
        header[2 + k] = routes.rank[k] == rank ? local << 32 | (routes.before[k] + 1) : 0;
    }
}

static __device__ __forceinline__ void put_vector(
        const routes &routes, const buffer &buffer, const shape &shape, unsigned set, uint64_t at, const uint4 &vector) {
    for (unsigned i = 0; i < shape.top_k; i++) {
        if (routes.is_first[i]) {
            char *message =
                    message_of(buffer, shape, routes.rank[i], set, buffer.rank, routes.messages[i]) + shape.payload_at;
            *(uint4 *)(message + at) = vector;
        }
    }
}

static __device__ void put_scale(
        const routes &routes, const buffer &buffer, const shape &shape, unsigned set, uint64_t at, float scale) {
    for (unsigned i = 0; i < shape.top_k; i++) {
        if (routes.is_first[i]) {
            char *message =
                    message_of(buffer, shape, routes.rank[i], set, buffer.rank, routes.messages[i]) + shape.payload_at;
            *(float *)(message + at) = scale;
        }
    }
}

template <unsigned HIDDEN>
static __device__ void send_dispatch(const dispatch &what, const result &to, const shape &shape, const buffer &buffer) {
    __shared__ routes routes;
    unsigned hidden = HIDDEN == 0 ? shape.hidden : HIDDEN;
    // 16 channels a thread: two vectors side by side that share a scale, or two that others lie between
    bool is_quantised = what.format != BF16;
    unsigned halves = hidden / 16;
    uint4 first = {};
    uint4 second = {};
    // early, as all that follows waits for memory as well
    if (blockIdx.x < what.tokens && threadIdx.x < halves) {
        const uint4 *x = (const uint4 *)(what.x + (uint64_t)blockIdx.x * hidden * 2);
        first = x[is_quantised ? 2 * threadIdx.x : threadIdx.x];
        second = x[is_quantised ? 2 * threadIdx.x + 1 : threadIdx.x + halves];
    }
    low_latency_words *own = words_of(buffer, shape, buffer.rank);
    uint64_t generation = *(volatile uint64_t *)&own->dispatches + 1;
    unsigned set = generation & 1;
    if (!may_begin(buffer, own->dispatch_taken[set], taken_before(generation), what.patience)) {
        return;
    }
    for (unsigned i = blockIdx.x; i < shape.experts + buffer.ranks; i += gridDim.x) {
        bool is_rank = i >= shape.experts;
        unsigned expert = is_rank ? (i - shape.experts) * shape.local_experts : i;
        unsigned count = count_tokens(what, shape.top_k, expert, is_rank ? shape.local_experts : 1);
        if (threadIdx.x == 0) {
            unsigned owner = expert / shape.local_experts;
            unsigned place = is_rank ? shape.local_experts : expert - owner * shape.local_experts;
            counts_of(buffer, shape, owner, set, buffer.rank)[place] = count;
        }
    }
    for (unsigned token = blockIdx.x; token < what.tokens; token += gridDim.x) {
        const uint4 *x = (const uint4 *)(what.x + (uint64_t)token * hidden * 2);
        if (token != blockIdx.x && threadIdx.x < halves) {
            first = x[is_quantised ? 2 * threadIdx.x : threadIdx.x];
            second = x[is_quantised ? 2 * threadIdx.x + 1 : threadIdx.x + halves];
        }
        if (!find_routes(&routes, what, buffer, shape, to.sent, token)) {
            return;
        }
        put_headers(routes, buffer, shape, set, token);
        for (unsigned i = threadIdx.x; i < halves; i += blockDim.x) {
            if (i >= blockDim.x) {
                first = x[is_quantised ? 2 * i : i];
                second = x[is_quantised ? 2 * i + 1 : i + halves];
            }
            if (!is_quantised) {
                put_vector(routes, buffer, shape, set, (uint64_t)i * sizeof(uint4), first);
                put_vector(routes, buffer, shape, set, (uint64_t)(i + halves) * sizeof(uint4), second);
                continue;
            }
            // a multiple of 8 threads are here
            unsigned greatest = greatest_of(first, second);
            unsigned together = 0xffu << (threadIdx.x % WARP & ~7u);
            for (unsigned distance = 4; distance > 0; distance /= 2) {
                greatest = max(greatest, __shfl_xor_sync(together, greatest, distance));
            }
            float scale;
            float factor = factor_of(greatest, what.format, &scale);
            put_vector(routes, buffer, shape, set, (uint64_t)i * sizeof(uint4), codes_of(first, second, factor));
            if (i % 8 == 0) {
                put_scale(routes, buffer, shape, set, hidden + (uint64_t)i / 8 * sizeof(float), scale);
            }
        }
    }
    if (ends_launch(buffer)) {
        tell_ranks(buffer, shape, WORD_AT(dispatched, set, buffer.rank), signal_of(generation, what.format));
        own->results[what.index].dispatch = generation;
        *(volatile uint64_t *)&own->dispatches = generation;
    }
}

/* ---- dispatch, the half that receives ---- */

/* Replaces numbers by the sums of those before them, and returns the sum of all. All threads of the block. */
static __device__ unsigned scan(unsigned *numbers, unsigned count) {
    __shared__ unsigned sums[THREADS / WARP];
    unsigned lane = threadIdx.x % WARP;
    unsigned base = 0;
    for (unsigned begin = 0; begin < count; begin += blockDim.x) {
        unsigned i = begin + threadIdx.x;
        unsigned own = i < count ? numbers[i] : 0;
        unsigned sum = own;
        for (unsigned distance = 1; distance < WARP; distance *= 2) {
            unsigned other = __shfl_up_sync(ALL, sum, distance);
            sum += lane >= distance ? other : 0;
        }
        if (lane == WARP - 1) {
            sums[threadIdx.x / WARP] = sum;
        }
        __syncthreads();
        unsigned all = 0;
        for (unsigned warp = 0; warp < THREADS / WARP; warp++) {
            base += warp < threadIdx.x / WARP ? sums[warp] : 0;
            all += warp >= threadIdx.x / WARP ? sums[warp] : 0;
        }
        if (i < count) {
            numbers[i] = base + sum - own;
        }
        base += all;
        __syncthreads();
    }
    return base;
}

/* Counts and ranges, by all blocks together. */
static __device__ void put_layout(
        const unsigned *starts, const dispatch &what, const result &to, const shape &shape, const buffer &buffer) {
    unsigned ranks = buffer.ranks;
    unsigned pairs = shape.local_experts * ranks;
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < pairs; i += gridDim.x * blockDim.x) {
        unsigned expert = i / ranks;
        unsigned first = starts[expert * ranks];
        to.ranges[i] = (uint64_t)(starts[i] - first) << 32 | (starts[i + 1] - starts[i]);
        if (i == expert * ranks) {
            unsigned count = starts[i + ranks] - first;
            to.counts[expert] = count;
            *(volatile unsigned *)&to.host_counts[expert] = count;
            if (what.statistics != nullptr) {
                what.statistics[expert] += count;
            }
        }
    }
}

/* A message, as the threads that copy it see it: lane k of each warp has the place of choice k. */
struct message {
    const char *payload;
    unsigned row;           // among all rows
    unsigned expert;        // local
    unsigned is_here;       // a bit for each choice
};

static __device__ void put_scales(
        const message &message, const dispatch &what, const result &to, const shape &shape, unsigned hidden,
        unsigned most_rows, unsigned thread) {
    bool is_packed = what.format == FP8_UE8M0;
    unsigned columns = is_packed ? hidden / (4 * GROUP) : hidden / GROUP;
    const unsigned *from = (const unsigned *)(message.payload + hidden);
    // all lanes take part in each turn, for those that have the places
    for (unsigned begin = 0; begin < columns; begin += COPY_THREADS) {
        unsigned column = begin + thread;
        unsigned scale = 0;
        if (column < columns) {
            scale = from[is_packed ? 4 * column : column];
            for (unsigned i = 1; is_packed && i < 4; i++) {
                scale = i == 1 ? scale >> 23 : scale;
                scale |= (from[4 * column + i] >> 23) << 8 * i;
            }
        }
        for (unsigned rest = message.is_here; rest != 0; rest &= rest - 1) {
            unsigned k = __ffs(rest) - 1;
            unsigned row = __shfl_sync(ALL, message.row, k);
            unsigned expert = __shfl_sync(ALL, message.expert, k);
            if (column < columns) {
                to.scales[((uint64_t)expert * columns + column) * most_rows + (row - expert * most_rows)] = scale;
            }
        }
    }
}

static __device__ void put_rows(const message &message, const result &to, unsigned row_bytes, unsigned thread) {
    unsigned vectors = row_bytes / sizeof(uint4);
    for (unsigned begin = 0; begin < vectors; begin += COPIES_AT_ONCE * COPY_THREADS) {
        uint4 values[COPIES_AT_ONCE];
#pragma unroll
        for (unsigned i = 0; i < COPIES_AT_ONCE; i++) {
            unsigned vector = begin + i * COPY_THREADS + thread;
            if (vector < vectors) {
                values[i] = ((const uint4 *)message.payload)[vector];
            }
        }
        for (unsigned rest = message.is_here; rest != 0; rest &= rest - 1) {
            unsigned row = __shfl_sync(ALL, message.row, __ffs(rest) - 1);
            uint4 *target = (uint4 *)(to.rows + (uint64_t)row * row_bytes);
#pragma unroll
            for (unsigned i = 0; i < COPIES_AT_ONCE; i++) {
                unsigned vector = begin + i * COPY_THREADS + thread;
                if (vector < vectors) {
                    target[vector] = values[i];
                }
            }
        }
    }
}

template <unsigned HIDDEN>
static __device__ void receive_dispatch(
        const dispatch &what, const result &to, const shape &shape, const buffer &buffer) {
    // where the rows of each expert and rank begin, among those in use of all experts
    extern __shared__ unsigned starts[];
    // where the messages of each rank begin
    __shared__ unsigned messages[MOST_RANKS + 1];
    unsigned hidden = HIDDEN == 0 ? shape.hidden : HIDDEN;
    unsigned ranks = buffer.ranks;
    unsigned most_rows = ranks * shape.tokens;
    low_latency_words *own = words_of(buffer, shape, buffer.rank);
    uint64_t generation = *(volatile uint64_t *)&own->results[what.index].dispatch;
    unsigned set = generation & 1;
    if (!may_begin(buffer, own->dispatched[set], signal_of(generation, what.format), what.patience)) {
        return;
    }
    unsigned pairs = shape.local_experts * ranks;
    for (unsigned i = threadIdx.x; i < pairs; i += blockDim.x) {
        unsigned expert = i / ranks;
        starts[i] = counts_of(buffer, shape, buffer.rank, set, i - expert * ranks)[expert];
    }
    if (threadIdx.x < ranks) {
        messages[threadIdx.x] = counts_of(buffer, shape, buffer.rank, set, threadIdx.x)[shape.local_experts];
    }
    __syncthreads();
    unsigned rows = scan(starts, pairs);
    unsigned all = scan(messages, ranks);
    if (threadIdx.x == 0) {
        starts[pairs] = rows;
    }
    __syncthreads();
    put_layout(starts, what, to, shape, buffer);
    unsigned thread = threadIdx.x % COPY_THREADS;
    unsigned lane = threadIdx.x % WARP;
    unsigned first = blockIdx.x * (blockDim.x / COPY_THREADS) + threadIdx.x / COPY_THREADS;
    unsigned source = 0;
    for (unsigned i = first; i < all; i += gridDim.x * (blockDim.x / COPY_THREADS)) {
        while (source + 1 < ranks && messages[source + 1] <= i) {
            source++;
        }
        const char *from = message_of(buffer, shape, buffer.rank, set, source, i - messages[source]);
        const uint64_t *header = (const uint64_t *)from;
        unsigned token = (unsigned)header[0];
        uint64_t route = lane < shape.top_k ? header[2 + lane] : 0;
        message message;
        message.payload = from + shape.payload_at;
        message.expert = (unsigned)(route >> 32);
        message.is_here = __ballot_sync(ALL, route != 0);
        message.row = 0;
        if (route != 0) {
            unsigned place = starts[message.expert * ranks + source] + (unsigned)route - 1;
            message.row = message.expert * most_rows + place - starts[message.expert * ranks];
            if (thread < WARP) {
                to.sources[message.row] = token;
                to.places[place] = (uint64_t)message.row << 32 | source << SLOT_BITS | (token * shape.top_k + lane);
            }
        }
        bool is_quantised = what.format != BF16;
        if (is_quantised) {
            put_scales(message, what, to, shape, hidden, most_rows, thread);
        }
        put_rows(message, to, is_quantised ? hidden : 2 * hidden, thread);
    }
    if (ends_launch(buffer)) {
        own->results[what.index].rows = rows;
        tell_ranks(buffer, shape, WORD_AT(dispatch_taken, set, buffer.rank), signal_of(generation, 0));
    }
}

/* ---- combine, the half that sends ---- */

template <unsigned HIDDEN>
static __device__ void send_combine(const combine &what, const result &from, const shape &shape, const buffer &buffer) {
    unsigned hidden = HIDDEN == 0 ? shape.hidden : HIDDEN;
    low_latency_words *own = words_of(buffer, shape, buffer.rank);
    uint64_t generation = *(volatile uint64_t *)&own->combines + 1;
    uint64_t dispatched = *(volatile uint64_t *)&own->results[what.index].dispatch;
    unsigned rows = (unsigned)*(volatile uint64_t *)&own->results[what.index].rows;
    unsigned set = generation & 1;
    if (!may_begin(buffer, own->combine_taken[set], taken_before(generation), what.patience)) {
        return;
    }
    unsigned thread = threadIdx.x % COPY_THREADS;
    unsigned first = blockIdx.x * (blockDim.x / COPY_THREADS) + threadIdx.x / COPY_THREADS;
    unsigned vectors = hidden * 2 / sizeof(uint4);
    uint64_t slots_at = shape.slots_at + (uint64_t)set * shape.tokens * shape.top_k * hidden * 2;
    for (unsigned i = first; i < rows; i += gridDim.x * (blockDim.x / COPY_THREADS)) {
        uint64_t place = from.places[i];
        unsigned slot = (unsigned)place & ((1u << SLOT_BITS) - 1);
        const uint4 *y = (const uint4 *)(what.y + (place >> 32) * hidden * 2);
        uint4 *target = (uint4 *)(buffer.windows[(unsigned)place >> SLOT_BITS] + slots_at + (uint64_t)slot * hidden * 2);
        for (unsigned begin = 0; begin < vectors; begin += COPIES_AT_ONCE * COPY_THREADS) {
            uint4 values[COPIES_AT_ONCE];
#pragma unroll
            for (unsigned j = 0; j < COPIES_AT_ONCE; j++) {
                unsigned vector = begin + j * COPY_THREADS + thread;
                if (vector < vectors) {
                    values[j] = y[vector];
                }
            }
#pragma unroll
            for (unsigned j = 0; j < COPIES_AT_ONCE; j++) {
                unsigned vector = begin + j * COPY_THREADS + thread;
                if (vector < vectors) {
                    target[vector] = values[j];
                }
            }
        }
    }
    if (ends_launch(buffer)) {
        tell_ranks(
                buffer, shape, WORD_AT(combined, set, buffer.rank), signal_of(generation, (unsigned)dispatched));
        own->results[what.index].combine = generation;
        *(volatile uint64_t *)&own->combines = generation;
    }
}

/* ---- combine, the half that receives ---- */

static __device__ __forceinline__ unsigned bfloat16_of(float value) {
    unsigned bits = __float_as_uint(value);
    return value != value ? 0x7fc0 : (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
}

static __device__ __forceinline__ void add(float *sums, unsigned pair, float weight) {
    // nothing is fused: a product is rounded before it is added
    sums[0] = __fadd_rn(sums[0], __fmul_rn(weight, __uint_as_float(pair << 16)));
    sums[1] = __fadd_rn(sums[1], __fmul_rn(weight, __uint_as_float(pair & 0xffff0000)));
}

template <unsigned HIDDEN>
static __device__ void receive_combine(
        const combine &what, const result &from, const shape &shape, const buffer &buffer) {
    // of a token: the slots that count, in the order of k, and their weights
    __shared__ unsigned slots[MOST_TOP_K];
    __shared__ float weights[MOST_TOP_K];
    static const unsigned AT_ONCE = 4;
    unsigned hidden = HIDDEN == 0 ? shape.hidden : HIDDEN;
    low_latency_words *own = words_of(buffer, shape, buffer.rank);
    uint64_t generation = *(volatile uint64_t *)&own->results[what.index].combine;
    uint64_t dispatched = *(volatile uint64_t *)&own->results[what.index].dispatch;
    unsigned set = generation & 1;
    if (!may_begin(buffer, own->combined[set], signal_of(generation, (unsigned)dispatched), what.patience)) {
        return;
    }
    unsigned vectors = hidden * 2 / sizeof(uint4);
    const char *set_slots =
            buffer.windows[buffer.rank] + shape.slots_at + (uint64_t)set * shape.tokens * shape.top_k * hidden * 2;
    for (unsigned token = blockIdx.x; token < what.tokens; token += gridDim.x) {
        __syncthreads();
        bool counts = false;
        bool is_bad = false;
        unsigned slot = token * shape.top_k + threadIdx.x;
        if (threadIdx.x < shape.top_k) {
            int64_t expert = what.choices[slot];
            counts = expert >= 0;
            // what lies in its slot is of another combine
            is_bad = counts && from.sent[slot] != (uint64_t)expert + 1;
            if (is_bad) {
                fail(buffer, NOT_DISPATCHED, buffer.rank, token, (uint64_t)expert);
            }
        }
        if (threadIdx.x < WARP) {
            unsigned all = __ballot_sync(ALL, counts);
            unsigned before = __popc(all & ((1u << threadIdx.x) - 1));
            if (counts) {
                slots[before] = slot;
                weights[before] = what.weights[slot];
            }
        }
        unsigned operands = __syncthreads_count(counts);
        if (__syncthreads_or(is_bad)) {
            return;
        }
        for (unsigned vector = threadIdx.x; vector < vectors; vector += blockDim.x) {
            float sums[8] = {};
            for (unsigned begin = 0; begin < operands; begin += AT_ONCE) {
                uint4 values[AT_ONCE];
#pragma unroll
                for (unsigned i = 0; i < AT_ONCE; i++) {
                    if (begin + i < operands) {
                        values[i] = ((const uint4 *)(set_slots + (uint64_t)slots[begin + i] * hidden * 2))[vector];
                    }
                }
#pragma unroll
                for (unsigned i = 0; i < AT_ONCE; i++) {
                    if (begin + i < operands) {
                        float weight = weights[begin + i];
                        add(&sums[0], values[i].x, weight);
                        add(&sums[2], values[i].y, weight);
                        add(&sums[4], values[i].z, weight);
                        add(&sums[6], values[i].w, weight);
                    }
                }
            }
            ((uint4 *)(what.out + (uint64_t)token * hidden * 2))[vector] = make_uint4(
                    bfloat16_of(sums[0]) | bfloat16_of(sums[1]) << 16,
                    bfloat16_of(sums[2]) | bfloat16_of(sums[3]) << 16,
                    bfloat16_of(sums[4]) | bfloat16_of(sums[5]) << 16,
                    bfloat16_of(sums[6]) | bfloat16_of(sums[7]) << 16);
        }
    }
    if (ends_launch(buffer)) {
        tell_ranks(buffer, shape, WORD_AT(combine_taken, set, buffer.rank), signal_of(generation, 0));
    }
}

/* ---- the kernels: of common hidden lengths, and of any ---- */

#define KERNEL(half, call, name, HIDDEN)                                                                            \
    extern "C" __global__ void __launch_bounds__(THREADS) sluice_experts_##call##_##half##name(                     \
            call what, result result, shape shape, buffer buffer) {                                                 \
        half##_##call<HIDDEN>(what, result, shape, buffer);                                                         \
    }

#define KERNELS(name, HIDDEN)              \
    KERNEL(send, dispatch, name, HIDDEN)    \
    KERNEL(receive, dispatch, name, HIDDEN) \
    KERNEL(send, combine, name, HIDDEN)     \
    KERNEL(receive, combine, name, HIDDEN)

KERNELS(, 0)
KERNELS(_2048, 2048)
KERNELS(_4096, 4096)
KERNELS(_7168, 7168)
