/* The kernels of low latency: dispatch, which is included, and combine, in two halves each. */
#include "low_latency_dispatch.cuh"
#include "low_latency_logfmt.cuh"

/* ---- combine, the half that sends ---- */

static const unsigned PIECE = COPIES_AT_ONCE * WARP;    // vectors that a warp copies together

/* The pieces of all rows that a warp copies; each lane knows one of those that come next. */
struct pieces {
    uint64_t lane_place;
    unsigned lane_first;
    unsigned rest;          // a bit for each that is to come
    unsigned begin;         // the number of the first
    // that which is under way
    bool is_there;
    uint64_t place;
    unsigned first;         // vector

    __device__ void read(const result &from, unsigned all, unsigned of_row, unsigned warps) {
        unsigned piece = begin + threadIdx.x % WARP * warps;
        lane_place = piece < all ? from.places[piece / of_row] : 0;
        lane_first = piece % of_row * PIECE;
        rest = __ballot_sync(ALL, piece < all);
    }

    __device__ void next(const result &from, unsigned all, unsigned of_row, unsigned warps) {
        if (rest == 0 && begin < all) {
            begin += WARP * warps;
            read(from, all, of_row, warps);
        }
        is_there = rest != 0;
        unsigned lane = is_there ? __ffs(rest) - 1 : 0;
        rest &= rest - 1;
        place = __shfl_sync(ALL, lane_place, lane);
        first = __shfl_sync(ALL, lane_first, lane);
    }
};

template <unsigned HIDDEN> static __device__ __forceinline__ bool is_in_row(unsigned vector, unsigned vectors) {
    return (HIDDEN != 0 && HIDDEN * 2 / sizeof(uint4) % PIECE == 0) || vector < vectors;
}

template <unsigned HIDDEN>
static __device__ __forceinline__ void load_piece(uint4 *values, const pieces &pieces, const char *y, unsigned hidden) {
    const uint4 *from = (const uint4 *)(y + row_of(pieces.place) * hidden * 2);
#pragma unroll
    for (unsigned i = 0; i < COPIES_AT_ONCE; i++) {
        unsigned vector = pieces.first + i * WARP + threadIdx.x % WARP;
        if (pieces.is_there && is_in_row<HIDDEN>(vector, hidden * 2 / sizeof(uint4))) {
            values[i] = from[vector];
        }
    }
}

template <unsigned HIDDEN>
static __device__ void send_combine(const combine &what, const result &from, const shape &shape, const buffer &buffer) {
    unsigned hidden = HIDDEN == 0 ? shape.hidden : HIDDEN;
    combining combining;
    combining.read(what, shape, buffer, true);
    unsigned vectors = hidden * 2 / sizeof(uint4);
    unsigned of_row = (vectors + PIECE - 1) / PIECE;
    unsigned all = combining.rows * of_row;
    unsigned warps = gridDim.x * (THREADS / WARP);
    pieces pieces;
    pieces.begin = blockIdx.x * (THREADS / WARP) + threadIdx.x / WARP;
    pieces.read(from, all, of_row, warps);
    pieces.next(from, all, of_row, warps);
    // places are good even if the buffer has failed: each was written once
    uint4 values[COPIES_AT_ONCE];
    load_piece<HIDDEN>(values, pieces, what.y, hidden);
    if (!combining.may_send(what, buffer)) {
        return;
    }
    uint64_t slots_at = slots_of(shape, combining.set(), hidden);
    while (pieces.is_there) {
        unsigned first = pieces.first;
        uint4 *target = (uint4 *)(buffer.windows[rank_of(pieces.place)] + slots_at
                + (uint64_t)slot_of(pieces.place) * hidden * 2);
        pieces.next(from, all, of_row, warps);
        uint4 ahead[COPIES_AT_ONCE];
        load_piece<HIDDEN>(ahead, pieces, what.y, hidden);
#pragma unroll
        for (unsigned i = 0; i < COPIES_AT_ONCE; i++) {
            unsigned vector = first + i * WARP + threadIdx.x % WARP;
            if (is_in_row<HIDDEN>(vector, vectors)) {
                target[vector] = values[i];
            }
            values[i] = ahead[i];
        }
    }
    combining.end_send(what, from, shape, buffer, AS_IT_IS);
}

/* ---- combine, the half that receives ---- */

template <unsigned HIDDEN>
static __device__ void receive_combine(
        const combine &what, const result &from, const shape &shape, const buffer &buffer) {
    static const unsigned AT_ONCE = 8;
    static const unsigned VECTORS = 2;      // of a thread
    unsigned hidden = HIDDEN == 0 ? shape.hidden : HIDDEN;
    // early, as it is of this rank alone
    choice next;
    next.read(what, from, shape, blockIdx.x);
    combining combining;
    combining.read(what, shape, buffer, false);
    if (!combining.may_receive(what, buffer, AS_IT_IS)) {
        return;
    }
    unsigned vectors = hidden * 2 / sizeof(uint4);
    const char *set_slots = buffer.windows[buffer.rank] + slots_of(shape, combining.set(), hidden);
    for (unsigned token = blockIdx.x; token < what.tokens; token += gridDim.x) {
        choice here = next;
        next.read(what, from, shape, token + gridDim.x);
        unsigned counted;
        if (!here.find(&counted, buffer, token)) {
            return;
        }
        const uint4 *slots = (const uint4 *)(set_slots + (uint64_t)token * shape.top_k * hidden * 2);
        for (unsigned begin = threadIdx.x; begin - threadIdx.x < vectors; begin += VECTORS * THREADS) {
            float sums[VECTORS][8] = {};
            for (unsigned k = 0; k < shape.top_k; k += AT_ONCE) {
                uint4 values[AT_ONCE][VECTORS];
                float weights[AT_ONCE];
                bool counts[AT_ONCE];
#pragma unroll
                for (unsigned i = 0; i < AT_ONCE; i++) {
                    weights[i] = here.weight_of(k + i);
                    counts[i] = k + i < shape.top_k && (counted >> (k + i) & 1);
#pragma unroll
                    for (unsigned j = 0; j < VECTORS; j++) {
                        if (counts[i] && begin + j * THREADS < vectors) {
                            values[i][j] = slots[(uint64_t)(k + i) * vectors + begin + j * THREADS];
                        }
                    }
                }
#pragma unroll
                for (unsigned i = 0; i < AT_ONCE; i++) {
#pragma unroll
                    for (unsigned j = 0; counts[i] && j < VECTORS; j++) {
                        add(&sums[j][0], values[i][j].x, weights[i]);
                        add(&sums[j][2], values[i][j].y, weights[i]);
                        add(&sums[j][4], values[i][j].z, weights[i]);
                        add(&sums[j][6], values[i][j].w, weights[i]);
                    }
                }
            }
#pragma unroll
            for (unsigned j = 0; j < VECTORS; j++) {
                if (begin + j * THREADS < vectors) {
                    ((uint4 *)(what.out + (uint64_t)token * hidden * 2))[begin + j * THREADS] = bfloat16_of(sums[j]);
                }
            }
        }
    }
    combining.end_receive(shape, buffer);
}

/* ---- the kernels: of common hidden lengths, and of any ---- */

#define KERNEL(name, call, function)                                                             \
    extern "C" __global__ void __launch_bounds__(THREADS) sluice_experts_##name(                 \
            call what, result result, shape shape, buffer buffer) {                              \
        function(what, result, shape, buffer);                                                   \
    }

#define KERNELS(suffix, HIDDEN)                                                 \
    KERNEL(dispatch_send##suffix, dispatch, send_dispatch<HIDDEN>)              \
    KERNEL(dispatch_receive##suffix, dispatch, receive_dispatch<HIDDEN>)        \
    KERNEL(combine_send##suffix, combine, send_combine<HIDDEN>)                 \
    KERNEL(combine_receive##suffix, combine, receive_combine<HIDDEN>)

KERNELS(, 0)
KERNELS(_2048, 2048)
KERNELS(_4096, 4096)
KERNELS(_7168, 7168)
KERNEL(combine_send_logfmt, combine, send_logfmt)
KERNEL(combine_receive_logfmt, combine, receive_logfmt)
