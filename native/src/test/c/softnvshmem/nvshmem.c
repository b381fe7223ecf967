#define _GNU_SOURCE
#include "cuda_api.h"
#include "soft_gpu.h"
#include "soft_nvshmem.h"

#include <fcntl.h>
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

/* As NVSHMEM's headers have them. */
#define WITH_UNIQUE_ID 8
#define SIGNAL_SET 9
#define SIGNAL_ADD 10
#define ERROR_INTERNAL 7
#define INITIALISED 2
#define MAJOR 3
#define MINOR 4
#define PATCH 5

#define MOST_RANKS 64
#define GRANULE ((size_t)2 << 20)
#define ALIGNMENT 512

typedef struct {
    int version;
    char text[124];
} unique_id;

struct identity {
    int version;
    unique_id *id;
    int rank;
    int ranks;
};

struct arguments {
    int version;
    struct identity identity;
    char content[96];
};

struct attributes {
    int version;
    void *mpi;
    struct arguments arguments;
};

_Static_assert(sizeof(unique_id) == 128, "a unique id has 128 bytes");
_Static_assert(sizeof(struct identity) == 24, "an identity has 24 bytes");
_Static_assert(sizeof(struct arguments) == 128, "arguments have 128 bytes");
_Static_assert(sizeof(struct attributes) == 144, "attributes have 144 bytes");

struct rank {
    atomic_int is_there;
    int process;
    int descriptor;
};

struct shared {
    atomic_int come;
    atomic_int passed;
    struct rank ranks[MOST_RANKS];
};

#define FUNCTION(result, name, parameters) result name parameters;
FUNCTION(cuda_result, cuMemCreate, (cuda_allocation *, size_t, const struct cuda_allocation_properties *, unsigned long long))
FUNCTION(cuda_result, cuMemExportToShareableHandle, (void *, cuda_allocation, int, unsigned long long))
FUNCTION(cuda_result, cuMemImportFromShareableHandle, (cuda_allocation *, void *, int))
FUNCTION(cuda_result, cuMemAddressReserve, (cuda_address *, size_t, size_t, cuda_address, unsigned long long))
FUNCTION(cuda_result, cuMemMap, (cuda_address, size_t, size_t, cuda_allocation, unsigned long long))
FUNCTION(cuda_result, cuMemSetAccess, (cuda_address, size_t, const struct cuda_access *, size_t))

static struct shared *shared;
static int rank = -1;
static int ranks;
static int ordinal;
static bool is_initialised;
static int barriers;
static size_t heap_bytes;
static size_t heap_used;
static cuda_address heaps[MOST_RANKS];

static atomic_uint_fast64_t late;
static const char *fails;
static bool has_no_peers;
static atomic_int_fast64_t puts_made;
static atomic_int_fast64_t calls;

__attribute__((constructor)) static void read_variables(void) {
    const char *nanos = getenv("SOFT_NVSHMEM_LATE_NANOS");
    atomic_store(&late, nanos == NULL ? 0 : strtoull(nanos, NULL, 10));
    fails = getenv("SOFT_NVSHMEM_FAIL");
    has_no_peers = getenv("SOFT_NVSHMEM_NO_PEERS") != NULL;
}

EXPORT void soft_nvshmem_late(uint64_t nanoseconds) {
    atomic_store(&late, nanoseconds);
}

EXPORT void soft_nvshmem_fail(const char *what) {
    fails = what == NULL ? NULL : strdup(what);
}

EXPORT int64_t soft_nvshmem_count(const char *what) {
    return strcmp(what, "puts_made") == 0 ? atomic_load(&puts_made) : strcmp(what, "calls") == 0 ? atomic_load(&calls) : -1;
}

static bool does_fail(const char *what) {
    return fails != NULL && strcmp(fails, what) == 0;
}

static _Noreturn void end_process(const char *why) {
    fprintf(stderr, "softnvshmem: %s\n", why);
    exit(255);
}

static void check_initialised(void) {
    atomic_fetch_add(&calls, 1);
    if (!is_initialised) {
        end_process("nvshmem API called before nvshmem_init");
    }
}

static void nap(void) {
    nanosleep(&(struct timespec){.tv_nsec = 50000}, NULL);
}

static uint64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

EXPORT void nvshmemx_vendor_get_version_info(int *major, int *minor, int *patch) {
    *major = MAJOR;
    *minor = MINOR;
    *patch = PATCH;
}

EXPORT int nvshmemx_get_uniqueid(unique_id *id) {
    uint64_t numbers[2];
    if (id->version != (1 << 16) + (int)sizeof *id || getrandom(numbers, sizeof numbers, 0) != sizeof numbers) {
        return ERROR_INTERNAL;
    }
    snprintf(id->text, sizeof id->text, "/soft-nvshmem-%016llx%016llx", (unsigned long long)numbers[0],
            (unsigned long long)numbers[1]);
    return 0;
}

static int map(cuda_allocation allocation, cuda_address *address) {
    struct cuda_access access = {{CUDA_LOCATION_DEVICE, ordinal}, CUDA_ACCESS_READ_WRITE};
    return cuMemAddressReserve(address, heap_bytes, 0, 0, 0) != CUDA_SUCCESS
            || cuMemMap(*address, heap_bytes, 0, allocation, 0) != CUDA_SUCCESS
            || cuMemSetAccess(*address, heap_bytes, &access, 1) != CUDA_SUCCESS;
}

static int make_heap(void) {
    struct cuda_allocation_properties properties = {
        .type = CUDA_ALLOCATION_PINNED, .handle_types = CUDA_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
        .location = {CUDA_LOCATION_DEVICE, ordinal}};
    cuda_allocation allocation;
    int descriptor;
    if (cuMemCreate(&allocation, heap_bytes, &properties, 0) != CUDA_SUCCESS
            || cuMemExportToShareableHandle(&descriptor, allocation, CUDA_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0)
                    != CUDA_SUCCESS
            || map(allocation, &heaps[rank]) != 0) {
        return ERROR_INTERNAL;
    }
    shared->ranks[rank].process = getpid();
    shared->ranks[rank].descriptor = descriptor;
    atomic_store(&shared->ranks[rank].is_there, 1);
    return 0;
}

static int open_heap(int of) {
    while (atomic_load(&shared->ranks[of].is_there) == 0) {
        nap();
    }
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/fd/%d", shared->ranks[of].process, shared->ranks[of].descriptor);
    int fd = open(path, O_RDWR | O_CLOEXEC);
    cuda_allocation allocation;
    if (fd < 0
            || cuMemImportFromShareableHandle(&allocation, (void *)(intptr_t)fd, CUDA_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR)
                    != CUDA_SUCCESS) {
        return ERROR_INTERNAL;
    }
    close(fd);
    return map(allocation, &heaps[of]) == 0 ? 0 : ERROR_INTERNAL;
}

static void await_all(void) {
    barriers++;
    atomic_fetch_add(&shared->come, 1);
    while (atomic_load(&shared->come) < barriers * ranks) {
        nap();
    }
}

EXPORT int nvshmemx_hostlib_init_attr(unsigned flags, struct attributes *attributes) {
    struct identity *identity = &attributes->arguments.identity;
    const char *nvls = getenv("NVSHMEM_DISABLE_NVLS");
    const char *size = getenv("NVSHMEM_SYMMETRIC_SIZE");
    atomic_fetch_add(&calls, 1);
    if (is_initialised || flags != WITH_UNIQUE_ID || attributes->version != (1 << 16) + (int)sizeof *attributes
            || attributes->arguments.version != (1 << 16) + (int)sizeof attributes->arguments
            || identity->version != (1 << 16) + (int)sizeof *identity || identity->rank < 0
            || identity->rank >= identity->ranks || identity->ranks > MOST_RANKS || nvls == NULL || strcmp(nvls, "1") != 0
            || soft_gpu_current() < 0 || does_fail("init")) {
        return ERROR_INTERNAL;
    }
    rank = identity->rank;
    ranks = identity->ranks;
    ordinal = soft_gpu_current();
    heap_bytes = ((size == NULL ? (size_t)1 << 30 : strtoull(size, NULL, 10)) + GRANULE - 1) & ~(GRANULE - 1);
    int fd = shm_open(identity->id->text, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0 || ftruncate(fd, sizeof *shared) != 0) {
        return ERROR_INTERNAL;
    }
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    int error = shared == MAP_FAILED ? ERROR_INTERNAL : make_heap();
    for (int other = 0; error == 0 && other < ranks; other++) {
        error = other == rank ? 0 : open_heap(other);
    }
    if (error == 0) {
        await_all();
        /* All ranks have it: the name is not needed any more. */
        shm_unlink(identity->id->text);
        is_initialised = true;
    }
    return error;
}

EXPORT int nvshmemx_init_status(void) {
    return is_initialised ? INITIALISED : 0;
}

EXPORT int nvshmem_my_pe(void) {
    check_initialised();
    return rank;
}

EXPORT int nvshmem_n_pes(void) {
    check_initialised();
    return ranks;
}

EXPORT void nvshmem_barrier_all(void) {
    check_initialised();
    await_all();
}

EXPORT void *nvshmem_malloc(size_t bytes) {
    check_initialised();
    size_t taken = (bytes + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
    void *allocated = NULL;
    if (!does_fail("malloc") && taken <= heap_bytes - heap_used) {
        allocated = (void *)(uintptr_t)(heaps[rank] + heap_used);
        heap_used += taken;
    }
    await_all();
    return allocated;
}

/* Where another rank has what this one has at an address. */
static cuda_address address_of(const void *own, size_t bytes, int of) {
    cuda_address address = (cuda_address)(uintptr_t)own;
    if (of < 0 || of >= ranks) {
        end_process("there is no such rank");
    }
    if (address < heaps[rank] || address - heaps[rank] + bytes > heap_used) {
        end_process("an address is not in the symmetric heap");
    }
    return heaps[of] + (address - heaps[rank]);
}

EXPORT void *nvshmem_ptr(const void *own, int of) {
    check_initialised();
    cuda_address address = (cuda_address)(uintptr_t)own;
    bool is_ours = address >= heaps[rank] && address - heaps[rank] < heap_bytes && of >= 0 && of < ranks;
    return !is_ours || (has_no_peers && of != rank) ? NULL : (void *)(uintptr_t)(heaps[of] + (address - heaps[rank]));
}

struct put {
    char *to;
    const char *from;
    size_t bytes;
    uint64_t *word;
    uint64_t value;
    int operation;
    uint64_t bytes_at;
    uint64_t signal_at;
};

/* On the stream's thread. */
static int poll_put(void *argument) {
    struct put *put = argument;
    uint64_t time = now();
    if (put->bytes > 0 && time >= put->bytes_at) {
        memcpy(put->to, put->from, put->bytes);
        put->bytes = 0;
    }
    if (put->bytes > 0 || time < put->signal_at) {
        return 0;
    }
    if (put->operation == SIGNAL_SET) {
        __atomic_store_n(put->word, put->value, __ATOMIC_RELEASE);
    } else {
        __atomic_fetch_add(put->word, put->value, __ATOMIC_RELEASE);
    }
    free(put);
    return 1;
}

EXPORT void nvshmemx_putmem_signal_on_stream(
        void *to, const void *from, size_t bytes, uint64_t *word, uint64_t value, int operation, int of, void *stream) {
    check_initialised();
    struct put *put = malloc(sizeof *put);
    uint64_t longest = atomic_load(&late);
    if (put == NULL || (operation != SIGNAL_SET && operation != SIGNAL_ADD)) {
        end_process("a put with a signal that is none");
    }
    *put = (struct put){
        .to = soft_gpu_bytes(ordinal, address_of(to, bytes, of), bytes),
        .from = soft_gpu_bytes(ordinal, (uintptr_t)from, bytes),
        .bytes = bytes,
        .word = soft_gpu_bytes(ordinal, address_of(word, sizeof *word, of), sizeof *word),
        .value = value,
        .operation = operation};
    if (longest > 0) {
        uint64_t random = 0;
        getrandom(&random, sizeof random, 0);
        put->bytes_at = now() + random % longest;
        put->signal_at = put->bytes_at + (random >> 32) % longest;
    }
    if (put->to == NULL || put->from == NULL || put->word == NULL || soft_gpu_poll(stream, poll_put, put) != 0) {
        end_process("a put of what the GPU does not reach");
    }
    atomic_fetch_add(&puts_made, 1);
}
