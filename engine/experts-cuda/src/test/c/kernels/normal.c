/* Layout, dispatch in all formats, dispatch by a handle, and combine of normal mode. */
#include "expert_driver.h"
#include "normal_parameters.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* More than a warp moves in one go. */
#define HIDDEN 1536
#define MOST_TOKENS 40
#define ROWS (RANKS * MOST_TOKENS)
#define WORST ROWS
#define ROW_BYTES (2 * HIDDEN)
#define SLOTS 2
#define BLOCKS 5
#define LAYOUT_THREADS 1024
#define DISPATCH_THREADS 768
#define COMBINE_THREADS 1024
#define SENDERS 8
#define EXPERT_ALIGNMENT 8
#define SUMMARY_INTS (2 + 2 * RANKS + LOCAL_EXPERTS)
#define LAYOUT_INTS (4 + RANKS + EXPERTS + MOST_TOKENS * RANKS)
#define HANDLE_INTS (8 + 3 * RANKS + LOCAL_EXPERTS + MOST_TOKENS * RANKS)

struct caller {
    struct rank *rank;
    unsigned tokens;
    struct expert_words *words;
    struct normal normal;
    int32_t *summary;
    cuda_address summary_address;
    cuda_address x;
    cuda_address choices;
    cuda_address weights;
    cuda_address layout;
    cuda_address handle;
    cuda_address y;
    cuda_address bias;
    cuda_address out;
    /* What is to come: the source and the token of each row. */
    unsigned received;
    unsigned sources[ROWS];
    unsigned token[ROWS];
    uint32_t first_rows[RANKS];
    uint32_t row_counts[RANKS];
    uint16_t *vectors;
    uint8_t *expected;
};

static void *allocated(struct rank *rank, size_t bytes) {
    void *memory = calloc(bytes, 1);
    if (memory == NULL) {
        fail(rank, "no memory");
    }
    return memory;
}

static void put_inputs(struct caller *caller) {
    struct rank *rank = caller->rank;
    unsigned own = number_of(rank);
    int64_t choices[MOST_TOKENS * TOP_K];
    float weights[MOST_TOKENS * TOP_K];
    for (unsigned token = 0; token < caller->tokens; token++) {
        choose(own, token, choices + token * TOP_K);
        for (unsigned k = 0; k < TOP_K; k++) {
            weights[token * TOP_K + k] = weight_of(own, token, k);
        }
        fill_token(caller->vectors + token * HIDDEN, own, token, HIDDEN);
    }
    put(rank, caller->choices, choices, caller->tokens * TOP_K * sizeof *choices);
    put(rank, caller->weights, weights, caller->tokens * TOP_K * sizeof *weights);
    put(rank, caller->x, caller->vectors, caller->tokens * ROW_BYTES);
    for (unsigned token = 0; token < caller->tokens; token++) {
        fill_answer(caller->vectors + token * HIDDEN, own, token, EXPERTS, HIDDEN);
    }
    put(rank, caller->bias, caller->vectors, caller->tokens * ROW_BYTES);
    for (unsigned source = 0; source < RANKS; source++) {
        caller->first_rows[source] = caller->received;
        for (unsigned token = 0; token < tokens_of(source, MOST_TOKENS); token++) {
            if (goes_to(source, token, own)) {
                fill_answer(caller->vectors + caller->received * HIDDEN, source, token, own, HIDDEN);
                caller->sources[caller->received] = source;
                caller->token[caller->received++] = token;
            }
        }
        caller->row_counts[source] = caller->received - caller->first_rows[source];
    }
    put(rank, caller->y, caller->vectors, caller->received * ROW_BYTES);
}

static void open_caller(struct caller *caller, struct rank *rank) {
    caller->rank = rank;
    caller->tokens = tokens_of(number_of(rank), MOST_TOKENS);
    struct normal *normal = &caller->normal;
    normal->at = HEADER_BYTES;
    normal->words_at = aligned(normal->at + sizeof(struct progress));
    normal->done_at = aligned(normal->words_at + 2 * RANKS * (RANKS + WORD_COUNTS) * sizeof(uint64_t));
    normal->arrived_at = aligned(normal->done_at + RANKS * MOST_BLOCKS * sizeof(uint64_t));
    uint64_t pieces = (MOST_TOKENS + ROWS_OF_PIECE - 1) / ROWS_OF_PIECE;
    normal->counts_at = aligned(normal->arrived_at + (RANKS - 1) * pieces * sizeof(uint64_t));
    normal->slots_at = aligned(normal->counts_at + RANKS * LOCAL_EXPERTS * sizeof(uint32_t));
    normal->scales_in_slot = aligned(ROWS * ROW_BYTES);
    normal->choices_in_slot = aligned(normal->scales_in_slot + ROWS * (HIDDEN / GROUP) * sizeof(float));
    normal->weights_in_slot = aligned(normal->choices_in_slot + ROWS * TOP_K * sizeof(int64_t));
    normal->sources_in_slot = aligned(normal->weights_in_slot + ROWS * TOP_K * sizeof(float));
    normal->counts_in_slot = aligned(normal->sources_in_slot + ROWS * sizeof(uint32_t));
    normal->slot_bytes = aligned(normal->counts_in_slot + LOCAL_EXPERTS * sizeof(uint32_t));
    normal->combined_at = normal->slots_at + SLOTS * normal->slot_bytes;
    normal->experts = LOCAL_EXPERTS;
    normal->hidden = HIDDEN;
    normal->most_tokens = MOST_TOKENS;
    normal->top_k = TOP_K;
    normal->buffer =
            make_buffer(rank, normal->combined_at + (RANKS - 1) * MOST_TOKENS * ROW_BYTES, &caller->words);
    caller->summary = host_memory(rank, SUMMARY_INTS * sizeof(int32_t), &caller->summary_address);
    caller->x = device_memory(rank, MOST_TOKENS * ROW_BYTES);
    caller->choices = device_memory(rank, MOST_TOKENS * TOP_K * sizeof(int64_t));
    caller->weights = device_memory(rank, MOST_TOKENS * TOP_K * sizeof(float));
    caller->layout = device_memory(rank, LAYOUT_INTS * sizeof(int32_t));
    caller->handle = device_memory(rank, HANDLE_INTS * sizeof(int32_t));
    caller->y = device_memory(rank, ROWS * ROW_BYTES);
    caller->bias = device_memory(rank, MOST_TOKENS * ROW_BYTES);
    caller->out = device_memory(rank, MOST_TOKENS * ROW_BYTES);
    caller->vectors = allocated(rank, ROWS * ROW_BYTES);
    caller->expected = allocated(rank, ROWS * ROW_BYTES);
    put_inputs(caller);
}

static void start(
        struct caller *caller, const char *name, unsigned blocks, unsigned threads, const void *what, size_t bytes) {
    struct parameter parameters[] = {{what, bytes}, {&caller->normal, sizeof caller->normal}, {NULL, 0}};
    launch(caller->rank, name, blocks, threads, 0, parameters);
    succeed(caller->rank, caller->words, name);
}

/* ---- where tokens go ---- */

static void lay_out(struct caller *caller) {
    struct rank *rank = caller->rank;
    struct layout what = {.choices = caller->choices, .to = caller->layout, .tokens = caller->tokens};
    start(caller, "sluice_experts_normal_layout", RANKS, LAYOUT_THREADS, &what, sizeof what);
    int32_t expected[LAYOUT_INTS] = {(int32_t)caller->tokens};
    int32_t *to_ranks = expected + 4;
    int32_t *to_experts = to_ranks + RANKS;
    int32_t *positions = to_experts + EXPERTS;
    for (unsigned token = 0; token < caller->tokens; token++) {
        int64_t choices[TOP_K];
        choose(number_of(rank), token, choices);
        for (unsigned k = 0; k < TOP_K; k++) {
            if (choices[k] >= 0) {
                to_experts[choices[k]]++;
            }
        }
        for (unsigned peer = 0; peer < RANKS; peer++) {
            positions[token * RANKS + peer] = goes_to(number_of(rank), token, peer) ? to_ranks[peer]++ : -1;
        }
    }
    size_t ints = LAYOUT_INTS - (MOST_TOKENS - caller->tokens) * RANKS;
    expect(rank, caller->layout, expected, ints * sizeof *expected, "a layout");
}

/* ---- dispatch ---- */

static void expect_notes(struct caller *caller, cuda_address slot, unsigned rows) {
    struct rank *rank = caller->rank;
    unsigned own = number_of(rank);
    int32_t sources[ROWS];
    int64_t local[ROWS * TOP_K];
    float weights[ROWS * TOP_K];
    for (unsigned row = 0; row < rows; row++) {
        bool is_there = row < caller->received;
        int64_t choices[TOP_K];
        if (is_there) {
            choose(caller->sources[row], caller->token[row], choices);
        }
        sources[row] = is_there ? (int32_t)caller->token[row] : -1;
        for (unsigned k = 0; k < TOP_K; k++) {
            bool is_own = is_there && choices[k] >= 0 && choices[k] / LOCAL_EXPERTS == own;
            local[row * TOP_K + k] = is_own ? choices[k] % LOCAL_EXPERTS : -1;
            weights[row * TOP_K + k] = is_own ? weight_of(caller->sources[row], caller->token[row], k) : 0;
        }
    }
    const struct normal *normal = &caller->normal;
    expect(rank, slot + normal->sources_in_slot, sources, rows * sizeof *sources, "sources of a dispatch");
    expect(rank, slot + normal->choices_in_slot, local, rows * TOP_K * sizeof *local, "choices of a dispatch");
    expect(rank, slot + normal->weights_in_slot, weights, rows * TOP_K * sizeof *weights, "weights of a dispatch");
}

static void expect_summary(struct caller *caller, cuda_address slot, unsigned alignment) {
    int32_t expected[SUMMARY_INTS] = {(int32_t)caller->received};
    int32_t *counts = expected + 2 + 2 * RANKS;
    for (unsigned source = 0; source < RANKS; source++) {
        expected[2 + source] = (int32_t)caller->first_rows[source];
        expected[2 + RANKS + source] = (int32_t)caller->row_counts[source];
        for (unsigned token = 0; token < tokens_of(source, MOST_TOKENS); token++) {
            int64_t choices[TOP_K];
            choose(source, token, choices);
            for (unsigned k = 0; k < TOP_K; k++) {
                if (choices[k] >= 0 && choices[k] / LOCAL_EXPERTS == number_of(caller->rank)) {
                    counts[choices[k] % LOCAL_EXPERTS]++;
                }
            }
        }
    }
    for (unsigned local = 0; local < LOCAL_EXPERTS; local++) {
        counts[local] = (int32_t)(((unsigned)counts[local] + alignment - 1) / alignment * alignment);
    }
    expect_here(caller->rank, caller->summary, expected, sizeof expected, "the summary of a dispatch");
    expect(caller->rank, slot + caller->normal.counts_in_slot, counts, LOCAL_EXPERTS * sizeof *counts,
            "counts of a dispatch");
}

/* By the layout, or once more by the handle. */
static void dispatch(struct caller *caller, enum format format, bool is_again, unsigned slot, unsigned worst) {
    static const char *const names[FORMATS] = {
        "sluice_experts_normal_dispatch_bf16", "sluice_experts_normal_dispatch_fp8",
        "sluice_experts_normal_dispatch_fp8_rounded", "sluice_experts_normal_dispatch_fp8_ue8m0"};
    struct rank *rank = caller->rank;
    unsigned alignment = worst != 0 ? EXPERT_ALIGNMENT : 1;
    struct dispatch what = {
        .x = caller->x,
        .choices = is_again ? 0 : caller->choices,
        .weights = is_again ? 0 : caller->weights,
        .to = is_again ? 0 : caller->layout,
        .handle = caller->handle,
        .summary = caller->summary_address,
        .patience = patience(),
        .tokens = caller->tokens,
        .slot = slot,
        .worst = worst,
        .alignment = alignment,
    };
    const struct normal *normal = &caller->normal;
    cuda_address result = normal->buffer.windows[number_of(rank)] + normal->slots_at + slot * normal->slot_bytes;
    spoil(rank, result, normal->slot_bytes);
    start(caller, names[format], BLOCKS, DISPATCH_THREADS, &what, sizeof what);
    size_t row_bytes = format == BF16 ? ROW_BYTES : HIDDEN;
    size_t scale_bytes = HIDDEN / GROUP * (format == FP8_UE8M0 ? 1 : sizeof(float));
    uint8_t *scales = allocated(rank, ROWS * scale_bytes);
    for (unsigned row = 0; row < caller->received; row++) {
        uint16_t *token = caller->vectors;
        fill_token(token, caller->sources[row], caller->token[row], HIDDEN);
        if (format == BF16) {
            memcpy(caller->expected + row * row_bytes, token, row_bytes);
        } else {
            quantise(token, caller->expected + row * row_bytes, scales + row * scale_bytes, HIDDEN, format);
        }
    }
    expect(rank, result, caller->expected, caller->received * row_bytes, "rows of a dispatch");
    if (format != BF16) {
        expect(rank, result + normal->scales_in_slot, scales, caller->received * scale_bytes, "scales of a dispatch");
    }
    free(scales);
    if (!is_again) {
        expect_notes(caller, result, worst == 0 ? caller->received : worst);
    }
    expect_summary(caller, result, alignment);
}

/* ---- combine ---- */

static void combine(struct caller *caller, bool has_bias) {
    struct rank *rank = caller->rank;
    unsigned own = number_of(rank);
    struct combine what = {
        .y = caller->y,
        .bias = has_bias ? caller->bias : 0,
        .out = caller->out,
        .handle = caller->handle,
        .rows = ROWS,
        .patience = patience(),
        .tokens = caller->tokens,
        .senders = SENDERS,
    };
    spoil(rank, caller->out, caller->tokens * ROW_BYTES);
    start(caller, "sluice_experts_normal_combine", BLOCKS, COMBINE_THREADS, &what, sizeof what);
    uint16_t *answer = caller->vectors;
    uint16_t *out = (uint16_t *)caller->expected;
    for (unsigned token = 0; token < caller->tokens; token++) {
        float sums[HIDDEN] = {0};
        for (unsigned maker = 0; maker <= EXPERTS; maker++) {
            bool counts = maker < RANKS ? goes_to(own, token, maker) : has_bias && maker == EXPERTS;
            if (!counts) {
                continue;
            }
            fill_answer(answer, own, token, maker, HIDDEN);
            for (unsigned i = 0; i < HIDDEN; i++) {
                sums[i] += float_of_bfloat16(answer[i]);
            }
        }
        for (unsigned i = 0; i < HIDDEN; i++) {
            out[token * HIDDEN + i] = bfloat16_of(sums[i]);
        }
    }
    expect(rank, caller->out, out, caller->tokens * ROW_BYTES, "sums of a combine of normal mode");
}

void run_normal(struct rank *rank) {
    struct caller caller = {0};
    open_caller(&caller, rank);
    lay_out(&caller);
    for (unsigned round = 0; round < FORMATS; round++) {
        dispatch(&caller, (enum format)round, false, round % SLOTS, round % 2 == 0 ? 0 : WORST);
        combine(&caller, round % 2 == 1);
        dispatch(&caller, (enum format)round, true, (round + 1) % SLOTS, 0);
        combine(&caller, round % 2 == 0);
    }
    free(caller.vectors);
    free(caller.expected);
}
