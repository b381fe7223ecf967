/* What combines of low latency have in common, in any format of what travels. */
#ifndef LOW_LATENCY_COMBINE_CUH
#define LOW_LATENCY_COMBINE_CUH

#include "low_latency.cuh"

/* What ranks must have in common: the dispatch, and the format. */
static __device__ __forceinline__ uint64_t combined_signal(uint64_t generation, uint64_t dispatched, combine_format format) {
    return signal_of(generation, (unsigned)dispatched << 1 | format);
}

/* A launch that sends, or receives, results. */
struct combining {
    low_latency_words *own;
    uint64_t generation;
    uint64_t dispatched;    // the generation of the dispatch
    unsigned rows;          // of the result

    __device__ void read(const combine &what, const shape &shape, const buffer &buffer, bool is_sending) {
        own = words_of(buffer, shape, buffer.rank);
        const result_words *words = &own->results[what.index];
        generation = is_sending ? *(volatile uint64_t *)&own->combines + 1 : *(volatile uint64_t *)&words->combine;
        dispatched = *(volatile uint64_t *)&words->dispatch;
        rows = (unsigned)*(volatile uint64_t *)&words->rows;
    }

    __device__ unsigned set() const {
        return generation & 1;
    }

    /* Whether the slots of all ranks may be written. */
    __device__ bool may_send(const combine &what, const buffer &buffer) const {
        return may_begin(buffer, own->combine_taken[set()], taken_before(generation), what.patience);
    }

    /* Whether the results of all ranks are here. */
    __device__ bool may_receive(const combine &what, const buffer &buffer, combine_format format) const {
        return may_begin(
                buffer, own->combined[set()], combined_signal(generation, dispatched, format), what.patience);
    }

    /* Where the host finds the rows that it is to carry; by all blocks together. */
    __device__ void put_places(const result &from, const shape &shape, const buffer &buffer) const {
        uint64_t *places = shape.host->places + (uint64_t)set() * shape.local_experts * buffer.ranks * shape.tokens;
#pragma unroll 1
        for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < rows; i += gridDim.x * blockDim.x) {
            places[i] = from.places[i];
        }
    }

    __device__ void end_send(
            const combine &what, const result &from, const shape &shape, const buffer &buffer, combine_format format) const {
        // behind the rows, when registers are free
        if (shape.proxied != 0) {
            put_places(from, shape, buffer);
        }
        if (ends_launch(buffer)) {
            if (shape.proxied != 0) {
                proxy_call_of(shape, WORD_AT(combined, set(), 0))->rows = rows;
            }
            tell_ranks(
                    buffer, shape, WORD_AT(combined, set(), buffer.rank), combined_signal(generation, dispatched, format));
            own->results[what.index].combine = generation;
            *(volatile uint64_t *)&own->combines = generation;
        }
    }

    __device__ void end_receive(const shape &shape, const buffer &buffer) const {
        if (ends_reading(buffer)) {
            tell_ranks(buffer, shape, WORD_AT(combine_taken, set(), buffer.rank), signal_of(generation, 0));
        }
    }
};

/* Where the first slot of a set is in a window. */
static __device__ __forceinline__ uint64_t slots_of(const shape &shape, unsigned set, unsigned hidden) {
    return shape.slots_at + (uint64_t)set * shape.tokens * shape.top_k * hidden * 2;
}

/* A place: the row of a result, and where it goes. */
static __device__ __forceinline__ uint64_t row_of(uint64_t place) {
    return place >> 32;
}

static __device__ __forceinline__ unsigned rank_of(uint64_t place) {
    return (unsigned)place >> SLOT_BITS;
}

static __device__ __forceinline__ unsigned slot_of(uint64_t place) {
    return (unsigned)place & ((1u << SLOT_BITS) - 1);
}

/* What a lane knows of one of a token's choices. */
struct choice {
    int64_t expert;
    float weight;
    unsigned sent;          // to the expert, and 1

    __device__ void read(const combine &what, const result &from, const shape &shape, unsigned token) {
        unsigned lane = threadIdx.x % WARP;
        expert = -1;
        weight = 0;
        sent = 0;
        if (token < what.tokens && lane < shape.top_k) {
            uint64_t slot = (uint64_t)token * shape.top_k + lane;
            expert = what.choices[slot];
            weight = what.weights[slot];
            sent = from.sent[slot];
        }
    }

    /* A bit for each choice that counts. False if the token was not sent there: what lies in the slot is of another combine. */
    __device__ bool find(unsigned *counted, const buffer &buffer, unsigned token) const {
        bool counts = expert >= 0;
        bool is_bad = counts && sent != (uint64_t)expert + 1;
        if (is_bad) {
            fail(buffer, NOT_DISPATCHED, buffer.rank, token, (uint64_t)expert);
        }
        *counted = __ballot_sync(ALL, counts);
        return !__any_sync(ALL, is_bad);
    }

    /* Of choice k. All lanes. */
    __device__ float weight_of(unsigned k) const {
        return __shfl_sync(ALL, weight, k % WARP);
    }
};

static __device__ __forceinline__ unsigned bfloat16_of(float value) {
    unsigned bits = __float_as_uint(value);
    return value != value ? 0x7fc0 : (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
}

static __device__ __forceinline__ uint4 bfloat16_of(const float *values) {
    return make_uint4(
            bfloat16_of(values[0]) | bfloat16_of(values[1]) << 16,
            bfloat16_of(values[2]) | bfloat16_of(values[3]) << 16,
            bfloat16_of(values[4]) | bfloat16_of(values[5]) << 16,
            bfloat16_of(values[6]) | bfloat16_of(values[7]) << 16);
}

/* Nothing is fused: a product is rounded before it is added. */
static __device__ __forceinline__ void add(float *sum, float value, float weight) {
    *sum = __fadd_rn(*sum, __fmul_rn(weight, value));
}

static __device__ __forceinline__ void add(float *sums, unsigned pair, float weight) {
    add(&sums[0], __uint_as_float(pair << 16), weight);
    add(&sums[1], __uint_as_float(pair & 0xffff0000), weight);
}

#endif
