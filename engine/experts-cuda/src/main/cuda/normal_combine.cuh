/* Combine of normal mode. */
#include "normal_dispatch.cuh"

/* ---- combine ---- */

struct combine {
    const char *y;
    const char *bias;           // or NULL
    char *out;
    const route_handle *handle;
    uint64_t rows;              // that there may be in y
    uint64_t patience;          // nanoseconds
    unsigned tokens;
    unsigned senders;           // warps of a block that send first
};

/* The place of a rank among those that are not the owner. */
static __device__ unsigned place_of(unsigned owner, unsigned rank) {
    return rank < owner ? rank : rank - 1;
}

static __device__ uint64_t *arrived_flag(const normal &in, unsigned owner, unsigned sender, unsigned row) {
    uint64_t pieces = (in.most_tokens + ROWS_OF_PIECE - 1) / ROWS_OF_PIECE;
    return (uint64_t *)(in.buffer.windows[owner] + in.arrived_at) + place_of(owner, sender) * pieces + row / ROWS_OF_PIECE;
}

static __device__ char *combined_row(const normal &in, unsigned owner, unsigned sender, unsigned row) {
    return in.buffer.windows[owner] + in.combined_at
            + ((uint64_t)place_of(owner, sender) * in.most_tokens + row) * in.hidden * 2;
}

static const unsigned COPIES_AT_ONCE = 8;

static __device__ void copy(char *to, const char *from, uint64_t vectors) {
    for (uint64_t at = threadIdx.x % LANES; at < vectors; at += COPIES_AT_ONCE * LANES) {
        uint4 values[COPIES_AT_ONCE];
#pragma unroll
        for (unsigned i = 0; i < COPIES_AT_ONCE; i++) {
            if (at + i * LANES < vectors) {
                values[i] = __ldg((const uint4 *)from + at + i * LANES);
            }
        }
#pragma unroll
        for (unsigned i = 0; i < COPIES_AT_ONCE; i++) {
            if (at + i * LANES < vectors) {
                ((uint4 *)to)[at + i * LANES] = values[i];
            }
        }
    }
}

/* A warp takes the next one of something. */
static __device__ unsigned take(unsigned *next) {
    unsigned taken = threadIdx.x % LANES == 0 ? atomicAdd(next, 1u) : 0;
    return __shfl_sync(ALL_LANES, taken, 0);
}

/* Sends rows back to the ranks of their tokens, a piece to one rank after another. */
static __device__ void send_back(const combine &what, const normal &in, uint64_t generation) {
    unsigned ranks = in.buffer.ranks;
    const int *first_rows = what.handle->first_rows();
    const int *row_counts = what.handle->row_counts(ranks);
    unsigned most = 0;
    for (unsigned i = 0; i < ranks; i++) {
        most = i == in.buffer.rank ? most : max(most, (unsigned)row_counts[i]);
    }
    unsigned pieces = (most + ROWS_OF_PIECE - 1) / ROWS_OF_PIECE;
    uint64_t row_vectors = in.hidden / CHANNELS_OF_VECTOR;
    for (;;) {
        unsigned taken = take(&progress_of(in)->sends);
        if (ranks == 1 || taken >= pieces * (ranks - 1)) {
            return;
        }
        unsigned to = (in.buffer.rank + 1 + taken % (ranks - 1)) % ranks;
        unsigned row = taken / (ranks - 1) * ROWS_OF_PIECE;
        unsigned count = row_counts[to];
        if (row >= count) {
            continue;
        }
        unsigned rows = min(count - row, ROWS_OF_PIECE);
        copy(combined_row(in, to, in.buffer.rank, row),
                what.y + ((uint64_t)first_rows[to] + row) * row_vectors * sizeof(uint4), rows * row_vectors);
        __syncwarp();
        if (threadIdx.x % LANES == 0) {
            store_release(arrived_flag(in, to, in.buffer.rank, row), signal_of(generation, 0));
        }
    }
}

static __device__ void add(float *sums, uint4 vector) {
    unsigned words[4] = {vector.x, vector.y, vector.z, vector.w};
#pragma unroll
    for (unsigned i = 0; i < 4; i++) {
        sums[2 * i] = __fadd_rn(sums[2 * i], __uint_as_float(words[i] << 16));
        sums[2 * i + 1] = __fadd_rn(sums[2 * i + 1], __uint_as_float(words[i] & 0xffff0000u));
    }
}

static __device__ unsigned narrow(float value) {
    unsigned bits = __float_as_uint(value);
    return value != value ? 0x7fc0 : (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
}

static __device__ uint4 narrowed(const float *sums) {
    return make_uint4(narrow(sums[0]) | narrow(sums[1]) << 16, narrow(sums[2]) | narrow(sums[3]) << 16,
            narrow(sums[4]) | narrow(sums[5]) << 16, narrow(sums[6]) | narrow(sums[7]) << 16);
}

static const unsigned SUMS_AT_ONCE = 2;

/* The next of a token's rows, which lanes have by rank; it is taken out of the masks. NULL if there is none. */
static __device__ const uint4 *next_row(const char *const *from, unsigned *mask) {
    if (mask[0] != 0) {
        unsigned lane = __ffs(mask[0]) - 1;
        mask[0] &= mask[0] - 1;
        return (const uint4 *)__shfl_sync(ALL_LANES, (unsigned long long)from[0], lane);
    }
    if (mask[1] != 0) {
        unsigned lane = __ffs(mask[1]) - 1;
        mask[1] &= mask[1] - 1;
        return (const uint4 *)__shfl_sync(ALL_LANES, (unsigned long long)from[1], lane);
    }
    return nullptr;
}

static __device__ void load_sums(uint4 *values, const uint4 *row, uint64_t at, uint64_t count) {
#pragma unroll
    for (unsigned i = 0; i < SUMS_AT_ONCE; i++) {
        values[i] = row != nullptr && at + i * LANES < count ? row[at + i * LANES] : make_uint4(0, 0, 0, 0);
    }
}

/* Adds what ranks have made of tokens, in the order of the ranks. False if a rank's rows do not come. */
static __device__ bool add_up(const combine &what, const normal &in, uint64_t generation) {
    unsigned ranks = in.buffer.ranks;
    unsigned lane = threadIdx.x % LANES;
    const int *positions = what.handle->positions(ranks, in.experts);
    uint64_t row_vectors = in.hidden / CHANNELS_OF_VECTOR;
    uint64_t row_bytes = row_vectors * sizeof(uint4);
    const char *own_rows = what.y + (uint64_t)what.handle->first_rows()[in.buffer.rank] * row_bytes;
    for (;;) {
        unsigned token = take(&progress_of(in)->tokens);
        if (token >= what.tokens) {
            return true;
        }
        const char *from[2];
        unsigned mask[2];
        bool is_late = false;
        for (unsigned half = 0; half < 2; half++) {
            unsigned rank = lane + half * LANES;
            int row = rank < ranks ? positions[(uint64_t)token * ranks + rank] : -1;
            mask[half] = __ballot_sync(ALL_LANES, row >= 0);
            from[half] = nullptr;
            if (row >= 0 && rank == in.buffer.rank) {
                from[half] = own_rows + row * row_bytes;
            } else if (row >= 0) {
                from[half] = combined_row(in, in.buffer.rank, rank, row);
                is_late |= !await_flag(in, arrived_flag(in, in.buffer.rank, rank, row), signal_of(generation, 0), rank, what.patience);
            }
        }
        if (__any_sync(ALL_LANES, is_late)) {
            return false;
        }
        // each lane reads rows for which another has waited
        __syncwarp();
        for (uint64_t at = lane; at - lane < row_vectors; at += SUMS_AT_ONCE * LANES) {
            float sums[SUMS_AT_ONCE][CHANNELS_OF_VECTOR] = {};
            unsigned rest[2] = {mask[0], mask[1]};
            // two rows are under way at once
            for (const uint4 *row = next_row(from, rest); row != nullptr; row = next_row(from, rest)) {
                const uint4 *second = next_row(from, rest);
                uint4 values[2][SUMS_AT_ONCE];
                load_sums(values[0], row, at, row_vectors);
                load_sums(values[1], second, at, row_vectors);
#pragma unroll
                for (unsigned i = 0; i < SUMS_AT_ONCE; i++) {
                    add(sums[i], values[0][i]);
                }
                if (second != nullptr) {
#pragma unroll
                    for (unsigned i = 0; i < SUMS_AT_ONCE; i++) {
                        add(sums[i], values[1][i]);
                    }
                }
            }
#pragma unroll
            for (unsigned i = 0; i < SUMS_AT_ONCE; i++) {
                if (at + i * LANES < row_vectors) {
                    uint64_t place = token * row_vectors + at + i * LANES;
                    if (what.bias != nullptr) {
                        add(sums[i], ((const uint4 *)what.bias)[place]);
                    }
                    ((uint4 *)what.out)[place] = narrowed(sums[i]);
                }
            }
        }
    }
}

extern "C" __global__ void __launch_bounds__(COMBINE_THREADS) sluice_experts_normal_combine(combine what, normal in) {
    __shared__ meeting met;
    uint64_t generation = begin(in);
    if (generation == 0) {
        return;
    }
    bool is_bad = what.handle->generation == 0 || what.handle->tokens != (int)what.tokens;
    if (is_bad || (uint64_t)what.handle->received > what.rows) {
        fail(in.buffer, is_bad ? NOT_PREPARED : OVERFULL, in.buffer.rank, is_bad ? what.tokens : what.handle->received,
                what.rows);
        end(in, generation);
        return;
    }
    unsigned call = CALL_COMBINE | gridDim.x << CALL_BLOCKS_SHIFT;
    if (meet(in, generation, call, what.handle->generation, nullptr, what.patience, &met)) {
        if (threadIdx.x / LANES < what.senders) {
            send_back(what, in, generation);
        }
        add_up(what, in, generation);
    }
    end(in, generation);
}
