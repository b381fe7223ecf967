#include "arguments.h"
#include "collective.h"

#include <string.h>

#define MAXIMUM_SIZE (UINT64_C(1) << 30)

bool plan_parse(char **arguments, int rank, struct plan *plan) {
    *plan = (struct plan){.mode = arguments[0], .barrier = strcmp(arguments[0], "barrier") == 0};
    return number(arguments[1], 0, MAXIMUM_SIZE, &plan->size) && times(arguments + 3, &plan->warmup, &plan->duration)
           && bind_to(arguments[2], rank);
}
