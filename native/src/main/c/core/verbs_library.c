#include "verbs_library.h"

#include "foreign_library.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#define DEFAULT_LIBRARY "libibverbs.so.1"

struct verbs_library verbs;

static pthread_mutex_t loading_lock = PTHREAD_MUTEX_INITIALIZER;
static bool was_tried;
static char cause[SLUICE_VERBS_CAUSE_BYTES];
static atomic_bool is_loaded;
static struct foreign_claim claim;

/* Converts a function address through an object pointer, as POSIX specifies for dlsym. */
static bool find(void *library, const char *symbol, void *member) {
    void *address = dlsym(library, symbol);
    memcpy(member, &address, sizeof address);
    return address != NULL;
}

static const char *missing_symbol(void *library, struct verbs_library *found) {
#define VERBS_FIND(name, symbol) \
    if (!find(library, #symbol, &found->name)) { \
        return #symbol; \
    }
    VERBS_FUNCTIONS(VERBS_FIND)
#undef VERBS_FIND
#define VERBS_FIND(name, symbol) find(library, #symbol, &found->name);
    VERBS_NEWER_FUNCTIONS(VERBS_FIND)
#undef VERBS_FIND
    return NULL;
}

struct loading {
    const char *file;
    bool is_loaded;
};

static void load(void *argument) {
    struct loading *loading = argument;
    const char *file = loading->file;
    void *library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) {
        const char *error = dlerror();
        snprintf(cause, sizeof cause, "%s cannot be loaded: %s", file, error == NULL ? "no reason is given" : error);
        return;
    }
    const char *missing = missing_symbol(library, &verbs);
    if (missing != NULL) {
        snprintf(cause, sizeof cause, "%s lacks the function %s", file, missing);
        memset(&verbs, 0, sizeof verbs);
        dlclose(library);
        return;
    }
    /* The first list loads the drivers, each a library of its own. */
    struct ibv_device **devices = verbs.get_device_list(NULL);
    if (devices != NULL) {
        verbs.free_device_list(devices);
    }
    loading->is_loaded = true;
}

const char *sluice_verbs_load(const char *path) {
    pthread_mutex_lock(&loading_lock);
    if (!was_tried) {
        was_tried = true;
        struct loading loading = {.file = path == NULL || path[0] == '\0' ? DEFAULT_LIBRARY : path};
        /* Never unloaded: not all drivers that it loads survive that. */
        foreign_library_run(load, &loading, &claim);
        atomic_store_explicit(&is_loaded, loading.is_loaded, memory_order_release);
    }
    const char *result = atomic_load_explicit(&is_loaded, memory_order_relaxed) ? NULL : cause;
    pthread_mutex_unlock(&loading_lock);
    return result;
}

uint32_t sluice_verbs_claimed_signals(void) {
    pthread_mutex_lock(&loading_lock);
    uint32_t signals = claim.signals;
    pthread_mutex_unlock(&loading_lock);
    return signals;
}

const char *sluice_verbs_claimant(void) {
    return claim.library;
}

bool sluice_verbs_loaded(void) {
    return atomic_load_explicit(&is_loaded, memory_order_acquire);
}

int verbs_set_non_blocking(int descriptor) {
    int flags = fcntl(descriptor, F_GETFL);
    return flags < 0 ? -errno : sluice_result(fcntl(descriptor, F_SETFL, flags | O_NONBLOCK));
}
