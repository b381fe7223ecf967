/*
 * Another way of an all-reduce of float32 in one shot, for GpuAllReduceFigures: the kernels of collectives.cu, with another one in the
 * place of sluice_exchange_float32. WAY is pushed_vectors (make ways). It is not what teams use: slots that such a kernel has filled
 * may look like messages of another.
 */
#define sluice_exchange_float32 sluice_exchange_float32_by_messages
#include "../../main/cuda/collectives.cu"
#undef sluice_exchange_float32

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

extern "C" __global__ void __launch_bounds__(THREADS) sluice_exchange_float32(exchange what, team team) {
    WAY<float>(what, team);
}
