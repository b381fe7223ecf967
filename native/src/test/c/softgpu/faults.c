#include "gpu.h"

#include <string.h>

struct counters counters;
atomic_uint_fast64_t fault_delay;
atomic_bool fault_hang;
atomic_bool fault_import;
atomic_bool fault_atomics;
atomic_bool fault_pins;
atomic_bool pools;
atomic_bool awaits_kernels;

static atomic_int_fast64_t operations_left = -1;
static atomic_int_fast64_t copies_left;
static atomic_int_fast64_t copies_refused;

EXPORT void soft_gpu_delay(uint64_t nanoseconds) {
    /* Reads the environment's first, which would otherwise be taken later. */
    device_count();
    atomic_store(&fault_delay, nanoseconds);
}

EXPORT void soft_gpu_hang(int hang) {
    atomic_store(&fault_hang, hang != 0);
}

EXPORT void soft_gpu_fault_after(int64_t operations) {
    atomic_store(&operations_left, operations);
}

EXPORT void soft_gpu_refuse_import(int refuse) {
    atomic_store(&fault_import, refuse != 0);
}

EXPORT void soft_gpu_refuse_pins(int refuse) {
    atomic_store(&fault_pins, refuse != 0);
}

EXPORT void soft_gpu_await_kernels(int on) {
    atomic_store(&awaits_kernels, on != 0);
}

EXPORT void soft_gpu_pools(int on) {
    atomic_store(&pools, on != 0);
}

EXPORT void soft_gpu_refuse_copies(int64_t after, int64_t count) {
    atomic_store(&copies_refused, count);
    atomic_store(&copies_left, after);
}

EXPORT void soft_gpu_refuse_peer_atomics(int refuse) {
    atomic_store(&fault_atomics, refuse != 0);
}

EXPORT void *soft_gpu_bytes(int ordinal, uint64_t address, uint64_t bytes) {
    world_read();
    void *found = reach(ordinal, address, bytes);
    world_release();
    return found;
}

EXPORT int64_t soft_gpu_count(const char *what) {
#define FIND(name) \
    if (strcmp(what, #name) == 0) { \
        return atomic_load(&counters.name); \
    }
    COUNTERS(FIND)
#undef FIND
    return -1;
}

bool fault_is_due(void) {
    int_fast64_t left = atomic_load(&operations_left);
    while (left >= 0) {
        if (atomic_compare_exchange_weak(&operations_left, &left, left - 1)) {
            return left == 0;
        }
    }
    return false;
}

bool copy_is_refused(void) {
    return atomic_load(&copies_refused) > 0 && atomic_fetch_sub(&copies_left, 1) <= 0
            && atomic_fetch_sub(&copies_refused, 1) > 0;
}
