#include "arguments.h"
#include "experts.h"

#include <stdio.h>
#include <string.h>

static bool whole(const char *text, uint64_t least, uint64_t most, int *value) {
    uint64_t parsed = 0;
    bool is = number(text, least, most, &parsed);
    *value = (int)parsed;
    return is;
}

static bool one_of(const char *text, const char *no, const char *yes, bool *value) {
    *value = strcmp(text, yes) == 0;
    if (!*value && strcmp(text, no) != 0) {
        fprintf(stderr, "%s is neither %s nor %s\n", text, no, yes);
        return false;
    }
    return true;
}

bool plan_parse(char **arguments, struct plan *plan) {
    *plan = (struct plan){.processors = arguments[6]};
    if (!one_of(arguments[0], "low-latency", "normal", &plan->normal)
        || !one_of(arguments[1], "bf16", "fp8", &plan->fp8) || !whole(arguments[2], 1, 1 << 20, &plan->tokens)
        || !whole(arguments[3], GROUP, 1 << 16, &plan->hidden) || !whole(arguments[4], 1, 32, &plan->top_k)
        || !whole(arguments[5], 1, 1 << 16, &plan->experts)
        || !times(arguments + 7, &plan->warmup, &plan->duration)) {
        return false;
    }
    if (plan->hidden % GROUP != 0 || plan->top_k > plan->experts) {
        fprintf(stderr, "%d channels, %d of %d experts\n", plan->hidden, plan->top_k, plan->experts);
        return false;
    }
    return true;
}
