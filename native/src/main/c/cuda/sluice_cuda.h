/*
 * The part of the plain C core that talks to NVIDIA GPUs, through the CUDA driver that is opened at run time. The functions mean
 * what the Java methods of the same names say. A negative result is the negated error of the driver (CUresult), or, between
 * SLUICE_CUDA_SYSTEM_ERROR and SLUICE_CUDA_SYSTEM_ERROR - 4095, one of the system's.
 *
 * A device, a stream, a module is the address of an object of this library. NULL gives -CUDA_ERROR_INVALID_VALUE; any other that
 * is none crashes. Records are aligned to 8 bytes. Every function makes the device's primary context current for as long as it
 * takes, on whichever thread it is called.
 */
#ifndef SLUICE_CUDA_H
#define SLUICE_CUDA_H

#include "sluice.h"

/* Room for the sentence that says why the driver cannot be used, with its end. */
#define SLUICE_CUDA_CAUSE_BYTES 1024

/* Base of the results that stand for a negated errno. */
#define SLUICE_CUDA_SYSTEM_ERROR (-100000)

#define SLUICE_CUDA_NAME_BYTES 88
#define SLUICE_CUDA_BUS_ID_BYTES 32
#define SLUICE_CUDA_IPC_HANDLE_BYTES 64

/* NULL when the driver is usable, otherwise why it is not. The first call decides. */
const char *sluice_cuda_load(const char *path);
bool sluice_cuda_loaded(void);
/* As of libibverbs: see sluice_verbs.h. */
uint32_t sluice_cuda_claimed_signals(void);
const char *sluice_cuda_claimant(void);
int sluice_cuda_driver_version(void);
/* "CUDA_ERROR_...: what that means", as the driver says it. */
void sluice_cuda_error_text(int error, char *text, size_t length);

/* ---- devices ---- */

struct sluice_cuda_device_record {
    uint8_t uuid[16];
    int64_t memory_bytes;
    int32_t ordinal;
    int32_t compute_major;
    int32_t compute_minor;
    int32_t multiprocessors;
    int32_t copy_engines;
    int32_t has_descriptors;        /* virtual-memory allocations can be exported as file descriptors */
    int32_t has_dma_buffers;
    int32_t has_rdma;               /* adapters can reach its memory */
    int32_t rdma_flush;             /* the driver's GPU_DIRECT_RDMA_FLUSH_WRITES_OPTIONS */
    int32_t rdma_ordering;
    int32_t has_stream_words;       /* a stream can write and wait for words of 64 bits */
    int32_t zero;
    char name[SLUICE_CUDA_NAME_BYTES];
    char bus_id[SLUICE_CUDA_BUS_ID_BYTES];
};

struct sluice_cuda_device;

int sluice_cuda_device_count(void);
int sluice_cuda_device_query(int ordinal, struct sluice_cuda_device_record *record);
/* How one reaches another: the three CUDA_PEER_... attributes as bits 0 (access), 1 (native atomics), and the rank above. */
int sluice_cuda_device_link(int ordinal, int peer);
int64_t sluice_cuda_device_open(int ordinal);
/* For a thread of the engine's own, for good. */
int sluice_cuda_device_make_current(struct sluice_cuda_device *device);
int sluice_cuda_device_close(struct sluice_cuda_device *device);
int sluice_cuda_device_free_memory(struct sluice_cuda_device *device, int64_t *bytes);
/* The error that the device has once had and that stays with the process, or 0. */
int sluice_cuda_device_fault(struct sluice_cuda_device *device);

/* ---- memory ---- */

struct sluice_cuda_memory_record {
    uint64_t base;                  /* of the allocation */
    int64_t bytes;                  /* of the allocation */
    uint64_t buffer_id;             /* another one once memory was freed and made again at the same address */
    int32_t ordinal;
    int32_t kind;                   /* SLUICE_CUDA_MEMORY_... */
    int32_t sharing;                /* SLUICE_CUDA_SHARED_... */
    int32_t is_rdma_capable;
};

enum {
    SLUICE_CUDA_MEMORY_NONE,        /* the driver does not know the address */
    SLUICE_CUDA_MEMORY_DEVICE,
    SLUICE_CUDA_MEMORY_HOST,
    SLUICE_CUDA_MEMORY_MANAGED,
};

enum {
    SLUICE_CUDA_NOT_SHARED,
    SLUICE_CUDA_SHARED_BY_HANDLE,       /* cuIpcGetMemHandle */
    SLUICE_CUDA_SHARED_BY_DESCRIPTOR,   /* an allocation of the virtual-memory API, a file descriptor */
};

int64_t sluice_cuda_memory_granularity(struct sluice_cuda_device *device);
/* Memory of the virtual-memory API: created, mapped, and accessible to the device. The result is its address. */
int64_t sluice_cuda_memory_allocate(struct sluice_cuda_device *device, int64_t bytes);
int sluice_cuda_memory_free(struct sluice_cuda_device *device, uint64_t address, int64_t bytes);
/* A new descriptor of the allocation at an address of the virtual-memory API. */
int sluice_cuda_memory_export(struct sluice_cuda_device *device, uint64_t address);
/* Maps what another process has exported. The descriptor stays the caller's. */
int64_t sluice_cuda_memory_import(struct sluice_cuda_device *device, int descriptor, int64_t bytes);
int sluice_cuda_memory_describe(uint64_t address, struct sluice_cuda_memory_record *record);
int sluice_cuda_memory_ipc_handle(
        struct sluice_cuda_device *device, uint64_t base, uint8_t handle[SLUICE_CUDA_IPC_HANDLE_BYTES]);
int64_t sluice_cuda_memory_ipc_open(
        struct sluice_cuda_device *device, const uint8_t handle[SLUICE_CUDA_IPC_HANDLE_BYTES]);
int sluice_cuda_memory_ipc_close(struct sluice_cuda_device *device, uint64_t base);
/* A dma-buf of a range that begins and ends at pages. */
int sluice_cuda_memory_dma_buffer(struct sluice_cuda_device *device, uint64_t address, int64_t bytes);
/* Makes the writes of adapters visible to the device's kernels. */
int sluice_cuda_memory_flush_remote_writes(struct sluice_cuda_device *device);
int sluice_cuda_memory_enable_peer(struct sluice_cuda_device *device, struct sluice_cuda_device *peer);

/* Pins memory of the host; the result is its address for devices. */
int64_t sluice_cuda_host_register(struct sluice_cuda_device *device, void *address, int64_t bytes);
int sluice_cuda_host_unregister(struct sluice_cuda_device *device, void *address);

/* ---- kernels ---- */

struct sluice_cuda_module;

/* An image is PTX text with its end, or a cubin. */
int64_t sluice_cuda_module_load(struct sluice_cuda_device *device, const void *image);
int64_t sluice_cuda_module_function(struct sluice_cuda_module *module, const char *name);
int sluice_cuda_module_unload(struct sluice_cuda_module *module);

/* ---- streams ---- */

struct sluice_cuda_stream;

/*
 * A stream for transfers, with the kernels of a module (kernels.cu) and a counter for them. Priority 0 is the device's least, 1
 * its greatest. At most so many blocks run of a kernel.
 */
int64_t sluice_cuda_stream_create(
        struct sluice_cuda_device *device, struct sluice_cuda_module *kernels, int priority, int max_blocks);
/* Not while work is under way: see sluice_cuda_stream_query. */
int sluice_cuda_stream_destroy(struct sluice_cuda_stream *stream);
/* 0 when all work is done, -CUDA_ERROR_NOT_READY when not, or another error: the work that was under way has failed. */
int sluice_cuda_stream_query(struct sluice_cuda_stream *stream);
/* Adds 1 to an eventfd once all work until now is done. */
int sluice_cuda_stream_signal(struct sluice_cuda_stream *stream, int event_descriptor);
/* The driver's own handle, for work of others. */
int64_t sluice_cuda_stream_handle(struct sluice_cuda_stream *stream);

int64_t sluice_cuda_event_create(struct sluice_cuda_device *device);
int sluice_cuda_event_destroy(struct sluice_cuda_device *device, void *event);
int sluice_cuda_event_query(struct sluice_cuda_device *device, void *event);

enum {
    SLUICE_CUDA_COPY = 1,           /* so many bytes, by a copy engine */
    SLUICE_CUDA_COPY_PAGES = 2,     /* count pages of so many bytes, by a kernel, from and to the offsets in two tables */
    SLUICE_CUDA_COPY_STRIDED = 3,   /* the same at even distances: the tables' addresses are the distances */
    SLUICE_CUDA_CHECKSUM = 4,       /* CRC-32C of so many bytes, to the word of 64 bits at the destination */
    SLUICE_CUDA_FILL = 5,           /* destinations bytes, each with the lowest byte of bytes */
    SLUICE_CUDA_LAUNCH = 6,         /* the function at source, with count blocks of so many threads; destinations is the host's
                                       address of the addresses of its arguments */
    SLUICE_CUDA_WAIT_EVENT = 7,     /* what follows waits for the event at source */
    SLUICE_CUDA_RECORD_EVENT = 8,   /* the event at destination happens once what came before is done */
    SLUICE_CUDA_COMPLETE = 9,       /* nothing but the signal and the word */
    SLUICE_CUDA_FETCH_ADD = 10,     /* adds bytes to the word at destination, and stores what it held before at source */
    SLUICE_CUDA_COMPARE_AND_SWAP = 11, /* the same, but bytes replace what the word holds if that is destinations */
};

/* One operation of a stream. Behind it, and behind all before it, comes the signal, then the word. */
struct sluice_cuda_request {
    int64_t stream;
    int32_t operation;
    int32_t count;
    uint64_t destination;
    uint64_t source;
    uint64_t bytes;
    uint64_t destinations;          /* a table of offsets of 64 bits, as the device sees it */
    uint64_t sources;
    uint64_t signal;                /* 0, or the device's address of a word that addend is added to, or stored in */
    uint64_t addend;
    int32_t signal_is_store;
    int32_t zero;
    uint64_t word;                  /* 0, or the device's address of a word of pinned memory that value is stored in */
    uint64_t value;
};

/*
 * Gives requests to their streams, in order. The result is how many the driver took, or, if it did not take the first, why. Of a
 * request that it did not take nothing happens, but for one whose word or signal alone it refused: the stream's query tells then.
 */
int sluice_cuda_submit(const struct sluice_cuda_request *requests, int count);

#endif
