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

struct trial {
    const char *file;
    const char *const *functions;
    size_t count;
    char *cause;
    bool has_all;
};

static void try_file(void *argument) {
    struct trial *trial = argument;
    struct opening opening = {.file = trial->file, .cause = trial->cause};
    open_file(&opening);
    if (opening.handle == NULL) {
        return;
    }
    trial->has_all = true;
    for (size_t i = 0; i < trial->count && trial->has_all; i++) {
        trial->has_all = dlsym(opening.handle, trial->functions[i]) != NULL;
        if (!trial->has_all) {
            snprintf(trial->cause, FOREIGN_CAUSE_BYTES, "%s lacks the function %s: use a newer one", trial->file,
                    trial->functions[i]);
        }
    }
    dlclose(opening.handle);
}

bool sluice_dynamic_try(
        const char *file, const char *const *functions, size_t count, char cause[FOREIGN_CAUSE_BYTES]) {
    struct trial trial = {.file = file, .functions = functions, .count = count, .cause = cause};
    struct foreign_claim claim;
    cause[0] = '\0';
    foreign_library_run(try_file, &trial, &claim);
    return trial.has_all;
}

void *sluice_dynamic_symbol(void *handle, const char *name) {
    return dlsym(handle, name);
}
