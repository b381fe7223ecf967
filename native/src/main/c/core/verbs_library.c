#include "verbs_library.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#define DEFAULT_LIBRARY "libibverbs.so.1"

struct verbs_library verbs;

static pthread_mutex_t loading = PTHREAD_MUTEX_INITIALIZER;
static bool was_tried;
static char cause[SLUICE_VERBS_CAUSE_BYTES];
static atomic_bool is_loaded;

/* The address of a function through an object pointer, as POSIX has it for dlsym. */
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

static bool load(const char *path) {
    const char *file = path == NULL || path[0] == '\0' ? DEFAULT_LIBRARY : path;
    void *library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) {
        const char *error = dlerror();
        snprintf(cause, sizeof cause, "%s cannot be loaded: %s", file, error == NULL ? "no reason is given" : error);
        return false;
    }
    const char *missing = missing_symbol(library, &verbs);
    if (missing != NULL) {
        snprintf(cause, sizeof cause, "%s lacks the function %s", file, missing);
        memset(&verbs, 0, sizeof verbs);
        dlclose(library);
        return false;
    }
    return true;
}

const char *sluice_verbs_load(const char *path) {
    pthread_mutex_lock(&loading);
    if (!was_tried) {
        was_tried = true;
        /* Never unloaded: the drivers that it loads in turn do not all survive that. */
        atomic_store_explicit(&is_loaded, load(path), memory_order_release);
    }
    const char *result = atomic_load_explicit(&is_loaded, memory_order_relaxed) ? NULL : cause;
    pthread_mutex_unlock(&loading);
    return result;
}

bool sluice_verbs_loaded(void) {
    return atomic_load_explicit(&is_loaded, memory_order_acquire);
}

int verbs_set_non_blocking(int descriptor) {
    int flags = fcntl(descriptor, F_GETFL);
    return flags < 0 ? -errno : sluice_result(fcntl(descriptor, F_SETFL, flags | O_NONBLOCK));
}
