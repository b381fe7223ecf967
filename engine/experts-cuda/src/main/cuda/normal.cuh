/*
 * What all calls of normal mode have in common. Its part of a window:
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
