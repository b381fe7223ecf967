/*
 * The baseline of a plain C program with GPUs, by the CUDA driver alone: between two, with a process for each, one copy, and
 * scattered pages by a copy call each, by the batch call and by Sluice's page kernel; between pinned memory and a GPU one copy;
 * and between two GPUs what copies in both directions and what NCCL reach. Both libraries are opened when it starts.
 *
 * An error is printed on standard error and ends the process; the other one ends then, too.
 */
#ifndef GPU_H
#define GPU_H

#define _GNU_SOURCE

#include "arguments.h"
#include "driver.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* There is no such GPU, library or function here. */
#define STATUS_NOT_AVAILABLE 69

#define MAXIMUM_BYTES (UINT64_C(16) << 30)
#define MAXIMUM_PAGES (UINT64_C(1) << 20)

/* The measurement to run. Times are in nanoseconds. */
struct plan {
    uint64_t bytes; /* of a copy, or of a page */
    uint64_t pages; /* of an operation; 1 for a copy */
    uint64_t inflight;
    int64_t warmup;
    int64_t duration;
};

/* Operations that ended within a time. */
struct figures {
    uint64_t operations;
    int64_t nanos;
    int64_t median_nanos; /* of one operation, if there was one in flight; else 0 */
};

/* complaint.c */
_Noreturn void fail(const char *what, const char *why);
_Noreturn void not_available(const char *what, const char *why);
/* Fails with errno's text. */
_Noreturn void fail_errno(const char *what);
void *allocate(size_t count, size_t bytes);

/* driver.c: opens libcuda.so.1, or what SLUICE_CUDA_LIBRARY names. */
void driver_load(void);
void check(cuda_result result, const char *what);
/* Opens a GPU and makes it the calling thread's; says that it is not available where there are fewer. */
void device_open(int device);

/* memory.c: all of the calling thread's GPU; it stays until the process ends. */
struct shared_memory {
    cuda_address address;
    size_t bytes;
    int descriptor;                /* -1 if it is shared by its handle */
    struct cuda_ipc_handle handle;
};

/* Memory for another process, by a descriptor, or else by a handle as older programs have it. */
struct shared_memory memory_share(int device, size_t bytes, bool by_handle);
cuda_address memory_import(int device, const struct shared_memory *shared);
cuda_address memory_allocate(size_t bytes);
/* Memory of the host that a GPU reaches, at another address. */
void *pinned_allocate(size_t bytes, cuda_address *address);

/* peer.c: a second process, which runs until this one ends. To be started before this one opens the driver. */
struct peer {
    int socket;
    int process;
};

struct peer peer_start(void (*work)(int socket, const void *argument), const void *argument);
void peer_send(int socket, const void *message, size_t bytes, int descriptor);
/* The peer's failure is this process's. descriptor may be NULL. */
void peer_receive(struct peer peer, void *message, size_t bytes, int *descriptor);
/* In the peer: returns when the first process has ended, which kills the peer in any case. */
void peer_wait(int socket);

/* stream.c: operations one after the other; a word in pinned memory counts those that have ended. */
struct work {
    cuda_stream stream;
    volatile uint64_t *word;
    cuda_address word_address;
    uint64_t submitted;
};

void work_open(struct work *work);
/* Writes the word behind what was submitted. */
void work_end(const struct work *work, uint64_t number);
void work_await(const struct work *work, uint64_t number);

/* An operation: it submits what work_end follows, or ends by itself, as work_end does. */
struct operation {
    void (*submit)(struct work *work, uint64_t number, void *argument);
    void *argument;
};

/* loop.c */
int64_t clock_nanos(void);
struct figures measure(struct work *work, const struct plan *plan, struct operation operation);

/* pair.c: memory of a GPU, filled, and that of another one, which a second process has and this one has mapped. */
enum sharing { BY_DESCRIPTOR, BY_HANDLE };

struct pair {
    cuda_address own;
    cuda_address other;
    struct work work;
};

struct pair pair_open(size_t bytes, enum sharing sharing);

/* copy.c, pages.c, nccl.c */
enum way { COPIES, BATCH, KERNEL };

struct figures copy_measure(const struct plan *plan, enum sharing sharing);
struct figures host_copy_measure(const struct plan *plan, bool to_device);
/* blocks bounds the kernel's; ptx is the file that has it. */
struct figures pages_measure(const struct plan *plan, enum sharing sharing, enum way way, const char *ptx, unsigned blocks);
struct figures nccl_measure(const struct plan *plan);

/* both_ways.c: figures are of one direction; inflight copies are followed by a meeting of both. */
struct figures both_ways_measure(const struct plan *plan);

/* nccl_collective.c */
enum collective { ALL_REDUCE, REDUCE_SCATTER, ALL_GATHER, BROADCAST, ALL_TO_ALL };

struct collective_plan {
    enum collective collective;
    uint64_t bytes;         /* as nccl-tests counts them */
    uint64_t graph;         /* how many a graph has; 0 to start each by itself */
    int64_t warmup;
    int64_t duration;
};

struct collective_figures {
    uint64_t operations;
    int64_t nanos;
    int64_t median_nanos;   /* from a start to the word that follows it: of a graph, of all its collectives */
    double device_nanos;    /* of one among others that follow each other, by the clock of the slower GPU */
};

struct collective_figures nccl_collective_measure(const struct collective_plan *plan);

/* content.c: fills a window of the GPU with what tells its place, and compares two windows at some places. */
void content_fill(struct work *work, cuda_address address, size_t bytes);
void content_compare(struct work *work, cuda_address one, cuda_address other, size_t bytes);

#endif
