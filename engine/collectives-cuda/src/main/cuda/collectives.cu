/* The kernels of collectives, by the sizes that they serve. collectives.ptx is what nvcc makes of this file (make kernels). */
#include "collectives.cuh"

/* ---- small ones: each rank stores its bytes into the slots of the others, which see them by the flags among them ---- */

struct exchange {
    const char *in;         // what rank p gets is at in + p * in_stride
    char *out;              // what rank p sends comes to out + p * out_stride; what is reduced to out
    uint64_t in_stride;
    uint64_t out_stride;
    uint64_t bytes;         // from one rank to another
    uint64_t senders;       // a bit a rank
    uint64_t receivers;
    unsigned operation;
    unsigned signature;
};

static const unsigned UNIT = 8;

static __device__ uint2 load_unit(const char *from, uint64_t at, uint64_t bytes, bool is_aligned) {
    if (is_aligned && at + UNIT <= bytes) {
        return *(const uint2 *)(from + at);
    }
    uint2 unit = {};
    for (unsigned i = 0; i < UNIT && at + i < bytes; i++) {
        ((char *)&unit)[i] = from[at + i];
    }
    return unit;
}

static __device__ void store_unit(char *to, uint64_t at, uint64_t bytes, bool is_aligned, uint2 unit) {
    if (is_aligned && at + UNIT <= bytes) {
        *(uint2 *)(to + at) = unit;
        return;
    }
    for (unsigned i = 0; i < UNIT && at + i < bytes; i++) {
        to[at + i] = ((const char *)&unit)[i];
    }
}

static __device__ char *slot(const team &team, unsigned owner, unsigned sender, uint64_t generation) {
    return team.scratch[owner] + FLAGS_BYTES + ((generation & 1) * team.ranks + sender) * team.slot_bytes;
}

/* Each half of a message has a flag of its own. The second depends on all of the generation, and on the signature. */
static __device__ uint2 flags_of(uint64_t generation, unsigned signature) {
    return make_uint2(
            (unsigned)generation, (unsigned)generation + (unsigned)(generation >> 32) * 0x9e3779b9u + signature);
}

static __device__ uint2 receive(const char *from, uint2 flags, const team &team, unsigned peer) {
    uint4 message = load_message(from);
    watch waited = {};
    while ((message.y != flags.x || message.w != flags.y) && !is_over(&waited, team, peer, message.y == flags.x)) {
        message = load_message(from);
    }
    return make_uint2(message.x, message.z);
}

template <typename Element, bool REDUCES> static __device__ void exchanged(const exchange &what, const team &team) {
    uint64_t generation = begin(team);
    if (generation == 0) {
        return;
    }
    uint2 flags = flags_of(generation, what.signature);
    uint64_t value = reached(generation, what.signature);
    bool in_aligned = (((uintptr_t)what.in | what.in_stride) & (UNIT - 1)) == 0;
    bool out_aligned = (((uintptr_t)what.out | what.out_stride) & (UNIT - 1)) == 0;
    uint64_t stride = (uint64_t)gridDim.x * blockDim.x;
    uint64_t first = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;
    uint64_t units = (what.bytes + UNIT - 1) / UNIT;
    uint64_t me = 1ull << team.rank;
    uint64_t all = ~0ull >> (MOST_RANKS - team.ranks);
    bool meets = blockIdx.x == 0 && threadIdx.x < team.ranks && threadIdx.x != team.rank;
    if (meets) {
        // also for ranks that call something else
        store_relaxed(flag(team, threadIdx.x, false, team.rank), value);
    }
    if (what.senders & me) {
        for (uint64_t i = first; i < units; i += stride) {
            uint2 unit = load_unit(what.in, i * UNIT, what.bytes, in_aligned);
            for (unsigned k = 1; k < team.ranks; k++) {
                unsigned peer = team.rank + k < team.ranks ? team.rank + k : team.rank + k - team.ranks;
                if (what.receivers >> peer & 1) {
                    if (what.in_stride != 0) {
                        unit = load_unit(what.in + peer * what.in_stride, i * UNIT, what.bytes, in_aligned);
                    }
                    store_message(slot(team, peer, team.rank, generation) + 2 * UNIT * i,
                            make_uint4(unit.x, flags.x, unit.y, flags.y));
                }
            }
        }
    }
    if (what.receivers & me) {
        for (uint64_t i = first; i < units; i += stride) {
            wide_vector<Element, uint2> sum;
            bool is_first = true;
            for (unsigned peer = 0; peer < team.ranks; peer++) {
                if (!(what.senders >> peer & 1)) {
                    continue;
                }
                uint2 unit = peer == team.rank
                        ? load_unit(what.in + peer * what.in_stride, i * UNIT, what.bytes, in_aligned)
                        : receive(slot(team, team.rank, peer, generation) + 2 * UNIT * i, flags, team, peer);
                if (!REDUCES) {
                    store_unit(what.out + peer * what.out_stride, i * UNIT, what.bytes, out_aligned, unit);
                } else if (is_first) {
                    sum.set(unit);
                } else {
                    sum.combine(what.operation, unit);
                }
                is_first = false;
            }
            if (REDUCES) {
                store_unit(what.out, i * UNIT, what.bytes, out_aligned, sum.get(what.operation, team.ranks));
            }
        }
    }
    // messages alone say that a rank has begun, if all send to all
    if (meets && ((what.senders & what.receivers) != all || units == 0)) {
        await_flag(team, value, false, threadIdx.x);
    }
    end(team, generation);
}

extern "C" __global__ void __launch_bounds__(THREADS) sluice_exchange(exchange what, team team) {
    exchanged<uint8_t, false>(what, team);
}

/* ---- middle ones: each block pushes vectors into the slots of the others, then raises its flags there ---- */

/* Up to 16 bytes at a place. */
static __device__ uint4 load_bytes(const char *from, uint64_t bytes) {
    uint64_t low = 0;
    uint64_t high = 0;
#pragma unroll 1
    for (unsigned i = 0; i < sizeof(uint4) && i < bytes; i++) {
        uint64_t byte = (uint64_t)(uint8_t)from[i] << 8 * (i % 8);
        low |= i < 8 ? byte : 0;
        high |= i < 8 ? 0 : byte;
    }
    return make_uint4((unsigned)low, (unsigned)(low >> 32), (unsigned)high, (unsigned)(high >> 32));
}

static __device__ void store_bytes(char *to, uint64_t bytes, uint4 vector) {
    uint64_t low = (uint64_t)vector.y << 32 | vector.x;
    uint64_t high = (uint64_t)vector.w << 32 | vector.z;
#pragma unroll 1
    for (unsigned i = 0; i < sizeof(uint4) && i < bytes; i++) {
        to[i] = (char)((i < 8 ? low : high) >> 8 * (i % 8));
    }
}

/*
 * A set is written again two launches later, of any kind: this rank has then ended the launch between, which no rank ends before
 * all others have begun it, so that the slot's owner has ended the launch that read it.
 */
static __device__ char *push_slot(const team &team, unsigned owner, unsigned sender, uint64_t generation) {
    uint64_t slots = FLAGS_BYTES + 2ull * team.ranks * team.slot_bytes;
    return team.scratch[owner] + slots + ((generation & 1) * team.ranks + sender) * team.push_slot_bytes;
}

/* Vectors of this rank's bytes: whole ones of aligned memory, or others. Which block has which is the same on all ranks. */
template <bool IS_WHOLE, unsigned AT_ONCE>
static __device__ void load_vectors(uint4 *vectors, const char *from, uint64_t bytes, uint64_t i, uint64_t end) {
    uint64_t stride = (uint64_t)gridDim.x * blockDim.x;
#pragma unroll
    for (unsigned k = 0; k < AT_ONCE; k++) {
        uint64_t at = i + k * stride;
        if (at < end) {
            vectors[k] = IS_WHOLE ? ((const uint4 *)from)[at]
                                  : load_bytes(from + at * sizeof(uint4), bytes - at * sizeof(uint4));
        }
    }
}

template <bool IS_WHOLE, unsigned AT_ONCE>
static __device__ void push_vectors(
        const exchange &what, const team &team, uint64_t generation, uint64_t first, uint64_t end) {
    uint64_t stride = (uint64_t)gridDim.x * blockDim.x;
    for (uint64_t i = first; i < end; i += AT_ONCE * stride) {
        uint4 vectors[AT_ONCE];
        for (unsigned step = 1; step < team.ranks; step++) {
            unsigned peer = team.rank + step < team.ranks ? team.rank + step : team.rank + step - team.ranks;
            if (step == 1 || what.in_stride != 0) {
                load_vectors<IS_WHOLE, AT_ONCE>(vectors, what.in + peer * what.in_stride, what.bytes, i, end);
            }
            uint4 *to = (uint4 *)push_slot(team, peer, team.rank, generation);
#pragma unroll
            for (unsigned k = 0; k < AT_ONCE; k++) {
                if (i + k * stride < end) {
                    to[i + k * stride] = vectors[k];
                }
            }
        }
    }
}

template <typename Element, bool IS_WHOLE, unsigned AT_ONCE>
static __device__ void reduce_pushed(
        const exchange &what, const team &team, uint64_t generation, uint64_t first, uint64_t end) {
    uint64_t stride = (uint64_t)gridDim.x * blockDim.x;
    for (uint64_t i = first; i < end; i += AT_ONCE * stride) {
        wide_vector<Element, uint4> sums[AT_ONCE];
        for (unsigned peer = 0; peer < team.ranks; peer++) {
            uint4 vectors[AT_ONCE];
            if (peer == team.rank) {
                load_vectors<IS_WHOLE, AT_ONCE>(vectors, what.in + peer * what.in_stride, what.bytes, i, end);
            } else {
                const char *from = push_slot(team, team.rank, peer, generation);
#pragma unroll
                for (unsigned k = 0; k < AT_ONCE; k++) {
                    if (i + k * stride < end) {
                        vectors[k] = load_message(from + (i + k * stride) * sizeof(uint4));
                    }
                }
            }
#pragma unroll
            for (unsigned k = 0; k < AT_ONCE; k++) {
                if (peer == 0) {
                    sums[k].set(vectors[k]);
                } else {
                    sums[k].combine(what.operation, vectors[k]);
                }
            }
        }
#pragma unroll
        for (unsigned k = 0; k < AT_ONCE; k++) {
            uint64_t at = i + k * stride;
            if (at < end) {
                uint4 vector = sums[k].get(what.operation, team.ranks);
                if (IS_WHOLE) {
                    ((uint4 *)what.out)[at] = vector;
                } else {
                    store_bytes(what.out + at * sizeof(uint4), what.bytes - at * sizeof(uint4), vector);
                }
            }
        }
    }
}

/* As meet at last; the first block also looks at the first flags, which ranks that call something else raise as well. */
static __device__ bool meet_pushed(const team &team, uint64_t value) {
    bool has_failed = false;
    unsigned peer = threadIdx.x % MOST_RANKS;
    unsigned half = threadIdx.x / MOST_RANKS;
    __syncthreads();
    if (peer < team.ranks && peer != team.rank) {
        if (half == 0) {
            store_release(flag(team, peer, true, team.rank), value);
            has_failed = !await_flag(team, value, true, peer);
        } else if (half == 1 && blockIdx.x == 0) {
            has_failed = !await_flag(team, value, false, peer);
        }
    }
    return !__syncthreads_or(has_failed);
}

template <typename Element> static __device__ void pushed(const exchange &what, const team &team) {
    uint64_t generation = begin(team);
    if (generation == 0) {
        return;
    }
    uint64_t value = reached(generation, what.signature);
    if (blockIdx.x == 0 && threadIdx.x < team.ranks && threadIdx.x != team.rank) {
        store_relaxed(flag(team, threadIdx.x, false, team.rank), value);
    }
    // so that the driver has less to compile
    static const unsigned AT_ONCE = sizeof(Element) <= 2 ? 2 : 4;
    bool is_aligned = (((uintptr_t)what.in | (uintptr_t)what.out | what.in_stride) & (sizeof(uint4) - 1)) == 0;
    uint64_t stride = (uint64_t)gridDim.x * blockDim.x;
    uint64_t vectors = (what.bytes + sizeof(uint4) - 1) / sizeof(uint4);
    uint64_t whole = is_aligned ? what.bytes / sizeof(uint4) : 0;
    uint64_t first = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;
    uint64_t next = first;
    while (next < whole) {
        next += stride;
    }
    push_vectors<true, AT_ONCE>(what, team, generation, first, whole);
    push_vectors<false, 1>(what, team, generation, next, vectors);
    if (meet_pushed(team, value)) {
        reduce_pushed<Element, true, AT_ONCE>(what, team, generation, first, whole);
        reduce_pushed<Element, false, 1>(what, team, generation, next, vectors);
    }
    end(team, generation);
}

/* ---- large ones: straight from and to the memory of the ranks ---- */

struct reduction {
    const char *in[MOST_RANKS];     // this rank's slice, as each rank has it
    char *out[MOST_RANKS];          // where its result goes, or NULL
    uint64_t bytes;                 // of the slice
    unsigned operation;
    unsigned signature;
    uint64_t is_aligned;            // all addresses, to 16
};

template <typename Element, typename Vector, unsigned AT_ONCE>
static __device__ void reduce_vectors(const reduction &what, const team &team, uint64_t first_byte, uint64_t count) {
    uint64_t stride = (uint64_t)gridDim.x * blockDim.x;
    for (uint64_t i = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += AT_ONCE * stride) {
        wide_vector<Element, Vector> sums[AT_ONCE];
        for (unsigned peer = 0; peer < team.ranks; peer++) {
            const Vector *from = (const Vector *)(what.in[peer] + first_byte);
            Vector values[AT_ONCE];
#pragma unroll
            for (unsigned k = 0; k < AT_ONCE; k++) {
                if (i + k * stride < count) {
                    values[k] = from[i + k * stride];
                }
            }
#pragma unroll
            for (unsigned k = 0; k < AT_ONCE; k++) {
                if (peer == 0) {
                    sums[k].set(values[k]);
                } else {
                    sums[k].combine(what.operation, values[k]);
                }
            }
        }
#pragma unroll
        for (unsigned k = 0; k < AT_ONCE; k++) {
            if (i + k * stride < count) {
                Vector value = sums[k].get(what.operation, team.ranks);
                for (unsigned step = 1; step <= team.ranks; step++) {
                    unsigned peer = (team.rank + step) % team.ranks;
                    if (what.out[peer] != nullptr) {
                        ((Vector *)(what.out[peer] + first_byte))[i + k * stride] = value;
                    }
                }
            }
        }
    }
}

template <typename Element> static __device__ void reduced(const reduction &what, const team &team) {
    uint64_t generation = begin(team);
    if (generation == 0) {
        return;
    }
    uint64_t value = reached(generation, what.signature);
    if (!meet(team, value, false)) {
        end(team, generation);
        return;
    }
    uint64_t vectors = what.is_aligned ? what.bytes / sizeof(uint4) : 0;
    // so that what a thread has under way stays in registers
    static const unsigned AT_ONCE = sizeof(Element) == 1 ? 2 : sizeof(Element) == 2 ? 4 : 8;
    reduce_vectors<Element, uint4, AT_ONCE>(what, team, 0, vectors);
    uint64_t rest = vectors * sizeof(uint4);
    reduce_vectors<Element, Element, 4>(what, team, rest, (what.bytes - rest) / sizeof(Element));
    meet(team, value, true);
    end(team, generation);
}

struct copies {
    const char *from[MOST_RANKS];
    char *to[MOST_RANKS];           // in the memory of each rank
    uint64_t bytes[MOST_RANKS];
    uint64_t signature;
};

template <typename Vector, unsigned AT_ONCE>
static __device__ void copy_vectors(char *to, const char *from, uint64_t count, uint64_t i, uint64_t stride) {
    Vector values[AT_ONCE];
#pragma unroll
    for (unsigned k = 0; k < AT_ONCE; k++) {
        if (i + k * stride < count) {
            values[k] = ((const Vector *)from)[i + k * stride];
        }
    }
#pragma unroll
    for (unsigned k = 0; k < AT_ONCE; k++) {
        if (i + k * stride < count) {
            ((Vector *)to)[i + k * stride] = values[k];
        }
    }
}

/* The copies to all ranks go on together, as they take different ways. */
extern "C" __global__ void __launch_bounds__(THREADS) sluice_copy_to_ranks(copies what, team team) {
    static const unsigned AT_ONCE = 8;
    uint64_t generation = begin(team);
    if (generation == 0) {
        return;
    }
    uint64_t value = reached(generation, (unsigned)what.signature);
    if (!meet(team, value, false)) {
        end(team, generation);
        return;
    }
    uint64_t stride = (uint64_t)gridDim.x * blockDim.x;
    uint64_t first = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;
    uint64_t most = 0;
    for (unsigned peer = 0; peer < team.ranks; peer++) {
        most = what.bytes[peer] > most ? what.bytes[peer] : most;
    }
    for (uint64_t i = first; i < most / sizeof(uint4) + 1; i += AT_ONCE * stride) {
        for (unsigned step = 1; step <= team.ranks; step++) {
            unsigned peer = (team.rank + step) % team.ranks;
            char *to = what.to[peer];
            const char *from = what.from[peer];
            uint64_t bytes = what.bytes[peer];
            if ((((uintptr_t)to | (uintptr_t)from) & (sizeof(uint4) - 1)) == 0) {
                copy_vectors<uint4, AT_ONCE>(to, from, bytes / sizeof(uint4), i, stride);
            }
        }
    }
    for (unsigned step = 1; step <= team.ranks; step++) {
        unsigned peer = (team.rank + step) % team.ranks;
        char *to = what.to[peer];
        const char *from = what.from[peer];
        bool is_aligned = (((uintptr_t)to | (uintptr_t)from) & (sizeof(uint4) - 1)) == 0;
        uint64_t rest = is_aligned ? what.bytes[peer] / sizeof(uint4) * sizeof(uint4) : 0;
        for (uint64_t i = first; i < what.bytes[peer] - rest; i += AT_ONCE * stride) {
            copy_vectors<char, AT_ONCE>(to + rest, from + rest, what.bytes[peer] - rest, i, stride);
        }
    }
    meet(team, value, true);
    end(team, generation);
}

#define REDUCING(name, Element)                                                                         \
    extern "C" __global__ void __launch_bounds__(THREADS) sluice_exchange_##name(exchange what, team team) { \
        exchanged<Element, true>(what, team);                                                           \
    }                                                                                                   \
    extern "C" __global__ void __launch_bounds__(THREADS) sluice_push_##name(exchange what, team team) { \
        pushed<Element>(what, team);                                                                    \
    }                                                                                                   \
    extern "C" __global__ void __launch_bounds__(THREADS) sluice_reduce_##name(reduction what, team team) { \
        reduced<Element>(what, team);                                                                   \
    }

REDUCING(int8, int8_t)
REDUCING(uint8, uint8_t)
REDUCING(int32, int32_t)
REDUCING(uint32, uint32_t)
REDUCING(int64, int64_t)
REDUCING(uint64, uint64_t)
REDUCING(float16, __half)
REDUCING(bfloat16, bfloat16)
REDUCING(float32, float)
REDUCING(float64, double)
