#include "experts.h"

#include <stdlib.h>

static uint64_t next(uint64_t *state) {
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return *state >> 33;
}

static bool choose(const struct plan *plan, int rank, struct routes *routes) {
    size_t count = (size_t)plan->tokens * (size_t)plan->top_k;
    int *all = calloc((size_t)plan->experts, sizeof(int));
    int *choices = calloc(count, sizeof(int));
    float *weights = calloc(count, sizeof(float));
    routes->choices[rank] = choices;
    routes->weights[rank] = weights;
    if (all == NULL || choices == NULL || weights == NULL) {
        free(all);
        return false;
    }
    uint64_t state = 0x510ce + (uint64_t)rank;
    for (int expert = 0; expert < plan->experts; expert++) {
        all[expert] = expert;
    }
    for (size_t i = 0; i < count; i++) {
        int k = (int)(i % (size_t)plan->top_k);
        int other = k + (int)(next(&state) % (uint64_t)(plan->experts - k));
        choices[i] = all[other];
        all[other] = all[k];
        all[k] = choices[i];
        weights[i] = (float)(next(&state) % 1000) / 1000;
    }
    free(all);
    return true;
}

/* Adds the vectors that a token sends to a rank with the experts from first on: one, or one for each that it has chosen. */
static void add(const struct plan *plan, struct routes *routes, int to, int source, int token, int first, int experts) {
    const int *choices = routes->choices[source] + (size_t)token * (size_t)plan->top_k;
    for (int k = 0; k < plan->top_k; k++) {
        if (choices[k] >= first && choices[k] < first + experts) {
            struct travel travel = {source, token, plan->normal ? to : k, plan->normal ? -1 : choices[k]};
            routes->incoming[to][routes->counts[to]++] = travel;
            if (plan->normal) {
                return;
            }
        }
    }
}

bool routes_make(const struct plan *plan, int ranks, struct routes *routes) {
    int local = plan->experts / ranks;
    size_t each = (size_t)plan->tokens * (size_t)(plan->normal ? 1 : plan->top_k < local ? plan->top_k : local);
    *routes = (struct routes){.ranks = ranks, .terms = plan->normal ? ranks : plan->top_k};
    for (int rank = 0; rank < ranks; rank++) {
        routes->incoming[rank] = calloc((size_t)ranks * each, sizeof(struct travel));
        if (!choose(plan, rank, routes) || routes->incoming[rank] == NULL) {
            return false;
        }
    }
    for (int to = 0; to < ranks; to++) {
        int step = plan->normal ? local : 1;
        for (int first = to * local; first < (to + 1) * local; first += step) {
            for (int source = 0; source < ranks; source++) {
                for (int token = 0; token < plan->tokens; token++) {
                    add(plan, routes, to, source, token, first, step);
                }
            }
        }
    }
    return true;
}

size_t routes_count(const struct routes *routes) {
    size_t count = 0;
    for (int rank = 0; rank < routes->ranks; rank++) {
        count += routes->counts[rank];
    }
    return count;
}
