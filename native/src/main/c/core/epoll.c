#define _GNU_SOURCE
#include "sluice.h"

#include <limits.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define NANOS_PER_SECOND INT64_C(1000000000)
#define NANOS_PER_MILLISECOND INT64_C(1000000)

/* The kernel writes its records into the caller's memory, where they are widened from the last to the first. */
_Static_assert(sizeof(struct epoll_event) <= sizeof(struct sluice_epoll_record), "records must not overtake events");
_Static_assert(sizeof(struct sluice_epoll_record) == 16, "Epoll.RECORD_BYTES");

static atomic_bool lacks_pwait2;

static int control(int epoll, int operation, int fd, uint32_t events, uint64_t data) {
    struct epoll_event event = {.events = events, .data.u64 = data};
    return sluice_result(epoll_ctl(epoll, operation, fd, &event));
}

static int spread(void *records, int count) {
    for (int i = count - 1; i >= 0; i--) {
        struct epoll_event event;
        memcpy(&event, (char *)records + (size_t)i * sizeof event, sizeof event);
        struct sluice_epoll_record record = {.events = event.events, .zero = 0, .data = event.data.u64};
        memcpy((char *)records + (size_t)i * sizeof record, &record, sizeof record);
    }
    return count;
}

int sluice_epoll_create(void) {
    return sluice_result(epoll_create1(EPOLL_CLOEXEC));
}

int sluice_epoll_add(int epoll, int fd, uint32_t events, uint64_t data) {
    return control(epoll, EPOLL_CTL_ADD, fd, events, data);
}

int sluice_epoll_modify(int epoll, int fd, uint32_t events, uint64_t data) {
    return control(epoll, EPOLL_CTL_MOD, fd, events, data);
}

int sluice_epoll_remove(int epoll, int fd) {
    return control(epoll, EPOLL_CTL_DEL, fd, 0, 0);
}

int sluice_epoll_await_milliseconds(int epoll, void *records, int maximum, int64_t timeout_nanos) {
    int milliseconds = -1;
    if (timeout_nanos >= 0) {
        int64_t rounded = timeout_nanos / NANOS_PER_MILLISECOND + (timeout_nanos % NANOS_PER_MILLISECOND != 0);
        milliseconds = rounded > INT_MAX ? INT_MAX : (int)rounded;
    }
    int result = sluice_result(epoll_wait(epoll, records, maximum, milliseconds));
    return result == -EINTR ? 0 : spread(records, result);
}

int sluice_epoll_await(int epoll, void *records, int maximum, int64_t timeout_nanos) {
#ifdef SYS_epoll_pwait2
    if (!atomic_load_explicit(&lacks_pwait2, memory_order_relaxed)) {
        struct timespec timeout = {
            .tv_sec = timeout_nanos / NANOS_PER_SECOND,
            .tv_nsec = timeout_nanos % NANOS_PER_SECOND,
        };
        /* Not through the C library: older versions lack the function. */
        int result = sluice_result((int)syscall(
                SYS_epoll_pwait2, epoll, records, maximum, timeout_nanos < 0 ? NULL : &timeout, NULL, (size_t)0));
        /* Sandboxes refuse unknown system calls with EPERM, which the call itself never returns. */
        if (result != -ENOSYS && result != -EPERM) {
            return result == -EINTR ? 0 : spread(records, result);
        }
        atomic_store_explicit(&lacks_pwait2, true, memory_order_relaxed);
    }
#endif
    return sluice_epoll_await_milliseconds(epoll, records, maximum, timeout_nanos);
}
