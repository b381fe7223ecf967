/*
 * The part of the plain C core that drives NVIDIA GPUs, through the CUDA driver opened at run time. The functions
 * behave as the Java methods of the same names. A negative result is the negated error of the driver (CUresult) or,
 * between SLUICE_CUDA_SYSTEM_ERROR and SLUICE_CUDA_SYSTEM_ERROR - 4095, one of the system.
 *
 * A device, stream or module is the address of an object of this library. NULL returns -CUDA_ERROR_INVALID_VALUE; any
 * other invalid address crashes. Records are aligned to 8 bytes. Every function makes the device's primary context
 * current for its duration, on any thread.
 */
#ifndef SLUICE_CUDA_H
#define SLUICE_CUDA_H

#include "sluice.h"

/* Base of the results that represent a negated errno. */
#define SLUICE_CUDA_SYSTEM_ERROR (-100000)

#define SLUICE_CUDA_NAME_BYTES 88
#define SLUICE_CUDA_BUS_ID_BYTES 32
#define SLUICE_CUDA_IPC_HANDLE_BYTES 64

/* Returns NULL if the driver is usable, otherwise why it is not. The first call decides. */
const char *sluice_cuda_load(const char *path);
bool sluice_cuda_loaded(void);
/* As for libibverbs: see sluice_verbs.h. */
uint32_t sluice_cuda_claimed_signals(void);
const char *sluice_cuda_claimant(void);
int sluice_cuda_driver_version(void);
/* "CUDA_ERROR_...: description", as the driver words it. */
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
    int32_t has_rdma;               /* adapters can access its memory */
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
/*
 * How one device accesses another: the three CUDA_PEER_... attributes as bit 0 (access), bit 1 (native atomics), and
 * the rank above.
 */
int sluice_cuda_device_link(int ordinal, int peer);
int64_t sluice_cuda_device_open(int ordinal);
/* Makes the context current until the thread ends. For threads of the engine. */
int sluice_cuda_device_make_current(struct sluice_cuda_device *device);
int sluice_cuda_device_close(struct sluice_cuda_device *device);
int sluice_cuda_device_free_memory(struct sluice_cuda_device *device, int64_t *bytes);
/* The first sticky error of the device, or 0. */
int sluice_cuda_device_fault(struct sluice_cuda_device *device);

/* ---- memory ---- */

struct sluice_cuda_memory_record {
    uint64_t base;                  /* of the allocation, which may be one of several that lie side by side */
    int64_t bytes;                  /* of the allocation */
    uint64_t buffer_id;             /* changes when memory is freed and allocated again at the same address */
    int32_t ordinal;
    int32_t kind;                   /* SLUICE_CUDA_MEMORY_... */
    int32_t sharing;                /* SLUICE_CUDA_SHARED_... */
    int32_t is_rdma_capable;
    uint64_t block_id;              /* of the physical memory of the virtual-memory API; 0 if unknown */
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
/* Memory of the virtual-memory API: created, mapped, and accessible to the device. Returns its address. */
int64_t sluice_cuda_memory_allocate(struct sluice_cuda_device *device, int64_t bytes);
int sluice_cuda_memory_free(struct sluice_cuda_device *device, uint64_t address, int64_t bytes);
/* Returns a new descriptor of the allocation at an address of the virtual-memory API. */
int sluice_cuda_memory_export(struct sluice_cuda_device *device, uint64_t address);
/* Maps memory exported by another process. The caller keeps the descriptor. */
int64_t sluice_cuda_memory_import(struct sluice_cuda_device *device, int descriptor, int64_t bytes);
int sluice_cuda_memory_describe(uint64_t address, struct sluice_cuda_memory_record *record);
int sluice_cuda_memory_ipc_handle(
        struct sluice_cuda_device *device, uint64_t base, uint8_t handle[SLUICE_CUDA_IPC_HANDLE_BYTES]);
int64_t sluice_cuda_memory_ipc_open(
        struct sluice_cuda_device *device, const uint8_t handle[SLUICE_CUDA_IPC_HANDLE_BYTES]);
int sluice_cuda_memory_ipc_close(struct sluice_cuda_device *device, uint64_t base);
/* Returns a dma-buf of a page-aligned range. */
int sluice_cuda_memory_dma_buffer(struct sluice_cuda_device *device, uint64_t address, int64_t bytes);
/* Makes writes of adapters visible to the device's kernels. */
int sluice_cuda_memory_flush_remote_writes(struct sluice_cuda_device *device);
int sluice_cuda_memory_enable_peer(struct sluice_cuda_device *device, struct sluice_cuda_device *peer);

/* Pins host memory; returns its device address. */
int64_t sluice_cuda_host_register(struct sluice_cuda_device *device, void *address, int64_t bytes);
/* Where devices see a byte of the host's memory that is pinned, by this library or not. */
int64_t sluice_cuda_host_address(struct sluice_cuda_device *device, void *address);
int sluice_cuda_host_unregister(struct sluice_cuda_device *device, void *address);

/* ---- kernels ---- */

struct sluice_cuda_module;

/* An image is zero-terminated PTX text or a cubin. */
int64_t sluice_cuda_module_load(struct sluice_cuda_device *device, const void *image);
/* The same; writes what the compiler says of a bad image, zero-terminated. */
int64_t sluice_cuda_module_compile(struct sluice_cuda_device *device, const void *image, char *log, int log_bytes);
int64_t sluice_cuda_module_function(struct sluice_cuda_module *module, const char *name);
/* The size of a parameter; -CUDA_INVALID_VALUE after the last, -CUDA_NOT_SUPPORTED by drivers before 12.4. */
int64_t sluice_cuda_module_parameter(struct sluice_cuda_module *module, void *function, int index);
/* Allows launches with so much dynamic shared memory, which takes permission above 48 KiB. */
int sluice_cuda_module_shared_bytes(struct sluice_cuda_module *module, void *function, int bytes);
int sluice_cuda_module_unload(struct sluice_cuda_module *module);

/* ---- streams ---- */

struct sluice_cuda_stream;

/*
 * A stream for transfers, with the kernels of a module (kernels.cu) and a counter for them. Priority 0 is the device's
 * lowest, 1 its highest. Limits the number of blocks of a kernel.
 */
int64_t sluice_cuda_stream_create(
        struct sluice_cuda_device *device, struct sluice_cuda_module *kernels, int priority, int max_blocks);
/*
 * A stream without kernels and counter, or one around a stream of the caller's, which is not destroyed with it: copies by
 * copy engines, fills, launches, events and words, and no signals. -CUDA_NOT_SUPPORTED if the device's streams cannot
 * write words.
 */
int64_t sluice_cuda_stream_open(struct sluice_cuda_device *device, int priority);
int64_t sluice_cuda_stream_adopt(struct sluice_cuda_device *device, void *handle);
/* Not while work is in flight: see sluice_cuda_stream_query. */
int sluice_cuda_stream_destroy(struct sluice_cuda_stream *stream);
/* Returns 0 once all work is done, -CUDA_ERROR_NOT_READY before, or another error if the work has failed. */
int sluice_cuda_stream_query(struct sluice_cuda_stream *stream);
/* Adds 1 to an eventfd once all work submitted so far is done. */
int sluice_cuda_stream_signal(struct sluice_cuda_stream *stream, int event_descriptor);
/* The driver's own handle, for code that submits its own work. */
int64_t sluice_cuda_stream_handle(struct sluice_cuda_stream *stream);

int64_t sluice_cuda_event_create(struct sluice_cuda_device *device);
/* One that takes the time when it is recorded, which costs the stream a little. */
int64_t sluice_cuda_event_create_timed(struct sluice_cuda_device *device);
/* Nanoseconds between two timed events; -CUDA_ERROR_NOT_READY until both have happened. */
int64_t sluice_cuda_event_elapsed(struct sluice_cuda_device *device, void *begin, void *end);
int sluice_cuda_event_destroy(struct sluice_cuda_device *device, void *event);
int sluice_cuda_event_query(struct sluice_cuda_device *device, void *event);

enum {
    SLUICE_CUDA_COPY = 1,           /* bytes bytes, by a copy engine */
    SLUICE_CUDA_COPY_PAGES = 2,     /* count pages of bytes bytes, by a kernel, from and to the offsets in two tables */
    SLUICE_CUDA_COPY_STRIDED = 3,   /* the same at even distances: the tables' addresses are the distances */
    SLUICE_CUDA_CHECKSUM = 4,       /* CRC-32C of bytes bytes, stored in the 64-bit word at destination */
    SLUICE_CUDA_FILL = 5,           /* destinations bytes, each with the lowest byte of bytes */
    SLUICE_CUDA_LAUNCH = 6,         /* the function at source, with count blocks of bytes threads; destinations is the host's
                                       address of the addresses of its arguments, destination the bytes of dynamic shared
                                       memory. The grid's y and z are the halves of sources, the block's the second and third
                                       16 bits of bytes; 0 stands for 1 */
    SLUICE_CUDA_WAIT_EVENT = 7,     /* later work waits for the event at source */
    SLUICE_CUDA_RECORD_EVENT = 8,   /* the event at destination happens once earlier work is done */
    SLUICE_CUDA_COMPLETE = 9,       /* only the signal and the word */
    SLUICE_CUDA_FETCH_ADD = 10,     /* adds bytes to the word at destination, and stores its previous value at source */
    SLUICE_CUDA_COMPARE_AND_SWAP = 11, /* the same, but stores bytes in the word if it equals destinations */
    SLUICE_CUDA_LAUNCH_GRAPH = 12,  /* the graph at source */
};

/* One operation of a stream. The signal follows it and everything before it; the word follows the signal. */
struct sluice_cuda_request {
    int64_t stream;
    int32_t operation;
    int32_t count;
    uint64_t destination;
    uint64_t source;
    uint64_t bytes;
    uint64_t destinations;          /* the device address of a table of 64-bit offsets */
    uint64_t sources;
    uint64_t signal;                /* 0, or the device address of a word that addend is added to or stored in */
    uint64_t addend;
    int32_t signal_is_store;
    int32_t most_blocks;            /* of a copy by a kernel, where fewer than its stream's; 0 for those */
    uint64_t word;                  /* 0, or the device address of a word of pinned memory that value is stored in */
    uint64_t value;
};

/*
 * Submits requests to their streams, in order. Returns how many the driver accepted or, if it refused the first, the
 * error. A refused request has no effect, except when only its word or signal was refused: the stream's query then
 * returns the error. While a stream without kernels is being captured into a graph its requests are refused with
 * -CUDA_STREAM_CAPTURE_UNSUPPORTED.
 */
int sluice_cuda_submit(const struct sluice_cuda_request *requests, int count);

/* ---- graphs ---- */

struct sluice_cuda_graph;

/*
 * A graph of launches that follow each other: requests of SLUICE_CUDA_LAUNCH of one stream, whose signals and words are ignored. It
 * takes over the arguments as they are. The device is the stream's, or another of the same ordinal, and stays open until the graph is
 * destroyed; the stream may be destroyed before.
 */
int64_t sluice_cuda_graph_create(
        struct sluice_cuda_device *device, const struct sluice_cuda_request *requests, int count);
/* Not while it is launched and not done. */
int sluice_cuda_graph_destroy(struct sluice_cuda_graph *graph);

#endif
