#define _GNU_SOURCE
#include "foreign_library.h"

#include "signal_handlers.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * Libraries that read these variables in a constructor:
 *
 * - libinfinipath of psm, on which Debian's libfabric depends: handlers of faults, SIGABRT, SIGINT and SIGTERM
 * - psm2 before it asked for HFI_BACKTRACE instead: the same
 * - libucs of ucx: handlers of faults, and an alternate stack for the thread. UCX_ERROR_SIGNALS= leaves it the stack
 */
static const char *const variables[] = {"IPATH_NO_BACKTRACE=1", "HFI_NO_BACKTRACE=1", "UCX_HANDLE_ERRORS=none"};

#define VARIABLES (sizeof variables / sizeof variables[0])

/* Two concurrent runs would keep each other's handlers. */
static pthread_mutex_t running = PTHREAD_MUTEX_INITIALIZER;
static bool variables_are_set;

/* Where a table has a variable of the same name, or its end. */
static size_t place_of(char *const *table, size_t count, const char *variable) {
    size_t length = strcspn(variable, "=") + 1;
    size_t at = 0;
    while (at < count && strncmp(table[at], variable, length) != 0) {
        at++;
    }
    return at;
}

/*
 * Replaces the table in one step and frees nothing: a concurrent getenv walks the old or the new table, whereas setenv
 * may free the old one. The texts are copied because this library may be unloaded.
 */
static void set_variables(const char *const *set, size_t added, bool replaces) {
    size_t count = 0;
    while (environ != NULL && environ[count] != NULL) {
        count++;
    }
    char **table = malloc((count + added + 1) * sizeof *table);
    if (table == NULL) {
        return;
    }
    if (count > 0) {
        memcpy(table, environ, count * sizeof *table);
    }
    for (size_t i = 0; i < added; i++) {
        size_t at = place_of(table, count, set[i]);
        char *copy = at < count && !replaces ? NULL : strdup(set[i]);
        if (copy != NULL) {
            table[at] = copy;
            count += at == count;
        }
    }
    table[count] = NULL;
    __atomic_store_n(&environ, table, __ATOMIC_RELEASE);
}

void foreign_library_set(const char *const *set, size_t count) {
    pthread_mutex_lock(&running);
    set_variables(set, count, true);
    pthread_mutex_unlock(&running);
}

struct run {
    void (*load)(void *argument);
    void *argument;
    uint32_t kept;
    /* Carries first the thread's guard, then its end. */
    int told[2];
};

static void tell(const struct run *run, int value) {
    while (write(run->told[1], &value, sizeof value) < 0 && errno == EINTR) {
    }
}

static int hear(const struct run *run) {
    int value = -1;
    while (read(run->told[0], &value, sizeof value) < 0 && errno == EINTR) {
    }
    return value;
}

static void *run_guarded(void *argument) {
    const struct run *run = argument;
    tell(run, signal_guard_begin(run->kept));
    run->load(run->argument);
    tell(run, 0);
    return NULL;
}

/* Answers the thread until it has ended; returns whether it was guarded. */
static bool attend(const struct run *run, struct signal_claim *claim) {
    int guard = hear(run);
    if (guard < 0) {
        return false;
    }
    struct pollfd ready[] = {{.fd = guard, .events = POLLIN}, {.fd = run->told[0], .events = POLLIN}};
    do {
        if (poll(ready, 2, -1) > 0 && (ready[0].revents & POLLIN)) {
            signal_guard_answer(guard, claim);
        }
    } while (!(ready[1].revents & POLLIN));
    close(guard);
    return true;
}

/* Runs without a thread if none can be created. */
static void run_here(const struct run *run) {
    stack_t before;
    stack_t after;
    bool is_known = sigaltstack(NULL, &before) == 0;
    run->load(run->argument);
    if (is_known && sigaltstack(NULL, &after) == 0 && after.ss_sp != before.ss_sp) {
        sigaltstack(&before, NULL);
    }
}

static bool run_apart(struct run *run, struct signal_claim *claim) {
    pthread_t thread;
    if (pipe2(run->told, O_CLOEXEC) != 0) {
        run_here(run);
        return false;
    }
    bool was_guarded = false;
    if (pthread_create(&thread, NULL, run_guarded, run) == 0) {
        was_guarded = attend(run, claim);
        pthread_join(thread, NULL);
    } else {
        run_here(run);
    }
    close(run->told[0]);
    close(run->told[1]);
    return was_guarded;
}

static void name_library(const struct signal_claim *claim, struct foreign_claim *result) {
    Dl_info found;
    result->signals = claim->signals;
    result->library[0] = '\0';
    if (claim->handler != NULL && dladdr(claim->handler, &found) != 0 && found.dli_fname != NULL) {
        strncat(result->library, found.dli_fname, sizeof result->library - 1);
    }
}

void foreign_library_run(void (*load)(void *argument), void *argument, struct foreign_claim *claim) {
    pthread_mutex_lock(&running);
    if (!variables_are_set) {
        variables_are_set = true;
        set_variables(variables, VARIABLES, false);
    }
    struct signal_handlers handlers;
    struct signal_claim claimed = {0};
    signal_handlers_keep(&handlers);
    struct run run = {.load = load, .argument = argument, .kept = handlers.kept};
    bool was_guarded = run_apart(&run, &claimed);
    signal_handlers_restore(&handlers, was_guarded, &claimed);
    /* Not while it loads: the dynamic linker's lock is held then. */
    name_library(&claimed, claim);
    pthread_mutex_unlock(&running);
}

struct loading {
    struct foreign_library *library;
    const char *file;
    bool (*prepare)(void *handle, const char *file, char *cause);
    bool is_loaded;
};

static void open_and_prepare(void *argument) {
    struct loading *loading = argument;
    char *cause = loading->library->cause;
    void *handle = dlopen(loading->file, RTLD_NOW | RTLD_LOCAL);
    if (handle == NULL) {
        const char *error = dlerror();
        snprintf(cause, FOREIGN_CAUSE_BYTES, "%s cannot be loaded: %s", loading->file,
                error == NULL ? "no reason is given" : error);
        return;
    }
    loading->is_loaded = loading->prepare(handle, loading->file, cause);
}

const char *foreign_library_load(struct foreign_library *library, const char *file,
        bool (*prepare)(void *handle, const char *file, char *cause)) {
    pthread_mutex_lock(&library->lock);
    if (!library->was_tried) {
        library->was_tried = true;
        struct loading loading = {.library = library, .file = file, .prepare = prepare};
        foreign_library_run(open_and_prepare, &loading, &library->claim);
        atomic_store_explicit(&library->is_loaded, loading.is_loaded, memory_order_release);
    }
    const char *result = atomic_load_explicit(&library->is_loaded, memory_order_relaxed) ? NULL : library->cause;
    pthread_mutex_unlock(&library->lock);
    return result;
}

bool foreign_library_is_loaded(struct foreign_library *library) {
    return atomic_load_explicit(&library->is_loaded, memory_order_acquire);
}

uint32_t foreign_library_claimed_signals(struct foreign_library *library) {
    pthread_mutex_lock(&library->lock);
    uint32_t signals = library->claim.signals;
    pthread_mutex_unlock(&library->lock);
    return signals;
}

/* Converts a function address through an object pointer, as POSIX specifies for dlsym. */
bool foreign_library_find(void *handle, const char *symbol, void *member) {
    void *address = dlsym(handle, symbol);
    memcpy(member, &address, sizeof address);
    return address != NULL;
}
