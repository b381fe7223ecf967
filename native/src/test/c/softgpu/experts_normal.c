/*
 * The twins of the kernels in normal.cu. One block does all, row after row, and adds in the plainest way.
 */
#include "experts_normal.h"

#include "expert_variant.h"

#include <string.h>

#define VALUE_BITS 21
#define VALUE_MASK ((1u << VALUE_BITS) - 1)
#define WORD_CALL 0
#define WORD_HANDLE 1
#define CALL_DISPATCH 1u
#define CALL_COMBINE 2u
#define CALL_AGAIN (1u << 2)
#define CALL_WORST (1u << 3)
#define CALL_FORMAT_SHIFT 4
#define CALL_SLOT (1u << 20)

/* In an operation's words, behind those of expert_await. */
#define PHASE 2

enum phase { BEGINS, MEETS, ENDS };

/* A layout, and a handle, as this process sees them. */
struct routes {
    int32_t *tokens;
    int32_t *to_ranks;
    int32_t *to_experts;
    int32_t *positions;
};

struct handle {
    uint64_t *generation;
    int32_t *tokens;
    int32_t *received;
    int32_t *first_rows;
    int32_t *row_counts;
    int32_t *sent_counts;
    int32_t *experts;
    int32_t *positions;
};

static bool find_routes(int ordinal, const struct normal *in, uint64_t address, uint64_t tokens, struct routes *found) {
    uint64_t ranks = in->buffer.ranks;
    int32_t *all = reach(ordinal, address, (4 + ranks + ranks * in->experts + tokens * ranks) * sizeof *all);
    if (all == NULL) {
        return false;
    }
    *found = (struct routes){
        .tokens = all,
        .to_ranks = all + 4,
        .to_experts = all + 4 + ranks,
        .positions = all + 4 + ranks + ranks * in->experts,
    };
    return true;
}

static bool find_handle(int ordinal, const struct normal *in, uint64_t address, uint64_t tokens, struct handle *found) {
    uint64_t ranks = in->buffer.ranks;
    int32_t *all = reach(ordinal, address, (8 + 3 * ranks + in->experts + tokens * ranks) * sizeof *all);
    if (all == NULL) {
        return false;
    }
    *found = (struct handle){
        .generation = (uint64_t *)all,
        .tokens = all + 2,
        .received = all + 3,
        .first_rows = all + 8,
        .row_counts = all + 8 + ranks,
        .sent_counts = all + 8 + 2 * ranks,
        .experts = all + 8 + 3 * ranks,
        .positions = all + 8 + 3 * ranks + in->experts,
    };
    return true;
}

/* ---- a launch ---- */

static struct progress *progress_of(int ordinal, const struct normal *in) {
    return reach(ordinal, in->buffer.windows[in->buffer.rank] + in->at, sizeof(struct progress));
}

static enum step end(int ordinal, const struct normal *in) {
    struct progress *progress = progress_of(ordinal, in);
    if (progress == NULL) {
        return STEP_FAILED;
    }
    progress->generation++;
    return STEP_DONE;
}

static enum step give_up(
        int ordinal, const struct normal *in, enum expert_failure kind, unsigned rank, uint64_t token, uint64_t expert) {
    return expert_fail(ordinal, &in->buffer, kind, rank, token, expert) ? end(ordinal, in) : STEP_FAILED;
}

/* What a step returns when a wait has not seen what it is for. */
static enum step wait_over(int ordinal, const struct normal *in, enum step seen) {
    const struct expert_state *state = expert_state_of(ordinal, &in->buffer);
    if (seen == STEP_FAILED && state != NULL && state->failed) {
        return end(ordinal, in);
    }
    return seen;
}

static uint64_t word_at(const struct normal *in, unsigned owner, uint64_t generation, unsigned sender, unsigned word) {
    uint64_t place = (generation & 1) * in->buffer.ranks + sender;
    return in->buffer.windows[owner] + in->words_at
            + (place * (in->buffer.ranks + WORD_COUNTS) + word) * sizeof(uint64_t);
}

static bool say(int ordinal, const struct normal *in, uint64_t generation, const uint32_t *said, const int32_t *counts) {
    for (unsigned owner = 0; owner < in->buffer.ranks; owner++) {
        for (unsigned word = 0; word < in->buffer.ranks + WORD_COUNTS; word++) {
            uint32_t value = word < WORD_COUNTS ? said[word]
                    : counts != NULL            ? (uint32_t)counts[word - WORD_COUNTS]
                                                : 0;
            if (!expert_store(ordinal, word_at(in, owner, generation, in->buffer.rank, word),
                        generation << VALUE_BITS | value)) {
                return false;
            }
        }
    }
    return true;
}

/* STEP_DONE if all have called the same; else what the step is to return, if the launch has not ended by that. */
static enum step hear(
        int ordinal, const struct normal *in, uint64_t *own, uint64_t generation, const uint32_t *said, uint64_t patience,
        struct meeting *met) {
    enum step all = STEP_DONE;
    for (unsigned sender = 0; sender < in->buffer.ranks; sender++) {
        for (unsigned word = 0; word < in->buffer.ranks + WORD_COUNTS; word++) {
            uint64_t at = word_at(in, in->buffer.rank, generation, sender, word);
            /* Its value is not known here; each is later than this. */
            enum step step =
                    expert_await(ordinal, &in->buffer, own, at, (generation << VALUE_BITS) - 1, sender, patience);
            if (step == STEP_FAILED) {
                return step;
            }
            if (step == STEP_AGAIN) {
                all = step;
                break;
            }
            uint64_t seen = __atomic_load_n((uint64_t *)reach(ordinal, at, sizeof seen), __ATOMIC_ACQUIRE);
            uint32_t value = (uint32_t)seen & VALUE_MASK;
            if (word >= WORD_COUNTS) {
                met->counts[sender][word - WORD_COUNTS] = value;
                continue;
            }
            if (word == WORD_CALL) {
                met->slots[sender] = (value & CALL_SLOT) != 0;
            }
            uint32_t ignored = word == WORD_CALL ? CALL_SLOT : 0;
            if (((value ^ said[word]) & ~ignored) != 0 || seen >> VALUE_BITS != generation) {
                expert_fail(ordinal, &in->buffer, EXPERT_DIFFERS, sender, 0, 0);
                return STEP_FAILED;
            }
        }
    }
    return all;
}

static void says(uint32_t *said, uint32_t call, uint64_t handle) {
    said[WORD_CALL] = call;
    said[WORD_HANDLE] = (uint32_t)(handle & VALUE_MASK);
    said[WORD_HANDLE + 1] = (uint32_t)(handle >> VALUE_BITS & VALUE_MASK);
}

/* ---- layout ---- */

static bool lay_out(int ordinal, const uint8_t *arguments) {
    struct layout what;
    struct normal in;
    memcpy(&what, arguments, sizeof what);
    memcpy(&in, arguments + sizeof what, sizeof in);
    struct routes to;
    uint64_t ranks = in.buffer.ranks;
    const int64_t *choices = what.tokens == 0 ? (const int64_t *)arguments
                                              : reach(ordinal, what.choices, what.tokens * in.top_k * sizeof *choices);
    if (choices == NULL || !find_routes(ordinal, &in, what.to, what.tokens, &to)) {
        return false;
    }
    memset(to.to_ranks, 0, ranks * sizeof *to.to_ranks);
    memset(to.to_experts, 0, ranks * in.experts * sizeof *to.to_experts);
    *to.tokens = (int32_t)what.tokens;
    for (uint64_t token = 0; token < what.tokens; token++) {
        for (uint64_t rank = 0; rank < ranks; rank++) {
            to.positions[token * ranks + rank] = -1;
        }
        for (uint64_t k = 0; k < in.top_k; k++) {
            int64_t choice = choices[token * in.top_k + k];
            if (choice == -1) {
                continue;
            }
            if (choice < 0 || choice >= (int64_t)(ranks * in.experts)) {
                if (!expert_fail(
                            ordinal, &in.buffer, EXPERT_NO_EXPERT, in.buffer.rank, token, (uint64_t)choice)) {
                    return false;
                }
                continue;
            }
            to.to_experts[choice]++;
            uint64_t rank = (uint64_t)choice / in.experts;
            if (to.positions[token * ranks + rank] < 0) {
                to.positions[token * ranks + rank] = to.to_ranks[rank]++;
            }
        }
    }
    return true;
}

/* ---- dispatch ---- */

static uint64_t done_flag(const struct normal *in, unsigned owner, unsigned sender) {
    return in->buffer.windows[owner] + in->done_at + (uint64_t)sender * MOST_BLOCKS * sizeof(uint64_t);
}

static uint64_t counts_at(const struct normal *in, unsigned owner, unsigned sender) {
    return in->buffer.windows[owner] + in->counts_at + (uint64_t)sender * in->experts * sizeof(int32_t);
}

static void keep(
        const struct dispatch *what, const struct normal *in, const struct meeting *met, uint64_t generation,
        const struct routes *to, const struct handle *handle, int32_t *summary) {
    unsigned ranks = in->buffer.ranks;
    unsigned own = in->buffer.rank;
    uint32_t received = 0;
    for (unsigned rank = 0; rank < ranks; rank++) {
        uint32_t count = met->counts[rank][own];
        summary[2 + rank] = (int32_t)received;
        summary[2 + ranks + rank] = (int32_t)count;
        if (what->to != 0) {
            handle->first_rows[rank] = (int32_t)received;
            handle->row_counts[rank] = (int32_t)count;
            handle->sent_counts[rank] = (int32_t)met->counts[own][rank];
        }
        received += count;
    }
    summary[0] = (int32_t)received;
    if (what->to != 0) {
        *handle->tokens = (int32_t)what->tokens;
        *handle->received = (int32_t)received;
        *handle->generation = generation;
        memcpy(handle->positions, to->positions, (uint64_t)what->tokens * ranks * sizeof *handle->positions);
    }
}

/* Sends all that this rank has, once all have met. */
static enum step send(
        int ordinal, const struct dispatch *what, const struct normal *in, const struct meeting *met, uint64_t generation,
        enum format format) {
    unsigned ranks = in->buffer.ranks;
    unsigned own = in->buffer.rank;
    uint32_t first[EXPERT_RANKS];
    uint32_t received = 0;
    for (unsigned rank = 0; rank < ranks; rank++) {
        uint32_t all = 0;
        for (unsigned sender = 0; sender < ranks; sender++) {
            first[rank] = sender == own ? all : first[rank];
            all += met->counts[sender][rank];
        }
        received = rank == own ? all : received;
        if (all > ranks * in->most_tokens || (what->worst != 0 && all > what->worst)) {
            expert_fail(ordinal, &in->buffer, EXPERT_OVERFULL, rank, all, what->worst);
            return STEP_FAILED;
        }
    }
    struct routes to = {0};
    struct handle handle;
    int32_t *summary = reach(ordinal, what->summary, (2ull + 2 * ranks + in->experts) * sizeof *summary);
    bool is_good = summary != NULL && find_handle(ordinal, in, what->handle, what->tokens, &handle)
            && (what->to == 0 || find_routes(ordinal, in, what->to, what->tokens, &to))
            && normal_mark_rows(ordinal, what, in, normal_slot_at(in, met, own), received);
    if (!is_good) {
        return STEP_FAILED;
    }
    const int32_t *positions = what->to == 0 ? handle.positions : to.positions;
    is_good = normal_send_rows(ordinal, what, in, met, positions, first, format);
    for (unsigned rank = 0; is_good && what->to != 0 && rank < ranks; rank++) {
        is_good = normal_put(ordinal, counts_at(in, rank, own), to.to_experts + (uint64_t)rank * in->experts,
                in->experts * sizeof(int32_t));
    }
    if (is_good) {
        keep(what, in, met, generation, &to, &handle, summary);
    }
    for (unsigned rank = 0; is_good && rank < ranks; rank++) {
        is_good = rank == own || expert_store(ordinal, done_flag(in, rank, own), expert_signal(generation, 0));
    }
    return is_good ? STEP_DONE : STEP_FAILED;
}

static bool sum_counts(int ordinal, const struct dispatch *what, const struct normal *in, uint64_t slot) {
    struct handle handle;
    int32_t *summary = reach(ordinal, what->summary, (2ull + 2 * in->buffer.ranks + in->experts) * sizeof *summary);
    int32_t *counts = reach(ordinal, slot + in->counts_in_slot, in->experts * sizeof *counts);
    const int32_t *from = reach(
            ordinal, counts_at(in, in->buffer.rank, 0), (uint64_t)in->buffer.ranks * in->experts * sizeof *from);
    if (summary == NULL || counts == NULL || from == NULL || !find_handle(ordinal, in, what->handle, 0, &handle)) {
        return false;
    }
    for (uint64_t expert = 0; expert < in->experts; expert++) {
        if (what->to != 0) {
            handle.experts[expert] = 0;
            for (uint64_t rank = 0; rank < in->buffer.ranks; rank++) {
                handle.experts[expert] += from[rank * in->experts + expert];
            }
        }
        uint32_t exact = (uint32_t)handle.experts[expert];
        counts[expert] = (int32_t)((exact + what->alignment - 1) / what->alignment * what->alignment);
        summary[2 + 2 * in->buffer.ranks + expert] = counts[expert];
    }
    return true;
}

static enum step dispatch(int ordinal, const uint8_t *arguments, uint64_t *own, enum format format) {
    struct dispatch what;
    struct normal in;
    memcpy(&what, arguments, sizeof what);
    memcpy(&in, arguments + sizeof what, sizeof in);
    const struct expert_state *state = expert_state_of(ordinal, &in.buffer);
    const struct progress *progress = progress_of(ordinal, &in);
    struct routes to = {0};
    struct handle handle;
    if (state == NULL || progress == NULL || !find_handle(ordinal, &in, what.handle, what.tokens, &handle)
            || (what.to != 0 && !find_routes(ordinal, &in, what.to, what.tokens, &to))) {
        return STEP_FAILED;
    }
    if (state->failed) {
        return end(ordinal, &in);
    }
    uint64_t generation = progress->generation + 1;
    bool is_again = what.to == 0;
    uint32_t said[WORD_COUNTS];
    says(said,
            CALL_DISPATCH | (is_again ? CALL_AGAIN : 0) | (what.worst != 0 ? CALL_WORST : 0)
                    | (uint32_t)format << CALL_FORMAT_SHIFT | (what.slot != 0 ? CALL_SLOT : 0),
            is_again ? *handle.generation : 0);
    if (own[PHASE] == BEGINS) {
        if (is_again ? *handle.generation == 0 || *handle.tokens != (int32_t)what.tokens
                     : *to.tokens != (int32_t)what.tokens) {
            return give_up(ordinal, &in, EXPERT_NOT_PREPARED, in.buffer.rank, what.tokens, 0);
        }
        if (!say(ordinal, &in, generation, said, is_again ? handle.sent_counts : to.to_ranks)) {
            return STEP_FAILED;
        }
        own[PHASE] = MEETS;
    }
    if (own[PHASE] == MEETS) {
        struct meeting met;
        enum step step = hear(ordinal, &in, own, generation, said, what.patience, &met);
        if (step == STEP_DONE) {
            step = send(ordinal, &what, &in, &met, generation, format);
        }
        if (step != STEP_DONE) {
            return wait_over(ordinal, &in, step);
        }
        memset(own, 0, PHASE * sizeof *own);
        own[PHASE] = ENDS;
    }
    enum step all = STEP_DONE;
    for (unsigned rank = 0; rank < in.buffer.ranks; rank++) {
        enum step step = rank == in.buffer.rank
                ? STEP_DONE
                : expert_await(ordinal, &in.buffer, own, done_flag(&in, in.buffer.rank, rank),
                        expert_signal(generation, 0), rank, what.patience);
        if (step == STEP_FAILED) {
            return wait_over(ordinal, &in, step);
        }
        all = step == STEP_AGAIN ? step : all;
    }
    if (all != STEP_DONE) {
        return all;
    }
    uint64_t slot = in.buffer.windows[in.buffer.rank] + in.slots_at + (what.slot != 0 ? in.slot_bytes : 0);
    return sum_counts(ordinal, &what, &in, slot) ? end(ordinal, &in) : STEP_FAILED;
}

static enum step dispatch_bf16(int ordinal, const uint8_t *arguments, uint64_t *own) {
    return dispatch(ordinal, arguments, own, BF16);
}

static enum step dispatch_fp8(int ordinal, const uint8_t *arguments, uint64_t *own) {
    return dispatch(ordinal, arguments, own, FP8);
}

static enum step dispatch_fp8_rounded(int ordinal, const uint8_t *arguments, uint64_t *own) {
    return dispatch(ordinal, arguments, own, FP8_ROUNDED);
}

static enum step dispatch_fp8_ue8m0(int ordinal, const uint8_t *arguments, uint64_t *own) {
    return dispatch(ordinal, arguments, own, FP8_UE8M0);
}

/* ---- combine ---- */

static uint64_t place_of(unsigned owner, unsigned rank) {
    return rank < owner ? rank : rank - 1;
}

static uint64_t arrived_flag(const struct normal *in, unsigned owner, unsigned sender, uint32_t row) {
    uint64_t pieces = (in->most_tokens + ROWS_OF_PIECE - 1) / ROWS_OF_PIECE;
    return in->buffer.windows[owner] + in->arrived_at
            + (place_of(owner, sender) * pieces + row / ROWS_OF_PIECE) * sizeof(uint64_t);
}

static uint64_t combined_row(const struct normal *in, unsigned owner, unsigned sender, uint32_t row) {
    return in->buffer.windows[owner] + in->combined_at
            + (place_of(owner, sender) * in->most_tokens + row) * in->hidden * 2;
}

static bool send_back(
        int ordinal, const struct combine *what, const struct normal *in, const struct handle *handle, uint64_t generation) {
    uint64_t row_bytes = in->hidden * 2ull;
    for (unsigned rank = 0; rank < in->buffer.ranks; rank++) {
        for (uint32_t row = 0; rank != in->buffer.rank && row < (uint32_t)handle->row_counts[rank]; row++) {
            uint64_t at = (uint64_t)handle->first_rows[rank] + row;
            const void *from = reach(ordinal, what->y + at * row_bytes, row_bytes);
            bool is_last = row % ROWS_OF_PIECE == ROWS_OF_PIECE - 1 || row + 1 == (uint32_t)handle->row_counts[rank];
            if (from == NULL || !normal_put(ordinal, combined_row(in, rank, in->buffer.rank, row), from, row_bytes)
                    || (is_last
                            && !expert_store(ordinal, arrived_flag(in, rank, in->buffer.rank, row),
                                    expert_signal(generation, 0)))) {
                return false;
            }
        }
    }
    return true;
}

/* Adds a row that may be NULL to a sum. */
static bool add(float *sum, const uint16_t *row, uint32_t hidden) {
    for (uint32_t i = 0; row != NULL && i < hidden; i++) {
        sum[i] += float_of_bits((uint32_t)row[i] << 16);
    }
    return row != NULL;
}

static bool add_up(
        int ordinal, const struct combine *what, const struct normal *in, const struct handle *handle, uint32_t token) {
    float sum[1 << 16];
    uint64_t row_bytes = in->hidden * 2ull;
    bool is_good = true;
    memset(sum, 0, in->hidden * sizeof *sum);
    for (unsigned rank = 0; is_good && rank < in->buffer.ranks; rank++) {
        int32_t position = handle->positions[(uint64_t)token * in->buffer.ranks + rank];
        if (position < 0) {
            continue;
        }
        uint64_t from = rank == in->buffer.rank
                ? what->y + ((uint64_t)handle->first_rows[rank] + (uint32_t)position) * row_bytes
                : combined_row(in, in->buffer.rank, rank, (uint32_t)position);
        is_good = add(sum, reach(ordinal, from, row_bytes), in->hidden);
    }
    is_good = is_good
            && (what->bias == 0 || add(sum, reach(ordinal, what->bias + token * row_bytes, row_bytes), in->hidden));
    uint16_t *out = reach(ordinal, what->out + token * row_bytes, row_bytes);
    for (uint32_t i = 0; is_good && out != NULL && i < in->hidden; i++) {
        out[i] = bfloat16_of(sum[i]);
    }
    return is_good && out != NULL;
}

static enum step combine(int ordinal, const uint8_t *arguments, uint64_t *own) {
    struct combine what;
    struct normal in;
    memcpy(&what, arguments, sizeof what);
    memcpy(&in, arguments + sizeof what, sizeof in);
    const struct expert_state *state = expert_state_of(ordinal, &in.buffer);
    const struct progress *progress = progress_of(ordinal, &in);
    struct handle handle;
    if (state == NULL || progress == NULL || !find_handle(ordinal, &in, what.handle, what.tokens, &handle)) {
        return STEP_FAILED;
    }
    if (state->failed) {
        return end(ordinal, &in);
    }
    uint64_t generation = progress->generation + 1;
    uint32_t said[WORD_COUNTS];
    says(said, CALL_COMBINE, *handle.generation);
    if (own[PHASE] == BEGINS) {
        if (*handle.generation == 0 || *handle.tokens != (int32_t)what.tokens) {
            return give_up(ordinal, &in, EXPERT_NOT_PREPARED, in.buffer.rank, what.tokens, 0);
        }
        if ((uint64_t)*handle.received > what.rows) {
            return give_up(
                    ordinal, &in, EXPERT_OVERFULL, in.buffer.rank, (uint64_t)*handle.received, what.rows);
        }
        if (!say(ordinal, &in, generation, said, NULL)) {
            return STEP_FAILED;
        }
        own[PHASE] = MEETS;
    }
    if (own[PHASE] == MEETS) {
        struct meeting met;
        enum step step = hear(ordinal, &in, own, generation, said, what.patience, &met);
        if (step == STEP_DONE && !send_back(ordinal, &what, &in, &handle, generation)) {
            step = STEP_FAILED;
        }
        if (step != STEP_DONE) {
            return wait_over(ordinal, &in, step);
        }
        memset(own, 0, PHASE * sizeof *own);
        own[PHASE] = ENDS;
    }
    enum step all = STEP_DONE;
    for (unsigned rank = 0; rank < in.buffer.ranks; rank++) {
        for (uint32_t row = 0; rank != in.buffer.rank && row < (uint32_t)handle.sent_counts[rank]; row += ROWS_OF_PIECE) {
            enum step step = expert_await(ordinal, &in.buffer, own, arrived_flag(&in, in.buffer.rank, rank, row),
                    expert_signal(generation, 0), rank, what.patience);
            if (step == STEP_FAILED) {
                return wait_over(ordinal, &in, step);
            }
            if (step == STEP_AGAIN) {
                all = step;
                break;
            }
        }
    }
    if (all != STEP_DONE) {
        return all;
    }
    for (uint32_t token = 0; token < what.tokens; token++) {
        if (!add_up(ordinal, &what, &in, &handle, token)) {
            return STEP_FAILED;
        }
    }
    return end(ordinal, &in);
}

#define DISPATCH sizeof(struct dispatch), sizeof(struct normal)

const struct twin normal_twins[] = {
    {.name = "sluice_experts_normal_layout", .arguments = {sizeof(struct layout), sizeof(struct normal)}, .run = lay_out},
    {.name = "sluice_experts_normal_dispatch_bf16", .arguments = {DISPATCH}, .step = dispatch_bf16},
    {.name = "sluice_experts_normal_dispatch_fp8", .arguments = {DISPATCH}, .step = dispatch_fp8},
    {.name = "sluice_experts_normal_dispatch_fp8_rounded", .arguments = {DISPATCH}, .step = dispatch_fp8_rounded},
    {.name = "sluice_experts_normal_dispatch_fp8_ue8m0", .arguments = {DISPATCH}, .step = dispatch_fp8_ue8m0},
    {.name = "sluice_experts_normal_combine", .arguments = {sizeof(struct combine), sizeof(struct normal)}, .step = combine},
    {.name = NULL},
};
