#define _GNU_SOURCE
#include "soft_nccl.h"
#include "channel.h"
#include "soft_gpu.h"

#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

/* As NCCL's header has them. */
enum { SUCCESS = 0, SYSTEM_ERROR = 2, INVALID_ARGUMENT = 4, INVALID_USAGE = 5, REMOTE_ERROR = 6, IN_PROGRESS = 7 };

#define MAGIC 0xcafebeef
#define ID_BYTES 128
#define UNDEFINED INT_MIN
#define UINT8 1
#define MOST_RANKS 64
#define MOST_OPERATIONS 256
#define MOST_PROGRESS_POLLS 3
#ifdef WITH_WINDOWS
#define VERSION 22907
#else
#define VERSION 22809
#endif

#define PIECE_BYTES ((size_t)4096)

typedef struct {
    char text[ID_BYTES];
} unique_id;

struct configuration {
    size_t size;
    unsigned magic;
    unsigned version;
    int blocking;
};

struct shared {
    atomic_int attached;
    /* By sender and receiver: of sends, then of puts. */
    struct channel channels[];
};

struct communicator {
    struct shared *shared;
    size_t shared_bytes;
    char name[ID_BYTES];
    int rank;
    int ranks;
    int ordinal;
    atomic_int error;
    atomic_bool is_aborted;
    atomic_int groups;
    int polls_until_ready;
    struct group *launching;
    /* Windows, by their number: where they begin here. */
    uint64_t windows[16];
    uint64_t window_bytes[16];
    int window_count;
    int puts_come[MOST_RANKS];
    /* What the put that is coming is for. */
    uint64_t put_to[MOST_RANKS];
    uint64_t put_left[MOST_RANKS];
    uint64_t put_at[MOST_RANKS];
};

enum kind { SEND, RECEIVE, PUT, WAIT };

struct operation {
    enum kind kind;
    int peer;
    char *bytes;
    size_t length;
    size_t done;
    bool has_head;
    bool is_done;
    /* Of a put: which window, and where. */
    uint64_t window;
    uint64_t offset;
    int count;
};

struct group {
    struct communicator *communicator;
    void *stream;
    int count;
    uint64_t begin_at;
    struct operation operations[MOST_OPERATIONS];
};

static _Thread_local int depth;
static _Thread_local struct group *collecting;
static _Thread_local int mistake;

static atomic_uint_fast64_t late;
static atomic_int shuffle;
static atomic_int_fast64_t groups_left = -1;
static atomic_int_fast64_t communicators;
static atomic_int_fast64_t aborts;
static atomic_int_fast64_t groups;
static atomic_int_fast64_t puts_made;
static atomic_int_fast64_t mistakes;

__attribute__((constructor)) static void read_variables(void) {
    const char *nanos = getenv("SOFT_NCCL_LATE_NANOS");
    const char *after = getenv("SOFT_NCCL_FAIL_AFTER");
    atomic_store(&late, nanos == NULL ? 0 : strtoull(nanos, NULL, 10));
    atomic_store(&shuffle, getenv("SOFT_NCCL_SHUFFLE") != NULL);
    atomic_store(&groups_left, after == NULL ? -1 : strtoll(after, NULL, 10));
}

EXPORT void soft_nccl_late(uint64_t nanoseconds) {
    atomic_store(&late, nanoseconds);
}

EXPORT void soft_nccl_shuffle(int on) {
    atomic_store(&shuffle, on);
}

EXPORT void soft_nccl_fail_after(int64_t count) {
    atomic_store(&groups_left, count);
}

EXPORT int64_t soft_nccl_count(const char *what) {
#define FIND(name) \
    if (strcmp(what, #name) == 0) { \
        return atomic_load(&name); \
    }
    FIND(communicators)
    FIND(aborts)
    FIND(groups)
    FIND(puts_made)
    FIND(mistakes)
#undef FIND
    return -1;
}

static uint64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

static uint64_t random_number(void) {
    static _Thread_local uint64_t state;
    if (state == 0) {
        state = now() ^ (uintptr_t)&state ^ 0x9e3779b97f4a7c15;
    }
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

static int refuse(int error) {
    atomic_fetch_add(&mistakes, 1);
    return error;
}

/* ---- channels ---- */

static struct channel *channel_of(struct communicator *communicator, int from, int to, bool of_puts) {
    int ranks = communicator->ranks;
    return &communicator->shared->channels[(of_puts ? ranks * ranks : 0) + from * ranks + to];
}

static size_t piece(const struct operation *operation) {
    size_t left = operation->length - operation->done;
    return atomic_load(&shuffle) && left > PIECE_BYTES ? PIECE_BYTES : left;
}

/* ---- operations: each goes on as far as it can, and returns whether it is done ---- */

static bool send_some(struct communicator *communicator, struct operation *operation) {
    struct channel *channel = channel_of(communicator, communicator->rank, operation->peer, false);
    uint64_t length = operation->length;
    if (!operation->has_head) {
        operation->has_head = write_head(channel, &length, sizeof length);
    }
    if (operation->has_head) {
        operation->done += write_some(channel, operation->bytes + operation->done, piece(operation));
    }
    return operation->has_head && operation->done == operation->length;
}

static bool receive_some(struct communicator *communicator, struct operation *operation) {
    struct channel *channel = channel_of(communicator, operation->peer, communicator->rank, false);
    uint64_t length;
    if (!operation->has_head && take_head(channel, &length, sizeof length)) {
        operation->has_head = true;
        if (length != operation->length) {
            /* NCCL would corrupt memory or hang. */
            atomic_store(&communicator->error, refuse(INVALID_USAGE));
        }
    }
    if (operation->has_head) {
        operation->done += take_some(channel, operation->bytes + operation->done, piece(operation));
    }
    return operation->has_head && operation->done == operation->length;
}

static bool put_some(struct communicator *communicator, struct operation *operation) {
    struct channel *channel = channel_of(communicator, communicator->rank, operation->peer, true);
    uint64_t head[3] = {operation->window, operation->offset, operation->length};
    if (!operation->has_head) {
        operation->has_head = write_head(channel, head, sizeof head);
    }
    if (operation->has_head) {
        operation->done += write_some(channel, operation->bytes + operation->done, piece(operation));
    }
    return operation->has_head && operation->done == operation->length;
}

/* The target's part of a put, which the copy engines of a real one do. */
static void take_puts(struct communicator *communicator, int peer) {
    struct channel *channel = channel_of(communicator, peer, communicator->rank, true);
    uint64_t head[3];
    if (communicator->put_left[peer] == 0 && take_head(channel, head, sizeof head)) {
        communicator->put_to[peer] = communicator->windows[head[0]] + head[1];
        communicator->put_left[peer] = head[2];
        communicator->put_at[peer] = 0;
    }
    if (communicator->put_left[peer] > 0) {
        char *to = (char *)(uintptr_t)communicator->put_to[peer];
        size_t count = take_some(channel, to + communicator->put_at[peer], communicator->put_left[peer]);
        communicator->put_at[peer] += count;
        communicator->put_left[peer] -= count;
        if (communicator->put_left[peer] == 0) {
            communicator->puts_come[peer]++;
        }
    }
}

static bool wait_some(struct communicator *communicator, struct operation *operation) {
    take_puts(communicator, operation->peer);
    if (communicator->puts_come[operation->peer] < operation->count) {
        return false;
    }
    communicator->puts_come[operation->peer] -= operation->count;
    operation->count = 0;
    return true;
}

static bool go_on(struct communicator *communicator, struct operation *operation) {
    switch (operation->kind) {
        case SEND:
            return send_some(communicator, operation);
        case RECEIVE:
            return receive_some(communicator, operation);
        case PUT:
            return put_some(communicator, operation);
        case WAIT:
            return wait_some(communicator, operation);
    }
    return true;
}

/* Messages from one rank to another keep their order, as NCCL matches them by it. */
static bool is_behind_another(const struct group *group, int index) {
    const struct operation *operation = &group->operations[index];
    for (int i = 0; i < index; i++) {
        const struct operation *earlier = &group->operations[i];
        if (!earlier->is_done && earlier->kind == operation->kind && earlier->peer == operation->peer) {
            return true;
        }
    }
    return false;
}

/* On the stream's thread. */
static int poll_group(void *argument) {
    struct group *group = argument;
    struct communicator *communicator = group->communicator;
    bool is_over = atomic_load(&communicator->is_aborted);
    if (!is_over && (now() < group->begin_at || atomic_load(&communicator->error) != SUCCESS)) {
        return 0;
    }
    bool is_done = true;
    int first = atomic_load(&shuffle) && group->count > 0 ? (int)(random_number() % (unsigned)group->count) : 0;
    for (int i = 0; !is_over && i < group->count; i++) {
        int index = (first + i) % group->count;
        struct operation *operation = &group->operations[index];
        if (!operation->is_done && !is_behind_another(group, index)) {
            operation->is_done = go_on(communicator, operation);
        }
        is_done &= operation->is_done;
    }
    if (is_over || is_done) {
        free(group);
        atomic_fetch_sub(&communicator->groups, 1);
        return 1;
    }
    return 0;
}

/* ---- the interface ---- */

EXPORT int ncclGetVersion(int *version) {
    *version = VERSION;
    return SUCCESS;
}

EXPORT const char *ncclGetErrorString(int error) {
    static const char *const texts[] = {"no error", "unhandled cuda error", "unhandled system error", "internal error",
            "invalid argument", "invalid usage", "remote process exited or there was a network error", "in progress"};
    return error >= 0 && error <= IN_PROGRESS ? texts[error] : "unknown result code";
}

EXPORT const char *ncclGetLastError(struct communicator *communicator) {
    return communicator == NULL || atomic_load(&communicator->error) == SUCCESS ? "" : "made by the test";
}

EXPORT int ncclGetUniqueId(unique_id *id) {
    uint64_t numbers[2];
    if (getrandom(numbers, sizeof numbers, 0) != sizeof numbers) {
        return SYSTEM_ERROR;
    }
    memset(id, 0, sizeof *id);
    snprintf(id->text, sizeof id->text, "/soft-nccl-%016llx%016llx", (unsigned long long)numbers[0],
            (unsigned long long)numbers[1]);
    return SUCCESS;
}

EXPORT int ncclCommInitRankConfig(
        struct communicator **made, int ranks, unique_id id, int rank, const struct configuration *configuration) {
    if (made == NULL || rank < 0 || rank >= ranks || ranks > MOST_RANKS || memchr(id.text, 0, ID_BYTES) == NULL
            || configuration == NULL || configuration->magic != MAGIC || configuration->size < sizeof *configuration
            || configuration->blocking != 0) {
        return refuse(INVALID_ARGUMENT);
    }
    if (soft_gpu_current() < 0 || getenv("NCCL_NVLS_ENABLE") == NULL || strcmp(getenv("NCCL_NVLS_ENABLE"), "0") != 0) {
        return refuse(INVALID_USAGE);
    }
    struct communicator *communicator = calloc(1, sizeof *communicator);
    int fd = shm_open(id.text, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    size_t bytes = sizeof(struct shared) + 2 * (size_t)ranks * (size_t)ranks * sizeof(struct channel);
    if (communicator == NULL || fd < 0 || ftruncate(fd, (off_t)bytes) != 0) {
        free(communicator);
        return SYSTEM_ERROR;
    }
    void *shared = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    if (shared == MAP_FAILED) {
        free(communicator);
        return SYSTEM_ERROR;
    }
    communicator->shared = shared;
    communicator->shared_bytes = bytes;
    memcpy(communicator->name, id.text, sizeof communicator->name);
    communicator->rank = rank;
    communicator->ranks = ranks;
    communicator->ordinal = soft_gpu_current();
    atomic_fetch_add(&communicators, 1);
    if (atomic_fetch_add(&communicator->shared->attached, 1) + 1 == ranks) {
        /* All ranks have it: the name is not needed any more. */
        shm_unlink(id.text);
    }
    *made = communicator;
    return IN_PROGRESS;
}

static int launch(struct communicator *communicator) {
    struct group *group = communicator->launching;
    communicator->launching = NULL;
    atomic_fetch_add(&communicator->groups, 1);
    if (soft_gpu_poll(group->stream, poll_group, group) != 0) {
        atomic_fetch_sub(&communicator->groups, 1);
        free(group);
        return 1;
    }
    return SUCCESS;
}

EXPORT int ncclCommGetAsyncError(struct communicator *communicator, int *error) {
    if (communicator == NULL || error == NULL) {
        return refuse(INVALID_ARGUMENT);
    }
    *error = atomic_load(&communicator->error);
    if (*error == SUCCESS
            && (atomic_load(&communicator->shared->attached) < communicator->ranks
                    || communicator->polls_until_ready-- > 0)) {
        *error = IN_PROGRESS;
    } else if (*error == SUCCESS) {
        communicator->polls_until_ready = 0;
        if (communicator->launching != NULL) {
            *error = launch(communicator);
        }
    }
    return SUCCESS;
}

EXPORT int ncclCommAbort(struct communicator *communicator) {
    if (communicator == NULL) {
        return refuse(INVALID_ARGUMENT);
    }
    atomic_store(&communicator->is_aborted, true);
    while (atomic_load(&communicator->groups) > 0) {
        nanosleep(&(struct timespec){.tv_nsec = 20000}, NULL);
    }
    if (atomic_load(&communicator->shared->attached) < communicator->ranks) {
        shm_unlink(communicator->name);
    }
    free(communicator->launching);
    munmap(communicator->shared, communicator->shared_bytes);
    free(communicator);
    atomic_fetch_sub(&communicators, 1);
    atomic_fetch_add(&aborts, 1);
    return SUCCESS;
}

EXPORT int ncclGroupStart(void) {
    depth++;
    return SUCCESS;
}

EXPORT int ncclGroupEnd(void) {
    if (depth == 0) {
        return refuse(INVALID_USAGE);
    }
    if (--depth > 0) {
        return SUCCESS;
    }
    struct group *group = collecting;
    int wrong = mistake;
    collecting = NULL;
    mistake = SUCCESS;
    if (wrong != SUCCESS || group == NULL) {
        free(group);
        return wrong;
    }
    struct communicator *communicator = group->communicator;
    if (communicator->launching != NULL) {
        free(group);
        return refuse(INVALID_USAGE);
    }
    atomic_fetch_add(&groups, 1);
    int_fast64_t left = atomic_load(&groups_left);
    if (left >= 0 && atomic_fetch_sub(&groups_left, 1) == 0) {
        atomic_store(&communicator->error, REMOTE_ERROR);
    }
    uint64_t longest = atomic_load(&late);
    group->begin_at = longest == 0 ? 0 : now() + random_number() % longest;
    communicator->launching = group;
    communicator->polls_until_ready = (int)(random_number() % MOST_PROGRESS_POLLS);
    return IN_PROGRESS;
}

/* Adds an operation to the group of the thread; NULL if it is a mistake. */
static struct operation *add(
        struct communicator *communicator, void *stream, enum kind kind, int peer, uint64_t address, size_t length,
        int type) {
    if (communicator == NULL || stream == NULL || depth == 0 || peer < 0 || peer >= communicator->ranks
            || peer == communicator->rank || (kind != WAIT && type != UINT8)
            || (collecting != NULL && (collecting->communicator != communicator || collecting->count == MOST_OPERATIONS))) {
        mistake = refuse(INVALID_ARGUMENT);
        return NULL;
    }
    void *bytes = kind == WAIT ? NULL : soft_gpu_bytes(communicator->ordinal, address, length);
    if (kind != WAIT && bytes == NULL) {
        mistake = refuse(INVALID_ARGUMENT);
        return NULL;
    }
    if (collecting == NULL) {
        collecting = calloc(1, sizeof *collecting);
        collecting->communicator = communicator;
        collecting->stream = stream;
    }
    struct operation *added = &collecting->operations[collecting->count++];
    *added = (struct operation){.kind = kind, .peer = peer, .bytes = bytes, .length = length};
    return added;
}

EXPORT int ncclSend(uint64_t from, size_t count, int type, int peer, struct communicator *communicator, void *stream) {
    return add(communicator, stream, SEND, peer, from, count, type) == NULL ? INVALID_ARGUMENT : SUCCESS;
}

EXPORT int ncclRecv(uint64_t to, size_t count, int type, int peer, struct communicator *communicator, void *stream) {
    return add(communicator, stream, RECEIVE, peer, to, count, type) == NULL ? INVALID_ARGUMENT : SUCCESS;
}

#ifdef WITH_WINDOWS
typedef struct {
    int count;
    int peer;
    int index;
    int context;
} wait_description;

int cuMemAlloc_v2(uint64_t *address, size_t bytes);
int cuMemFree_v2(uint64_t address);

EXPORT int ncclMemAlloc(uint64_t *address, size_t bytes) {
    return cuMemAlloc_v2(address, bytes) == 0 ? SUCCESS : 1;
}

EXPORT int ncclMemFree(uint64_t address) {
    return cuMemFree_v2(address) == 0 ? SUCCESS : 1;
}

/* A window's handle is its number and 1 more. */
EXPORT int ncclCommWindowRegister(
        struct communicator *communicator, uint64_t address, size_t bytes, uintptr_t *window, int flags) {
    void *here = communicator == NULL ? NULL : soft_gpu_bytes(communicator->ordinal, address, bytes);
    if (here == NULL || flags != 1 || communicator->window_count == 16) {
        return refuse(INVALID_ARGUMENT);
    }
    communicator->windows[communicator->window_count] = (uintptr_t)here;
    communicator->window_bytes[communicator->window_count] = bytes;
    *window = (uintptr_t)++communicator->window_count;
    communicator->polls_until_ready = 1;
    return IN_PROGRESS;
}

EXPORT int ncclCommWindowDeregister(struct communicator *communicator, uintptr_t window) {
    return communicator != NULL && window > 0 ? SUCCESS : refuse(INVALID_ARGUMENT);
}

EXPORT int ncclPutSignal(
        uint64_t from, size_t count, int type, int peer, uintptr_t window, size_t offset, int index, int context,
        unsigned flags, struct communicator *communicator, void *stream) {
    if (communicator == NULL || window == 0 || window > (uintptr_t)communicator->window_count || index != 0
            || context != 0 || flags != 0 || offset + count > communicator->window_bytes[window - 1]) {
        return mistake = refuse(INVALID_ARGUMENT);
    }
    struct operation *put = add(communicator, stream, PUT, peer, from, count, type);
    if (put == NULL) {
        return INVALID_ARGUMENT;
    }
    put->window = window - 1;
    put->offset = offset;
    atomic_fetch_add(&puts_made, 1);
    return SUCCESS;
}

EXPORT int ncclWaitSignal(int count, const wait_description *waits, struct communicator *communicator, void *stream) {
    for (int i = 0; i < count; i++) {
        if (waits[i].index != 0 || waits[i].context != 0) {
            return mistake = refuse(INVALID_ARGUMENT);
        }
        struct operation *wait = add(communicator, stream, WAIT, waits[i].peer, 0, 0, UINT8);
        if (wait == NULL) {
            return INVALID_ARGUMENT;
        }
        wait->count = waits[i].count;
    }
    return SUCCESS;
}
#endif
