#include "gpu.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static _Noreturn void end(int status, const char *what, const char *why) {
    fprintf(stderr, "gpu: %s: %s\n", what, why);
    exit(status);
}

void fail(const char *what, const char *why) {
    end(STATUS_FAILED, what, why);
}

void not_available(const char *what, const char *why) {
    end(STATUS_NOT_AVAILABLE, what, why);
}

void fail_errno(const char *what) {
    end(STATUS_FAILED, what, strerror(errno));
}

void *allocate(size_t count, size_t bytes) {
    void *memory = calloc(count, bytes);
    if (memory == NULL) {
        fail("no memory", "the system has none");
    }
    return memory;
}
