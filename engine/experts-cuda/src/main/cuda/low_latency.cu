/* The kernels of low latency: dispatch, which is included, and combine, in two halves each. */
#include "low_latency_dispatch.cuh"

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
