/* Dispatch and combine of low latency, in all formats, by the kernels for each hidden length. */
#include "expert_driver.h"
#include "low_latency_parameters.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define THREADS 512
#define BLOCKS 5
#define MOST_TOKENS 20
#define ROUNDS 3
#define LINE 128
#define NAME_BYTES 64
#define ROWS_OF_EXPERT (RANKS * MOST_TOKENS)
#define ROWS (LOCAL_EXPERTS * ROWS_OF_EXPERT)

static const struct {
    unsigned hidden;
    const char *suffix;
} kernels[] = {{512, ""}, {2048, "_2048"}, {4096, "_4096"}, {7168, "_7168"}};

/* A row that is to be there. */
struct row {
    unsigned index;
    unsigned source;
    unsigned token;
    unsigned expert;    /* of all */
};

struct layout {
    struct row rows[ROWS];
    unsigned count;
    uint32_t counts[LOCAL_EXPERTS];
    uint64_t ranges[LOCAL_EXPERTS * RANKS];
};

struct caller {
    struct rank *rank;
    const char *suffix;
    unsigned tokens;
    struct expert_words *words;
    struct expert_buffer buffer;
    struct shape shape;
    struct result results[2];
    uint32_t *host_counts[2];
    cuda_address x;
    cuda_address choices;
    cuda_address weights;
    cuda_address statistics;
    cuda_address y;
    cuda_address out;
    struct layout layout;
    uint16_t *vectors;
    uint8_t *expected;
};

static uint64_t in_lines(uint64_t bytes) {
    return (bytes + LINE - 1) / LINE * LINE;
}

static void *allocated(struct rank *rank, size_t bytes) {
    void *memory = calloc(bytes, 1);
    if (memory == NULL) {
        fail(rank, "no memory");
    }
    return memory;
}

static void lay_out(struct layout *layout, unsigned rank) {
    for (unsigned local = 0; local < LOCAL_EXPERTS; local++) {
        unsigned expert = rank * LOCAL_EXPERTS + local;
        unsigned row = 0;
        for (unsigned source = 0; source < RANKS; source++) {
            unsigned first = row;
            for (unsigned token = 0; token < tokens_of(source, MOST_TOKENS); token++) {
                int64_t choices[TOP_K];
                choose(source, token, choices);
                for (unsigned k = 0; k < TOP_K; k++) {
                    if (choices[k] == expert) {
                        layout->rows[layout->count++] =
                                (struct row){local * ROWS_OF_EXPERT + row++, source, token, expert};
                    }
                }
            }
            layout->ranges[local * RANKS + source] = (uint64_t)first << 32 | (row - first);
        }
        layout->counts[local] = row;
    }
}

static void put_inputs(struct caller *caller) {
    struct rank *rank = caller->rank;
    unsigned own = number_of(rank);
    unsigned hidden = caller->shape.hidden;
    int64_t choices[MOST_TOKENS * TOP_K];
    float weights[MOST_TOKENS * TOP_K];
    for (unsigned token = 0; token < caller->tokens; token++) {
        choose(own, token, choices + token * TOP_K);
        fill_token(caller->vectors + token * hidden, own, token, hidden);
        for (unsigned k = 0; k < TOP_K; k++) {
            weights[token * TOP_K + k] = weight_of(own, token, k);
        }
    }
    put(rank, caller->x, caller->vectors, caller->tokens * hidden * sizeof *caller->vectors);
    put(rank, caller->choices, choices, caller->tokens * TOP_K * sizeof *choices);
    put(rank, caller->weights, weights, caller->tokens * TOP_K * sizeof *weights);
    for (unsigned i = 0; i < caller->layout.count; i++) {
        const struct row *row = &caller->layout.rows[i];
        fill_answer(caller->vectors + row->index * hidden, row->source, row->token, row->expert, hidden);
    }
    put(rank, caller->y, caller->vectors, (uint64_t)ROWS * hidden * sizeof *caller->vectors);
}

static void open_caller(struct caller *caller, struct rank *rank, unsigned hidden, const char *suffix) {
    caller->rank = rank;
    caller->suffix = suffix;
    caller->tokens = tokens_of(number_of(rank), MOST_TOKENS);
    uint64_t row_bytes = 2 * (uint64_t)hidden;
    uint64_t payload_at = in_lines((2 + TOP_K) * sizeof(uint64_t));
    uint64_t message_bytes = in_lines(payload_at + row_bytes);
    uint64_t counts_at = aligned(HEADER_BYTES + sizeof(struct low_latency_words));
    uint64_t messages_at = aligned(counts_at + SETS * RANKS * (LOCAL_EXPERTS + 1) * sizeof(uint32_t));
    uint64_t slots_at = aligned(messages_at + SETS * RANKS * MOST_TOKENS * message_bytes);
    caller->shape = (struct shape){
        .words_at = HEADER_BYTES,
        .counts_at = counts_at,
        .messages_at = messages_at,
        .message_bytes = message_bytes,
        .payload_at = payload_at,
        .slots_at = slots_at,
        .experts = EXPERTS,
        .local_experts = LOCAL_EXPERTS,
        .hidden = hidden,
        .tokens = MOST_TOKENS,
        .top_k = TOP_K,
    };
    caller->buffer = make_buffer(
            rank, slots_at + SETS * MOST_TOKENS * TOP_K * (row_bytes + hidden / GROUP * sizeof(uint32_t)), &caller->words);
    for (unsigned i = 0; i < 2; i++) {
        struct result *result = &caller->results[i];
        *result = (struct result){
            .rows = device_memory(rank, ROWS * row_bytes),
            .scales = device_memory(rank, (uint64_t)ROWS * hidden / GROUP * sizeof(float)),
            .counts = device_memory(rank, LOCAL_EXPERTS * sizeof(uint32_t)),
            .sources = device_memory(rank, ROWS * sizeof(uint32_t)),
            .ranges = device_memory(rank, LOCAL_EXPERTS * RANKS * sizeof(uint64_t)),
            /* twins look one further */
            .places = device_memory(rank, (ROWS + 1) * sizeof(uint64_t)),
            .sent = device_memory(rank, (MOST_TOKENS * TOP_K + 1) * sizeof(uint32_t)),
        };
        caller->host_counts[i] = host_memory(rank, LOCAL_EXPERTS * sizeof(uint32_t), &result->host_counts);
    }
    caller->x = device_memory(rank, MOST_TOKENS * row_bytes);
    caller->choices = device_memory(rank, MOST_TOKENS * TOP_K * sizeof(int64_t));
    caller->weights = device_memory(rank, MOST_TOKENS * TOP_K * sizeof(float));
    caller->statistics = device_memory(rank, LOCAL_EXPERTS * sizeof(uint32_t));
    caller->y = device_memory(rank, ROWS * row_bytes);
    caller->out = device_memory(rank, MOST_TOKENS * row_bytes);
    caller->vectors = allocated(rank, ROWS * row_bytes);
    caller->expected = allocated(rank, ROWS * row_bytes);
    lay_out(&caller->layout, number_of(rank));
    put_inputs(caller);
}

static void start(
        struct caller *caller, const char *half, const char *suffix, unsigned shared_bytes, const void *what, size_t bytes,
        unsigned index) {
    char name[NAME_BYTES];
    snprintf(name, sizeof name, "sluice_experts_%s%s", half, suffix);
    struct parameter parameters[] = {
        {what, bytes},
        {&caller->results[index], sizeof caller->results[index]},
        {&caller->shape, sizeof caller->shape},
        {&caller->buffer, sizeof caller->buffer},
        {NULL, 0},
    };
    launch(caller->rank, name, BLOCKS, THREADS, shared_bytes, parameters);
}

/* ---- dispatch ---- */

/* What may be anything becomes what is there. */
static void expect_rows(struct caller *caller, const struct result *result, enum format format) {
    struct rank *rank = caller->rank;
    unsigned hidden = caller->shape.hidden;
    size_t row_bytes = format == BF16 ? 2 * (size_t)hidden : hidden;
    size_t scale_bytes = format == FP8_UE8M0 ? 1 : sizeof(float);
    size_t columns = format == FP8_UE8M0 ? hidden / GROUP / 4 : hidden / GROUP;
    uint32_t sources[ROWS];
    uint8_t *codes = (uint8_t *)caller->vectors;
    uint8_t *row_scales = codes + hidden;
    uint16_t *token = allocated(rank, 2 * (size_t)hidden);
    uint8_t *scales = allocated(rank, ROWS * columns * sizeof(float));
    get(rank, caller->expected, result->rows, ROWS * row_bytes);
    get(rank, scales, result->scales, ROWS * columns * sizeof(float));
    get(rank, sources, result->sources, sizeof sources);
    for (unsigned i = 0; i < caller->layout.count; i++) {
        const struct row *row = &caller->layout.rows[i];
        fill_token(token, row->source, row->token, hidden);
        sources[row->index] = row->token;
        if (format == BF16) {
            memcpy(caller->expected + row->index * row_bytes, token, row_bytes);
            continue;
        }
        quantise(token, codes, row_scales, hidden, format);
        memcpy(caller->expected + row->index * row_bytes, codes, row_bytes);
        unsigned local = row->index / ROWS_OF_EXPERT;
        for (unsigned group = 0; group < hidden / GROUP; group++) {
            /* a row of an element has its scales apart, four bytes or four exponents in one place */
            size_t column = format == FP8_UE8M0 ? group / 4 : group;
            size_t place = (local * columns + column) * ROWS_OF_EXPERT + row->index % ROWS_OF_EXPERT;
            size_t byte = place * sizeof(float) + (format == FP8_UE8M0 ? group % 4 : 0);
            memcpy(scales + byte, row_scales + group * scale_bytes, scale_bytes);
        }
    }
    expect(rank, result->rows, caller->expected, ROWS * row_bytes, "rows of a dispatch");
    expect(rank, result->sources, sources, sizeof sources, "sources of a dispatch");
    if (format != BF16) {
        expect(rank, result->scales, scales, ROWS * columns * sizeof(float), "scales of a dispatch");
    }
    free(token);
    free(scales);
}

static void dispatch(struct caller *caller, enum format format, unsigned index, bool counts) {
    const struct result *result = &caller->results[index];
    struct rank *rank = caller->rank;
    struct dispatch what = {
        .x = caller->x,
        .choices = caller->choices,
        .statistics = counts ? caller->statistics : 0,
        .patience = patience(),
        .tokens = caller->tokens,
        .format = format,
        .index = index,
    };
    spoil(rank, result->rows, ROWS * 2 * (uint64_t)caller->shape.hidden);
    spoil(rank, result->scales, ROWS * (uint64_t)caller->shape.hidden / GROUP * sizeof(float));
    spoil(rank, result->sources, ROWS * sizeof(uint32_t));
    start(caller, "dispatch_send", caller->suffix, 0, &what, sizeof what, index);
    start(caller, "dispatch_receive", caller->suffix, (EXPERTS + 1) * sizeof(uint32_t), &what, sizeof what, index);
    succeed(rank, caller->words, "a dispatch of low latency");
    const struct layout *layout = &caller->layout;
    expect_rows(caller, result, format);
    expect(rank, result->counts, layout->counts, sizeof layout->counts, "counts of a dispatch");
    expect(rank, result->ranges, layout->ranges, sizeof layout->ranges, "ranges of a dispatch");
    expect_here(rank, caller->host_counts[index], layout->counts, sizeof layout->counts, "counts for the host");
    if (counts) {
        expect(rank, caller->statistics, layout->counts, sizeof layout->counts, "statistics of a dispatch");
    }
}

/* ---- combine ---- */

static void combine(struct caller *caller, enum combine_format format, unsigned index) {
    struct rank *rank = caller->rank;
    unsigned hidden = caller->shape.hidden;
    struct combine what = {
        .y = caller->y,
        .choices = caller->choices,
        .weights = caller->weights,
        .out = caller->out,
        .patience = patience(),
        .tokens = caller->tokens,
        .index = index,
    };
    spoil(rank, caller->out, caller->tokens * hidden * sizeof(uint16_t));
    const char *suffix = format == LOGFMT ? "_logfmt" : caller->suffix;
    start(caller, "combine_send", suffix, 0, &what, sizeof what, index);
    start(caller, "combine_receive", suffix, 0, &what, sizeof what, index);
    succeed(rank, caller->words, "a combine of low latency");
    uint16_t *answer = caller->vectors;
    float *sums = allocated(rank, hidden * sizeof *sums);
    float *values = allocated(rank, hidden * sizeof *values);
    uint16_t *out = (uint16_t *)caller->expected;
    for (unsigned token = 0; token < caller->tokens; token++) {
        int64_t choices[TOP_K];
        choose(number_of(rank), token, choices);
        memset(sums, 0, hidden * sizeof *sums);
        for (unsigned k = 0; k < TOP_K; k++) {
            if (choices[k] < 0) {
                continue;
            }
            fill_answer(answer, number_of(rank), token, (unsigned)choices[k], hidden);
            for (unsigned i = 0; i < hidden; i++) {
                values[i] = float_of_bfloat16(answer[i]);
            }
            if (format == LOGFMT) {
                pass_logfmt(answer, values, hidden);
            }
            for (unsigned i = 0; i < hidden; i++) {
                sums[i] += weight_of(number_of(rank), token, k) * values[i];
            }
        }
        for (unsigned i = 0; i < hidden; i++) {
            out[token * hidden + i] = bfloat16_of(sums[i]);
        }
    }
    free(sums);
    free(values);
    expect(rank, caller->out, out, caller->tokens * hidden * sizeof *out, "sums of a combine of low latency");
}

void run_low_latency(struct rank *rank) {
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++) {
        struct caller caller = {0};
        open_caller(&caller, rank, kernels[i].hidden, kernels[i].suffix);
        /* so that each set is written once more */
        unsigned rounds = i == 0 ? ROUNDS * FORMATS : FORMATS;
        for (unsigned round = 0; round < rounds; round++) {
            dispatch(&caller, (enum format)(round % FORMATS), round % 2, round == 0);
            combine(&caller, round / 2 % 2 == 0 ? AS_IT_IS : LOGFMT, round % 2);
        }
        free(caller.vectors);
        free(caller.expected);
    }
}
