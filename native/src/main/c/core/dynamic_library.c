#define _GNU_SOURCE
#include "dynamic_library.h"

#include <dlfcn.h>
#include <stdio.h>

struct opening {
    const char *file;
    void *handle;
    char *cause;
};

static void open_file(void *argument) {
    struct opening *opening = argument;
    opening->handle = dlopen(opening->file, RTLD_NOW | RTLD_LOCAL);
    if (opening->handle == NULL) {
        const char *error = dlerror();
        snprintf(opening->cause, FOREIGN_CAUSE_BYTES, "%s cannot be loaded: %s", opening->file,
                error == NULL ? "no reason is given" : error);
    }
}

void *sluice_dynamic_open(
        const char *file, const char *const *variables, size_t count, char cause[FOREIGN_CAUSE_BYTES]) {
    struct opening opening = {.file = file, .cause = cause};
    struct foreign_claim claim;
    cause[0] = '\0';
    foreign_library_set(variables, count);
    foreign_library_run(open_file, &opening, &claim);
    return opening.handle;
}

void *sluice_dynamic_symbol(void *handle, const char *name) {
    return dlsym(handle, name);
}
