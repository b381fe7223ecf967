#include "verbs_library.h"

#include "foreign_library.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#define DEFAULT_LIBRARY "libibverbs.so.1"

struct verbs_library verbs;

static struct foreign_library library = FOREIGN_LIBRARY;

static const char *missing_symbol(void *handle, struct verbs_library *found) {
#define VERBS_FIND(name, symbol) \
    if (!foreign_library_find(handle, #symbol, &found->name)) { \
        return #symbol; \
    }
    VERBS_FUNCTIONS(VERBS_FIND)
#undef VERBS_FIND
#define VERBS_FIND(name, symbol) foreign_library_find(handle, #symbol, &found->name);
    VERBS_NEWER_FUNCTIONS(VERBS_FIND)
#undef VERBS_FIND
    return NULL;
}

static bool prepare(void *handle, const char *file, char *cause) {
    const char *missing = missing_symbol(handle, &verbs);
    if (missing != NULL) {
        snprintf(cause, FOREIGN_CAUSE_BYTES, "%s lacks the function %s", file, missing);
        memset(&verbs, 0, sizeof verbs);
        dlclose(handle);
        return false;
    }
    /* The first list loads the drivers, each a library of its own; not all of them survive an unload. */
    struct ibv_device **devices = verbs.get_device_list(NULL);
    if (devices != NULL) {
        verbs.free_device_list(devices);
    }
    return true;
}

const char *sluice_verbs_load(const char *path) {
    return foreign_library_load(&library, path == NULL || path[0] == '\0' ? DEFAULT_LIBRARY : path, prepare);
}

uint32_t sluice_verbs_claimed_signals(void) {
    return foreign_library_claimed_signals(&library);
}

const char *sluice_verbs_claimant(void) {
    return library.claim.library;
}

bool sluice_verbs_loaded(void) {
    return foreign_library_is_loaded(&library);
}

int verbs_set_non_blocking(int descriptor) {
    int flags = fcntl(descriptor, F_GETFL);
    return flags < 0 ? -errno : sluice_result(fcntl(descriptor, F_SETFL, flags | O_NONBLOCK));
}
