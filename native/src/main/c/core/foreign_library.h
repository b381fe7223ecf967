/* How libraries are loaded that Sluice does not know: such as may bring handlers of signals, or load others that do. */
#ifndef FOREIGN_LIBRARY_H
#define FOREIGN_LIBRARY_H

#include "sluice.h"

#include <limits.h>

/* The signals that a library claimed. Bit n of the set is signal n; 0 if none. */
struct foreign_claim {
    uint32_t signals;
    /* The file of one of its handlers; empty if that is not known, or not loaded any more. */
    char library[PATH_MAX];
};

/*
 * Runs what opens a library, and what its first use opens, so that the process keeps its signal handlers (see
 * signal_handlers.h), and the calling thread its alternate stack. It runs on a thread of its own, which is gone at the end;
 * one such runs at a time.
 *
 * Before the first, variables are set by which some libraries learn to leave signals alone, as far as the environment does
 * not have them. That is safe while other threads call getenv, but not while they call setenv or putenv. A virtual machine
 * calls neither.
 */
void foreign_library_run(void (*load)(void *argument), void *argument, struct foreign_claim *claim);

#endif
