#define _GNU_SOURCE
#include "check.h"

#include <limits.h>
#include <sched.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

void test_event_descriptor(void) {
    int fd = sluice_event_create();
    CHECK(fd >= 0);
    CHECK_SAME(sluice_event_drain(fd), 0);
    CHECK_SAME(sluice_event_signal(fd), 0);
    CHECK_SAME(sluice_event_signal(fd), 0);
    CHECK_SAME(sluice_event_drain(fd), 1);
    CHECK_SAME(sluice_event_drain(fd), 0);
    const uint64_t nearly_full = UINT64_MAX - 1;
    CHECK_SAME(write(fd, &nearly_full, sizeof nearly_full), sizeof nearly_full);
    CHECK_SAME(sluice_event_signal(fd), 0);
    CHECK_SAME(sluice_event_drain(fd), 1);
    CHECK_SAME(sluice_socket_close(fd), 0);
    CHECK_SAME(sluice_event_signal(fd), -EBADF);
    CHECK_SAME(sluice_event_drain(fd), -EBADF);
}

static void check_memory(void) {
    int64_t page = sluice_memory_page_size();
    CHECK(page >= 4096 && (page & (page - 1)) == 0);
    for (int prefault = 0; prefault < 2; prefault++) {
        int64_t address = sluice_memory_map(3 * page, prefault);
        CHECK(address > 0 && address % page == 0);
        uint8_t *bytes = (uint8_t *)address;
        CHECK_SAME(bytes[0] | bytes[3 * page - 1], 0);
        memset(bytes, 1, (size_t)(3 * page));
        CHECK_SAME(sluice_memory_unmap(bytes, 3 * page), 0);
    }
    CHECK_SAME(sluice_memory_map(0, false), -EINVAL);
    CHECK_SAME(sluice_memory_map(-1, false), -EINVAL);
    CHECK_SAME(sluice_memory_map(INT64_MAX, false), -ENOMEM);
    CHECK_SAME(sluice_memory_unmap((void *)1, page), -EINVAL);
    CHECK_SAME(sluice_memory_unmap((void *)page, 0), -EINVAL);
}

static void check_messages(void) {
    char message[SLUICE_ERROR_MESSAGE_BYTES];
    sluice_error_message(ECONNREFUSED, message);
    CHECK(strcmp(message, "Connection refused") == 0);
    sluice_error_message(-ECONNREFUSED, message);
    CHECK(strcmp(message, "Connection refused") == 0);
    const int unknown[] = {4096, INT_MAX, INT_MIN};
    for (int i = 0; i < 3; i++) {
        sluice_error_message(unknown[i], message);
        CHECK(strncmp(message, "Unknown error", 13) == 0);
    }
}

static void check_affinity(void) {
    cpu_set_t before;
    CHECK_SAME(sched_getaffinity(0, sizeof before, &before), 0);
    int cpu = 0;
    while (!CPU_ISSET(cpu, &before)) {
        cpu++;
    }
    CHECK_SAME(sluice_thread_set_affinity(cpu), 0);
    CHECK_SAME(sched_getcpu(), cpu);
    CHECK_SAME(sched_setaffinity(0, sizeof before, &before), 0);
    CHECK_SAME(sluice_thread_set_affinity(-1), -EINVAL);
    CHECK_SAME(sluice_thread_set_affinity(CPU_SETSIZE), -EINVAL);
    CHECK_SAME(sluice_thread_set_affinity(CPU_SETSIZE - 1), -EINVAL);
}

static void check_timers(void) {
    int before = prctl(PR_GET_TIMERSLACK, 0UL, 0UL, 0UL, 0UL);
    CHECK(before >= 0);
    CHECK_SAME(sluice_thread_exact_timers(), 0);
    CHECK_SAME(prctl(PR_GET_TIMERSLACK, 0UL, 0UL, 0UL, 0UL), 1);
    CHECK_SAME(prctl(PR_SET_TIMERSLACK, (unsigned long)before, 0UL, 0UL, 0UL), 0);
}

void test_others(void) {
    CHECK(strncmp(sluice_description(), "linux-", 6) == 0);
    check_memory();
    check_messages();
    check_affinity();
    check_timers();
}
