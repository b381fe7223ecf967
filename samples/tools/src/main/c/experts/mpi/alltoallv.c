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
/* Before the messages for a rank: for each of their copies which of them it is, by expert. */
#define LIST_ALIGNMENT 16

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
/* By rank and local expert, how many vectors go there, and come from there; behind those of a rank, in how many messages. */
static int *counts_sent;
static int *counts_arrived;
static int counts_of_rank;
/* By rank: vectors for it, and from it. */
static int outgoing[MOST_RANKS];
static int ingoing[MOST_RANKS];
/* By rank: the bytes of its messages and of their list. */
static int bytes_sent[MOST_RANKS];
static int bytes_arrived[MOST_RANKS];
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

static void *memory_of(size_t bytes) {
    void *memory = aligned_alloc(LINE, (bytes + LINE) / LINE * LINE);
    if (memory == NULL) {
        fprintf(stderr, "rank %d: no memory for %zu bytes\n", team.rank, bytes);
        MPI_Abort(MPI_COMM_WORLD, STATUS_FAILED);
        exit(STATUS_FAILED);
    }
    return memory;
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

/* Exchanges so many bytes with each rank. */
static void exchange_bytes(void *from, const int *to_each, void *to, const int *from_each) {
    int sent_at[MOST_RANKS];
    int arrived_at[MOST_RANKS];
    int out = 0;
    int in = 0;
    for (int rank = 0; rank < team.ranks; rank++) {
        sent_at[rank] = out;
        arrived_at[rank] = in;
        out += to_each[rank];
        in += from_each[rank];
    }
    MPI_Alltoallv(from, to_each, sent_at, MPI_BYTE, to, from_each, arrived_at, MPI_BYTE, MPI_COMM_WORLD);
}

/* A list is of no use where each message has one copy. */
static size_t list_bytes(int vectors) {
    size_t bytes = plan.normal ? 0 : (size_t)vectors * sizeof(int32_t);
    return (bytes + LIST_ALIGNMENT - 1) / LIST_ALIGNMENT * LIST_ALIGNMENT;
}

/* Packs what goes to a rank: each token once, however many of its experts are there. A token is quantised once. */
static uint8_t *pack_rank(int rank, uint8_t *at, uint8_t **packed) {
    static int *index;
    index = index == NULL ? memory_of((size_t)plan.tokens * sizeof(int)) : index;
    memset(index, -1, (size_t)plan.tokens * sizeof(int));
    int local = plan.experts / team.ranks;
    int *counts = counts_sent + rank * counts_of_rank;
    int32_t *list = (int32_t *)(void *)at;
    uint8_t *message = at + list_bytes(outgoing[rank]);
    int copies = 0;
    int messages = 0;
    for (size_t i = 0; i < routes.counts[rank]; i++) {
        const struct travel *travel = &routes.incoming[rank][i];
        if (travel->source != team.rank) {
            continue;
        }
        if (index[travel->token] < 0) {
            if (packed[travel->token] == NULL) {
                pack(travel, message);
                packed[travel->token] = message;
            } else {
                memcpy(message, packed[travel->token], message_bytes);
            }
            index[travel->token] = messages++;
            message += message_bytes;
        }
        if (!plan.normal) {
            list[copies++] = index[travel->token];
        }
        counts[plan.normal ? 0 : travel->expert % local]++;
    }
    counts[local] = messages;
    bytes_sent[rank] = (int)(message - at);
    return message;
}

static void pack_all(void) {
    static uint8_t **packed;
    packed = packed == NULL ? memory_of((size_t)plan.tokens * sizeof(uint8_t *)) : packed;
    memset(packed, 0, (size_t)plan.tokens * sizeof(uint8_t *));
    memset(counts_sent, 0, (size_t)team.ranks * (size_t)counts_of_rank * sizeof(int));
    uint8_t *at = sent;
    for (int rank = 0; rank < team.ranks; rank++) {
        at = pack_rank(rank, at, packed);
    }
}

/* Puts the vectors that have arrived in order: by expert, and then by rank. */
static void unpack_all(void) {
    const int32_t *lists[MOST_RANKS];
    const uint8_t *messages[MOST_RANKS];
    int next[MOST_RANKS] = {0};
    const uint8_t *at = arrived;
    for (int rank = 0; rank < team.ranks; rank++) {
        lists[rank] = (const int32_t *)(const void *)at;
        messages[rank] = at + list_bytes(ingoing[rank]);
        at += bytes_arrived[rank];
    }
    size_t payload = payload_bytes(&plan);
    size_t to = 0;
    for (int expert = 0; expert < plan.experts / team.ranks; expert++) {
        for (int rank = 0; rank < team.ranks; rank++) {
            for (int i = 0; i < counts_arrived[rank * counts_of_rank + expert]; i++) {
                int copy = next[rank]++;
                size_t index = (size_t)(plan.normal ? copy : lists[rank][copy]);
                const uint8_t *message = messages[rank] + index * message_bytes;
                memcpy(&sources[to], message, sizeof(int32_t));
                memcpy(received + to * payload, message + header_bytes, payload);
                to++;
            }
        }
    }
}

static void dispatch(void) {
    pack_all();
    MPI_Alltoall(counts_sent, counts_of_rank, MPI_INT, counts_arrived, counts_of_rank, MPI_INT, MPI_COMM_WORLD);
    int local = plan.experts / team.ranks;
    for (int rank = 0; rank < team.ranks; rank++) {
        ingoing[rank] = 0;
        for (int expert = 0; expert < local; expert++) {
            ingoing[rank] += counts_arrived[rank * counts_of_rank + expert];
        }
        size_t messages = (size_t)counts_arrived[rank * counts_of_rank + local];
        bytes_arrived[rank] = (int)(list_bytes(ingoing[rank]) + messages * message_bytes);
    }
    exchange_bytes(sent, bytes_sent, arrived, bytes_arrived);
    unpack_all();
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
    int to_each[MOST_RANKS];
    int from_each[MOST_RANKS];
    for (int rank = 0; rank < team.ranks; rank++) {
        to_each[rank] = ingoing[rank] * (int)row_bytes(&plan);
        from_each[rank] = outgoing[rank] * (int)row_bytes(&plan);
    }
    exchange_bytes(returning, to_each, returned, from_each);
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
                outgoing[rank]++;
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
    size_t longest = message_bytes > row_bytes(&plan) ? message_bytes : row_bytes(&plan);
    if (most * (longest + sizeof(int32_t)) > INT_MAX) {
        fprintf(stderr, "rank %d: more bytes than MPI counts\n", team.rank);
        MPI_Abort(MPI_COMM_WORLD, STATUS_FAILED);
    }
    tokens = memory_of((size_t)plan.tokens * row_bytes(&plan));
    /* A rank may get nothing, but has a list. */
    size_t lists = (size_t)team.ranks * LIST_ALIGNMENT;
    sent = memory_of((out + 1) * (message_bytes + sizeof(int32_t)) + lists);
    arrived = memory_of(in * (message_bytes + sizeof(int32_t)) + lists);
    received = memory_of(in * payload_bytes(&plan));
    sources = memory_of(in * sizeof(int));
    answers = memory_of(in * row_bytes(&plan));
    returning = memory_of(in * row_bytes(&plan));
    returned = memory_of(out * row_bytes(&plan));
    sums = memory_of((size_t)plan.tokens * row_bytes(&plan));
    scratch = memory_of((size_t)plan.hidden * sizeof(float));
    counts_of_rank = plan.experts / team.ranks + 1;
    counts_sent = memory_of((size_t)team.ranks * (size_t)counts_of_rank * sizeof(int));
    counts_arrived = memory_of((size_t)team.ranks * (size_t)counts_of_rank * sizeof(int));
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
