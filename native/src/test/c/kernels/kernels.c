#define _GNU_SOURCE
#include "kernels.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define MOST_FILES 8
#define MOST_KERNELS 128
#define MOST_PARAMETERS 8
#define NAME_BYTES 128
#define PAGE 4096
#define LOG_BYTES 4096
#define LOOK_NANOS 50000
#define NANOS_OF_MILLI UINT64_C(1000000)
#define MOST_MILLIS 1000000000

static struct {
#define MEMBER(name, symbol, parameters) cuda_result(*name) parameters;
    CUDA_FUNCTIONS(MEMBER)
    CUDA_NEWER_FUNCTIONS(MEMBER)
#undef MEMBER
} cuda;

struct kernel {
    char name[NAME_BYTES];
    cuda_function functions[RANKS];
    unsigned launches;
};

struct rank {
    unsigned number;
    cuda_device device;
    cuda_context context;
    cuda_stream stream;
    /* The way of all copies. */
    uint8_t *staging;
    cuda_address staging_address;
    size_t staging_bytes;
    pthread_t thread;
};

static struct rank ranks[RANKS];
static struct kernel kernels[MOST_KERNELS];
static unsigned kernel_count;
static pthread_barrier_t meeting;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static cuda_address shared[RANKS];
static uint64_t patience_nanos;

static _Noreturn void complain(const char *what, va_list arguments) {
    vfprintf(stderr, what, arguments);
    fputc('\n', stderr);
    /* a kernel of the other rank may wait */
    _exit(1);
}

static _Noreturn __attribute__((format(printf, 1, 2))) void give_up(const char *what, ...) {
    va_list arguments;
    va_start(arguments, what);
    complain(what, arguments);
}

_Noreturn void fail(const struct rank *rank, const char *what, ...) {
    fprintf(stderr, "rank %u: ", rank->number);
    va_list arguments;
    va_start(arguments, what);
    complain(what, arguments);
}

unsigned number_of(const struct rank *rank) {
    return rank->number;
}

uint64_t patience(void) {
    return patience_nanos;
}

static const char *name_of(cuda_result result) {
    const char *name = NULL;
    return cuda.error_name != NULL && cuda.error_name(result, &name) == CUDA_SUCCESS && name != NULL ? name : "?";
}

#define TRY(call) \
    do { \
        cuda_result tried = (call); \
        if (tried != CUDA_SUCCESS) { \
            give_up("%s: error %d, %s", #call, tried, name_of(tried)); \
        } \
    } while (0)

/* ---- starting ---- */

static void load_library(const char *name) {
    void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) {
        give_up("no CUDA driver: %s", dlerror());
    }
#define RESOLVE(name, symbol, parameters) \
    *(void **)&cuda.name = dlsym(library, #symbol); \
    if (cuda.name == NULL) { \
        give_up("the driver has no %s", #symbol); \
    }
#define RESOLVE_NEWER(name, symbol, parameters) *(void **)&cuda.name = dlsym(library, #symbol);
    CUDA_FUNCTIONS(RESOLVE)
    CUDA_NEWER_FUNCTIONS(RESOLVE_NEWER)
}

static char *read_file(const char *folder, const char *name) {
    char path[PAGE];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "r");
    if (file == NULL || fseek(file, 0, SEEK_END) != 0) {
        give_up("%s cannot be read", path);
    }
    long length = ftell(file);
    char *text = length < 0 ? NULL : calloc((size_t)length + 1, 1);
    rewind(file);
    if (text == NULL || fread(text, 1, (size_t)length, file) != (size_t)length) {
        give_up("%s cannot be read", path);
    }
    fclose(file);
    return text;
}

static cuda_module compiled(const char *name, const char *text) {
    static char log[LOG_BYTES];
    int options[] = {CUDA_JIT_ERROR_LOG, CUDA_JIT_ERROR_LOG_BYTES};
    void *values[] = {log, (void *)(uintptr_t)sizeof log};
    cuda_module module;
    cuda_result result = cuda.module_compile(&module, text, 2, options, values);
    if (result != CUDA_SUCCESS) {
        give_up("%s: error %d, %s: %s", name, result, name_of(result), log);
    }
    return module;
}

/* Takes note of the entries of a file; ranks on one GPU share the module. */
static void load_module(const char *folder, const char *name, unsigned gpus) {
    char *text = read_file(folder, name);
    cuda_module modules[RANKS];
    for (unsigned rank = 0; rank < RANKS; rank++) {
        TRY(cuda.set_current_context(ranks[rank].context));
        modules[rank] = rank < gpus ? compiled(name, text) : modules[0];
    }
    for (const char *at = text; (at = strstr(at, ".entry ")) != NULL; at++) {
        struct kernel *kernel = &kernels[kernel_count++];
        if (kernel_count == MOST_KERNELS || sscanf(at, ".entry %127[a-zA-Z0-9_]", kernel->name) != 1) {
            give_up("%s has too many entries, or one without a name", name);
        }
        for (unsigned rank = 0; rank < RANKS; rank++) {
            TRY(cuda.set_current_context(ranks[rank].context));
            TRY(cuda.module_function(&kernel->functions[rank], modules[rank], kernel->name));
            /* loaded by its first launch it could wait for a kernel that waits for it */
            if (cuda.function_load != NULL) {
                TRY(cuda.function_load(kernel->functions[rank]));
            }
        }
    }
    free(text);
}

static void open_ranks(unsigned gpus) {
    for (unsigned i = 0; i < RANKS; i++) {
        struct rank *rank = &ranks[i];
        rank->number = i;
        TRY(cuda.device_get(&rank->device, i < gpus ? (int)i : 0));
        TRY(cuda.retain_context(&rank->context, rank->device));
        TRY(cuda.set_current_context(rank->context));
        TRY(cuda.stream_create(&rank->stream, CUDA_STREAM_NON_BLOCKING, 0));
    }
    for (unsigned i = 0; gpus > 1 && i < RANKS; i++) {
        TRY(cuda.set_current_context(ranks[i].context));
        TRY(cuda.enable_peer_access(ranks[1 - i].context, 0));
    }
}

static void *run(void *argument) {
    struct rank *rank = argument;
    TRY(cuda.set_current_context(rank->context));
    run_rank(rank);
    return NULL;
}

int main(int count, char **arguments) {
    char *end = NULL;
    long millis = count == 4 ? strtol(arguments[3], &end, 10) : 0;
    if (millis < 1 || millis > MOST_MILLIS || *end != '\0') {
        fprintf(stderr, "usage: %s LIBRARY FOLDER MILLIS (in the place of libcuda; of the PTX; kernels wait for the other rank)\n",
                arguments[0]);
        return 2;
    }
    patience_nanos = (uint64_t)millis * NANOS_OF_MILLI;
    setenv("CUDA_MODULE_LOADING", "EAGER", 1);
    load_library(arguments[1]);
    int found = 0;
    TRY(cuda.initialise(0));
    TRY(cuda.device_count(&found));
    if (found == 0) {
        give_up("there is no GPU");
    }
    unsigned gpus = found < RANKS ? 1 : RANKS;
    open_ranks(gpus);
    for (const char *const *file = module_files; *file != NULL; file++) {
        load_module(arguments[2], *file, gpus);
    }
    pthread_barrier_init(&meeting, NULL, RANKS);
    for (unsigned i = 0; i < RANKS; i++) {
        if (pthread_create(&ranks[i].thread, NULL, run, &ranks[i]) != 0) {
            give_up("no thread");
        }
    }
    for (unsigned i = 0; i < RANKS; i++) {
        pthread_join(ranks[i].thread, NULL);
    }
    unsigned launches = 0;
    for (unsigned i = 0; i < kernel_count; i++) {
        launches += kernels[i].launches;
        if (kernels[i].launches == 0) {
            give_up("%s was not launched", kernels[i].name);
        }
    }
    printf("%u kernels, %u launches on %s: all results are right\n", kernel_count, launches, gpus == 1 ? "one GPU" : "two GPUs");
    return 0;
}

/* ---- memory ---- */

void await(struct rank *rank, const char *what) {
    struct timespec look = {.tv_nsec = LOOK_NANOS};
    cuda_result result;
    /* kernels end after their patience, and the script ends what does not */
    while ((result = cuda.stream_query(rank->stream)) == CUDA_NOT_READY) {
        nanosleep(&look, NULL);
    }
    if (result != CUDA_SUCCESS) {
        fail(rank, "%s: error %d, %s", what, result, name_of(result));
    }
}

cuda_address device_memory(struct rank *rank, size_t bytes) {
    cuda_address address;
    TRY(cuda.memory_allocate(&address, bytes));
    TRY(cuda.fill(address, 0, bytes, rank->stream));
    await(rank, "a fill");
    return address;
}

void *host_memory(struct rank *rank, size_t bytes, cuda_address *address) {
    size_t whole = (bytes + PAGE - 1) / PAGE * PAGE;
    void *memory = aligned_alloc(PAGE, whole);
    if (memory == NULL) {
        fail(rank, "no memory");
    }
    memset(memory, 0, whole);
    TRY(cuda.host_register(memory, whole, CUDA_HOST_PORTABLE | CUDA_HOST_DEVICE_MAP));
    TRY(cuda.host_device_address(address, memory, 0));
    return memory;
}

static void stage(struct rank *rank, size_t bytes) {
    if (bytes > rank->staging_bytes) {
        rank->staging_bytes = 2 * bytes;
        rank->staging = host_memory(rank, rank->staging_bytes, &rank->staging_address);
    }
}

void put(struct rank *rank, cuda_address to, const void *from, size_t bytes) {
    stage(rank, bytes);
    memcpy(rank->staging, from, bytes);
    TRY(cuda.copy(to, rank->staging_address, bytes, rank->stream));
    await(rank, "a copy");
}

void get(struct rank *rank, void *to, cuda_address from, size_t bytes) {
    stage(rank, bytes);
    TRY(cuda.copy(rank->staging_address, from, bytes, rank->stream));
    await(rank, "a copy");
    memcpy(to, rank->staging, bytes);
}

void spoil(struct rank *rank, cuda_address at, size_t bytes) {
    TRY(cuda.fill(at, 0xa5, bytes, rank->stream));
    await(rank, "a fill");
}

void share(struct rank *rank, cuda_address own, cuda_address *all) {
    shared[rank->number] = own;
    pthread_barrier_wait(&meeting);
    memcpy(all, shared, sizeof shared);
    pthread_barrier_wait(&meeting);
}

/* ---- launches ---- */

static struct kernel *kernel_of(const struct rank *rank, const char *name) {
    for (unsigned i = 0; i < kernel_count; i++) {
        if (strcmp(kernels[i].name, name) == 0) {
            return &kernels[i];
        }
    }
    fail(rank, "no file of PTX has %s", name);
}

/* The structures of this program are those of the kernel. */
static void check_parameters(
        const struct rank *rank, const struct kernel *kernel, const struct parameter *parameters, unsigned count) {
    if (cuda.function_parameter == NULL) {
        return;
    }
    size_t offset;
    size_t bytes;
    cuda_function function = kernel->functions[rank->number];
    for (unsigned i = 0; i < count; i++) {
        cuda_result result = cuda.function_parameter(function, i, &offset, &bytes);
        if (result != CUDA_SUCCESS || bytes != parameters[i].bytes) {
            fail(rank, "parameter %u of %s is not %zu bytes long", i, kernel->name, parameters[i].bytes);
        }
    }
    if (cuda.function_parameter(function, count, &offset, &bytes) == CUDA_SUCCESS) {
        fail(rank, "%s has more parameters than %u", kernel->name, count);
    }
}

void launch(
        struct rank *rank, const char *name, unsigned blocks, unsigned threads, unsigned shared_bytes,
        const struct parameter *parameters) {
    struct kernel *kernel = kernel_of(rank, name);
    void *values[MOST_PARAMETERS];
    unsigned count = 0;
    for (; parameters[count].value != NULL; count++) {
        values[count] = (void *)(uintptr_t)parameters[count].value;
    }
    pthread_mutex_lock(&lock);
    if (kernel->launches == 0) {
        check_parameters(rank, kernel, parameters, count);
    }
    kernel->launches++;
    pthread_mutex_unlock(&lock);
    pthread_barrier_wait(&meeting);
    cuda_result result = cuda.launch(
            kernel->functions[rank->number], blocks, 1, 1, threads, 1, 1, shared_bytes, rank->stream, values, NULL);
    if (result != CUDA_SUCCESS) {
        fail(rank, "%s: error %d, %s", name, result, name_of(result));
    }
}

/* ---- results ---- */

void expect_here(struct rank *rank, const void *at, const void *expected, size_t bytes, const char *what) {
    const uint8_t *have = at;
    const uint8_t *want = expected;
    for (size_t i = 0; i < bytes; i++) {
        if (have[i] != want[i]) {
            fail(rank, "%s: byte %zu of %zu is %#x, not %#x", what, i, bytes, have[i], want[i]);
        }
    }
}

void expect(struct rank *rank, cuda_address at, const void *expected, size_t bytes, const char *what) {
    if (bytes == 0) {
        return;
    }
    uint8_t *have = malloc(bytes);
    if (have == NULL) {
        fail(rank, "no memory");
    }
    get(rank, have, at, bytes);
    expect_here(rank, have, expected, bytes, what);
    free(have);
}

/* ---- numbers ---- */

uint32_t bits_of(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

float float_of(uint32_t bits) {
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

uint16_t bfloat16_of(float value) {
    uint32_t bits = bits_of(value);
    return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

float float_of_bfloat16(uint16_t bits) {
    return float_of((uint32_t)bits << 16);
}

uint32_t mixed(uint32_t first, uint32_t second, uint32_t third) {
    uint64_t mix = (uint64_t)first * 0x9e3779b97f4a7c15u + second;
    mix = (mix ^ mix >> 29) * 0xbf58476d1ce4e5b9u + third;
    mix = (mix ^ mix >> 32) * 0x94d049bb133111ebu;
    return (uint32_t)(mix >> 32);
}
