/*
 * Combine of low latency in LogFMT: the numbers are those of native's logfmt_kernels.h, which says what they mean, with the same steps each
 * rounded, so that results have the bits of the host's. A section lies in its slot where it would as it was. The greatest and the least
 * value of a group are behind the slots; both are 0 where the section is not encoded.
 *
 * A warp encodes a section, of which each lane has two units of 16 channels; a thread adds a unit.
 */
#include "low_latency_combine.cuh"

static const unsigned SECTION_GROUPS = 8;
static const unsigned SHORT_SECTION_GROUPS = 4;
static const unsigned UNIT = 16;            // channels, that take 20 bytes
static const unsigned UNIT_WORDS = 5;
static const unsigned PLAIN_WORDS = UNIT / 2;
static const unsigned UNITS = GROUP / UNIT;
static const unsigned VECTORS_OF_GROUP = GROUP * 2 / sizeof(uint4);
static const unsigned WARP_UNITS = SECTION_GROUPS * UNITS / WARP;

static const unsigned CODE_BITS = 9;
static const unsigned CODE_MASK = 0x1ff;
static const unsigned ONE_BFLOAT16 = 0x3f80;
static const unsigned LEAST_NORMAL_BFLOAT16 = 0x0080;

static __device__ __forceinline__ unsigned section_groups(unsigned groups) {
    return groups % SECTION_GROUPS == 0 ? SECTION_GROUPS : SHORT_SECTION_GROUPS;
}

/* Of 1 + x for x from 0 to 1. */
static __device__ __forceinline__ float logarithm_of(float x) {
    return (((((((-0.0123706432f * x + 0.0637875944f) * x - 0.155599967f) * x + 0.25617969f) * x - 0.353454679f) * x
              + 0.48007375f)
                     * x
             - 0.721310735f)
                    * x
            + 1.44269478f)
            * x;
}

/* 2^x for x from -1 to 0. */
static __device__ __forceinline__ float power_of(float x) {
    return (((((0.000114980845f * x + 0.00129178935f) * x + 0.00959716924f) * x + 0.055499278f) * x + 0.240226105f) * x
            + 0.693147182f)
            * x
            + 1.0f;
}

/* Of a normal number above 0, as its bits. */
static __device__ __forceinline__ float logarithm(unsigned bits) {
    float exponent = (float)((int)(bits >> 23) - 127);
    return exponent + logarithm_of(__uint_as_float((bits & 0x7fffff) | 0x3f800000) - 1.0f);
}

/* A group's values as they are encoded: the logarithm of the least, and how far they are apart. */
struct scale {
    float low;
    float step;

    /* From the greatest value, and the least one above. */
    __device__ explicit scale(unsigned extremes) {
        unsigned least = extremes >> 16;
        float high = logarithm(extremes << 16);
        low = high - 32.0f;
        if (least >= LEAST_NORMAL_BFLOAT16) {
            float of_least = logarithm(least << 16);
            low = of_least > low ? of_least : low;
        }
        step = __fdiv_rn(high - low, 510.0f);
    }
};

static __device__ __forceinline__ bool is_encoded(unsigned extremes) {
    unsigned greatest = extremes & 0xffff;
    return greatest < ONE_BFLOAT16 && greatest >= LEAST_NORMAL_BFLOAT16 && extremes >> 16 < greatest;
}

/* ---- encoding ---- */

static __device__ __forceinline__ unsigned log_code_of(unsigned value, float low, float inverse, float rounding) {
    unsigned rest = value & 0x7fffffff;
    float code = (logarithm(rest) - low) * inverse + rounding;
    return code > 0.0f && rest >= LEAST_NORMAL_BFLOAT16 << 16 ? (unsigned)(int)code & CODE_MASK : 0;
}

/* The words of 16 channels: their codes from the lowest bit on, then their signs. */
static __device__ void encode_unit(unsigned *to, const unsigned *pairs, const scale &scale) {
    float inverse = __fdiv_rn(1.0f, scale.step);
    float rounding = 1.5f - scale.step * 0.0866433978f;
    unsigned words[UNIT_WORDS] = {};
#pragma unroll
    for (unsigned i = 0; i < UNIT; i++) {
        unsigned value = i % 2 == 0 ? pairs[i / 2] << 16 : pairs[i / 2] & 0xffff0000;
        unsigned code = log_code_of(value, scale.low, inverse, rounding);
        unsigned at = i * CODE_BITS;
        words[at / 32] |= code << at % 32;
        if (at % 32 + CODE_BITS > 32) {
            words[at / 32 + 1] |= code >> (32 - at % 32);
        }
        words[UNIT_WORDS - 1] |= value >> 31 << (16 + i);
    }
#pragma unroll
    for (unsigned i = 0; i < UNIT_WORDS; i++) {
        to[i] = words[i];
    }
}

/* The greatest and the least absolute value of a group, of which 8 lanes side by side have a unit each. */
static __device__ unsigned extremes_of(const unsigned *pairs) {
    unsigned greatest = 0;
    unsigned least = 0x7fff7fff;
#pragma unroll
    for (unsigned i = 0; i < PLAIN_WORDS; i++) {
        greatest = __vmaxu2(pairs[i] & 0x7fff7fff, greatest);
        least = __vminu2(pairs[i] & 0x7fff7fff, least);
    }
    for (unsigned distance = UNITS / 2; distance > 0; distance /= 2) {
        greatest = __vmaxu2(__shfl_xor_sync(ALL, greatest, distance), greatest);
        least = __vminu2(__shfl_xor_sync(ALL, least, distance), least);
    }
    return max(greatest & 0xffff, greatest >> 16) | min(least & 0xffff, least >> 16) << 16;
}

/* Sends a section of a row, of so many groups, by a warp that has memory for it. */
static __device__ void send_section(
        uint4 *to, unsigned *extremes_to, const uint4 *from, unsigned groups, unsigned *encoded) {
    unsigned lane = threadIdx.x % WARP;
    unsigned pairs[WARP_UNITS][PLAIN_WORDS];
    unsigned extremes[WARP_UNITS];
    bool is_good = true;
#pragma unroll
    for (unsigned i = 0; i < WARP_UNITS; i++) {
        unsigned unit = i * WARP + lane;
        bool is_here = unit < groups * UNITS;
        uint4 first = is_here ? from[2 * unit] : make_uint4(0, 0, 0, 0);
        uint4 second = is_here ? from[2 * unit + 1] : make_uint4(0, 0, 0, 0);
        unsigned values[PLAIN_WORDS] = {first.x, first.y, first.z, first.w, second.x, second.y, second.z, second.w};
#pragma unroll
        for (unsigned j = 0; j < PLAIN_WORDS; j++) {
            pairs[i][j] = values[j];
        }
        extremes[i] = extremes_of(values);
        is_good &= !is_here || is_encoded(extremes[i]);
    }
    is_good = __all_sync(ALL, is_good);
#pragma unroll
    for (unsigned i = 0; i < WARP_UNITS; i++) {
        unsigned unit = i * WARP + lane;
        bool is_here = unit < groups * UNITS;
        if (is_here && is_good) {
            encode_unit(encoded + unit * UNIT_WORDS, pairs[i], scale(extremes[i]));
        }
        if (is_here && unit % UNITS == 0) {
            extremes_to[unit / UNITS] = is_good ? extremes[i] : 0;
        }
    }
    __syncwarp();
    unsigned vectors = groups * (is_good ? UNITS * UNIT_WORDS * sizeof(unsigned) / sizeof(uint4) : VECTORS_OF_GROUP);
    const uint4 *source = is_good ? (const uint4 *)encoded : from;
    for (unsigned vector = lane; vector < vectors; vector += WARP) {
        to[vector] = source[vector];
    }
    __syncwarp();
}

static __device__ __forceinline__ unsigned *extremes_at(
        const buffer &buffer, const shape &shape, unsigned rank, unsigned set, unsigned slot) {
    uint64_t slots = (uint64_t)shape.tokens * shape.top_k;
    return (unsigned *)(buffer.windows[rank] + slots_of(shape, 2, shape.hidden))
            + (set * slots + slot) * (shape.hidden / GROUP);
}

static __device__ void send_logfmt(const combine &what, const result &from, const shape &shape, const buffer &buffer) {
    __shared__ uint4 encoded[THREADS / WARP][SECTION_GROUPS * UNITS * UNIT_WORDS * sizeof(unsigned) / sizeof(uint4)];
    combining combining;
    combining.read(what, shape, buffer, true);
    if (!combining.may_send(what, buffer)) {
        return;
    }
    unsigned set = combining.set();
    unsigned groups = shape.hidden / GROUP;
    unsigned most = section_groups(groups);
    unsigned sections = (groups + most - 1) / most;
    unsigned all = combining.rows * sections;
    unsigned warps = gridDim.x * (THREADS / WARP);
    for (unsigned i = blockIdx.x * (THREADS / WARP) + threadIdx.x / WARP; i < all; i += warps) {
        uint64_t place = from.places[i / sections];
        unsigned first = i % sections * most;
        const char *row = what.y + row_of(place) * shape.hidden * 2;
        char *slot = buffer.windows[rank_of(place)] + slots_of(shape, set, shape.hidden)
                + (uint64_t)slot_of(place) * shape.hidden * 2;
        send_section(
                (uint4 *)slot + first * VECTORS_OF_GROUP,
                extremes_at(buffer, shape, rank_of(place), set, slot_of(place)) + first,
                (const uint4 *)row + first * VECTORS_OF_GROUP, min(most, groups - first),
                (unsigned *)encoded[threadIdx.x / WARP]);
    }
    combining.end_send(what, from, shape, buffer, LOGFMT);
}

/* ---- decoding ---- */

static __device__ __forceinline__ float value_of(unsigned code, const scale &scale) {
    float logarithm = (float)((int)code - 1) * scale.step + scale.low;
    int exponent = (int)logarithm;
    unsigned value = __float_as_uint(power_of(logarithm - (float)exponent)) + ((unsigned)exponent << 23);
    return __uint_as_float(code > 0 && logarithm >= -126.0f ? value : 0);
}

static __device__ void add_unit(float *sums, const unsigned *words, unsigned extremes, float weight) {
    if (extremes == 0) {
#pragma unroll
        for (unsigned i = 0; i < PLAIN_WORDS; i++) {
            add(&sums[2 * i], words[i], weight);
        }
        return;
    }
    scale scale(extremes);
#pragma unroll
    for (unsigned i = 0; i < UNIT; i++) {
        unsigned at = i * CODE_BITS;
        unsigned code = words[at / 32] >> at % 32;
        if (at % 32 + CODE_BITS > 32) {
            code |= words[at / 32 + 1] << (32 - at % 32);
        }
        unsigned sign = words[UNIT_WORDS - 1] << (15 - i) & 0x80000000;
        add(&sums[i], __uint_as_float(__float_as_uint(value_of(code & CODE_MASK, scale)) | sign), weight);
    }
}

/* The words of a unit in a slot; three more if it is not encoded. */
static __device__ void load_unit(unsigned *words, const unsigned *slot, unsigned unit, unsigned of_section, unsigned extremes) {
    unsigned first = unit / of_section * of_section;
    const unsigned *from =
            slot + (extremes == 0 ? unit * PLAIN_WORDS : first * PLAIN_WORDS + (unit - first) * UNIT_WORDS);
#pragma unroll
    for (unsigned i = 0; i < PLAIN_WORDS; i++) {
        if (i < UNIT_WORDS || extremes == 0) {
            words[i] = from[i];
        }
    }
}

static __device__ void receive_logfmt(const combine &what, const result &from, const shape &shape, const buffer &buffer) {
    static const unsigned AT_ONCE = 4;
    choice next;
    next.read(what, from, shape, blockIdx.x);
    combining combining;
    combining.read(what, shape, buffer, false);
    if (!combining.may_receive(what, buffer, LOGFMT)) {
        return;
    }
    unsigned hidden = shape.hidden;
    unsigned groups = hidden / GROUP;
    unsigned units = hidden / UNIT;
    unsigned of_section = section_groups(groups) * UNITS;
    for (unsigned token = blockIdx.x; token < what.tokens; token += gridDim.x) {
        choice here = next;
        next.read(what, from, shape, token + gridDim.x);
        unsigned counted;
        if (!here.find(&counted, buffer, token)) {
            return;
        }
        unsigned first = token * shape.top_k;
        const unsigned *slots = (const unsigned *)(buffer.windows[buffer.rank]
                + slots_of(shape, combining.set(), hidden) + (uint64_t)first * hidden * 2);
        const unsigned *extremes = extremes_at(buffer, shape, buffer.rank, combining.set(), first);
        for (unsigned begin = 0; begin < units; begin += THREADS) {
            unsigned unit = begin + threadIdx.x;
            bool is_here = unit < units;
            float sums[UNIT] = {};
            for (unsigned k = 0; k < shape.top_k; k += AT_ONCE) {
                unsigned words[AT_ONCE][PLAIN_WORDS];
                unsigned both[AT_ONCE];
                float weights[AT_ONCE];
                bool counts[AT_ONCE];
#pragma unroll
                for (unsigned i = 0; i < AT_ONCE; i++) {
                    weights[i] = here.weight_of(k + i);
                    counts[i] = is_here && k + i < shape.top_k && (counted >> (k + i) & 1);
                    both[i] = counts[i] ? extremes[(uint64_t)(k + i) * groups + unit / UNITS] : 0;
                }
#pragma unroll
                for (unsigned i = 0; i < AT_ONCE; i++) {
                    if (counts[i]) {
                        load_unit(words[i], slots + (uint64_t)(k + i) * hidden / 2, unit, of_section, both[i]);
                    }
                }
#pragma unroll
                for (unsigned i = 0; i < AT_ONCE; i++) {
                    if (counts[i]) {
                        add_unit(sums, words[i], both[i], weights[i]);
                    }
                }
            }
            if (is_here) {
                uint4 *out = (uint4 *)(what.out + (uint64_t)token * hidden * 2) + 2 * unit;
                out[0] = bfloat16_of(&sums[0]);
                out[1] = bfloat16_of(&sums[8]);
            }
        }
    }
    combining.end_receive(shape, buffer);
}
