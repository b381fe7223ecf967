#define _GNU_SOURCE
#include "check.h"

#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/time.h>
#include <time.h>

#define DESCRIPTORS 37
#define MILLISECOND INT64_C(1000000)

typedef int await_function(int epoll, void *records, int maximum, int64_t timeout_nanos);

static int64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * INT64_C(1000000000) + time.tv_nsec;
}

/* Every record arrives whole, in a buffer of just the right size: the sanitizer sees a byte too many. */
static void check_many(await_function *await) {
    int epoll = sluice_epoll_create();
    int events[DESCRIPTORS];
    for (int i = 0; i < DESCRIPTORS; i++) {
        events[i] = sluice_event_create();
        CHECK_SAME(sluice_event_signal(events[i]), 0);
        CHECK_SAME(sluice_epoll_add(epoll, events[i], EPOLLIN, UINT64_C(0xfedcba9876543200) + (uint64_t)i), 0);
    }
    struct sluice_epoll_record *records = malloc(DESCRIPTORS * sizeof *records);
    memset(records, 0xff, DESCRIPTORS * sizeof *records);
    CHECK_SAME(await(epoll, records, DESCRIPTORS, BOUND_NANOS), DESCRIPTORS);
    uint64_t seen = 0;
    for (int i = 0; i < DESCRIPTORS; i++) {
        CHECK_SAME(records[i].events, EPOLLIN);
        CHECK_SAME(records[i].zero, 0);
        uint64_t index = records[i].data - UINT64_C(0xfedcba9876543200);
        CHECK(index < DESCRIPTORS);
        seen |= UINT64_C(1) << index;
    }
    CHECK(seen == (UINT64_C(1) << DESCRIPTORS) - 1);
    CHECK_SAME(await(epoll, records, 5, BOUND_NANOS), 5);
    CHECK_SAME(await(epoll, records, 0, 0), -EINVAL);
    free(records);
    for (int i = 0; i < DESCRIPTORS; i++) {
        CHECK_SAME(sluice_socket_close(events[i]), 0);
    }
    CHECK_SAME(sluice_socket_close(epoll), 0);
}

static void check_timeout(await_function *await) {
    struct sluice_epoll_record record;
    int epoll = sluice_epoll_create();
    CHECK_SAME(await(epoll, &record, 1, 0), 0);
    int64_t start = now();
    CHECK_SAME(await(epoll, &record, 1, 5 * MILLISECOND + 1), 0);
    CHECK(now() - start > 5 * MILLISECOND);
    CHECK_SAME(sluice_socket_close(epoll), 0);
    CHECK_SAME(await(epoll, &record, 1, 0), -EBADF);
}

static void check_changes(void) {
    struct sluice_epoll_record record;
    int epoll = sluice_epoll_create();
    int event = sluice_event_create();
    CHECK_SAME(sluice_epoll_modify(epoll, event, EPOLLIN, 1), -ENOENT);
    CHECK_SAME(sluice_epoll_remove(epoll, event), -ENOENT);
    CHECK_SAME(sluice_epoll_add(epoll, event, EPOLLIN, 1), 0);
    CHECK_SAME(sluice_epoll_add(epoll, event, EPOLLIN, 1), -EEXIST);
    CHECK_SAME(sluice_epoll_await(epoll, &record, 1, 0), 0);
    CHECK_SAME(sluice_epoll_modify(epoll, event, EPOLLOUT, 2), 0);
    CHECK_SAME(sluice_epoll_await(epoll, &record, 1, 0), 1);
    CHECK_SAME(record.events, EPOLLOUT);
    CHECK_SAME((int64_t)record.data, 2);
    CHECK_SAME(sluice_epoll_remove(epoll, event), 0);
    CHECK_SAME(sluice_epoll_await(epoll, &record, 1, 0), 0);
    CHECK_SAME(sluice_socket_close(event), 0);
    CHECK_SAME(sluice_socket_close(epoll), 0);
}

static void ignore(int number) {
    (void)number;
}

static void check_interrupted(await_function *await) {
    struct sluice_epoll_record record;
    struct sigaction action = {.sa_handler = ignore};
    CHECK_SAME(sigaction(SIGUSR1, &action, NULL), 0);
    timer_t timer;
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1};
    CHECK_SAME(timer_create(CLOCK_MONOTONIC, &event, &timer), 0);
    /* Again and again, so that one surely falls into the wait. */
    struct itimerspec spec = {.it_value.tv_nsec = 10 * MILLISECOND, .it_interval.tv_nsec = 10 * MILLISECOND};
    CHECK_SAME(timer_settime(timer, 0, &spec, NULL), 0);
    int epoll = sluice_epoll_create();
    CHECK_SAME(await(epoll, &record, 1, -1), 0);
    CHECK_SAME(timer_delete(timer), 0);
    CHECK_SAME(sluice_socket_close(epoll), 0);
}

void test_epoll(void) {
    await_function *functions[] = {sluice_epoll_await, sluice_epoll_await_milliseconds};
    for (int i = 0; i < 2; i++) {
        check_many(functions[i]);
        check_timeout(functions[i]);
        check_interrupted(functions[i]);
    }
    check_changes();
}
