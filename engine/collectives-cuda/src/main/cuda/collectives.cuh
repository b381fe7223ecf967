/*
 * What the kernels of all collectives have in common, among GPUs that reach each other's memory.
 *
 * Each rank launches the same kernel, with as many blocks, and has a scratch that all others have mapped:
 *
 *   flags      [2 meetings][MOST_BLOCKS][MOST_RANKS] of 64 bits: the generation that a block of another rank has reached
 *   slots      [2 sets][ranks][slot_bytes]: messages of other ranks, 8 bytes and their flag in 16 bytes
 *   push slots [2 sets][ranks][push_slot_bytes]: vectors that other ranks have pushed, which would look like messages
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
    uint64_t push_slot_bytes;
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
