/* Loads libraries that may set signal handlers, or load others that do. */
#ifndef FOREIGN_LIBRARY_H
#define FOREIGN_LIBRARY_H

#include "sluice.h"

#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>

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

/* Sets variables of the environment, each name=value, in place of those that there are; as safe as the above. */
void foreign_library_set(const char *const *set, size_t count);

#define FOREIGN_CAUSE_BYTES 1024

/* A library that is opened at most once, and never closed after a success. */
struct foreign_library {
    pthread_mutex_t lock;
    bool was_tried;
    atomic_bool is_loaded;
    char cause[FOREIGN_CAUSE_BYTES];
    struct foreign_claim claim;
};

#define FOREIGN_LIBRARY {.lock = PTHREAD_MUTEX_INITIALIZER}

/*
 * Opens a file, and prepares it with a function that gets the library's handle; false from there means that the function
 * has written the cause. Returns NULL if the library is usable, otherwise a sentence that says why it is not. The first
 * call decides.
 */
const char *foreign_library_load(struct foreign_library *library, const char *file,
        bool (*prepare)(void *handle, const char *file, char *cause));

/* Whether the library is usable. Then all writes of its preparation are visible to the thread. */
bool foreign_library_is_loaded(struct foreign_library *library);

/* The signals that it claimed; complete after the load. */
uint32_t foreign_library_claimed_signals(struct foreign_library *library);

/* Stores the address of a function, as dlsym finds it; false and NULL if there is none. */
bool foreign_library_find(void *handle, const char *symbol, void *member);

#endif
