/* Processes that copy the same elements at once between shared memory: nothing that copies is quicker. */
#define _GNU_SOURCE

#include "arguments.h"
#include "experts.h"

#include <errno.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define LINE 64

/* Where all ranks meet; a barrier counts how often all have come. */
struct meeting {
    _Alignas(LINE) atomic_int arrived;
    _Alignas(LINE) atomic_int times;
    _Alignas(LINE) atomic_int failed;
    _Alignas(LINE) int64_t numbers[MOST_RANKS];
};

static struct meeting *meeting;
static struct plan plan;
static struct routes routes;
static struct team team;
/* By rank, in memory that all share: its tokens, what it has packed, what it has received, answers, and their places. */
static uint16_t *tokens[MOST_RANKS];
static uint8_t *packed[MOST_RANKS];
static uint8_t *received[MOST_RANKS];
static uint16_t *answers[MOST_RANKS];
static uint16_t *returned[MOST_RANKS];
static uint16_t *sums;
static float *scratch;
static const uint16_t *terms[MOST_RANKS];
static float ones[MOST_RANKS];

static void barrier(void) {
    int before = atomic_load(&meeting->times);
    if (atomic_fetch_add(&meeting->arrived, 1) + 1 == team.ranks) {
        atomic_store(&meeting->arrived, 0);
        atomic_fetch_add(&meeting->times, 1);
        return;
    }
    while (atomic_load(&meeting->times) == before) {
        if (atomic_load(&meeting->failed) != 0) {
            exit(STATUS_FAILED);
        }
        sched_yield();
    }
}

static int64_t agreed(int64_t number) {
    if (team.rank == 0) {
        meeting->numbers[0] = number;
    }
    barrier();
    int64_t result = meeting->numbers[0];
    barrier();
    return result;
}

static int64_t greatest(int64_t number) {
    meeting->numbers[team.rank] = number;
    barrier();
    int64_t result = number;
    for (int rank = 0; rank < team.ranks; rank++) {
        result = meeting->numbers[rank] > result ? meeting->numbers[rank] : result;
    }
    barrier();
    return result;
}

static uint16_t *row(uint16_t *rows, size_t index) {
    return rows + index * (size_t)plan.hidden;
}

static float *scales_of(uint8_t *payload) {
    return (float *)(void *)(payload + plan.hidden);
}

static void dispatch(void) {
    size_t payload = payload_bytes(&plan);
    if (plan.fp8) {
        for (int token = 0; token < plan.tokens; token++) {
            uint8_t *to = packed[team.rank] + (size_t)token * payload;
            vector_quantise(row(tokens[team.rank], (size_t)token), plan.hidden, to, scales_of(to));
        }
        barrier();
    }
    for (size_t i = 0; i < routes.counts[team.rank]; i++) {
        const struct travel *travel = &routes.incoming[team.rank][i];
        const uint8_t *from = plan.fp8 ? packed[travel->source] + (size_t)travel->token * payload
                                       : (const uint8_t *)row(tokens[travel->source], (size_t)travel->token);
        memcpy(received[team.rank] + i * payload, from, payload);
    }
    if (plan.fp8) {
        /* Nothing is packed again before all have read it. */
        barrier();
    }
}

static size_t place(int token, int term) {
    return (size_t)token * (size_t)routes.terms + (size_t)term;
}

/* Whether a token gets an answer for a term, which in normal mode is a rank. */
static bool has_term(int rank, int token, int term) {
    const int *choices = routes.choices[rank] + (size_t)token * (size_t)plan.top_k;
    int local = plan.experts / team.ranks;
    for (int k = 0; plan.normal && k < plan.top_k; k++) {
        if (choices[k] / local == term) {
            return true;
        }
    }
    return !plan.normal;
}

static void sum_token(int token, uint16_t *sum) {
    for (int term = 0; term < routes.terms; term++) {
        terms[term] = has_term(team.rank, token, term) ? row(returned[team.rank], place(token, term)) : NULL;
    }
    const float *weights = plan.normal ? ones : routes.weights[team.rank] + (size_t)token * (size_t)plan.top_k;
    vector_sum(sum, terms, weights, routes.terms, plan.hidden, scratch);
}

static void combine(void) {
    for (size_t i = 0; i < routes.counts[team.rank]; i++) {
        const struct travel *travel = &routes.incoming[team.rank][i];
        memcpy(row(returned[travel->source], place(travel->token, travel->term)), row(answers[team.rank], i),
               row_bytes(&plan));
    }
    barrier();
    for (int token = 0; token < plan.tokens; token++) {
        sum_token(token, row(sums, (size_t)token));
    }
    /* Nothing is returned again before all have added it. */
    barrier();
}

/* Makes all that arrives here once more. */
static bool is_right(void) {
    size_t payload = payload_bytes(&plan);
    uint16_t *vector = aligned_alloc(LINE, row_bytes(&plan));
    uint8_t *expected = aligned_alloc(LINE, row_bytes(&plan));
    bool right = vector != NULL && expected != NULL;
    for (size_t i = 0; right && i < routes.counts[team.rank]; i++) {
        const struct travel *travel = &routes.incoming[team.rank][i];
        vector_fill(vector, plan.hidden, travel->source, travel->token, -1);
        if (plan.fp8) {
            vector_quantise(vector, plan.hidden, expected, scales_of(expected));
        } else {
            memcpy(expected, vector, payload);
        }
        right = memcmp(received[team.rank] + i * payload, expected, payload) == 0;
    }
    for (int token = 0; right && token < plan.tokens; token++) {
        for (int term = 0; term < routes.terms; term++) {
            if (has_term(team.rank, token, term)) {
                int maker = plan.normal ? term : routes.choices[team.rank][token * plan.top_k + term];
                vector_fill(row(returned[team.rank], place(token, term)), plan.hidden, team.rank, token, maker);
            }
        }
        sum_token(token, vector);
        right = memcmp(row(sums, (size_t)token), vector, row_bytes(&plan)) == 0;
    }
    free(vector);
    free(expected);
    return right;
}

static void *shared(size_t bytes) {
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) {
        fprintf(stderr, "no shared memory: %s\n", strerror(errno));
        exit(STATUS_FAILED);
    }
    return memory;
}

static void map_all(void) {
    for (int rank = 0; rank < team.ranks; rank++) {
        size_t all = (size_t)plan.tokens;
        /* A rank may get nothing. */
        size_t arriving = routes.counts[rank] + 1;
        tokens[rank] = shared(all * row_bytes(&plan));
        packed[rank] = shared(all * payload_bytes(&plan));
        received[rank] = shared(arriving * payload_bytes(&plan));
        answers[rank] = shared(arriving * row_bytes(&plan));
        returned[rank] = shared(all * (size_t)routes.terms * row_bytes(&plan));
    }
}

static int run(int rank) {
    team.rank = rank;
    if (!bind_to(plan.processors, rank)) {
        return STATUS_USAGE;
    }
    sums = aligned_alloc(LINE, (size_t)plan.tokens * row_bytes(&plan));
    scratch = aligned_alloc(LINE, (size_t)plan.hidden * sizeof(float));
    if (sums == NULL || scratch == NULL) {
        fprintf(stderr, "rank %d: no memory\n", rank);
        return STATUS_FAILED;
    }
    for (int token = 0; token < plan.tokens; token++) {
        vector_fill(row(tokens[rank], (size_t)token), plan.hidden, rank, token, -1);
    }
    for (size_t i = 0; i < routes.counts[rank]; i++) {
        const struct travel *travel = &routes.incoming[rank][i];
        vector_fill(row(answers[rank], i), plan.hidden, travel->source, travel->token,
                    plan.normal ? rank : travel->expert);
    }
    struct exchange exchange = {routes_count(&routes), dispatch, combine, is_right};
    return measure(&plan, &team, &exchange);
}

/* Starts the other ranks, and is the first one. */
static int run_all(void) {
    for (int rank = 1; rank < team.ranks; rank++) {
        pid_t child = fork();
        if (child == 0) {
            int status = run(rank);
            atomic_fetch_add(&meeting->failed, status == 0 ? 0 : 1);
            exit(status);
        }
        if (child < 0) {
            fprintf(stderr, "fork: %s\n", strerror(errno));
            atomic_fetch_add(&meeting->failed, 1);
            return STATUS_FAILED;
        }
    }
    int status = run(0);
    atomic_fetch_add(&meeting->failed, status == 0 ? 0 : 1);
    int ended = 0;
    while (wait(&ended) > 0) {
        status = ended == 0 ? status : STATUS_FAILED;
    }
    return status;
}

int main(int count, char **arguments) {
    uint64_t ranks = 0;
    if (count != 2 + PLAN_ARGUMENTS) {
        fputs("usage: RANKS MODE FORMAT TOKENS HIDDEN TOP_K EXPERTS PROCESSORS WARMUP_MS DURATION_MS,\n"
              "with MODE low-latency or normal, and FORMAT bf16 or fp8\n",
              stderr);
        return STATUS_USAGE;
    }
    if (!number(arguments[1], 1, MOST_RANKS, &ranks) || !plan_parse(arguments + 2, &plan)) {
        return STATUS_USAGE;
    }
    team = (struct team){.ranks = (int)ranks, .barrier = barrier, .agreed = agreed, .greatest = greatest};
    for (int i = 0; i < MOST_RANKS; i++) {
        ones[i] = 1;
    }
    if (plan.experts % team.ranks != 0 || !routes_make(&plan, team.ranks, &routes)) {
        fprintf(stderr, "%d experts cannot be divided among %d ranks\n", plan.experts, team.ranks);
        return STATUS_USAGE;
    }
    meeting = shared(sizeof(struct meeting));
    map_all();
    return run_all();
}
