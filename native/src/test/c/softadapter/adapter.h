/*
 * The inside of the software adapter.
 *
 * Threads. Each open device has one worker, which carries out the send queues of the device's queue pairs, each in its
 * order, a piece at a time. It does the peer's side too: it checks the peer's keys, copies, takes the peer's receive
 * request and completes it. So no other device's worker takes part in a request.
 *
 * Locks, in the order in which they are taken:
 *   devices    which devices are open (devices.c)
 *   world      read by a worker while it carries out a piece; written by every verb that makes, changes or destroys an
 *              object. So a piece sees nothing change, and what a verb has taken away is not touched afterwards.
 *   responder  of a queue pair: what arrives at it
 *   lock       of a queue pair: posting, and its state
 *   lock       of a receive queue, of a completion queue
 *   lock       of a worker, of an event queue
 */
#ifndef ADAPTER_H
#define ADAPTER_H

#include "soft_adapter.h"

#include <infiniband/verbs.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define EXPORT __attribute__((visibility("default")))

#define MAXIMUM_DEVICES 8
#define MAXIMUM_QUEUE_PAIRS 131072
#define MAXIMUM_WORK_REQUESTS 32768
#define MAXIMUM_SCATTER 30
#define MAXIMUM_INLINE_BYTES 512
#define MAXIMUM_COMPLETION_QUEUES 65536
#define MAXIMUM_COMPLETIONS 65535
#define MAXIMUM_RECEIVE_QUEUES 4096
#define MAXIMUM_REGIONS (1 << 20)
#define MAXIMUM_READ_DEPTH 16
#define MAXIMUM_MESSAGE_BYTES (UINT32_C(1) << 30)
#define GID_TABLE_ENTRIES 16
#define GIDS 2
#define PORT 1

/* The bytes that a worker moves before it looks at other queue pairs, and the requests that it executes. */
#define PIECE_BYTES (256 * 1024)
#define PIECE_REQUESTS 32

#define SEQUENCE_MASK UINT32_C(0xffffff)
#define NEVER UINT64_MAX

#define container_of(pointer, type, member) ((type *)((char *)(pointer)-offsetof(type, member)))

/* settings.c */

struct settings {
    bool null_mode;
    uint64_t locked_bytes;
    uint64_t queue_pairs;
    uint32_t scatter;
    uint64_t elements;
};

int settings_devices(void);
uint64_t settings_delay(void);
bool settings_port_down(int device);
void settings_read(struct settings *settings);

/* counters.c */

#define COUNTERS(X) \
    X(doorbells) X(posts) X(receives) X(polls) X(completions) X(executed) X(bytes) X(registrations) X(events) \
    X(async_events) X(retries) X(receiver_not_ready) X(overflows)
#define GAUGES(X) \
    X(contexts) X(domains) X(regions) X(region_bytes) X(completion_queues) X(channels) X(receive_queues) X(queue_pairs)

struct counters {
#define DECLARE(name) atomic_int_fast64_t name;
    COUNTERS(DECLARE)
    GAUGES(DECLARE)
#undef DECLARE
};

extern struct counters counters;

#define COUNT(name, amount) atomic_fetch_add_explicit(&counters.name, (int64_t)(amount), memory_order_release)
#define GAUGE(name) atomic_load_explicit(&counters.name, memory_order_acquire)

/* world.c: locks and time */

/* A mutex that spins for a moment first: its critical sections take no longer. */
void short_lock_init(pthread_mutex_t *lock);

void world_read(void);
void world_write(void);
void world_release(void);
uint64_t now_nanos(void);

/* event_queue.c: what a completion channel and a device's asynchronous events have in common. */

struct event {
    struct event *next;
    /* The completion queue, queue pair, ... that it is about; for a port or a device NULL. */
    void *source;
    int type;
    /* Counts, for the source, what the client has taken and must acknowledge. */
    uint32_t *taken;
};

struct event_queue {
    pthread_mutex_t lock;
    int fd;
    struct event *first;
    struct event **last;
};

int event_queue_open(struct event_queue *queue);
void event_queue_close(struct event_queue *queue);
void event_queue_put(struct event_queue *queue, void *source, int type, uint32_t *taken);
/* Waits, unless the descriptor is non-blocking; 0, or -1 with errno. */
int event_queue_take(struct event_queue *queue, struct event *event);
/* Drops items that have not been taken; returns how many have been. */
uint32_t event_queue_forget(struct event_queue *queue, void *source, const uint32_t *taken);

/* worker.c */

struct queue_pair;

struct worker {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool stopping;
    bool idle;
    struct queue_pair *first;
    struct queue_pair *last;
    struct queue_pair *waiting;
};

int worker_start(struct worker *worker, int device);
void worker_stop(struct worker *worker);
/* Makes the worker look at a queue pair. */
void worker_schedule(struct queue_pair *pair);
/* The same at a later time, the earliest one counts; the worker itself calls it. */
void worker_schedule_at(struct queue_pair *pair, uint64_t nanos);
/* Makes it look at those too whose time has not come. */
void worker_hurry(struct worker *worker);
void worker_forget(struct queue_pair *pair);

/* devices.c */

struct context;

struct device {
    struct ibv_device base;
    int index;
    atomic_bool port_up;
    atomic_bool removed;
    atomic_bool loses_answers;
    /* Nanoseconds; 0: answers are not held back. */
    atomic_uint_fast64_t holds_answers;
    int open_contexts;
    struct context *contexts;
    struct worker worker;
    int queue_pair_count;
    atomic_uint_fast64_t bytes;
};

struct context {
    struct device *device;
    struct context *next;
    struct settings settings;
    atomic_bool dead;
    /* Protection domains, completion queues and channels, each of which holds the rest. */
    atomic_int objects;
    struct event_queue events;
    uint32_t port_events_taken;
    struct verbs_context verbs;
};

extern struct device devices[MAXIMUM_DEVICES];

static inline struct context *context_of(struct ibv_context *context) {
    return container_of(context, struct context, verbs.context);
}

static inline struct device *device_of(struct ibv_context *context) {
    return context_of(context)->device;
}

struct device *device_at(int index);
void device_gid(const struct device *device, uint32_t index, union ibv_gid *gid);
/* The device with this GID, and the GID's index. */
struct device *device_with_gid(const union ibv_gid *gid, uint32_t *index);

/* attributes.c */

int attributes_query_device(struct ibv_context *context, const struct ibv_query_device_ex_input *input,
        struct ibv_device_attr_ex *attributes, size_t bytes);
int attributes_query_port(struct ibv_context *context, uint8_t port, struct ibv_port_attr *attributes, size_t bytes);

/* async_events.c */

void async_event_put(struct ibv_context *context, void *source, enum ibv_event_type type, uint32_t *taken);

/* memory.c */

struct domain {
    struct ibv_pd base;
    atomic_int objects;
};

/* Where an element's bytes lie, or NULL when the key, the bounds or the rights forbid it; the world is held. */
void *memory_local(const struct ibv_pd *domain, uint32_t key, uint64_t address, uint64_t length, int access);
void *memory_remote(const struct ibv_pd *domain, uint32_t key, uint64_t address, uint64_t length, int access);

/* dma_buffer.c */

/*
 * Maps bytes of a DMA buffer, from the start of the page that the offset is in; NULL with errno if they leave the buffer.
 * How many bytes to unmap.
 */
void *dma_buffer_map(int descriptor, uint64_t offset, uint64_t length, int protection, size_t *mapped);

/* mappings.c */

/* 0, or EFAULT unless all of it is mapped, readable and, if asked, writable. */
int mappings_check(uint64_t address, uint64_t length, bool writable);

/* scatter.c */

struct span {
    char *start;
    uint64_t length;
};

uint64_t scatter_length(const struct ibv_sge *elements, int count);
/* Resolves the bytes from the offset on; how many spans, or -1 if an element is not allowed. */
int scatter_resolve(const struct ibv_pd *domain, const struct ibv_sge *elements, int count, uint64_t offset,
        uint64_t length, int access, struct span spans[MAXIMUM_SCATTER]);
void scatter_copy(const struct span *to, const struct span *from, uint64_t length);

/* completion_queue.c */

struct receive_queue;

struct completion {
    uint64_t id;
    enum ibv_wc_status status;
    enum ibv_wc_opcode opcode;
    uint32_t bytes;
    bool has_immediate;
    __be32 immediate;
    struct queue_pair *pair;
    /* The entries free once this one has been polled: send requests up to here, or one receive request. */
    uint64_t send_end;
    struct receive_queue *receive_queue;
};

struct null_completion {
    uint64_t id;
    uint32_t pair_number;
    uint32_t opcode;
};

struct completion_queue {
    struct ibv_cq base;
    pthread_mutex_t lock;
    struct completion *ring;
    uint32_t first;
    atomic_uint count;
    int armed;
    bool overflowed;
    atomic_int users;
    uint32_t events_taken;
    uint32_t async_events_taken;
    struct null_completion *null_ring;
    uint32_t null_mask;
    uint32_t null_first;
    uint32_t null_end;
};

enum { NOT_ARMED, ARMED_FOR_SOLICITED, ARMED };

static inline struct completion_queue *completion_queue_of(struct ibv_cq *queue) {
    return container_of(queue, struct completion_queue, base);
}

/* False when it was lost, as the queue has overflowed. */
bool completion_queue_put(struct ibv_cq *queue, const struct completion *completion, bool solicited);
void completion_queue_forget(struct ibv_cq *queue, const struct queue_pair *pair);
int completion_queue_poll(struct ibv_cq *queue, int maximum, struct ibv_wc *completions);
int completion_queue_arm(struct ibv_cq *queue, int solicited_only);

/* completion_channel.c */

struct channel {
    struct ibv_comp_channel base;
    struct event_queue events;
};

static inline struct channel *channel_of(struct ibv_comp_channel *channel) {
    return container_of(channel, struct channel, base);
}

/* receive_queue.c: of a queue pair, or shared. */

struct receive_request {
    uint64_t id;
    int count;
    struct ibv_sge elements[MAXIMUM_SCATTER];
};

struct receive_queue {
    pthread_mutex_t lock;
    struct ibv_pd *domain;
    uint32_t depth;
    uint32_t maximum_scatter;
    struct receive_request *ring;
    uint64_t posted;
    uint64_t taken;
    /* How many slots may be used again. */
    atomic_uint_fast64_t released;
    uint32_t limit;
    struct shared_receive_queue *shared;
};

struct shared_receive_queue {
    struct ibv_srq base;
    struct receive_queue queue;
    atomic_int users;
    uint32_t events_taken;
};

int receive_queue_open(struct receive_queue *queue, struct ibv_pd *domain, uint32_t depth, uint32_t maximum_scatter);
void receive_queue_close(struct receive_queue *queue);
int receive_queue_post(struct receive_queue *queue, struct ibv_recv_wr *request, struct ibv_recv_wr **bad);
bool receive_queue_take(struct receive_queue *queue, struct receive_request *request);
void receive_queue_clear(struct receive_queue *queue);
int shared_receive_queue_post(struct ibv_srq *queue, struct ibv_recv_wr *request, struct ibv_recv_wr **bad);

/* queue_pair.c */

struct send_request {
    uint64_t id;
    enum ibv_wr_opcode opcode;
    unsigned int flags;
    __be32 immediate;
    uint32_t remote_key;
    uint64_t remote_address;
    uint64_t compare_or_add;
    uint64_t swap;
    uint64_t length;
    int count;
    /* The elements, or the bytes themselves if they are inline. */
    struct ibv_sge elements[];
};

struct queue_pair {
    struct ibv_qp base;
    struct device *device;
    struct queue_pair *next_of_number;
    struct ibv_qp_cap capacity;
    bool signal_all;
    struct ibv_qp_attr attributes;
    uint32_t events_taken;
    /* Whose GID, and which, requests must come from and go to. */
    struct device *peer_device;
    uint32_t peer_gid_index;

    pthread_mutex_t lock;
    atomic_int state;
    char *ring;
    size_t stride;
    atomic_uint_fast64_t posted;
    /* Requests before this one have been completed, and the completion polled. */
    atomic_uint_fast64_t released;

    /* The worker's: the request under way, how far it is, and the oldest one that has not been ended. */
    uint64_t next;
    uint64_t unanswered;
    uint64_t answer_due;
    uint32_t answer_retries;
    bool answers_held;
    /* When the worker found the queue pair in the error state, and why it failed, while answers are held back. */
    uint64_t failed_at;
    enum ibv_wc_status failed_as;
    uint64_t offset;
    uint64_t started;
    bool delayed;
    uint64_t resume;
    uint32_t retries;
    uint32_t receiver_retries;
    uint32_t send_sequence;

    pthread_mutex_t responder;
    struct receive_queue own_receives;
    struct receive_queue *receives;
    bool receiving;
    struct receive_request receive;
    uint32_t receive_sequence;
    bool established;
    bool drained;

    /* The worker's lists, under its lock. */
    atomic_bool scheduled;
    bool listed;
    bool waits;
    uint64_t wake;
    struct queue_pair *next_scheduled;
    struct queue_pair *next_waiting;
    struct queue_pair *previous_waiting;
};

static inline struct queue_pair *queue_pair_of(struct ibv_qp *pair) {
    return container_of(pair, struct queue_pair, base);
}

static inline struct send_request *send_request_at(const struct queue_pair *pair, uint64_t index) {
    return (struct send_request *)(pair->ring + index % pair->capacity.max_send_wr * pair->stride);
}

static inline bool is_atomic(enum ibv_wr_opcode opcode) {
    return opcode == IBV_WR_ATOMIC_CMP_AND_SWP || opcode == IBV_WR_ATOMIC_FETCH_AND_ADD;
}

/* Whether it brings bytes back. */
static inline bool fetches(enum ibv_wr_opcode opcode) {
    return opcode == IBV_WR_RDMA_READ || is_atomic(opcode);
}

static inline bool carries_immediate(enum ibv_wr_opcode opcode) {
    return opcode == IBV_WR_SEND_WITH_IMM || opcode == IBV_WR_RDMA_WRITE_WITH_IMM;
}

struct queue_pair *queue_pair_with_number(uint32_t number);
/* Calls a function for all of a device's. */
void queue_pairs_of_device(const struct device *device, void (*function)(struct queue_pair *));
/* Into the error state, from any but RESET; the worker flushes. */
void queue_pair_fail(struct queue_pair *pair);
/* ... with an event. */
void queue_pair_break(struct queue_pair *pair, enum ibv_event_type type);

/* send_queue.c */

int send_queue_post(struct ibv_qp *pair, struct ibv_send_wr *request, struct ibv_send_wr **bad);
int queue_pair_post_receive(struct ibv_qp *pair, struct ibv_recv_wr *request, struct ibv_recv_wr **bad);

/* requester.c */

/* Carries out a piece of a queue pair's work. */
void requester_run(struct queue_pair *pair);

/* answers.c */

/* The request under way has been carried out. */
void answers_done(struct queue_pair *pair);
/* It cannot be: the queue pair goes to the error state. */
void answers_failed(struct queue_pair *pair, enum ibv_wc_status status);
/* Ends all there is, in the error state. */
void answers_flush(struct queue_pair *pair);
/* Whether the flush has to wait; the worker comes back. If not, those that were held back have been given. */
bool answers_are_held(struct queue_pair *pair);
/* Looks after requests whose answer has not come in time. */
void answers_check(struct queue_pair *pair);
uint64_t answers_timeout_nanos(const struct queue_pair *pair);

/* responder.c */

enum answer {
    ANSWER_ACKNOWLEDGED,
    /* Nothing came back, as the peer is not there or not ready for it. */
    ANSWER_NONE,
    ANSWER_RECEIVER_NOT_READY,
    /* The request failed with the status. */
    ANSWER_REFUSED,
};

struct delivery {
    struct queue_pair *source;
    const struct send_request *request;
    /* The request's bytes from the offset on, so many, lie in the spans. */
    uint64_t offset;
    uint64_t length;
    const struct span *spans;
    /* Reads and atomics that are on their way at once, this one among them. */
    int read_depth;
    /* Set when refused. */
    enum ibv_wc_status status;
};

/* How many packets of the path's size carry so many bytes. */
static inline uint32_t packets(const struct queue_pair *source, uint64_t length) {
    uint64_t bytes = UINT64_C(128) << source->attributes.path_mtu;
    return length == 0 ? 1 : (uint32_t)((length + bytes - 1) / bytes);
}

enum answer responder_deliver(struct queue_pair *target, struct delivery *delivery);
/* Completes what a queue pair in the error state still has to receive. */
void responder_flush(struct queue_pair *pair);
uint64_t receiver_not_ready_nanos(int code);

/* null_mode.c */

int null_mode_post_send(struct ibv_qp *pair, struct ibv_send_wr *request, struct ibv_send_wr **bad);
int null_mode_post_receive(struct ibv_qp *pair, struct ibv_recv_wr *request, struct ibv_recv_wr **bad);
int null_mode_post_shared_receive(struct ibv_srq *queue, struct ibv_recv_wr *request, struct ibv_recv_wr **bad);
int null_mode_poll(struct ibv_cq *queue, int maximum, struct ibv_wc *completions);

/* faults.c */

extern atomic_uint_fast64_t fault_delay;
extern atomic_bool fault_dma_buffers;

#endif
