/* Dispatch and combine by MPI_Alltoallv, with packing and unpacking in C. */
#include "arguments.h"
#include "experts.h"

#include <limits.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LINE 64
/* Before a message: the token; in normal mode its choices and weights behind that. */
#define HEADER_BYTES 16

static struct plan plan;
static struct routes routes;
static struct team team;
static size_t header_bytes;
static size_t message_bytes;

static uint16_t *tokens;
static uint8_t *sent;
static uint8_t *arrived;
/* The outcome of a dispatch: payloads in the order of the routes, and the token of each. */
static uint8_t *received;
static int *sources;
static uint16_t *answers;
static uint16_t *returning;
static uint16_t *returned;
static uint16_t *sums;
static float *scratch;
/* By token and term, where its answer lies among those that return; -1 for none. */
static int *places;
/* By rank and local expert, how many messages go there, and come from there. */
static int *counts_sent;
static int *counts_arrived;
/* By rank: messages from and to it. */
static int outgoing[MOST_RANKS];
static int ingoing[MOST_RANKS];
static const uint16_t *terms[MOST_RANKS];
static float ones[MOST_RANKS];

static void barrier(void) {
    MPI_Barrier(MPI_COMM_WORLD);
}

static int64_t agreed(int64_t number) {
    MPI_Bcast(&number, 1, MPI_INT64_T, 0, MPI_COMM_WORLD);
    return number;
}

static int64_t greatest(int64_t number) {
    MPI_Allreduce(MPI_IN_PLACE, &number, 1, MPI_INT64_T, MPI_MAX, MPI_COMM_WORLD);
    return number;
}

static uint16_t *row(uint16_t *rows, size_t index) {
    return rows + index * (size_t)plan.hidden;
}

static void pack(const struct travel *travel, uint8_t *message) {
    const uint16_t *vector = row(tokens, (size_t)travel->token);
    int32_t token = travel->token;
    memcpy(message, &token, sizeof(token));
    if (plan.normal) {
        size_t first = (size_t)travel->token * (size_t)plan.top_k;
        size_t bytes = (size_t)plan.top_k * sizeof(int32_t);
        memcpy(message + HEADER_BYTES, routes.choices[team.rank] + first, bytes);
        memcpy(message + HEADER_BYTES + bytes, routes.weights[team.rank] + first, bytes);
    }
    uint8_t *payload = message + header_bytes;
    if (plan.fp8) {
        vector_quantise(vector, plan.hidden, payload, (float *)(void *)(payload + plan.hidden));
    } else {
        memcpy(payload, vector, row_bytes(&plan));
    }
}

/* Exchanges messages of a size, so many with each rank. */
static void exchange_messages(void *from, const int *to_each, void *to, const int *from_each, size_t size) {
    int bytes_sent[MOST_RANKS];
    int sent_at[MOST_RANKS];
    int bytes_arrived[MOST_RANKS];
    int arrived_at[MOST_RANKS];
    int out = 0;
    int in = 0;
    for (int rank = 0; rank < team.ranks; rank++) {
        bytes_sent[rank] = to_each[rank] * (int)size;
        bytes_arrived[rank] = from_each[rank] * (int)size;
        sent_at[rank] = out;
        arrived_at[rank] = in;
        out += bytes_sent[rank];
        in += bytes_arrived[rank];
    }
    MPI_Alltoallv(from, bytes_sent, sent_at, MPI_BYTE, to, bytes_arrived, arrived_at, MPI_BYTE, MPI_COMM_WORLD);
}

/* Packs what goes to each rank; a quantised token is quantised once and copied for its further experts. */
static void pack_all(void) {
    int local = plan.experts / team.ranks;
    static uint8_t **packed;
    packed = packed == NULL ? calloc((size_t)plan.tokens, sizeof(uint8_t *)) : packed;
    memset(packed, 0, (size_t)plan.tokens * sizeof(uint8_t *));
    memset(counts_sent, 0, (size_t)plan.experts * sizeof(int));
    uint8_t *message = sent;
    for (int rank = 0; rank < team.ranks; rank++) {
        for (size_t i = 0; i < routes.counts[rank]; i++) {
            const struct travel *travel = &routes.incoming[rank][i];
            if (travel->source != team.rank) {
                continue;
            }
            if (packed[travel->token] == NULL) {
                pack(travel, message);
                packed[travel->token] = message;
            } else {
                memcpy(message, packed[travel->token], message_bytes);
            }
            message += message_bytes;
            counts_sent[plan.normal ? rank * local : travel->expert]++;
        }
    }
}

static void dispatch(void) {
    int local = plan.experts / team.ranks;
    pack_all();
    MPI_Alltoall(counts_sent, local, MPI_INT, counts_arrived, local, MPI_INT, MPI_COMM_WORLD);
    for (int rank = 0; rank < team.ranks; rank++) {
        outgoing[rank] = 0;
        ingoing[rank] = 0;
        for (int expert = 0; expert < local; expert++) {
            outgoing[rank] += counts_sent[rank * local + expert];
            ingoing[rank] += counts_arrived[rank * local + expert];
        }
    }
    exchange_messages(sent, outgoing, arrived, ingoing, message_bytes);
    /* Each rank's messages come by expert, and go behind those of the ranks before it. */
    const uint8_t *next[MOST_RANKS];
    const uint8_t *at = arrived;
    for (int rank = 0; rank < team.ranks; rank++) {
        next[rank] = at;
        at += (size_t)ingoing[rank] * message_bytes;
    }
    size_t payload = payload_bytes(&plan);
    size_t to = 0;
    for (int expert = 0; expert < local; expert++) {
        for (int rank = 0; rank < team.ranks; rank++) {
            for (int i = 0; i < counts_arrived[rank * local + expert]; i++) {
                memcpy(&sources[to], next[rank], sizeof(int32_t));
                memcpy(received + to * payload, next[rank] + header_bytes, payload);
                next[rank] += message_bytes;
                to++;
            }
        }
    }
}

static void sum_token(int token, uint16_t *rows, uint16_t *sum) {
    for (int term = 0; term < routes.terms; term++) {
        int place = places[token * routes.terms + term];
        terms[term] = place < 0 ? NULL : row(rows, (size_t)place);
    }
    const float *weights = plan.normal ? ones : routes.weights[team.rank] + (size_t)token * (size_t)plan.top_k;
    vector_sum(sum, terms, weights, routes.terms, plan.hidden, scratch);
}

static void combine(void) {
    uint16_t *to = returning;
    for (int rank = 0; rank < team.ranks; rank++) {
        for (size_t i = 0; i < routes.counts[team.rank]; i++) {
            if (routes.incoming[team.rank][i].source == rank) {
                memcpy(to, row(answers, i), row_bytes(&plan));
                to = row(to, 1);
            }
        }
    }
    exchange_messages(returning, ingoing, returned, outgoing, row_bytes(&plan));
    for (int token = 0; token < plan.tokens; token++) {
        sum_token(token, returned, row(sums, (size_t)token));
    }
}

/* Makes all that arrives here once more. */
static bool is_right(void) {
    size_t payload = payload_bytes(&plan);
    bool right = true;
    for (size_t i = 0; right && i < routes.counts[team.rank]; i++) {
        const struct travel *travel = &routes.incoming[team.rank][i];
        vector_fill(tokens, plan.hidden, travel->source, travel->token, -1);
        if (plan.fp8) {
            vector_quantise(tokens, plan.hidden, sent, (float *)(void *)(sent + plan.hidden));
        } else {
            memcpy(sent, tokens, payload);
        }
        right = sources[i] == travel->token && memcmp(received + i * payload, sent, payload) == 0;
    }
    for (int token = 0; token < plan.tokens; token++) {
        for (int term = 0; term < routes.terms; term++) {
            int place = places[token * routes.terms + term];
            int maker = plan.normal ? term : routes.choices[team.rank][token * plan.top_k + term];
            if (place >= 0) {
                vector_fill(row(returned, (size_t)place), plan.hidden, team.rank, token, maker);
            }
        }
        sum_token(token, returned, tokens);
        right = right && memcmp(row(sums, (size_t)token), tokens, row_bytes(&plan)) == 0;
    }
    return right;
}

static void *memory_of(size_t bytes) {
    void *memory = aligned_alloc(LINE, (bytes + LINE) / LINE * LINE);
    if (memory == NULL) {
        fprintf(stderr, "rank %d: no memory for %zu bytes\n", team.rank, bytes);
        MPI_Abort(MPI_COMM_WORLD, STATUS_FAILED);
        exit(STATUS_FAILED);
    }
    return memory;
}

/* Notes where answers return to; gives how many. */
static size_t note_places(void) {
    size_t slots = (size_t)plan.tokens * (size_t)routes.terms;
    places = memory_of(slots * sizeof(int));
    for (size_t i = 0; i < slots; i++) {
        places[i] = -1;
    }
    size_t count = 0;
    for (int rank = 0; rank < team.ranks; rank++) {
        for (size_t i = 0; i < routes.counts[rank]; i++) {
            const struct travel *travel = &routes.incoming[rank][i];
            if (travel->source == team.rank) {
                places[travel->token * routes.terms + travel->term] = (int)count++;
            }
        }
    }
    return count;
}

static void allocate(void) {
    size_t out = note_places();
    size_t in = routes.counts[team.rank];
    header_bytes = HEADER_BYTES + (plan.normal ? 2 * (size_t)plan.top_k * sizeof(int32_t) : 0);
    message_bytes = header_bytes + payload_bytes(&plan);
    size_t most = (out > in ? out : in) + 1;
    if (most * (message_bytes > row_bytes(&plan) ? message_bytes : row_bytes(&plan)) > INT_MAX) {
        fprintf(stderr, "rank %d: more bytes than MPI counts\n", team.rank);
        MPI_Abort(MPI_COMM_WORLD, STATUS_FAILED);
    }
    tokens = memory_of((size_t)plan.tokens * row_bytes(&plan));
    sent = memory_of((out + 1) * message_bytes);
    arrived = memory_of(in * message_bytes);
    received = memory_of(in * payload_bytes(&plan));
    sources = memory_of(in * sizeof(int));
    answers = memory_of(in * row_bytes(&plan));
    returning = memory_of(in * row_bytes(&plan));
    returned = memory_of(out * row_bytes(&plan));
    sums = memory_of((size_t)plan.tokens * row_bytes(&plan));
    scratch = memory_of((size_t)plan.hidden * sizeof(float));
    counts_sent = memory_of((size_t)plan.experts * sizeof(int));
    counts_arrived = memory_of((size_t)plan.experts * sizeof(int));
    for (int token = 0; token < plan.tokens; token++) {
        vector_fill(row(tokens, (size_t)token), plan.hidden, team.rank, token, -1);
    }
    for (size_t i = 0; i < in; i++) {
        const struct travel *travel = &routes.incoming[team.rank][i];
        vector_fill(row(answers, i), plan.hidden, travel->source, travel->token,
                    plan.normal ? team.rank : travel->expert);
    }
}

int main(int count, char **arguments) {
    if (count != 1 + PLAN_ARGUMENTS) {
        fputs("usage: MODE FORMAT TOKENS HIDDEN TOP_K EXPERTS PROCESSORS WARMUP_MS DURATION_MS,\n"
              "with MODE low-latency or normal, and FORMAT bf16 or fp8\n",
              stderr);
        return STATUS_USAGE;
    }
    if (!plan_parse(arguments + 1, &plan) || !bind_to(plan.processors, launched_rank())) {
        return STATUS_USAGE;
    }
    MPI_Init(&count, &arguments);
    team = (struct team){.barrier = barrier, .agreed = agreed, .greatest = greatest};
    MPI_Comm_rank(MPI_COMM_WORLD, &team.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &team.ranks);
    for (int i = 0; i < MOST_RANKS; i++) {
        ones[i] = 1;
    }
    if (team.ranks > MOST_RANKS || plan.experts % team.ranks != 0 || !routes_make(&plan, team.ranks, &routes)) {
        fprintf(stderr, "%d experts cannot be divided among %d ranks\n", plan.experts, team.ranks);
        MPI_Finalize();
        return STATUS_USAGE;
    }
    allocate();
    struct exchange exchange = {routes_count(&routes), dispatch, combine, is_right};
    int status = measure(&plan, &team, &exchange);
    MPI_Finalize();
    return status;
}
