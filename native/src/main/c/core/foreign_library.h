/* Loads libraries that may set signal handlers, or load others that do. */
#ifndef FOREIGN_LIBRARY_H
#define FOREIGN_LIBRARY_H

#include "sluice.h"

#include <limits.h>

/* The signals that a library claimed: bit n is signal n; 0 if none. */
struct foreign_claim {
    uint32_t signals;
    /* The file of one of its handlers; empty if unknown or no longer loaded. */
    char library[PATH_MAX];
};

/*
 * Runs the code that opens a library and first uses it, so that the process keeps its signal handlers (see
 * signal_handlers.h) and the calling thread its alternate stack. Runs it on a temporary thread, one at a time.
 *
 * Before the first run, sets the environment variables that make some libraries leave signals alone, unless they are
 * set. That is safe while other threads call getenv, but not while they call setenv or putenv. A JVM calls neither.
 */
void foreign_library_run(void (*load)(void *argument), void *argument, struct foreign_claim *claim);

#endif
