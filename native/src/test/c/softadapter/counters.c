#include "adapter.h"

struct counters counters;

EXPORT int64_t soft_adapter_counter(const char *name) {
#define FIND(counter) \
    if (strcmp(name, #counter) == 0) { \
        return GAUGE(counter); \
    }
    COUNTERS(FIND)
    GAUGES(FIND)
#undef FIND
    return -1;
}

EXPORT int64_t soft_adapter_bytes(int device) {
    return device < 0 || device >= MAXIMUM_DEVICES
            ? -1
            : (int64_t)atomic_load_explicit(&devices[device].bytes, memory_order_relaxed);
}

EXPORT void soft_adapter_reset_counters(void) {
#define RESET(counter) atomic_store_explicit(&counters.counter, 0, memory_order_relaxed);
    COUNTERS(RESET)
#undef RESET
}
