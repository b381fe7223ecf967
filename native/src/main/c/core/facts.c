#define _GNU_SOURCE
#include "sluice.h"

#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

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

int sluice_thread_exact_timers(void) {
    return sluice_result(prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL));
}

int sluice_thread_schedule(struct sluice_thread_schedule *record) {
    int file = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
    if (file < 0) {
        return -errno;
    }
    char text[128];
    ssize_t length = read(file, text, sizeof text - 1);
    close(file);
    if (length <= 0) {
        return -ENOSYS;
    }
    text[length] = '\0';
    int64_t turns;
    struct timespec ran;
    /* A kernel without these statistics reports zeros. */
    if (sscanf(text, "%" SCNd64 " %" SCNd64 " %" SCNd64, &record->ran, &record->waited, &turns) != 3
            || (record->ran == 0 && turns == 0) || clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ran) != 0) {
        return -ENOSYS;
    }
    /* The kernel's value may lag by a tick or more. */
    record->ran = ran.tv_sec * INT64_C(1000000000) + ran.tv_nsec;
    return 0;
}
