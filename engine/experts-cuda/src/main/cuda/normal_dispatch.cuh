/* Dispatch in normal mode: where tokens go, their conversion to 8 bits, and their rows. */
#include "normal.cuh"

/* ---- where tokens go ---- */

struct layout {
    const int64_t *choices;
    routes *to;
    uint64_t tokens;
};

static const unsigned CHOICES_AT_ONCE = 8;

/* A block counts what goes to one rank. A choice that there is not fails the buffer. */
extern "C" __global__ void __launch_bounds__(LAYOUT_THREADS) sluice_experts_normal_layout(layout what, normal in) {
    __shared__ unsigned goes_in_warp[LAYOUT_THREADS / LANES];
    unsigned rank = blockIdx.x;
    unsigned ranks = in.buffer.ranks;
    unsigned lane = threadIdx.x % LANES;
    unsigned warp = threadIdx.x / LANES;
    int64_t first = (int64_t)rank * in.experts;
    int64_t all = (int64_t)ranks * in.experts;
    int *experts = what.to->to_experts(ranks) + first;
    int *positions = what.to->positions(ranks, in.experts);
    for (unsigned i = threadIdx.x; i < in.experts; i += blockDim.x) {
        experts[i] = 0;
    }
    __syncthreads();
    unsigned before = 0;
    for (uint64_t base = 0; base < what.tokens; base += blockDim.x) {
        uint64_t token = base + threadIdx.x;
        bool goes = false;
        for (unsigned k = 0; token < what.tokens && k < in.top_k; k += CHOICES_AT_ONCE) {
            int64_t choices[CHOICES_AT_ONCE];
#pragma unroll
            for (unsigned i = 0; i < CHOICES_AT_ONCE; i++) {
                choices[i] = k + i < in.top_k ? what.choices[token * in.top_k + k + i] : -1;
            }
#pragma unroll
            for (unsigned i = 0; i < CHOICES_AT_ONCE; i++) {
                int64_t local = choices[i] - first;
                if (local >= 0 && local < in.experts) {
                    goes = true;
                    atomicAdd(&experts[local], 1);
                } else if (choices[i] < -1 || choices[i] >= all) {
                    fail(in.buffer, NO_EXPERT, in.buffer.rank, token, (uint64_t)choices[i]);
                }
            }
        }
        unsigned of_warp = __ballot_sync(ALL_LANES, goes);
        if (lane == 0) {
            goes_in_warp[warp] = __popc(of_warp);
        }
        __syncthreads();
        unsigned in_warps = lane < blockDim.x / LANES ? goes_in_warp[lane] : 0;
        unsigned earlier = lane < warp ? in_warps : 0;
#pragma unroll
        for (unsigned i = LANES / 2; i > 0; i /= 2) {
            in_warps += __shfl_xor_sync(ALL_LANES, in_warps, i);
            earlier += __shfl_xor_sync(ALL_LANES, earlier, i);
        }
        if (token < what.tokens) {
            unsigned in_this = __popc(of_warp & ((1u << lane) - 1));
            positions[token * ranks + rank] = goes ? (int)(before + earlier + in_this) : -1;
        }
        before += in_warps;
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        what.to->to_ranks()[rank] = (int)before;
        if (rank == 0) {
            what.to->tokens = (int)what.tokens;
        }
    }
}

/* ---- e4m3 ---- */

#ifdef HAS_FP8

/* The code of NaN is 0x7f, as it is of the other way; to nearest even, and not above 448. */
static __device__ __forceinline__ unsigned two_codes(unsigned pair, float factor) {
    unsigned short both;
    asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;"
        : "=h"(both)
        : "f"(__fmul_rn(__uint_as_float(pair & 0xffff0000u), factor)), "f"(__fmul_rn(__uint_as_float(pair << 16), factor)));
    return both;
}

static __device__ unsigned codes(unsigned lower, unsigned upper, float factor) {
    return __byte_perm(two_codes(lower, factor), two_codes(upper, factor), 0x5410);
}

static __device__ unsigned special_codes(unsigned lower, unsigned upper, float factor) {
    return codes(lower, upper, factor);
}

#else

/*
 * Codes of four values of bfloat16, whose magnitudes the factor brings to 448 at most. In the sum the last bit is worth that of the
 * code, an eighth of the value's power of two, or of 2^-6 for denormal ones; 7 more of that power and its own bits make the lowest byte
 * the code.
 */
static __device__ unsigned code(unsigned magnitude, float factor) {
    float scaled = __fmul_rn(__uint_as_float(magnitude), factor);
    unsigned power = max(__float_as_uint(scaled) & 0x7f800000u, 0x3c800000u);
    return __float_as_uint(__fmaf_rn(__uint_as_float(power), 1048583.0f, scaled)) + (power >> 20);
}

static __device__ unsigned codes(unsigned lower, unsigned upper, float factor) {
    unsigned first = code(lower << 16 & 0x7fff0000u, factor);
    unsigned second = code(lower & 0x7fff0000u, factor);
    unsigned third = code(upper << 16 & 0x7fff0000u, factor);
    unsigned fourth = code(upper & 0x7fff0000u, factor);
    unsigned all = __byte_perm(__byte_perm(first, second, 0x0040), __byte_perm(third, fourth, 0x0040), 0x5410);
    return all | (__byte_perm(lower, upper, 0x7531) & 0x80808080u);
}

/* The same for a group that has NaNs or infinities. */
static __device__ unsigned special_codes(unsigned lower, unsigned upper, float factor) {
    unsigned all = 0;
    for (unsigned i = 0; i < 4; i++) {
        unsigned word = i < 2 ? lower : upper;
        unsigned bits = i % 2 == 0 ? word << 16 : word & 0xffff0000u;
        float scaled = __fmul_rn(__uint_as_float(bits), factor);
        unsigned one = scaled != scaled ? 0x7f : (code(bits & 0x7fff0000u, factor) & 0x7f) | (bits >> 24 & 0x80);
        all |= one << 8 * i;
    }
    return all;
}

#endif

static __device__ unsigned greatest_of_group(unsigned greatest) {
#pragma unroll
    for (unsigned i = 1; i < GROUP / 16; i *= 2) {
        greatest = max(greatest, __shfl_xor_sync(ALL_LANES, greatest, i));
    }
    return greatest;
}

/* Quantises 16 channels; eight lanes have a group. */
template <format FORM> static __device__ uint4 quantised(uint4 first, uint4 second, float *inverse) {
    unsigned words[8] = {first.x, first.y, first.z, first.w, second.x, second.y, second.z, second.w};
    // of float32 bits; what the upper value leaves in the lower half makes no difference here
    unsigned greatest = 0;
#pragma unroll
    for (unsigned i = 0; i < 8; i++) {
        unsigned magnitudes = words[i] & 0x7fff7fffu;
        greatest = max(greatest, max(magnitudes & 0x7fff0000u, magnitudes << 16));
    }
    greatest = greatest_of_group(greatest);
    bool is_special = greatest >= 0x7f800000u;
    if (__any_sync(ALL_LANES, is_special)) {
        unsigned known = 0;
        for (unsigned i = 0; i < 8; i++) {
            unsigned upper = words[i] & 0x7fff0000u;
            unsigned lower = words[i] << 16 & 0x7fff0000u;
            known = max(known, max(upper <= 0x7f800000u ? upper : 0, lower <= 0x7f800000u ? lower : 0));
        }
        greatest = greatest_of_group(known);
    }
    float factor;
    float most = fmaxf(__uint_as_float(greatest), 1e-4f);
    *inverse = __fmul_rn(most, 1 / 448.0f);
    if (FORM == FP8) {
        factor = __fdiv_rn(448.0f, most);
    } else {
        unsigned bits = __float_as_uint(*inverse);
        unsigned exponent = (bits >> 23) + ((bits & 0x7fffff) != 0);
        factor = __uint_as_float((254 - exponent) << 23);
        *inverse = __uint_as_float(exponent << 23);
    }
    if (greatest == 0x7f800000u) {
        factor = 0;
        *inverse = __uint_as_float(greatest);
    }
    uint4 result;
    if (is_special) {
        result.x = special_codes(words[0], words[1], factor);
        result.y = special_codes(words[2], words[3], factor);
        result.z = special_codes(words[4], words[5], factor);
        result.w = special_codes(words[6], words[7], factor);
    } else {
        result.x = codes(words[0], words[1], factor);
        result.y = codes(words[2], words[3], factor);
        result.z = codes(words[4], words[5], factor);
        result.w = codes(words[6], words[7], factor);
    }
    return result;
}

/* ---- dispatch ---- */

struct dispatch {
    const char *x;
    const int64_t *choices;     // NULL with a handle
    const float *weights;
    const routes *to;           // NULL with a handle
    route_handle *handle;
    int *summary;               // in the host's memory: received, 0, [ranks] first rows, [ranks] rows, [local experts] counts
    uint64_t patience;          // nanoseconds
    unsigned tokens;
    unsigned slot;
    unsigned worst;             // rows of the result; 0 for as many as arrive
    unsigned alignment;
};

/* A block's share of what all its warps need. */
struct sending {
    meeting met;
    char *slots[MOST_RANKS];    // where the result of each rank is
    unsigned rows[MOST_RANKS];  // the row of the first token that goes there
    unsigned received;
};

/* A warp's token: its row at the ranks of lane and lane + 32, or -1. */
struct targets {
    int rows[2];
    unsigned mask[2];
    int positions[2];           // of the next token

    __device__ void read_ahead(const int *from, unsigned ranks, unsigned token, unsigned tokens) {
        unsigned lane = threadIdx.x % LANES;
#pragma unroll
        for (unsigned half = 0; half < 2; half++) {
            unsigned rank = lane + half * LANES;
            positions[half] = rank < ranks && token < tokens ? from[(uint64_t)token * ranks + rank] : -1;
        }
    }

    /* Goes on to the token that was read ahead. */
    __device__ void go_on(const sending &shared) {
        unsigned lane = threadIdx.x % LANES;
#pragma unroll
        for (unsigned half = 0; half < 2; half++) {
            rows[half] = positions[half];
            mask[half] = __ballot_sync(ALL_LANES, rows[half] >= 0);
            if (rows[half] >= 0) {
                rows[half] += shared.rows[lane + half * LANES];
            }
        }
    }

    /* The next rank, which is taken out, and its row; false if there is none. */
    __device__ bool next(unsigned *mask_0, unsigned *mask_1, unsigned *rank, uint64_t *row) const {
        if (*mask_0 != 0) {
            *rank = __ffs(*mask_0) - 1;
            *row = __shfl_sync(ALL_LANES, rows[0], *rank);
            *mask_0 &= *mask_0 - 1;
            return true;
        }
        if (*mask_1 != 0) {
            *rank = __ffs(*mask_1) - 1;
            *row = __shfl_sync(ALL_LANES, rows[1], *rank);
            *rank += LANES;
            *mask_1 &= *mask_1 - 1;
            return true;
        }
        return false;
    }
};

/* A choice and a weight of a token for each lane. */
struct note {
    int64_t choice;
    float weight;

    __device__ void read(const dispatch &what, const normal &in, unsigned token) {
        unsigned lane = threadIdx.x % LANES;
        choice = -1;
        weight = 0;
        if (what.choices != nullptr && lane < in.top_k) {
            choice = what.choices[(uint64_t)token * in.top_k + lane];
            weight = what.weights[(uint64_t)token * in.top_k + lane];
        }
    }
};

/* Which token a row is, and its choices and weights. */
static __device__ void write_note(
        const dispatch &what, const normal &in, const sending &shared, const targets &to, unsigned token, const note &note) {
    unsigned lane = threadIdx.x % LANES;
    bool has_choice = what.choices != nullptr && lane < in.top_k;
    unsigned mask_0 = to.mask[0];
    unsigned mask_1 = to.mask[1];
    unsigned rank;
    uint64_t row;
    while (to.next(&mask_0, &mask_1, &rank, &row)) {
        char *slot = shared.slots[rank];
        if (lane == 0) {
            ((int *)(slot + in.sources_in_slot))[row] = (int)token;
        }
        if (has_choice) {
            int64_t local = note.choice - (int64_t)rank * in.experts;
            bool is_there = local >= 0 && local < in.experts;
            ((int64_t *)(slot + in.choices_in_slot))[row * in.top_k + lane] = is_there ? local : -1;
            ((float *)(slot + in.weights_in_slot))[row * in.top_k + lane] = is_there ? note.weight : 0;
        }
    }
}

/* The vectors of a piece of a token. Those of quantised ones lie in pairs. */
template <format FORM> static __device__ unsigned channel_of(unsigned piece, unsigned vector) {
    unsigned lane = threadIdx.x % LANES;
    return FORM == BF16
            ? piece * CHANNELS_AT_ONCE + (vector * LANES + lane) * CHANNELS_OF_VECTOR
            : piece * CHANNELS_AT_ONCE + (vector / 2 * LANES + lane) * 2 * CHANNELS_OF_VECTOR
                    + vector % 2 * CHANNELS_OF_VECTOR;
}

template <format FORM>
static __device__ void load(uint4 *values, const char *x, unsigned hidden, unsigned token, unsigned piece) {
#pragma unroll
    for (unsigned i = 0; i < VECTORS_AT_ONCE; i++) {
        unsigned channel = channel_of<FORM>(piece, i);
        values[i] = channel < hidden ? __ldg((const uint4 *)(x + ((uint64_t)token * hidden + channel) * 2))
                                     : make_uint4(0, 0, 0, 0);
    }
}

static __device__ void write_bf16(
        const normal &in, const sending &shared, const targets &to, unsigned piece, const uint4 *values) {
    unsigned mask_0 = to.mask[0];
    unsigned mask_1 = to.mask[1];
    unsigned rank;
    uint64_t row;
    while (to.next(&mask_0, &mask_1, &rank, &row)) {
        char *at = shared.slots[rank] + row * in.hidden * 2;
#pragma unroll
        for (unsigned i = 0; i < VECTORS_AT_ONCE; i++) {
            unsigned channel = channel_of<BF16>(piece, i);
            if (channel < in.hidden) {
                *(uint4 *)(at + channel * 2) = values[i];
            }
        }
    }
}

template <format FORM>
static __device__ void write_fp8(
        const normal &in, const sending &shared, const targets &to, unsigned piece, const uint4 *values) {
    unsigned lane = threadIdx.x % LANES;
    float inverse[2];
    uint4 first = quantised<FORM>(values[0], values[1], &inverse[0]);
    uint4 second = quantised<FORM>(values[2], values[3], &inverse[1]);
    // lane i has the scale of group i of the piece, or of groups 4 i to 4 i + 3
    unsigned scale;
    unsigned scales;
    if (FORM == FP8_UE8M0) {
        unsigned exponents[2] = {__float_as_uint(inverse[0]) >> 23, __float_as_uint(inverse[1]) >> 23};
        scale = 0;
        for (unsigned i = 0; i < 4; i++) {
            unsigned of_first = __shfl_sync(ALL_LANES, exponents[0], i * 8);
            unsigned of_second = __shfl_sync(ALL_LANES, exponents[1], i * 8);
            scale |= (lane == 0 ? of_first : of_second) << 8 * i;
        }
        scales = in.hidden / GROUP / 4;
    } else {
        float of_first = __shfl_sync(ALL_LANES, inverse[0], lane % 4 * 8);
        float of_second = __shfl_sync(ALL_LANES, inverse[1], lane % 4 * 8);
        scale = __float_as_uint(lane < 4 ? of_first : of_second);
        scales = in.hidden / GROUP;
    }
    unsigned of_piece = FORM == FP8_UE8M0 ? 2 : 8;
    unsigned place = piece * of_piece + lane;
    unsigned mask_0 = to.mask[0];
    unsigned mask_1 = to.mask[1];
    unsigned rank;
    uint64_t row;
    while (to.next(&mask_0, &mask_1, &rank, &row)) {
        char *slot = shared.slots[rank];
        char *at = slot + row * in.hidden;
        unsigned channel = channel_of<FORM>(piece, 0);
        if (channel < in.hidden) {
            *(uint4 *)(at + channel) = first;
        }
        channel = channel_of<FORM>(piece, 2);
        if (channel < in.hidden) {
            *(uint4 *)(at + channel) = second;
        }
        if (lane < of_piece && place < scales) {
            ((unsigned *)(slot + in.scales_in_slot))[row * scales + place] = scale;
        }
    }
}

/* A warp's share of the tokens, piece after piece. The next piece, and where the next token goes, are under way while one is written. */
template <format FORM>
static __device__ void send_rows(const dispatch &what, const normal &in, const sending &shared, const int *positions) {
    unsigned pieces = (in.hidden + CHANNELS_AT_ONCE - 1) / CHANNELS_AT_ONCE;
    uint64_t warp = (blockIdx.x * blockDim.x + threadIdx.x) / LANES;
    uint64_t warps = gridDim.x * blockDim.x / LANES;
    uint64_t all = (uint64_t)what.tokens * pieces;
    uint64_t at = all * warp / warps;
    uint64_t last = all * (warp + 1) / warps;
    if (at == last) {
        return;
    }
    unsigned token = (unsigned)(at / pieces);
    unsigned piece = (unsigned)(at % pieces);
    uint4 ahead[VECTORS_AT_ONCE];
    load<FORM>(ahead, what.x, in.hidden, token, piece);
    targets to;
    to.read_ahead(positions, in.buffer.ranks, token, what.tokens);
    note note;
    note.read(what, in, token);
    to.go_on(shared);
    to.read_ahead(positions, in.buffer.ranks, token + 1, what.tokens);
    for (; at < last; at++) {
        uint4 values[VECTORS_AT_ONCE];
#pragma unroll
        for (unsigned i = 0; i < VECTORS_AT_ONCE; i++) {
            values[i] = ahead[i];
        }
        bool ends = piece + 1 == pieces;
        unsigned next_token = ends ? token + 1 : token;
        unsigned next_piece = ends ? 0 : piece + 1;
        if (at + 1 < last) {
            load<FORM>(ahead, what.x, in.hidden, next_token, next_piece);
        }
        if (FORM == BF16) {
            write_bf16(in, shared, to, piece, values);
        } else {
            write_fp8<FORM>(in, shared, to, piece, values);
        }
        if (ends) {
            write_note(what, in, shared, to, token, note);
        }
        if (ends && at + 1 < last) {
            note.read(what, in, next_token);
            to.go_on(shared);
            to.read_ahead(positions, in.buffer.ranks, next_token + 1, what.tokens);
        }
        token = next_token;
        piece = next_piece;
    }
}

/* Rows of the worst case that nothing arrives for. */
static __device__ void mark_rows(const dispatch &what, const normal &in, const sending &shared) {
    char *slot = shared.slots[in.buffer.rank];
    uint64_t stride = (uint64_t)gridDim.x * blockDim.x;
    uint64_t first = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;
    for (uint64_t row = shared.received + first; row < what.worst; row += stride) {
        ((int *)(slot + in.sources_in_slot))[row] = -1;
    }
    uint64_t from = (uint64_t)shared.received * in.top_k;
    for (uint64_t i = from + first; what.choices != nullptr && i < (uint64_t)what.worst * in.top_k; i += stride) {
        ((int64_t *)(slot + in.choices_in_slot))[i] = -1;
        ((float *)(slot + in.weights_in_slot))[i] = 0;
    }
}

static __device__ int *counts_from(const normal &in, unsigned owner, unsigned sender) {
    return (int *)(in.buffer.windows[owner] + in.counts_at) + (uint64_t)sender * in.experts;
}

/* What the other ranks and the host are told, by the first block. */
static __device__ void tell_counts(
        const dispatch &what, const normal &in, const sending &shared, uint64_t generation) {
    unsigned ranks = in.buffer.ranks;
    if (what.to != nullptr) {
        const int *experts = what.to->to_experts(ranks);
        for (unsigned i = threadIdx.x; i < ranks * in.experts; i += blockDim.x) {
            counts_from(in, i / in.experts, in.buffer.rank)[i % in.experts] = experts[i];
        }
    }
    for (unsigned rank = threadIdx.x; rank < ranks; rank += blockDim.x) {
        unsigned first = 0;
        for (unsigned i = 0; i < rank; i++) {
            first += shared.met.counts[i * ranks + in.buffer.rank];
        }
        unsigned count = shared.met.counts[rank * ranks + in.buffer.rank];
        what.summary[2 + rank] = (int)first;
        what.summary[2 + ranks + rank] = (int)count;
        if (what.to != nullptr) {
            what.handle->first_rows()[rank] = (int)first;
            what.handle->row_counts(ranks)[rank] = (int)count;
            what.handle->sent_counts(ranks)[rank] = (int)shared.met.counts[in.buffer.rank * ranks + rank];
        }
    }
    if (threadIdx.x == 0) {
        what.summary[0] = (int)shared.received;
        if (what.to != nullptr) {
            what.handle->tokens = (int)what.tokens;
            what.handle->received = (int)shared.received;
            what.handle->generation = generation;
        }
    }
}

/* How many choices fall on each expert of this rank, when the counts of all ranks are here. */
static __device__ void sum_counts(const dispatch &what, const normal &in, const sending &shared) {
    int *exact = what.handle->experts(in.buffer.ranks);
    int *counts = (int *)(shared.slots[in.buffer.rank] + in.counts_in_slot);
    for (unsigned expert = threadIdx.x; expert < in.experts; expert += blockDim.x) {
        unsigned sum = 0;
        if (what.to == nullptr) {
            sum = exact[expert];
        } else {
            for (unsigned rank = 0; rank < in.buffer.ranks; rank++) {
                sum += counts_from(in, in.buffer.rank, rank)[expert];
            }
            exact[expert] = (int)sum;
        }
        int aligned = (int)((sum + what.alignment - 1) / what.alignment * what.alignment);
        counts[expert] = aligned;
        what.summary[2 + 2 * in.buffer.ranks + expert] = aligned;
    }
}

static __device__ uint64_t *done_flag(const normal &in, unsigned owner, unsigned sender) {
    return (uint64_t *)(in.buffer.windows[owner] + in.done_at) + sender * MOST_BLOCKS + blockIdx.x;
}

template <format FORM> static __device__ void dispatched(const dispatch &what, const normal &in) {
    __shared__ sending shared;
    uint64_t generation = begin(in);
    if (generation == 0) {
        return;
    }
    unsigned ranks = in.buffer.ranks;
    bool is_again = what.to == nullptr;
    bool is_prepared = is_again ? what.handle->generation != 0 && what.handle->tokens == (int)what.tokens
                                : what.to->tokens == (int)what.tokens;
    if (!is_prepared) {
        fail(in.buffer, NOT_PREPARED, in.buffer.rank, what.tokens, 0);
        end(in, generation);
        return;
    }
    unsigned call = CALL_DISPATCH | (is_again ? CALL_AGAIN : 0) | (what.worst != 0 ? CALL_WORST : 0)
            | FORM << CALL_FORMAT_SHIFT | gridDim.x << CALL_BLOCKS_SHIFT | (what.slot != 0 ? CALL_SLOT : 0);
    const int *counts = is_again ? what.handle->sent_counts(ranks) : what.to->to_ranks();
    if (!meet(in, generation, call, is_again ? what.handle->generation : 0, counts, what.patience, &shared.met)) {
        end(in, generation);
        return;
    }
    bool is_overfull = false;
    for (unsigned rank = threadIdx.x; rank < ranks; rank += blockDim.x) {
        unsigned before = 0;
        unsigned all = 0;
        for (unsigned i = 0; i < ranks; i++) {
            unsigned count = shared.met.counts[i * ranks + rank];
            before += i < in.buffer.rank ? count : 0;
            all += count;
        }
        shared.rows[rank] = before;
        shared.slots[rank] = in.buffer.windows[rank] + in.slots_at + shared.met.slots[rank] * in.slot_bytes;
        if (rank == in.buffer.rank) {
            shared.received = all;
        }
        if (all > ranks * in.most_tokens || (what.worst != 0 && all > what.worst)) {
            fail(in.buffer, OVERFULL, rank, all, what.worst);
            is_overfull = true;
        }
    }
    if (__syncthreads_or(is_overfull)) {
        end(in, generation);
        return;
    }
    if (blockIdx.x == 0) {
        tell_counts(what, in, shared, generation);
    }
    mark_rows(what, in, shared);
    const int *positions = is_again ? what.handle->positions(ranks, in.experts)
                                    : what.to->positions(ranks, in.experts);
    if (!is_again) {
        int *kept = what.handle->positions(ranks, in.experts);
        for (uint64_t i = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x; i < (uint64_t)what.tokens * ranks;
                i += (uint64_t)gridDim.x * blockDim.x) {
            kept[i] = positions[i];
        }
    }
    send_rows<FORM>(what, in, shared, positions);
    __syncthreads();
    bool is_late = false;
    for (unsigned rank = threadIdx.x; rank < ranks; rank += blockDim.x) {
        if (rank != in.buffer.rank) {
            // behind what all threads of the block have stored there
            store_release(done_flag(in, rank, in.buffer.rank), signal_of(generation, 0));
            is_late |= !await_flag(in, done_flag(in, in.buffer.rank, rank), signal_of(generation, 0), rank, what.patience);
        }
    }
    if (!__syncthreads_or(is_late) && blockIdx.x == 0) {
        sum_counts(what, in, shared);
    }
    end(in, generation);
}

#define DISPATCH(name, form)                                                                                 \
    extern "C" __global__ void __launch_bounds__(DISPATCH_THREADS) sluice_experts_normal_dispatch_##name(dispatch what, normal in) { \
        dispatched<form>(what, in);                                                                      \
    }

DISPATCH(bf16, BF16)
DISPATCH(fp8, FP8)
DISPATCH(fp8_rounded, FP8_ROUNDED)
DISPATCH(fp8_ue8m0, FP8_UE8M0)
