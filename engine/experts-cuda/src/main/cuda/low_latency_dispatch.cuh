/* Dispatch of low latency, in two halves. */
#include "low_latency.cuh"

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

/* How much the host is to carry to each rank; by the thread that ends the launch. */
static __device__ void put_messages(const buffer &buffer, const shape &shape, unsigned set) {
    proxy_call *call = proxy_call_of(shape, WORD_AT(dispatched, set, 0));
#pragma unroll 1
    for (uint64_t rest = shape.proxied; rest != 0; rest &= rest - 1) {
        unsigned rank = __ffsll(rest) - 1;
        call->messages[rank] =
                *(volatile unsigned *)&counts_of(buffer, shape, rank, set, buffer.rank)[shape.local_experts];
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
        if (shape.proxied != 0) {
            put_messages(buffer, shape, set);
        }
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
    if (ends_reading(buffer)) {
        own->results[what.index].rows = rows;
        tell_ranks(buffer, shape, WORD_AT(dispatch_taken, set, buffer.rank), signal_of(generation, 0));
    }
}
