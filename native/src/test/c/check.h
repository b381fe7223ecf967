/* A test says what it expects, and the driver ends at the first thing that is otherwise. */
#ifndef CHECK_H
#define CHECK_H

#include "sluice.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#define CHECK(condition) \
    do { \
        if (!(condition)) { \
            fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, #condition); \
            exit(1); \
        } \
    } while (0)

#define CHECK_SAME(actual, expected) check_same(__FILE__, __LINE__, #actual, (actual), (expected))

static inline int64_t check_same(const char *file, int line, const char *what, int64_t actual, int64_t expected) {
    if (actual != expected) {
        fprintf(stderr, "%s:%d: %s is %" PRId64 ", not %" PRId64 "\n", file, line, what, actual, expected);
        exit(1);
    }
    return actual;
}

#define BOUND_NANOS (INT64_C(10) * 1000 * 1000 * 1000)

/* Waits until a descriptor is ready for one of the events. */
void await_ready(int fd, uint32_t events);

/* Connects two sockets over the loopback. */
void connect_pair(bool ipv6, int *client, int *server);

/* How many descriptors this process has open. */
int open_descriptors(void);

/* Waits for a child that must end well. */
void await_child(int pid);

/* Says which variants of some kernels were tried, and which this processor lacks; fails if it has one that was not. */
void tell_variants(const char *kernels, const bool *tried);

void test_sockets(void);
void test_streams(void);
void test_epoll(void);
void test_event_descriptor(void);
void test_others(void);
void test_shared_memory(void);
void test_local_sockets(void);
void test_peer_memory(void);
void test_memory_copy(void);
void test_reduce(void);
void test_experts(void);
void test_foreign_library(void);
/* With the adapter's library. */
void test_verbs(const char *library);
/* With the software GPU's library. */
void test_cuda(const char *library);

#endif
