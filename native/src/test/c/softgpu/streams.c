#define _GNU_SOURCE
#include "gpu.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#define LOOK_NANOS 20000
#define LONGEST_LOOK_NANOS 160000
/* As the driver, which makes a thread wait that adds more. */
#define MOST_OPERATIONS 1024

struct CUstream_st {
    struct CUstream_st *next;
    /* Of all streams of the process: a new one may have the address of one that is gone. */
    uint64_t number;
    int ordinal;
    int priority;
    uint64_t added;
    uint64_t ended;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct operation *first;
    struct operation **last;
    bool is_closing;
    bool is_busy;
    bool has_kernel;        /* a kernel is what it is at */
    bool is_captured;       /* takes nothing meanwhile: what is captured is not kept */
    uint64_t random;
};

/* All of the process. */
static struct CUstream_st *streams;
static uint64_t streams_made;
static pthread_mutex_t streams_lock = PTHREAD_MUTEX_INITIALIZER;

struct operation *operation_make(enum operation_kind kind) {
    struct operation *operation = calloc(1, sizeof *operation);
    if (operation != NULL) {
        operation->kind = kind;
    }
    return operation;
}

void fail_for_good(cuda_result error) {
    int none = CUDA_SUCCESS;
    atomic_compare_exchange_strong(&sticky, &none, error);
}

static void nap(uint64_t nanoseconds) {
    struct timespec time = {
        .tv_sec = (time_t)(nanoseconds / 1000000000), .tv_nsec = (long)(nanoseconds % 1000000000)};
    nanosleep(&time, NULL);
}

/* Sleeps until the next look at what may take long: each time longer, so that many threads can wait. */
static void nap_longer(uint64_t *nanoseconds) {
    nap(*nanoseconds);
    *nanoseconds = *nanoseconds < LONGEST_LOOK_NANOS ? 2 * *nanoseconds : LONGEST_LOOK_NANOS;
}

static uint64_t next_random(struct CUstream_st *stream) {
    stream->random ^= stream->random << 13;
    stream->random ^= stream->random >> 7;
    stream->random ^= stream->random << 17;
    return stream->random;
}

static bool is_closing(struct CUstream_st *stream) {
    pthread_mutex_lock(&stream->lock);
    bool closing = stream->is_closing;
    pthread_mutex_unlock(&stream->lock);
    return closing;
}

/* Whether an operation that waits may go on. Under the world. */
static bool is_ready(struct CUstream_st *stream, struct operation *operation) {
    if (operation->kind == WAIT_EVENT) {
        return event_has_happened(operation->event, operation->recording);
    }
    if (operation->kind == LAUNCH && operation->twin->step != NULL) {
        operation->step = operation->twin->step(stream->ordinal, operation->arguments, operation->own);
        return operation->step != STEP_AGAIN;
    }
    if (operation->kind == POLL) {
        return operation->poll(operation->argument) != 0;
    }
    return operation->kind != LAUNCH || operation->twin->is_ready == NULL
            || operation->twin->is_ready(stream->ordinal, operation->arguments);
}

/* Whether an address is that of another GPU's memory. Under the world. */
static bool is_of_another(int ordinal, cuda_address address) {
    const struct mapping *mapping = mapping_of(address);
    return mapping != NULL && mapping->allocation != NULL && ordinal_of(mapping->allocation->device) != ordinal;
}

/* False if it touches what it may not. Under the world. */
static bool carry_out(struct CUstream_st *stream, struct operation *operation) {
    int ordinal = stream->ordinal;
    switch (operation->kind) {
        case COPY: {
            void *to = reach(ordinal, operation->to, operation->bytes);
            void *from = reach(ordinal, operation->from, operation->bytes);
            if (to == NULL || from == NULL) {
                return false;
            }
            memmove(to, from, operation->bytes);
            COUNT(copies, 1);
            COUNT(crossings, is_of_another(ordinal, operation->to) || is_of_another(ordinal, operation->from));
            return true;
        }
        case FILL: {
            void *to = reach(ordinal, operation->to, operation->bytes);
            /* Zeros take no memory, and no time. */
            bool is_cleared = to != NULL && operation->value == 0 && operation->bytes % 4096 == 0
                    && madvise(to, operation->bytes, MADV_REMOVE) == 0;
            if (to != NULL && !is_cleared) {
                memset(to, (int)operation->value, operation->bytes);
            }
            return to != NULL;
        }
        case WRITE_WORD: {
            uint64_t *word = reach(ordinal, operation->to, sizeof *word);
            if (word != NULL) {
                __atomic_store_n(word, operation->value, __ATOMIC_RELEASE);
            }
            return word != NULL;
        }
        case RECORD:
            event_happens(operation->event, operation->recording);
            return true;
        case CALL:
            operation->function(operation->argument);
            return true;
        case LAUNCH:
            COUNT(launches, 1);
            return operation->twin->step != NULL
                    ? operation->step == STEP_DONE
                    : operation->twin->run(ordinal, operation->arguments);
        case WAIT_EVENT:
        case POLL:
            return true;
    }
    return false;
}

static void run(struct CUstream_st *stream, struct operation *operation) {
    uint64_t delay = atomic_load(&fault_delay);
    if (delay > 0) {
        nap(next_random(stream) % delay);
    }
    uint64_t look = LOOK_NANOS;
    for (;;) {
        world_read();
        bool ready = !atomic_load(&fault_hang) && is_ready(stream, operation);
        bool failed = atomic_load(&sticky) != CUDA_SUCCESS;
        if (ready && !failed && (fault_is_due() || !carry_out(stream, operation))) {
            fail_for_good(CUDA_ILLEGAL_ADDRESS);
        }
        world_release();
        if (ready || failed || is_closing(stream)) {
            return;
        }
        nap_longer(&look);
    }
}

static void operation_free(struct operation *operation) {
    if (operation->event != NULL) {
        event_release(operation->event);
    }
    free(operation);
}

static void streams_remove(struct CUstream_st *stream) {
    pthread_mutex_lock(&streams_lock);
    struct CUstream_st **link = &streams;
    while (*link != stream) {
        link = &(*link)->next;
    }
    *link = stream->next;
    pthread_mutex_unlock(&streams_lock);
}

/* Whether a stream has ended so many operations, or is gone. */
static bool has_ended(uint64_t number, uint64_t operations) {
    pthread_mutex_lock(&streams_lock);
    struct CUstream_st *each = streams;
    while (each != NULL && each->number != number) {
        each = each->next;
    }
    bool ended = true;
    if (each != NULL) {
        pthread_mutex_lock(&each->lock);
        ended = each->ended >= operations;
        pthread_mutex_unlock(&each->lock);
    }
    pthread_mutex_unlock(&streams_lock);
    return ended;
}

#define MOST_STREAMS 1024

/* Whether a kernel is what it is at, or begins next: the stream's thread may not have come to it yet. With its lock. */
static bool is_at_kernel(const struct CUstream_st *stream) {
    return stream->has_kernel || (!stream->is_busy && stream->first != NULL && stream->first->kind == LAUNCH);
}

static void await(int ordinal, bool kernels) {
    uint64_t awaited[MOST_STREAMS];
    uint64_t operations[MOST_STREAMS];
    int count = 0;
    pthread_mutex_lock(&streams_lock);
    for (struct CUstream_st *each = streams; each != NULL && count < MOST_STREAMS; each = each->next) {
        if (ordinal < 0 || each->ordinal == ordinal) {
            pthread_mutex_lock(&each->lock);
            if (!kernels || is_at_kernel(each)) {
                awaited[count] = each->number;
                operations[count++] = kernels ? each->ended + 1 : each->added;
            }
            pthread_mutex_unlock(&each->lock);
        }
    }
    pthread_mutex_unlock(&streams_lock);
    for (int i = 0; i < count; i++) {
        uint64_t look = LOOK_NANOS;
        while (!has_ended(awaited[i], operations[i])) {
            nap_longer(&look);
        }
    }
}

void streams_await(int ordinal) {
    await(ordinal, false);
}

/* How many threads wait for kernels under the driver's lock: what streams are given waits for them. */
static atomic_int lock_holders;

void kernels_await(int ordinal) {
    if (atomic_load(&awaits_kernels)) {
        await(ordinal, true);
    }
}

void kernels_await_locked(int ordinal) {
    atomic_fetch_add(&lock_holders, 1);
    kernels_await(ordinal);
    atomic_fetch_sub(&lock_holders, 1);
}

bool kernels_are_awaited(int ordinal) {
    bool found = false;
    pthread_mutex_lock(&streams_lock);
    for (struct CUstream_st *each = streams; each != NULL && !found && atomic_load(&awaits_kernels); each = each->next) {
        pthread_mutex_lock(&each->lock);
        found = each->ordinal == ordinal && is_at_kernel(each);
        pthread_mutex_unlock(&each->lock);
    }
    pthread_mutex_unlock(&streams_lock);
    return found;
}

static void *work(void *argument) {
    struct CUstream_st *stream = argument;
    pthread_mutex_lock(&stream->lock);
    for (;;) {
        while (stream->first == NULL && !stream->is_closing) {
            pthread_cond_wait(&stream->changed, &stream->lock);
        }
        struct operation *operation = stream->first;
        if (operation == NULL) {
            break;
        }
        stream->first = operation->next;
        if (stream->first == NULL) {
            stream->last = &stream->first;
        }
        stream->is_busy = true;
        stream->has_kernel = operation->kind == LAUNCH;
        pthread_mutex_unlock(&stream->lock);
        run(stream, operation);
        operation_free(operation);
        pthread_mutex_lock(&stream->lock);
        stream->is_busy = false;
        stream->has_kernel = false;
        stream->ended++;
        pthread_cond_broadcast(&stream->changed);
    }
    pthread_mutex_unlock(&stream->lock);
    streams_remove(stream);
    pthread_cond_destroy(&stream->changed);
    pthread_mutex_destroy(&stream->lock);
    free(stream);
    COUNT(streams, -1);
    return NULL;
}

cuda_result stream_add(struct CUstream_st *stream, struct operation *operation) {
    uint64_t look = LOOK_NANOS;
    while (atomic_load(&lock_holders) > 0) {
        nap_longer(&look);
    }
    if (stream == NULL) {
        operation_free(operation);
        return CUDA_INVALID_HANDLE;
    }
    pthread_mutex_lock(&stream->lock);
    while (stream->added - stream->ended >= MOST_OPERATIONS) {
        pthread_cond_wait(&stream->changed, &stream->lock);
    }
    *stream->last = operation;
    stream->last = &operation->next;
    stream->added++;
    pthread_cond_broadcast(&stream->changed);
    pthread_mutex_unlock(&stream->lock);
    return CUDA_SUCCESS;
}

/* A signal of the process's goes to its own threads. */
static int start(struct CUstream_st *stream) {
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int error = pthread_create(&stream->thread, NULL, work, stream);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (error == 0) {
        pthread_detach(stream->thread);
    }
    return error;
}

EXPORT cuda_result cuStreamCreateWithPriority(cuda_stream *made, unsigned flags, int priority) {
    CONTEXT(context)
    struct CUstream_st *stream = calloc(1, sizeof *stream);
    if (stream == NULL || flags != CUDA_STREAM_NON_BLOCKING) {
        free(stream);
        return CUDA_INVALID_VALUE;
    }
    pthread_mutex_init(&stream->lock, NULL);
    pthread_cond_init(&stream->changed, NULL);
    stream->ordinal = context->ordinal;
    stream->priority = priority;
    stream->last = &stream->first;
    stream->random = UINT64_C(0x9e3779b97f4a7c15) ^ (uintptr_t)stream;
    COUNT(streams, 1);
    pthread_mutex_lock(&streams_lock);
    stream->next = streams;
    stream->number = ++streams_made;
    streams = stream;
    pthread_mutex_unlock(&streams_lock);
    if (start(stream) != 0) {
        COUNT(streams, -1);
        streams_remove(stream);
        free(stream);
        return CUDA_OUT_OF_MEMORY;
    }
    *made = stream;
    return CUDA_SUCCESS;
}

EXPORT cuda_result cuStreamGetPriority(cuda_stream stream, int *priority) {
    CONTEXT(context)
    (void)context;
    if (stream == NULL) {
        return CUDA_INVALID_HANDLE;
    }
    *priority = stream->priority;
    return CUDA_SUCCESS;
}

/* Work in flight goes on, then the stream is gone. */
EXPORT cuda_result cuStreamDestroy_v2(cuda_stream stream) {
    if (stream == NULL) {
        return CUDA_INVALID_HANDLE;
    }
    pthread_mutex_lock(&stream->lock);
    stream->is_closing = true;
    pthread_cond_broadcast(&stream->changed);
    pthread_mutex_unlock(&stream->lock);
    return CUDA_SUCCESS;
}

EXPORT cuda_result cuStreamIsCapturing(cuda_stream stream, int *is_capturing) {
    if (stream == NULL) {
        return CUDA_INVALID_HANDLE;
    }
    pthread_mutex_lock(&stream->lock);
    *is_capturing = stream->is_captured;
    pthread_mutex_unlock(&stream->lock);
    return CUDA_SUCCESS;
}

cuda_result stream_capture(struct CUstream_st *stream, bool is_captured) {
    if (stream == NULL) {
        return CUDA_INVALID_HANDLE;
    }
    pthread_mutex_lock(&stream->lock);
    cuda_result result = stream->is_captured == is_captured ? CUDA_INVALID_VALUE : CUDA_SUCCESS;
    stream->is_captured = is_captured;
    pthread_mutex_unlock(&stream->lock);
    return result;
}

EXPORT cuda_result cuStreamQuery(cuda_stream stream) {
    STICKY();
    if (stream == NULL) {
        return CUDA_INVALID_HANDLE;
    }
    pthread_mutex_lock(&stream->lock);
    bool is_done = stream->first == NULL && !stream->is_busy;
    bool is_captured = stream->is_captured;
    pthread_mutex_unlock(&stream->lock);
    STICKY();
    return is_captured ? CUDA_STREAM_CAPTURE_UNSUPPORTED : is_done ? CUDA_SUCCESS : CUDA_NOT_READY;
}

static cuda_result add_memory(
        cuda_stream stream, enum operation_kind kind, cuda_address to, cuda_address from, size_t bytes, uint64_t value) {
    struct operation *operation = operation_make(kind);
    if (operation == NULL) {
        return CUDA_OUT_OF_MEMORY;
    }
    operation->to = to;
    operation->from = from;
    operation->bytes = bytes;
    operation->value = value;
    return stream_add(stream, operation);
}

/* Whether an address lies in memory that the driver knows: what does not is refused at once. */
static bool is_known(cuda_address address, size_t bytes) {
    world_read();
    bool known = is_one_range(address, bytes);
    world_release();
    return known;
}

EXPORT cuda_result cuMemcpyAsync(cuda_address to, cuda_address from, size_t bytes, cuda_stream stream) {
    CONTEXT(context)
    (void)context;
    if (bytes == 0) {
        return CUDA_SUCCESS;
    }
    if (copy_is_refused()) {
        return CUDA_OUT_OF_MEMORY;
    }
    return is_known(to, bytes) && is_known(from, bytes) ? add_memory(stream, COPY, to, from, bytes, 0)
                                                        : CUDA_INVALID_VALUE;
}

/* As CUDA 13.0 has it: one set of attributes for all copies is enough, and what they say makes no difference here. */
EXPORT cuda_result cuMemcpyBatchAsync_v2(
        cuda_address *to, cuda_address *from, size_t *bytes, size_t count, void *attributes, size_t *first,
        size_t attribute_count, cuda_stream stream) {
    if (count == 0 || attributes == NULL || attribute_count != 1 || first[0] != 0 || stream == NULL) {
        return CUDA_INVALID_VALUE;
    }
    cuda_result result = CUDA_SUCCESS;
    for (size_t i = 0; result == CUDA_SUCCESS && i < count; i++) {
        result = cuMemcpyAsync(to[i], from[i], bytes[i], stream);
    }
    return result;
}

EXPORT cuda_result cuMemsetD8Async(cuda_address address, unsigned char value, size_t bytes, cuda_stream stream) {
    CONTEXT(context)
    (void)context;
    return is_known(address, bytes) ? add_memory(stream, FILL, address, 0, bytes, value) : CUDA_INVALID_VALUE;
}

EXPORT cuda_result cuStreamWriteValue64_v2(cuda_stream stream, cuda_address address, uint64_t value, unsigned flags) {
    CONTEXT(context)
    (void)context;
    return address % 8 == 0 && flags == 0 && is_known(address, 8) ? add_memory(stream, WRITE_WORD, address, 0, 8, value)
                                                                  : CUDA_INVALID_VALUE;
}

EXPORT cuda_result cuLaunchHostFunc(cuda_stream stream, void (*function)(void *argument), void *argument) {
    CONTEXT(context)
    (void)context;
    struct operation *operation = operation_make(CALL);
    if (operation == NULL) {
        return CUDA_OUT_OF_MEMORY;
    }
    operation->function = function;
    operation->argument = argument;
    return stream_add(stream, operation);
}

EXPORT int soft_gpu_poll(void *stream, int (*poll)(void *argument), void *argument) {
    CONTEXT(context)
    (void)context;
    struct operation *operation = operation_make(POLL);
    if (operation == NULL) {
        return CUDA_OUT_OF_MEMORY;
    }
    operation->poll = poll;
    operation->argument = argument;
    return stream_add(stream, operation);
}
