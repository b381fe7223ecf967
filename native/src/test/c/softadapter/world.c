#define _GNU_SOURCE
#include "adapter.h"

#include <time.h>

/* Writers first: workers read it again and again, and would keep them out for ever. */
static pthread_rwlock_t world = PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP;

void short_lock_init(pthread_mutex_t *lock) {
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_ADAPTIVE_NP);
    pthread_mutex_init(lock, &attributes);
    pthread_mutexattr_destroy(&attributes);
}

void world_read(void) {
    pthread_rwlock_rdlock(&world);
}

void world_write(void) {
    pthread_rwlock_wrlock(&world);
}

void world_release(void) {
    pthread_rwlock_unlock(&world);
}

uint64_t now_nanos(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * UINT64_C(1000000000) + (uint64_t)time.tv_nsec;
}
