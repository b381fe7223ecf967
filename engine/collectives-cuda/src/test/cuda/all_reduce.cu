/*
 * Other ways of an all-reduce of float32 in one shot, for GpuAllReduceFigures: the kernels of collectives.cu, with another one in the
 * place of sluice_exchange_float32. WAY is pushed_vectors or pushed_lines (make ways). They are not what teams use: slots that such a
 * kernel has filled may look like messages of another.
 */
#define sluice_exchange_float32 sluice_exchange_float32_by_messages
#include "../../main/cuda/collectives.cu"
#undef sluice_exchange_float32

[[maybe_unused]] static const unsigned WARP = 32;
static const unsigned LINE = 128;
/* Threads that store a line together. */
[[maybe_unused]] static const unsigned LANES = LINE / sizeof(uint4);
/* Of a line; the last 8 bytes are its flag. */
[[maybe_unused]] static const unsigned UNITS = LINE / UNIT - 1;

static __device__ unsigned next_peer(const team &team, unsigned step) {
    unsigned peer = team.rank + step;
    return peer < team.ranks ? peer : peer - team.ranks;
}

/* The same on all ranks, as far as their memory is aligned alike. */
static __device__ bool is_plain(const exchange &what, const team &team, unsigned alignment) {
    uint64_t all = ~0ull >> (MOST_RANKS - team.ranks);
    return (what.senders & what.receivers) == all && what.in_stride == 0
            && (((uintptr_t)what.in | (uintptr_t)what.out | what.bytes) & (alignment - 1)) == 0;
}

/* ---- all that a block has to send, then a flag ---- */

template <typename Element> static __device__ void pushed_vectors(const exchange &what, const team &team) {
    if (!is_plain(what, team, sizeof(uint4)) || what.bytes > team.slot_bytes) {
        exchanged<Element, true>(what, team);
        return;
    }
    uint64_t generation = begin(team);
    if (generation == 0) {
        return;
    }
    const uint4 *in = (const uint4 *)what.in;
    uint4 *out = (uint4 *)what.out;
    uint64_t vectors = what.bytes / sizeof(uint4);
    uint64_t stride = (uint64_t)gridDim.x * blockDim.x;
    uint64_t first = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;
    for (uint64_t i = first; i < vectors; i += stride) {
        uint4 vector = in[i];
        for (unsigned step = 1; step < team.ranks; step++) {
            unsigned peer = next_peer(team, step);
            ((uint4 *)slot(team, peer, team.rank, generation))[i] = vector;
        }
    }
    if (meet(team, reached(generation, what.signature), true)) {
        for (uint64_t i = first; i < vectors; i += stride) {
            wide_vector<Element, uint4> sum;
            for (unsigned peer = 0; peer < team.ranks; peer++) {
                uint4 vector = peer == team.rank
                        ? in[i]
                        : load_message(slot(team, team.rank, peer, generation) + i * sizeof(uint4));
                if (peer == 0) {
                    sum.set(vector);
                } else {
                    sum.combine(what.operation, vector);
                }
            }
            out[i] = sum.get(what.operation, team.ranks);
        }
    }
    end(team, generation);
}

/* ---- lines of 128 bytes, each with a flag of 8: a warp's store of a line is seen in whole, as NCCL's protocol LL128 has it ---- */

template <typename Element> static __device__ void pushed_lines(const exchange &what, const team &team) {
    uint64_t units = what.bytes / UNIT;
    uint64_t lines = (units + UNITS - 1) / UNITS;
    if (!is_plain(what, team, UNIT) || lines * LINE > team.slot_bytes || lines == 0) {
        exchanged<Element, true>(what, team);
        return;
    }
    uint64_t generation = begin(team);
    if (generation == 0) {
        return;
    }
    uint64_t value = reached(generation, what.signature);
    if (blockIdx.x == 0 && threadIdx.x < team.ranks && threadIdx.x != team.rank) {
        // for ranks that call something else
        store_relaxed(flag(team, threadIdx.x, false, team.rank), value);
    }
    const uint2 *in = (const uint2 *)what.in;
    uint2 *out = (uint2 *)what.out;
    unsigned lane = threadIdx.x % WARP;
    unsigned part = lane % LANES;
    bool has_flag = part == LANES - 1;
    uint64_t of_warp = WARP / LANES;
    uint64_t stride = (uint64_t)gridDim.x * blockDim.x / LANES;
    uint64_t first = ((uint64_t)blockIdx.x * blockDim.x + threadIdx.x) / WARP * of_warp;
    uint64_t place = (uint64_t)part * sizeof(uint4);
    for (uint64_t base = first; base < lines; base += stride) {
        uint64_t line = base + lane / LANES;
        uint64_t unit = line * UNITS + 2 * part;
        if (line < lines) {
            uint2 low = unit < units ? in[unit] : uint2{};
            uint2 high = has_flag ? make_uint2((unsigned)value, (unsigned)(value >> 32))
                    : unit + 1 < units ? in[unit + 1] : uint2{};
            for (unsigned step = 1; step < team.ranks; step++) {
                unsigned peer = next_peer(team, step);
                store_message(slot(team, peer, team.rank, generation) + line * LINE + place,
                        make_uint4(low.x, low.y, high.x, high.y));
            }
        }
    }
    // the threads of a warp stay together
    for (uint64_t base = first; base < lines; base += stride) {
        uint64_t line = base + lane / LANES;
        bool is_line = line < lines;
        uint64_t unit = line * UNITS + 2 * part;
        bool has_low = is_line && unit < units;
        bool has_high = is_line && !has_flag && unit + 1 < units;
        wide_vector<Element, uint2> low;
        wide_vector<Element, uint2> high;
        for (unsigned peer = 0; peer < team.ranks; peer++) {
            uint4 message = {};
            if (peer == team.rank) {
                uint2 own = has_low ? in[unit] : uint2{};
                uint2 next = has_high ? in[unit + 1] : uint2{};
                message = make_uint4(own.x, own.y, next.x, next.y);
            } else {
                const char *from = slot(team, team.rank, peer, generation) + line * LINE + place;
                watch waited = {};
                for (;;) {
                    if (is_line) {
                        message = load_message(from);
                    }
                    uint64_t seen = message.z | (uint64_t)message.w << 32;
                    bool is_missing = is_line && has_flag && seen != value;
                    if (!__any_sync(~0u, is_missing)) {
                        break;
                    }
                    bool differs = is_missing && seen >> SIGNATURE_BITS == value >> SIGNATURE_BITS;
                    if (__any_sync(~0u, is_missing && is_over(&waited, team, peer, differs))) {
                        break;
                    }
                }
            }
            uint2 lower = make_uint2(message.x, message.y);
            uint2 upper = make_uint2(message.z, message.w);
            if (peer == 0) {
                low.set(lower);
                high.set(upper);
            } else {
                low.combine(what.operation, lower);
                high.combine(what.operation, upper);
            }
        }
        if (has_low) {
            out[unit] = low.get(what.operation, team.ranks);
        }
        if (has_high) {
            out[unit + 1] = high.get(what.operation, team.ranks);
        }
    }
    end(team, generation);
}

extern "C" __global__ void __launch_bounds__(THREADS) sluice_exchange_float32(exchange what, team team) {
    WAY<float>(what, team);
}
