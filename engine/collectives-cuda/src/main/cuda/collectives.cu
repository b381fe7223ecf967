/*
 * Collectives among GPUs that reach each other's memory. collectives.ptx is what nvcc makes of this file (make kernels).
 *
 * Each rank launches the same kernel, with as many blocks, and has a scratch that all others have mapped:
 *
 *   flags      [2 meetings][MOST_BLOCKS][MOST_RANKS] of 64 bits: the generation that a block of another rank has reached
 *   slots      [2 sets][ranks][slot_bytes]: messages of other ranks, 8 bytes and their flag in 16 bytes
 *
 * A generation is the number of a launch, counted in the GPU's memory, so that a graph may be launched again and again; flags carry
 * it, so that nothing is ever cleared. A slot of one set is written again two launches later: as no rank ends a launch before all others
 * have begun it, the slot's owner has then ended the launch that read it.
 *
 * Flags also carry a part of the launch's signature, a number that ranks have in common if they call the same.
 *
 * A wait is bounded. When a rank does not come or calls another collective, or the host says so, an error word says who, and this and
 * later launches end without doing anything; what they should have written is undefined.
 */
#include <cstdint>
#include <cuda_fp16.h>

static const unsigned MOST_RANKS = 64;
static const unsigned MOST_BLOCKS = 256;
static const unsigned THREADS = 512;
static const uint64_t FLAGS_BYTES = 2ull * MOST_BLOCKS * MOST_RANKS * sizeof(uint64_t);
/* How often a wait looks before it looks at the clock as well. */
static const unsigned LOOKS = 256;
/* One thread at a time asks the host, which is far away. */
static const uint64_t ASKING_NANOSECONDS = 50000;

/* In the GPU's memory. */
struct progress {
    uint64_t generation;
    unsigned blocks;        // of this launch that have ended
    unsigned failed;
    uint64_t asked_at;      // when a thread last looked whether the host has revoked the team, in nanoseconds
};

/* In the host's memory. */
static const uint64_t DIFFERS = 1ull << 32;

struct words {
    uint64_t is_revoked;    // by the host
    uint64_t failure;       // the rank that has not come, and 1; with DIFFERS it calls something else
};

struct team {
    char *scratch[MOST_RANKS];  // of each rank, as this GPU reaches it
    progress *state;
    words *host;
    uint64_t slot_bytes;
    uint64_t patience;          // nanoseconds
    unsigned rank;
    unsigned ranks;
};

enum operation { SUM = 1, PRODUCT, MIN, MAX, AVERAGE };

/* ---- words that other GPUs store ---- */

static __device__ uint64_t nanoseconds() {
    uint64_t time;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(time));
    return time;
}

static __device__ void store_relaxed(uint64_t *to, uint64_t value) {
    asm volatile("st.relaxed.sys.global.u64 [%0], %1;" ::"l"(to), "l"(value) : "memory");
}

static __device__ void store_release(uint64_t *to, uint64_t value) {
    asm volatile("st.release.sys.global.u64 [%0], %1;" ::"l"(to), "l"(value) : "memory");
}

static __device__ uint64_t load_acquire(const uint64_t *from) {
    uint64_t value;
    asm volatile("ld.acquire.sys.global.u64 %0, [%1];" : "=l"(value) : "l"(from) : "memory");
    return value;
}

static __device__ uint4 load_message(const char *from) {
    uint4 value;
    asm volatile("ld.volatile.global.v4.u32 {%0,%1,%2,%3}, [%4];"
            : "=r"(value.x), "=r"(value.y), "=r"(value.z), "=r"(value.w) : "l"(from) : "memory");
    return value;
}

static __device__ void store_message(char *to, uint4 value) {
    asm volatile("st.volatile.global.v4.u32 [%0], {%1,%2,%3,%4};"
            ::"l"(to), "r"(value.x), "r"(value.y), "r"(value.z), "r"(value.w) : "memory");
}

struct watch {
    unsigned looks;
    unsigned differing;     // of the last ones
    uint64_t end;
};

static __device__ bool is_revoked(const team &team, uint64_t now) {
    unsigned long long *asked_at = (unsigned long long *)&team.state->asked_at;
    uint64_t last = *(volatile unsigned long long *)asked_at;
    return now - last > ASKING_NANOSECONDS && atomicCAS(asked_at, last, now) == last
            && *(volatile uint64_t *)&team.host->is_revoked != 0;
}

/* Whether to wait no longer for a rank, after a look that did not see it, or saw something else of it. */
static __device__ bool is_over(watch *waited, const team &team, unsigned rank, bool differs) {
    waited->differing = differs ? waited->differing + 1 : 0;
    if (++waited->looks % LOOKS != 0) {
        return false;
    }
    if (*(volatile unsigned *)&team.state->failed) {
        return true;
    }
    uint64_t now = nanoseconds();
    if (waited->end == 0) {
        waited->end = now + team.patience;
    }
    // one half of a message may come before the other, but not for so long
    bool is_other = waited->differing >= LOOKS;
    if (!is_other && now < waited->end && !is_revoked(team, now)) {
        return false;
    }
    if (atomicExch(&team.state->failed, 1) == 0) {
        *(volatile uint64_t *)&team.host->failure = rank + 1 + (is_other ? DIFFERS : 0);
    }
    return true;
}

/* ---- a launch ---- */

/* The last block counts the launch. */
static __device__ void end(const team &team, uint64_t generation) {
    __syncthreads();
    if (threadIdx.x == 0 && atomicAdd(&team.state->blocks, 1u) == gridDim.x - 1) {
        *(volatile unsigned *)&team.state->blocks = 0;
        *(volatile uint64_t *)&team.state->generation = generation;
    }
}

/* The launch's generation, or 0 if it is to do nothing more, as one has failed. */
static __device__ uint64_t begin(const team &team) {
    uint64_t generation = *(volatile uint64_t *)&team.state->generation + 1;
    // the threads of a block decide alike; other blocks of this launch may have begun it
    if (!__syncthreads_or(*(volatile unsigned *)&team.state->failed)) {
        return generation;
    }
    end(team, generation);
    return 0;
}

static __device__ uint64_t *flag(const team &team, unsigned owner, bool is_last, unsigned sender) {
    uint64_t place = ((uint64_t)is_last * MOST_BLOCKS + blockIdx.x) * MOST_RANKS;
    return (uint64_t *)team.scratch[owner] + place + sender;
}

static const unsigned SIGNATURE_BITS = 16;

/* What a flag holds in a launch. */
static __device__ uint64_t reached(uint64_t generation, unsigned signature) {
    return generation << SIGNATURE_BITS | (signature & ((1u << SIGNATURE_BITS) - 1));
}

/* False if the rank does not come. */
static __device__ bool await_flag(const team &team, uint64_t value, bool is_last, unsigned sender) {
    const uint64_t *own = flag(team, team.rank, is_last, sender);
    watch waited = {};
    for (;;) {
        uint64_t seen = load_acquire(own);
        bool has_come = seen >> SIGNATURE_BITS >= value >> SIGNATURE_BITS;
        bool differs = seen >> SIGNATURE_BITS == value >> SIGNATURE_BITS && seen != value;
        if (has_come && !differs) {
            return true;
        }
        if (is_over(&waited, team, sender, differs)) {
            return false;
        }
    }
}

/*
 * A block waits for the same block of all other ranks: at first for their memory, or at last for what they write here. False if one does
 * not come: nothing may be read or written there.
 */
static __device__ bool meet(const team &team, uint64_t value, bool is_last) {
    bool has_failed = false;
    __syncthreads();
    for (unsigned peer = threadIdx.x; peer < team.ranks; peer += blockDim.x) {
        if (peer == team.rank) {
            continue;
        }
        // behind what all threads of the block, and earlier kernels, have read and written
        store_release(flag(team, peer, is_last, team.rank), value);
        has_failed |= !await_flag(team, value, is_last, peer);
    }
    return !__syncthreads_or(has_failed);
}

/* ---- elements ---- */

struct bfloat16 {
    uint16_t bits;
};

/* What an element is computed in. */
template <typename Element> struct element {
    typedef Element wide;
    static __device__ wide widen(Element value) {
        return value;
    }
    static __device__ Element narrow(wide value) {
        return value;
    }
    static __device__ wide divide(wide value, unsigned divisor) {
        return (wide)(value / (wide)divisor);
    }
};

/* The NaN that all processors agree on. */
static __device__ float canonical(float value) {
    return value != value ? __int_as_float(0x7fc00000) : value;
}

static __device__ double canonical(double value) {
    return value != value ? __longlong_as_double(0x7ff8000000000000) : value;
}

template <> struct element<float> {
    typedef float wide;
    static __device__ float widen(float value) {
        return value;
    }
    static __device__ float narrow(float value) {
        return canonical(value);
    }
    static __device__ float divide(float value, unsigned divisor) {
        return __fdiv_rn(value, (float)divisor);
    }
};

template <> struct element<double> {
    typedef double wide;
    static __device__ double widen(double value) {
        return value;
    }
    static __device__ double narrow(double value) {
        return canonical(value);
    }
    static __device__ double divide(double value, unsigned divisor) {
        return __ddiv_rn(value, (double)divisor);
    }
};

template <> struct element<__half> {
    typedef float wide;
    static __device__ float widen(__half value) {
        return __half2float(value);
    }
    static __device__ __half narrow(float value) {
        return value != value ? __ushort_as_half(0x7e00) : __float2half_rn(value);
    }
    static __device__ float divide(float value, unsigned divisor) {
        return __fdiv_rn(value, (float)divisor);
    }
};

template <> struct element<bfloat16> {
    typedef float wide;
    static __device__ float widen(bfloat16 value) {
        return __uint_as_float((unsigned)value.bits << 16);
    }
    static __device__ bfloat16 narrow(float value) {
        unsigned bits = __float_as_uint(value);
        return {(uint16_t)(value != value ? 0x7fc0 : (bits + 0x7fff + (bits >> 16 & 1)) >> 16)};
    }
    static __device__ float divide(float value, unsigned divisor) {
        return __fdiv_rn(value, (float)divisor);
    }
};

template <typename Wide> static __device__ Wide least(Wide left, Wide right) {
    return right < left ? right : left;
}

template <typename Wide> static __device__ Wide greatest(Wide left, Wide right) {
    return left < right ? right : left;
}

/* A NaN wins, and -0 is below +0. */
static __device__ float least(float left, float right) {
    if (left != left || right != right) {
        return __int_as_float(0x7fc00000);
    }
    return left == right ? __int_as_float(__float_as_int(left) | __float_as_int(right)) : right < left ? right : left;
}

static __device__ float greatest(float left, float right) {
    if (left != left || right != right) {
        return __int_as_float(0x7fc00000);
    }
    return left == right ? __int_as_float(__float_as_int(left) & __float_as_int(right)) : left < right ? right : left;
}

static __device__ double least(double left, double right) {
    if (left != left || right != right) {
        return __longlong_as_double(0x7ff8000000000000);
    }
    return left == right ? __longlong_as_double(__double_as_longlong(left) | __double_as_longlong(right))
                         : right < left ? right : left;
}

static __device__ double greatest(double left, double right) {
    if (left != left || right != right) {
        return __longlong_as_double(0x7ff8000000000000);
    }
    return left == right ? __longlong_as_double(__double_as_longlong(left) & __double_as_longlong(right))
                         : left < right ? right : left;
}

/* No multiplication is added to anything, so that nothing is fused. */
template <typename Wide> static __device__ Wide combined(unsigned operation, Wide left, Wide right) {
    switch (operation) {
        case PRODUCT:
            return (Wide)(left * right);
        case MIN:
            return least(left, right);
        case MAX:
            return greatest(left, right);
        default:
            return (Wide)(left + right);
    }
}

/* Some elements in a vector of bytes, as they are computed in. */
template <typename Element, typename Vector> struct wide_vector {
    typedef element<Element> of;
    static const unsigned COUNT = sizeof(Vector) / sizeof(Element);
    typename of::wide values[COUNT];

    __device__ void set(const Vector &bytes) {
        const Element *elements = (const Element *)&bytes;
#pragma unroll
        for (unsigned i = 0; i < COUNT; i++) {
            values[i] = of::widen(elements[i]);
        }
    }
    __device__ void combine(unsigned operation, const Vector &bytes) {
        const Element *elements = (const Element *)&bytes;
#pragma unroll
        for (unsigned i = 0; i < COUNT; i++) {
            values[i] = combined(operation, values[i], of::widen(elements[i]));
        }
    }
    __device__ Vector get(unsigned operation, unsigned ranks) const {
        Vector bytes;
        Element *elements = (Element *)&bytes;
#pragma unroll
        for (unsigned i = 0; i < COUNT; i++) {
            elements[i] = of::narrow(operation == AVERAGE ? of::divide(values[i], ranks) : values[i]);
        }
        return bytes;
    }
};

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
