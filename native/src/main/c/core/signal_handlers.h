/*
 * Keeps a process's signal handlers while foreign code runs. A virtual machine takes its null checks, safepoints and
 * shutdown from signals; a library that puts handlers of its own in their place ends it at the next null check.
 *
 * Kept are the handlers of faults and of SIGABRT, and those of all other signals up to 31 that are not the default: a
 * library may have a signal that nothing in the process has.
 *
 * There are two ways, and both are taken:
 *
 * - The guard: the thread that runs the foreign code has a filter (seccomp) by which the kernel asks the thread that waits
 *   for it instead of setting such a handler. The answer is that it was set, and which one was there before. So no handler
 *   is replaced at any moment, in no thread. The filter needs no privilege; it stays with the threads that the foreign code
 *   starts, to whom the kernel says ENOSYS once the guard is gone.
 * - Comparing and restoring: afterwards what differs is set back. Until then a fault in any thread meets the foreign
 *   handler. This is all that there is before Linux 5.0, in sandboxes that forbid seccomp, and in containers whose runtime
 *   has such a filter of its own, of which a thread can have but one.
 */
#ifndef SIGNAL_HANDLERS_H
#define SIGNAL_HANDLERS_H

#include "sluice.h"

#include <signal.h>

#define SIGNAL_HANDLERS 32

/* The handlers in place. Bit n of a set is signal n. */
struct signal_handlers {
    uint32_t kept;
    struct sigaction of[SIGNAL_HANDLERS];
};

/* The claim of foreign code: the signals, and one of its handlers, or NULL. */
struct signal_claim {
    uint32_t signals;
    void *handler;
};

void signal_handlers_keep(struct signal_handlers *handlers);
/* Sets back those that differ, and adds them to the claim. After a guard that held only faults are looked at: of the others
 * the process itself may have changed some meanwhile. */
void signal_handlers_restore(const struct signal_handlers *handlers, bool was_guarded, struct signal_claim *claim);

/* Gives the calling thread the filter, for good. The result is the descriptor to answer on, or -errno. */
int signal_guard_begin(uint32_t signals);
/* Answers one question, for which the descriptor has become ready. */
void signal_guard_answer(int guard, struct signal_claim *claim);

#endif
