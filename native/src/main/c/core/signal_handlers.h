/*
 * Keeps a process's signal handlers while foreign code runs. A JVM implements null checks, safepoints and shutdown with
 * signals; a library that replaces its handlers ends it at the next null check.
 *
 * Keeps the handlers of faults and SIGABRT, and those of all other signals up to 31 that are not the default: a library
 * may claim a signal that the process does not use.
 *
 * Two methods are combined:
 *
 * - The guard: the thread that runs the foreign code has a seccomp filter. Instead of setting such a handler, the
 *   kernel asks the thread that waits for it, which answers that the handler was set, and returns the previous one.
 *   So no handler is ever replaced, in any thread. The filter needs no privilege. Threads started by the foreign code
 *   inherit it; once the guard is gone, the kernel returns ENOSYS to them.
 * - Comparing and restoring: afterwards changed handlers are restored. Until then a fault in any thread runs the
 *   foreign handler. Only this is available before Linux 5.0, in sandboxes that forbid seccomp, and in containers
 *   whose runtime has such a filter already, since a thread can have only one.
 */
#ifndef SIGNAL_HANDLERS_H
#define SIGNAL_HANDLERS_H

#include "sluice.h"

#include <signal.h>

#define SIGNAL_HANDLERS 32

/* The current handlers. Bit n of a set is signal n. */
struct signal_handlers {
    uint32_t kept;
    struct sigaction of[SIGNAL_HANDLERS];
};

/* The signals that foreign code claimed, and one of its handlers or NULL. */
struct signal_claim {
    uint32_t signals;
    void *handler;
};

void signal_handlers_keep(struct signal_handlers *handlers);
/*
 * Restores changed handlers and adds them to the claim. After a guard that worked, only faults are checked: the process
 * itself may have changed others meanwhile.
 */
void signal_handlers_restore(const struct signal_handlers *handlers, bool was_guarded, struct signal_claim *claim);

/* Installs the filter on the calling thread for good. Returns the descriptor to answer on, or -errno. */
int signal_guard_begin(uint32_t signals);
/* Answers one request, for which the descriptor has become readable. */
void signal_guard_answer(int guard, struct signal_claim *claim);

#endif
