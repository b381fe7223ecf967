#include "ceiling.h"

#include <stdlib.h>
#include <string.h>

static void run(const struct plan *plan, uint64_t span, unsigned char *to, const unsigned char *from,
        struct figures *figures) {
    uint64_t done = 0;
    uint64_t offset = 0;
    struct stopwatch watch = stopwatch_start(plan);
    do {
        memcpy(to + offset, from + offset, (size_t)plan->size);
        /* The compiler must believe that the copy is used. */
        __asm__ volatile("" : : "r"(to) : "memory");
        offset = offset + 2 * plan->size <= span ? offset + plan->size : 0;
        done++;
    } while (stopwatch_runs(&watch, plan, done));
    stopwatch_figures(&watch, figures);
}

int memory_copy(const struct plan *plan, uint64_t span, bool shared, struct figures *figures) {
    unsigned char *from = shared ? shared_memory_of(span) : memory_of(span);
    unsigned char *to = shared ? shared_memory_of(span) : memory_of(span);
    bool there = from != NULL && to != NULL;
    if (there) {
        run(plan, span, to, from, figures);
    }
    if (shared) {
        shared_memory_release(from, span);
        shared_memory_release(to, span);
    } else {
        free(from);
        free(to);
    }
    return there ? 0 : -1;
}
