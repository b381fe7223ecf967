/* Shared parts of the software adapter's tests. A test ends the driver at the first failed check. */
#ifndef FIXTURE_H
#define FIXTURE_H

#include "soft_adapter.h"

#include <infiniband/verbs.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(condition) \
    do { \
        if (!(condition)) { \
            fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, #condition); \
            exit(1); \
        } \
    } while (0)

#define CHECK_SAME(actual, expected) check_same(__FILE__, __LINE__, #actual, (int64_t)(actual), (int64_t)(expected))

static inline int64_t check_same(const char *file, int line, const char *what, int64_t actual, int64_t expected) {
    if (actual != expected) {
        fprintf(stderr, "%s:%d: %s is %" PRId64 ", not %" PRId64 "\n", file, line, what, actual, expected);
        exit(1);
    }
    return actual;
}

#define MILLISECOND UINT64_C(1000000)
#define ALL_RIGHTS \
    (IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC)

/* The options of one side of a connection; all_options() suits most tests. */
struct options {
    int device;
    uint32_t gid_index;
    bool shared_receives;
    uint32_t send_depth;
    uint32_t receive_depth;
    int completions;
    uint32_t inline_bytes;
    bool signal_all;
    size_t bytes;
    int region_access;
    unsigned int pair_access;
    enum ibv_mtu mtu;
    uint8_t timeout;
    uint8_t retries;
    uint8_t receiver_retries;
    uint8_t read_depth;
    uint32_t sequence;
};

struct options usual(void);

/* One end: a device with one of everything. */
struct side {
    struct options options;
    struct ibv_context *context;
    struct ibv_pd *domain;
    struct ibv_comp_channel *channel;
    struct ibv_cq *queue;
    struct ibv_srq *shared;
    struct ibv_qp *pair;
    uint8_t *memory;
    struct ibv_mr *region;
};

struct ibv_context *open_device(int index);
void open_side(struct side *side, struct options options);
/* Also takes and acknowledges what events are left. */
void close_side(struct side *side);
void open_pair(struct side *side);

int to_init(struct side *side);
int to_ready_to_receive(struct side *side, const struct side *peer);
int to_ready_to_send(struct side *side);
int to_state(struct side *side, enum ibv_qp_state state);
enum ibv_qp_state state_of(const struct side *side);
void connect_sides(struct side *one, struct side *other);
/* Two sides on devices 0 and 1, connected. */
void open_connected(struct side *one, struct side *other, struct options options);
void close_both(struct side *one, struct side *other);

/* A request from the start of the memory of one side to, or from, the start of the peer's. */
struct ibv_send_wr request_of(const struct side *side, const struct side *peer, enum ibv_wr_opcode opcode,
        uint32_t length, struct ibv_sge *element);
int post(struct side *side, struct ibv_send_wr *request);
int post_request(struct side *side, const struct side *peer, enum ibv_wr_opcode opcode, uint32_t length, uint64_t id);
int post_receive(struct side *side, uint64_t offset, uint32_t length, uint64_t id);

uint64_t now(void);
void sleep_nanos(uint64_t nanos);
/* Polls until there is a completion. */
struct ibv_wc await_completion(struct ibv_cq *queue);
void expect_status(struct side *side, uint64_t id, enum ibv_wc_status status);
void expect_success(struct side *side, uint64_t id);
/* For a while: none comes. */
void expect_nothing(struct ibv_cq *queue);
void expect_error_state(const struct side *side);
/* Waits for an asynchronous event, and checks that it is this one; COMM_EST is passed over. */
struct ibv_async_event expect_async(struct ibv_context *context, enum ibv_event_type type);
bool readable(int fd, int milliseconds);

void test_devices(void);
void test_memory(void);
void test_states(void);
void test_transfers(void);
void test_receives(void);
void test_protection(void);
void test_completion_queues(void);
void test_events(void);
void test_faults(void);
void test_limits(void);
void test_environment(void);
void test_races(void);
void test_null_mode(void);

#endif
