#include "ceiling.h"

#include <stdio.h>
#include <string.h>

int complain(const char *what, int error) {
    if (error == 0) {
        fprintf(stderr, "ceiling: %s\n", what);
    } else {
        fprintf(stderr, "ceiling: %s: %s\n", what, strerror(error));
    }
    return -1;
}
