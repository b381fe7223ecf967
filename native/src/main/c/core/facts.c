#define _GNU_SOURCE
#include "sluice.h"

#include <sched.h>

int sluice_thread_set_affinity(int cpu) {
    if (cpu < 0 || cpu >= CPU_SETSIZE) {
        return -EINVAL;
    }
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    /* 0 is the calling thread, not the process. */
    return sluice_result(sched_setaffinity(0, sizeof set, &set));
}
