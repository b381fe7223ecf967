/*
 * Normal mode. Its part of a window:
 *
 *   progress   the rank's own
 *   words      [2 places][ranks][ranks + 3] of 64 bits: what a rank calls, and how many tokens it sends to each rank
 *   done       [ranks][MOST_BLOCKS] of 64 bits: the dispatch whose rows a block of a rank has written here
 *   arrived    [other ranks][pieces] of 64 bits: the combine whose rows of a piece a rank has written here
 *   counts     [ranks][local experts] of 32 bits: choices of a rank's tokens
 *   slots      [2]: rows of a result and what belongs to them, ordered by source rank and token
 *   combined   [other ranks][most tokens] rows: what comes back from a rank, in the order in which the tokens went there
 *
 * Every dispatch and combine begins with a meeting: a rank says what it calls, and that its stream has come so far, so that its window
 * may be written. Words have the generation above their VALUE_BITS lowest bits, flags have it alone. With the counts of all ranks each
 * knows the rows that its tokens have at the others, and stores them there.
 */
#include "experts.cuh"

static const unsigned MOST_BLOCKS = 256;
static const unsigned LAYOUT_THREADS = 1024;
/* So that what a thread has under way stays in registers. */
static const unsigned DISPATCH_THREADS = 768;
static const unsigned COMBINE_THREADS = 1024;
static const unsigned LANES = 32;
static const unsigned ALL_LANES = 0xffffffff;

/* Of a word that carries a generation: 2^20 tokens fit. */
static const unsigned VALUE_BITS = 21;
static const unsigned VALUE_MASK = (1u << VALUE_BITS) - 1;
/* A word says what is called, two say with the handle of which dispatch, the others are counts. */
static const unsigned WORD_CALL = 0;
static const unsigned WORD_HANDLE = 1;
static const unsigned WORD_COUNTS = 3;

/* Of WORD_CALL. */
static const unsigned CALL_DISPATCH = 1;
static const unsigned CALL_COMBINE = 2;
static const unsigned CALL_AGAIN = 1u << 2;
static const unsigned CALL_WORST = 1u << 3;
static const unsigned CALL_FORMAT_SHIFT = 4;
static const unsigned CALL_BLOCKS_SHIFT = 6;
static const unsigned CALL_SLOT = 1u << 20;

enum format { BF16, FP8, FP8_ROUNDED, FP8_UE8M0 };

static const unsigned GROUP = 128;
/* Channels that a warp moves in one go: four vectors of bfloat16 a lane. */
static const unsigned CHANNELS_AT_ONCE = 1024;
static const unsigned CHANNELS_OF_VECTOR = 8;
static const unsigned VECTORS_AT_ONCE = CHANNELS_AT_ONCE / CHANNELS_OF_VECTOR / LANES;
/* Rows of a combine that share a flag. */
static const unsigned ROWS_OF_PIECE = 2;

/* At the beginning of the part, for this rank's own GPU. */
struct progress {
    uint64_t generation;    // of dispatches and combines together
    unsigned sends;         // pieces of this launch that warps have taken
    unsigned tokens;        // that warps have taken
};

/* What all launches of a rank have in common: places in a window, and sizes. */
struct normal {
    struct buffer buffer;
    uint64_t at;
    uint64_t words_at;
    uint64_t done_at;
    uint64_t arrived_at;
    uint64_t counts_at;
    uint64_t slots_at;
    uint64_t combined_at;
    uint64_t slot_bytes;
    uint64_t scales_in_slot;
    uint64_t choices_in_slot;
    uint64_t weights_in_slot;
    uint64_t sources_in_slot;
    uint64_t counts_in_slot;
    unsigned experts;       // of a rank
    unsigned hidden;
    unsigned most_tokens;   // of a rank
    unsigned top_k;
};

/* Where tokens go; int32 [ranks], [experts of all ranks] and [tokens, ranks] follow: tokens to each rank, choices of each expert, and
 * each token's index among those that go to a rank, or -1. */
struct routes {
    int tokens;
    int zero[3];

    __device__ int *to_ranks() const {
        return (int *)(this + 1);
    }
    __device__ int *to_experts(unsigned ranks) const {
        return to_ranks() + ranks;
    }
    __device__ int *positions(unsigned ranks, unsigned experts) const {
        return to_experts(ranks) + ranks * experts;
    }
};

/* What a dispatch leaves for its combine; int32 [ranks] of rows from each rank, the first and their number, [local experts] and
 * [tokens, ranks] follow. */
struct route_handle {
    uint64_t generation;        // of the dispatch
    int tokens;
    int received;
    int zero[4];

    __device__ int *first_rows() const {
        return (int *)(this + 1);
    }
    __device__ int *row_counts(unsigned ranks) const {
        return first_rows() + ranks;
    }
    __device__ int *sent_counts(unsigned ranks) const {
        return row_counts(ranks) + ranks;
    }
    __device__ int *experts(unsigned ranks) const {
        return sent_counts(ranks) + ranks;
    }
    __device__ int *positions(unsigned ranks, unsigned local_experts) const {
        return experts(ranks) + local_experts;
    }
};

/* ---- words that other GPUs store ---- */

static __device__ uint64_t load_relaxed(const uint64_t *from) {
    uint64_t value;
    asm volatile("ld.relaxed.sys.global.u64 %0, [%1];" : "=l"(value) : "l"(from) : "memory");
    return value;
}

/* Waits for a flag of a rank's in this one's window. False if it does not come. */
static __device__ bool await_flag(
        const normal &in, const uint64_t *flag, uint64_t value, unsigned rank, uint64_t patience) {
    watch waited = {};
    while (load_relaxed(flag) < value) {
        if (is_over(&waited, in.buffer, rank, patience)) {
            return false;
        }
    }
    // and what the rank has stored before
    load_acquire(flag);
    return true;
}

/* ---- a launch ---- */

static __device__ progress *progress_of(const normal &in) {
    return (progress *)(in.buffer.windows[in.buffer.rank] + in.at);
}

/* The last block counts the launch. */
static __device__ void end(const normal &in, uint64_t generation) {
    if (ends_launch(in.buffer)) {
        volatile progress *own = progress_of(in);
        own->sends = 0;
        own->tokens = 0;
        own->generation = generation;
    }
}

/* The launch's generation, or 0 if it is to do nothing, as an earlier one has failed. */
static __device__ uint64_t begin(const normal &in) {
    uint64_t generation = *(volatile uint64_t *)&progress_of(in)->generation + 1;
    if (may_begin(in.buffer)) {
        return generation;
    }
    end(in, generation);
    return 0;
}

/* The words of a sender in a window. */
static __device__ uint64_t *words_of(
        const normal &in, unsigned owner, uint64_t generation, unsigned sender) {
    uint64_t place = (generation & 1) * in.buffer.ranks + sender;
    return (uint64_t *)(in.buffer.windows[owner] + in.words_at) + place * (in.buffer.ranks + WORD_COUNTS);
}

/* What all ranks have said, as shared by a block: counts of sender s to rank d at s * ranks + d, and the slots. */
struct meeting {
    unsigned counts[MOST_RANKS * MOST_RANKS];
    unsigned slots[MOST_RANKS];
};

/*
 * Says what this rank calls, and waits until all have called. False if one does not come or calls something else: then nothing may be
 * written there.
 */
static __device__ bool meet(const normal &in, uint64_t generation, unsigned call, uint64_t handle,
        const int *counts, uint64_t patience, meeting *met) {
    unsigned ranks = in.buffer.ranks;
    unsigned words = ranks + WORD_COUNTS;
    unsigned said[WORD_COUNTS] = {
        call, (unsigned)(handle & VALUE_MASK), (unsigned)(handle >> VALUE_BITS & VALUE_MASK)};
    if (blockIdx.x == 0) {
        for (unsigned i = threadIdx.x; i < ranks * words; i += blockDim.x) {
            unsigned word = i % words;
            unsigned value = word == WORD_CALL ? said[0]
                    : word == WORD_HANDLE      ? said[1]
                    : word < WORD_COUNTS       ? said[2]
                    : counts != nullptr        ? (unsigned)counts[word - WORD_COUNTS]
                                               : 0;
            store_release(words_of(in, i / words, generation, in.buffer.rank) + word, generation << VALUE_BITS | value);
        }
    }
    bool has_failed = false;
    for (unsigned i = threadIdx.x; i < ranks * words; i += blockDim.x) {
        unsigned sender = i / words;
        unsigned word = i % words;
        const uint64_t *from = words_of(in, in.buffer.rank, generation, sender) + word;
        watch waited = {};
        uint64_t seen = load_acquire(from);
        while (seen >> VALUE_BITS < generation && !has_failed) {
            has_failed = is_over(&waited, in.buffer, sender, patience);
            seen = load_acquire(from);
        }
        if (has_failed) {
            break;
        }
        unsigned value = (unsigned)seen & VALUE_MASK;
        if (word >= WORD_COUNTS) {
            met->counts[sender * ranks + word - WORD_COUNTS] = value;
            continue;
        }
        if (word == WORD_CALL) {
            met->slots[sender] = (value & CALL_SLOT) != 0;
            value |= CALL_SLOT;
        }
        unsigned own = word == WORD_CALL ? said[0] | CALL_SLOT : word == WORD_HANDLE ? said[1] : said[2];
        if (value != own || seen >> VALUE_BITS != generation) {
            fail(in.buffer, DIFFERS, sender, 0, 0);
            has_failed = true;
            break;
        }
    }
    return !__syncthreads_or(has_failed);
}

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

/* ---- combine ---- */

struct combine {
    const char *y;
    const char *bias;           // or NULL
    char *out;
    const route_handle *handle;
    uint64_t rows;              // that there may be in y
    uint64_t patience;          // nanoseconds
    unsigned tokens;
    unsigned senders;           // warps of a block that send first
};

/* The place of a rank among those that are not the owner. */
static __device__ unsigned place_of(unsigned owner, unsigned rank) {
    return rank < owner ? rank : rank - 1;
}

static __device__ uint64_t *arrived_flag(const normal &in, unsigned owner, unsigned sender, unsigned row) {
    uint64_t pieces = (in.most_tokens + ROWS_OF_PIECE - 1) / ROWS_OF_PIECE;
    return (uint64_t *)(in.buffer.windows[owner] + in.arrived_at) + place_of(owner, sender) * pieces + row / ROWS_OF_PIECE;
}

static __device__ char *combined_row(const normal &in, unsigned owner, unsigned sender, unsigned row) {
    return in.buffer.windows[owner] + in.combined_at
            + ((uint64_t)place_of(owner, sender) * in.most_tokens + row) * in.hidden * 2;
}

static const unsigned COPIES_AT_ONCE = 8;

static __device__ void copy(char *to, const char *from, uint64_t vectors) {
    for (uint64_t at = threadIdx.x % LANES; at < vectors; at += COPIES_AT_ONCE * LANES) {
        uint4 values[COPIES_AT_ONCE];
#pragma unroll
        for (unsigned i = 0; i < COPIES_AT_ONCE; i++) {
            if (at + i * LANES < vectors) {
                values[i] = __ldg((const uint4 *)from + at + i * LANES);
            }
        }
#pragma unroll
        for (unsigned i = 0; i < COPIES_AT_ONCE; i++) {
            if (at + i * LANES < vectors) {
                ((uint4 *)to)[at + i * LANES] = values[i];
            }
        }
    }
}

/* A warp takes the next one of something. */
static __device__ unsigned take(unsigned *next) {
    unsigned taken = threadIdx.x % LANES == 0 ? atomicAdd(next, 1u) : 0;
    return __shfl_sync(ALL_LANES, taken, 0);
}

/* Sends rows back to the ranks of their tokens, a piece to one rank after another. */
static __device__ void send_back(const combine &what, const normal &in, uint64_t generation) {
    unsigned ranks = in.buffer.ranks;
    const int *first_rows = what.handle->first_rows();
    const int *row_counts = what.handle->row_counts(ranks);
    unsigned most = 0;
    for (unsigned i = 0; i < ranks; i++) {
        most = i == in.buffer.rank ? most : max(most, (unsigned)row_counts[i]);
    }
    unsigned pieces = (most + ROWS_OF_PIECE - 1) / ROWS_OF_PIECE;
    uint64_t row_vectors = in.hidden / CHANNELS_OF_VECTOR;
    for (;;) {
        unsigned taken = take(&progress_of(in)->sends);
        if (ranks == 1 || taken >= pieces * (ranks - 1)) {
            return;
        }
        unsigned to = (in.buffer.rank + 1 + taken % (ranks - 1)) % ranks;
        unsigned row = taken / (ranks - 1) * ROWS_OF_PIECE;
        unsigned count = row_counts[to];
        if (row >= count) {
            continue;
        }
        unsigned rows = min(count - row, ROWS_OF_PIECE);
        copy(combined_row(in, to, in.buffer.rank, row),
                what.y + ((uint64_t)first_rows[to] + row) * row_vectors * sizeof(uint4), rows * row_vectors);
        __syncwarp();
        if (threadIdx.x % LANES == 0) {
            store_release(arrived_flag(in, to, in.buffer.rank, row), signal_of(generation, 0));
        }
    }
}

static __device__ void add(float *sums, uint4 vector) {
    unsigned words[4] = {vector.x, vector.y, vector.z, vector.w};
#pragma unroll
    for (unsigned i = 0; i < 4; i++) {
        sums[2 * i] = __fadd_rn(sums[2 * i], __uint_as_float(words[i] << 16));
        sums[2 * i + 1] = __fadd_rn(sums[2 * i + 1], __uint_as_float(words[i] & 0xffff0000u));
    }
}

static __device__ unsigned narrow(float value) {
    unsigned bits = __float_as_uint(value);
    return value != value ? 0x7fc0 : (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
}

static __device__ uint4 narrowed(const float *sums) {
    return make_uint4(narrow(sums[0]) | narrow(sums[1]) << 16, narrow(sums[2]) | narrow(sums[3]) << 16,
            narrow(sums[4]) | narrow(sums[5]) << 16, narrow(sums[6]) | narrow(sums[7]) << 16);
}

static const unsigned SUMS_AT_ONCE = 2;

/* The next of a token's rows, which lanes have by rank; it is taken out of the masks. NULL if there is none. */
static __device__ const uint4 *next_row(const char *const *from, unsigned *mask) {
    if (mask[0] != 0) {
        unsigned lane = __ffs(mask[0]) - 1;
        mask[0] &= mask[0] - 1;
        return (const uint4 *)__shfl_sync(ALL_LANES, (unsigned long long)from[0], lane);
    }
    if (mask[1] != 0) {
        unsigned lane = __ffs(mask[1]) - 1;
        mask[1] &= mask[1] - 1;
        return (const uint4 *)__shfl_sync(ALL_LANES, (unsigned long long)from[1], lane);
    }
    return nullptr;
}

static __device__ void load_sums(uint4 *values, const uint4 *row, uint64_t at, uint64_t count) {
#pragma unroll
    for (unsigned i = 0; i < SUMS_AT_ONCE; i++) {
        values[i] = row != nullptr && at + i * LANES < count ? row[at + i * LANES] : make_uint4(0, 0, 0, 0);
    }
}

/* Adds what ranks have made of tokens, in the order of the ranks. False if a rank's rows do not come. */
static __device__ bool add_up(const combine &what, const normal &in, uint64_t generation) {
    unsigned ranks = in.buffer.ranks;
    unsigned lane = threadIdx.x % LANES;
    const int *positions = what.handle->positions(ranks, in.experts);
    uint64_t row_vectors = in.hidden / CHANNELS_OF_VECTOR;
    uint64_t row_bytes = row_vectors * sizeof(uint4);
    const char *own_rows = what.y + (uint64_t)what.handle->first_rows()[in.buffer.rank] * row_bytes;
    for (;;) {
        unsigned token = take(&progress_of(in)->tokens);
        if (token >= what.tokens) {
            return true;
        }
        const char *from[2];
        unsigned mask[2];
        bool is_late = false;
        for (unsigned half = 0; half < 2; half++) {
            unsigned rank = lane + half * LANES;
            int row = rank < ranks ? positions[(uint64_t)token * ranks + rank] : -1;
            mask[half] = __ballot_sync(ALL_LANES, row >= 0);
            from[half] = nullptr;
            if (row >= 0 && rank == in.buffer.rank) {
                from[half] = own_rows + row * row_bytes;
            } else if (row >= 0) {
                from[half] = combined_row(in, in.buffer.rank, rank, row);
                is_late |= !await_flag(in, arrived_flag(in, in.buffer.rank, rank, row), signal_of(generation, 0), rank, what.patience);
            }
        }
        if (__any_sync(ALL_LANES, is_late)) {
            return false;
        }
        for (uint64_t at = lane; at - lane < row_vectors; at += SUMS_AT_ONCE * LANES) {
            float sums[SUMS_AT_ONCE][CHANNELS_OF_VECTOR] = {};
            unsigned rest[2] = {mask[0], mask[1]};
            // two rows are under way at once
            for (const uint4 *row = next_row(from, rest); row != nullptr; row = next_row(from, rest)) {
                const uint4 *second = next_row(from, rest);
                uint4 values[2][SUMS_AT_ONCE];
                load_sums(values[0], row, at, row_vectors);
                load_sums(values[1], second, at, row_vectors);
#pragma unroll
                for (unsigned i = 0; i < SUMS_AT_ONCE; i++) {
                    add(sums[i], values[0][i]);
                }
                if (second != nullptr) {
#pragma unroll
                    for (unsigned i = 0; i < SUMS_AT_ONCE; i++) {
                        add(sums[i], values[1][i]);
                    }
                }
            }
#pragma unroll
            for (unsigned i = 0; i < SUMS_AT_ONCE; i++) {
                if (at + i * LANES < row_vectors) {
                    uint64_t place = token * row_vectors + at + i * LANES;
                    if (what.bias != nullptr) {
                        add(sums[i], ((const uint4 *)what.bias)[place]);
                    }
                    ((uint4 *)what.out)[place] = narrowed(sums[i]);
                }
            }
        }
    }
}

extern "C" __global__ void __launch_bounds__(COMBINE_THREADS) sluice_experts_normal_combine(combine what, normal in) {
    __shared__ meeting met;
    uint64_t generation = begin(in);
    if (generation == 0) {
        return;
    }
    bool is_bad = what.handle->generation == 0 || what.handle->tokens != (int)what.tokens;
    if (is_bad || (uint64_t)what.handle->received > what.rows) {
        fail(in.buffer, is_bad ? NOT_PREPARED : OVERFULL, in.buffer.rank, is_bad ? what.tokens : what.handle->received,
                what.rows);
        end(in, generation);
        return;
    }
    unsigned call = CALL_COMBINE | gridDim.x << CALL_BLOCKS_SHIFT;
    if (meet(in, generation, call, what.handle->generation, nullptr, what.patience, &met)) {
        if (threadIdx.x / LANES < what.senders) {
            send_back(what, in, generation);
        }
        add_up(what, in, generation);
    }
    end(in, generation);
}
