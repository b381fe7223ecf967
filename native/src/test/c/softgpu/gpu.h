/*
 * The inside of the software GPU.
 *
 * Locks, in the order in which they are taken:
 *   world   read by a stream's thread while it carries out an operation; written by what makes or destroys memory. So memory that
 *           is gone is not touched afterwards.
 *   streams_lock
 *   lock    of a stream, of an event
 */
#ifndef GPU_H
#define GPU_H

#include "cuda_api.h"
#include "soft_gpu.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define EXPORT __attribute__((visibility("default")))

#define MAXIMUM_DEVICES 8
#define GRANULE ((size_t)2 << 20)
/* Pages of their own, so that the pages of a DMA buffer are those of one allocation. */
#define LEGACY_ALIGNMENT ((size_t)4096)

/*
 * The bit that distinguishes a device's address of the host's memory from the host's own: the processor cannot follow
 * it.
 */
#define HOST_BIT (UINT64_C(1) << 62)

/* A process that has had one of these fails in every later call. */
extern atomic_int sticky;

#define STICKY() \
    do { \
        int sticky_error = atomic_load(&sticky); \
        if (sticky_error != CUDA_SUCCESS) { \
            return sticky_error; \
        } \
    } while (0)

/* devices.c */

struct device {
    int index;              /* of all devices; the ordinal is another one where some are hidden */
    struct CUctx_st *primary;
    int retained;
    size_t used;
    bool reaches[MAXIMUM_DEVICES];
};

int device_count(void);
/* By ordinal; NULL if this process sees no such device. */
struct device *device_at(int ordinal);
/* By its place among all devices: -1 if it is hidden. */
int ordinal_of(int index);
bool devices_are_peers(void);
size_t device_memory(void);
void device_uuid_of(int index, struct cuda_uuid *uuid);

/* contexts.c */

struct CUctx_st {
    struct device *device;
    int ordinal;
};

/* Of the calling thread, or NULL. */
struct CUctx_st *context_current(void);

#define CONTEXT(name) \
    STICKY(); \
    struct CUctx_st *name = context_current(); \
    if (name == NULL) { \
        return CUDA_INVALID_CONTEXT; \
    }

/* memory.c */

struct allocation {
    int fd;
    size_t bytes;
    int device;             /* its place among all devices */
    uint64_t buffer_id;
    bool is_virtual;        /* of the virtual-memory API */
    bool is_imported;
    bool is_pooled;
    int handle_types;
    bool is_rdma_capable;
    char *bytes_here;
    int references;
};

enum mapping_kind { LEGACY, VIRTUAL, OPENED, HOST };

struct mapping {
    struct mapping *next;
    cuda_address address;
    size_t bytes;
    size_t offset;
    struct allocation *allocation;  /* NULL for the host's */
    enum mapping_kind kind;
    unsigned access;                /* a bit for each ordinal that may reach it by kernels and copies */
};

void world_read(void);
void world_write(void);
void world_release(void);

/* Under the world. */
struct mapping *mapping_of(cuda_address address);
/* Whether a mapping has one of the bytes. Under the world. */
bool overlaps(cuda_address address, size_t bytes);
/* Whether an operation of a stream can take a range: one mapping, or those of the virtual-memory API side by side. Under the world. */
bool is_one_range(cuda_address address, size_t bytes);
/* The reserved range that an address is in; false if there is none. Under the world. */
bool range_of(cuda_address address, cuda_address *start, size_t *bytes);
/* Where the bytes are, for the device with this ordinal; NULL if it may not reach them all. Under the world. */
void *reach(int ordinal, cuda_address address, size_t bytes);
struct mapping *mapping_add(
        cuda_address address, size_t bytes, size_t offset, struct allocation *allocation, enum mapping_kind kind,
        unsigned access);
void mapping_remove(struct mapping *mapping);
/* Shows memory of the virtual-memory API to the host where its address says, or no more. Under the world. */
bool shadow_map(cuda_address address, size_t bytes, const struct allocation *allocation);
void shadow_unmap(cuda_address address, size_t bytes);
/* A free range; 0 if there is none. */
cuda_address range_take(size_t bytes, size_t alignment);
void range_give_back(cuda_address address, size_t bytes);
cuda_result allocation_make(int device, size_t bytes, bool is_virtual, struct allocation **made);
cuda_result allocation_adopt(int fd, struct allocation **made);
void allocation_release(struct allocation *allocation);

/* dma_buffers.c */

bool dma_buffers_are_supported(void);
/* As the attributes of devices say. */
int dma_ordering(void);
int dma_flush_ways(void);

/* streams.c */

enum step { STEP_AGAIN, STEP_DONE, STEP_FAILED };

enum operation_kind { COPY, FILL, WRITE_WORD, RECORD, WAIT_EVENT, CALL, LAUNCH, POLL };

#define MAXIMUM_ARGUMENT_BYTES 4096
/* What the twin of a kernel that waits keeps between its steps, 0 at first. */
#define STEP_WORDS 3

struct operation {
    struct operation *next;
    enum operation_kind kind;
    cuda_address to;
    cuda_address from;
    size_t bytes;
    uint64_t value;
    struct CUevent_st *event;
    uint64_t recording;
    void (*function)(void *);
    int (*poll)(void *);
    void *argument;
    const struct twin *twin;
    unsigned blocks;
    unsigned threads;
    uint8_t arguments[MAXIMUM_ARGUMENT_BYTES];
    uint64_t own[STEP_WORDS];
    enum step step;
};

/*
 * Waits until all that streams of an ordinal, or of all for -1, have been given until now has ended, as the driver does before it frees
 * memory. Not under the world.
 */
void streams_await(int ordinal);
/* Waits until the kernels have ended that run on an ordinal, or on all for -1, if drivers are to do so. Not under the world. */
void kernels_await(int ordinal);
/* The same under the driver's lock: what streams are given meanwhile waits for it, as measured of driver 580. */
void kernels_await_locked(int ordinal);
/* Whether kernels run on an ordinal that a driver would wait for. */
bool kernels_are_awaited(int ordinal);
/* Gives a stream an operation, which it frees. Waits while the stream has very many. */
cuda_result stream_add(struct CUstream_st *stream, struct operation *operation);
/* Begins or ends to capture a stream. */
cuda_result stream_capture(struct CUstream_st *stream, bool is_captured);
struct operation *operation_make(enum operation_kind kind);
void fail_for_good(cuda_result error);

/* events.c: a recording is a number; the event has happened when the last one has. */

struct CUevent_st {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    uint64_t recorded;
    uint64_t happened;
    int references;
    /* Whether it takes the time, in nanoseconds. */
    bool is_timed;
    uint64_t happened_at;
    /* Recorded of a context: the ordinal and 1 more; else 0. */
    int of_context;
};

void event_happens(struct CUevent_st *event, uint64_t recording);
bool event_has_happened(struct CUevent_st *event, uint64_t recording);
void event_release(struct CUevent_st *event);

/* kernels.c */

struct twin {
    const char *name;
    /* The sizes of its arguments, in order; ends with 0. */
    size_t arguments[10];
    /* False if it touched memory that the device may not reach. Under the world. */
    bool (*run)(int ordinal, const uint8_t *arguments);
    /* If not NULL: whether it can run by now. */
    bool (*is_ready)(int ordinal, const uint8_t *arguments);
    /* In place of both: goes on as far as it can, of a kernel that waits for others. Under the world. */
    enum step (*step)(int ordinal, const uint8_t *arguments, uint64_t *own);
};

/* collectives.c: ends with one that has no name. */
extern const struct twin collective_twins[];
/* experts.c */
extern const struct twin expert_twins[];
/* experts_low_latency.c */
extern const struct twin expert_low_latency_twins[];
/* experts_normal.c */
extern const struct twin normal_twins[];

const struct twin *twin_of(const char *name);

/* modules.c */

/* Checks a launch, and makes an operation of it with its arguments. */
cuda_result launch_make(const struct cuda_kernel_node *kernel, struct operation **made);

/* faults.c */

#define COUNTERS(X) X(allocations) X(mappings) X(streams) X(events) X(modules) X(graphs) X(registrations) X(imports) X(launches) X(copies) X(crossings) X(flushes)

struct counters {
#define DECLARE(name) atomic_int_fast64_t name;
    COUNTERS(DECLARE)
#undef DECLARE
};

extern struct counters counters;
extern atomic_uint_fast64_t fault_delay;
extern atomic_bool fault_hang;
extern atomic_bool fault_import;
extern atomic_bool fault_atomics;
extern atomic_bool fault_pins;
extern atomic_bool pools;
extern atomic_bool awaits_kernels;

#define COUNT(name, amount) atomic_fetch_add(&counters.name, (amount))

/* Whether this operation is the one that fails. */
bool fault_is_due(void);
/* Whether a copy is refused that a stream is given. */
bool copy_is_refused(void);

#endif
