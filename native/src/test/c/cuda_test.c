#define _GNU_SOURCE
#include "check.h"
#include "cuda_api.h"
#include "sluice_cuda.h"

#include <dlfcn.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define KERNELS "src/main/resources/META-INF/sluice/kernels.ptx"
#define PAGES 64
#define PAGE_BYTES 1000

static int64_t (*count_of)(const char *what);

struct gpu {
    struct sluice_cuda_device *device;
    struct sluice_cuda_module *kernels;
    struct sluice_cuda_stream *stream;
};

/* Pinned memory: the words that streams write, the tables, and what tests look at. */
struct pinned {
    volatile uint64_t word;
    volatile uint64_t signal;
    uint64_t to_offsets[PAGES];
    uint64_t from_offsets[PAGES];
    uint8_t bytes[1 << 17];
};

static struct pinned *pinned;
static uint64_t pinned_address;

static uint64_t seen(const volatile void *member) {
    return pinned_address + (uint64_t)((const volatile char *)member - (const volatile char *)pinned);
}

static char *read_file(const char *path) {
    FILE *file = fopen(path, "rb");
    CHECK(file != NULL);
    char *text = calloc(1, 1 << 20);
    CHECK(fread(text, 1, (1 << 20) - 1, file) > 0);
    fclose(file);
    return text;
}

static struct gpu open_gpu(int ordinal) {
    int64_t device = sluice_cuda_device_open(ordinal);
    CHECK(device > 0);
    struct gpu gpu = {.device = (struct sluice_cuda_device *)(intptr_t)device};
    char *text = read_file(KERNELS);
    int64_t module = sluice_cuda_module_load(gpu.device, text);
    free(text);
    CHECK(module > 0);
    gpu.kernels = (struct sluice_cuda_module *)(intptr_t)module;
    int64_t stream = sluice_cuda_stream_create(gpu.device, gpu.kernels, 1, 16);
    CHECK(stream > 0);
    gpu.stream = (struct sluice_cuda_stream *)(intptr_t)stream;
    return gpu;
}

static void await_word(uint64_t value) {
    for (int64_t waited = 0; pinned->word != value; waited += 50000) {
        CHECK(waited < BOUND_NANOS);
        nanosleep(&(struct timespec){.tv_nsec = 50000}, NULL);
    }
}

/* Waits until the stream has done all its work, and gives its result. */
static int await_stream(struct sluice_cuda_stream *stream) {
    int status;
    int64_t waited = 0;
    while ((status = sluice_cuda_stream_query(stream)) == -CUDA_NOT_READY) {
        CHECK(waited < BOUND_NANOS);
        nanosleep(&(struct timespec){.tv_nsec = 50000}, NULL);
        waited += 50000;
    }
    return status;
}

static void close_gpu(struct gpu gpu) {
    CHECK_SAME(await_stream(gpu.stream), 0);
    CHECK_SAME(sluice_cuda_stream_destroy(gpu.stream), 0);
    CHECK_SAME(sluice_cuda_module_unload(gpu.kernels), 0);
    CHECK_SAME(sluice_cuda_device_close(gpu.device), 0);
}

static void submit(const struct gpu *gpu, struct sluice_cuda_request request) {
    static uint64_t last;
    request.stream = (int64_t)(intptr_t)gpu->stream;
    request.word = seen(&pinned->word);
    request.value = ++last;
    CHECK_SAME(sluice_cuda_submit(&request, 1), 1);
    await_word(last);
}

static void copy(const struct gpu *gpu, uint64_t to, uint64_t from, uint64_t bytes) {
    submit(gpu, (struct sluice_cuda_request){
            .operation = SLUICE_CUDA_COPY, .destination = to, .source = from, .bytes = bytes});
}

static void test_devices(void) {
    struct sluice_cuda_device_record record;
    CHECK_SAME(sluice_cuda_device_count(), 2);
    CHECK_SAME(sluice_cuda_device_query(1, &record), 0);
    CHECK_SAME(record.ordinal, 1);
    CHECK_SAME(record.uuid[15], '1');
    CHECK(record.memory_bytes > 0 && record.has_descriptors && record.has_dma_buffers && record.has_stream_words);
    CHECK(strcmp(record.bus_id, "0000:11:00.0") == 0);
    CHECK_SAME(sluice_cuda_device_query(2, &record), -CUDA_INVALID_DEVICE);
    CHECK_SAME(sluice_cuda_device_link(0, 1), 3);
    CHECK_SAME(sluice_cuda_device_open(7), -CUDA_INVALID_DEVICE);
    CHECK_SAME(sluice_cuda_device_close(NULL), -CUDA_INVALID_VALUE);
    char text[256];
    sluice_cuda_error_text(-CUDA_OUT_OF_MEMORY, text, sizeof text);
    CHECK(strcmp(text, "CUDA_ERROR_OUT_OF_MEMORY: out of memory") == 0);
    sluice_cuda_error_text(SLUICE_CUDA_SYSTEM_ERROR - ENOMEM, text, sizeof text);
    CHECK(strcmp(text, "Cannot allocate memory") == 0);
}

static void test_allocations(const struct gpu *gpu) {
    int64_t granule = sluice_cuda_memory_granularity(gpu->device);
    int64_t before = 0;
    int64_t after = 0;
    struct sluice_cuda_memory_record record;
    CHECK(granule > 0);
    CHECK_SAME(sluice_cuda_device_free_memory(gpu->device, &before), 0);
    int64_t address = sluice_cuda_memory_allocate(gpu->device, granule);
    CHECK(address > 0);
    CHECK_SAME(sluice_cuda_device_free_memory(gpu->device, &after), 0);
    CHECK_SAME(after, before - granule);
    CHECK_SAME(sluice_cuda_memory_describe((uint64_t)address + 5, &record), 0);
    CHECK_SAME((int64_t)record.base, address);
    CHECK_SAME(record.bytes, granule);
    CHECK_SAME(record.kind, SLUICE_CUDA_MEMORY_DEVICE);
    CHECK_SAME(record.sharing, SLUICE_CUDA_SHARED_BY_DESCRIPTOR);
    uint64_t first = record.buffer_id;
    CHECK_SAME(sluice_cuda_memory_free(gpu->device, (uint64_t)address, granule), 0);
    CHECK_SAME(sluice_cuda_memory_describe((uint64_t)address, &record), 0);
    CHECK_SAME(record.kind, SLUICE_CUDA_MEMORY_NONE);
    CHECK_SAME(sluice_cuda_memory_allocate(gpu->device, granule), address);
    CHECK_SAME(sluice_cuda_memory_describe((uint64_t)address, &record), 0);
    CHECK(record.buffer_id != first);
    CHECK_SAME(sluice_cuda_memory_free(gpu->device, (uint64_t)address, granule), 0);
    CHECK_SAME(sluice_cuda_memory_free(gpu->device, (uint64_t)address, granule), -CUDA_INVALID_VALUE);
    CHECK_SAME(sluice_cuda_memory_allocate(gpu->device, granule + 1), -CUDA_INVALID_VALUE);
    CHECK_SAME(sluice_cuda_memory_allocate(gpu->device, INT64_C(1) << 50), -CUDA_OUT_OF_MEMORY);
    CHECK_SAME(sluice_cuda_memory_describe((uint64_t)(uintptr_t)&record, &record), 0);
    CHECK_SAME(record.kind, SLUICE_CUDA_MEMORY_NONE);
    CHECK_SAME(sluice_cuda_memory_describe(pinned_address, &record), 0);
    CHECK_SAME(record.kind, SLUICE_CUDA_MEMORY_HOST);
}

static void fill_pinned(uint8_t seed) {
    for (size_t i = 0; i < sizeof pinned->bytes; i++) {
        pinned->bytes[i] = (uint8_t)(seed + i * 7 + (i >> 8));
    }
}

static void test_copies(const struct gpu *gpu) {
    int64_t granule = sluice_cuda_memory_granularity(gpu->device);
    uint64_t memory = (uint64_t)sluice_cuda_memory_allocate(gpu->device, granule);
    size_t half = sizeof pinned->bytes / 2;
    fill_pinned(3);
    copy(gpu, memory, seen(pinned->bytes), half);
    for (uint64_t i = 0; i < PAGES; i++) {
        pinned->from_offsets[i] = i * PAGE_BYTES;
        pinned->to_offsets[i] = (PAGES - 1 - i) * PAGE_BYTES;
    }
    pinned->signal = 40;
    submit(gpu, (struct sluice_cuda_request){
            .operation = SLUICE_CUDA_COPY_PAGES,
            .count = PAGES,
            .destination = seen(pinned->bytes + half),
            .source = memory,
            .bytes = PAGE_BYTES,
            .destinations = seen(pinned->to_offsets),
            .sources = seen(pinned->from_offsets),
            .signal = seen(&pinned->signal),
            .addend = 2,
    });
    CHECK_SAME((int64_t)pinned->signal, 42);
    for (size_t i = 0; i < PAGES; i++) {
        CHECK_SAME(memcmp(pinned->bytes + i * PAGE_BYTES,
                pinned->bytes + half + (PAGES - 1 - i) * PAGE_BYTES, PAGE_BYTES), 0);
    }
    submit(gpu, (struct sluice_cuda_request){
            .operation = SLUICE_CUDA_COPY_STRIDED,
            .count = 10,
            .destination = memory + half,
            .source = memory,
            .bytes = 100,
            .destinations = 100,
            .sources = 2000,
            .signal = seen(&pinned->signal),
            .addend = 7,
            .signal_is_store = 1,
    });
    CHECK_SAME((int64_t)pinned->signal, 7);
    copy(gpu, seen(pinned->bytes + half), memory + half, 1000);
    for (size_t i = 0; i < 10; i++) {
        CHECK_SAME(memcmp(pinned->bytes + half + i * 100, pinned->bytes + i * 2000, 100), 0);
    }
    memcpy(pinned->bytes, "123456789", 9);
    copy(gpu, memory, seen(pinned->bytes), 9);
    submit(gpu, (struct sluice_cuda_request){
            .operation = SLUICE_CUDA_CHECKSUM, .destination = seen(&pinned->signal), .source = memory, .bytes = 9});
    CHECK_SAME((int64_t)pinned->signal, 0xe3069283);
    CHECK_SAME(sluice_cuda_memory_free(gpu->device, memory, granule), 0);
}

static void test_events(const struct gpu *first, const struct gpu *second) {
    int64_t event = sluice_cuda_event_create(first->device);
    CHECK(event > 0);
    CHECK_SAME(sluice_cuda_event_query(first->device, (void *)(intptr_t)event), 0);
    pinned->word = 0;
    struct sluice_cuda_request requests[] = {
        {.stream = (int64_t)(intptr_t)first->stream, .operation = SLUICE_CUDA_RECORD_EVENT, .destination = (uint64_t)event},
        {.stream = (int64_t)(intptr_t)second->stream, .operation = SLUICE_CUDA_WAIT_EVENT, .source = (uint64_t)event},
        {.stream = (int64_t)(intptr_t)second->stream, .operation = SLUICE_CUDA_COMPLETE, .word = seen(&pinned->word),
         .value = 99},
    };
    CHECK_SAME(sluice_cuda_submit(requests, 3), 3);
    await_word(99);
    CHECK_SAME(sluice_cuda_event_query(first->device, (void *)(intptr_t)event), 0);
    int descriptor = sluice_event_create();
    CHECK(descriptor >= 0);
    CHECK_SAME(sluice_cuda_stream_signal(second->stream, descriptor), 0);
    await_ready(descriptor, 1);
    close(descriptor);
    CHECK_SAME(sluice_cuda_event_destroy(first->device, (void *)(intptr_t)event), 0);
    requests[0].stream = 0;
    CHECK_SAME(sluice_cuda_submit(requests, 1), -CUDA_INVALID_VALUE);
    CHECK_SAME(sluice_cuda_submit(requests, -1), -CUDA_INVALID_VALUE);
    requests[0] = (struct sluice_cuda_request){.stream = (int64_t)(intptr_t)first->stream, .operation = 77};
    CHECK_SAME(sluice_cuda_submit(requests, 1), -CUDA_INVALID_VALUE);
    requests[0].operation = SLUICE_CUDA_COPY;
    requests[0].source = requests[0].destination = 4096;
    requests[0].bytes = 8;
    CHECK_SAME(sluice_cuda_submit(requests, 1), -CUDA_INVALID_VALUE);
}

/* An operation that was carried out, though the driver refused its word: the stream says so from then on. */
static void test_refused_word(const struct gpu *gpu) {
    int64_t stream = sluice_cuda_stream_create(gpu->device, gpu->kernels, 0, 4);
    CHECK(stream > 0);
    struct sluice_cuda_request request = {.stream = stream, .operation = SLUICE_CUDA_COMPLETE, .word = 4096, .value = 1};
    CHECK_SAME(sluice_cuda_submit(&request, 1), -CUDA_INVALID_VALUE);
    CHECK_SAME(await_stream((struct sluice_cuda_stream *)(intptr_t)stream), -CUDA_INVALID_VALUE);
    CHECK_SAME(sluice_cuda_stream_destroy((struct sluice_cuda_stream *)(intptr_t)stream), 0);
}

/* Modules that programs load and launch themselves: on a stream without kernels, and on one of their own. */
static void test_callers(const struct gpu *gpu) {
    static const char broken[] = ".version 6.3\n.target sm_75\n.entry broken(";
    char log[64];
    CHECK_SAME(sluice_cuda_module_compile(gpu->device, broken, log, sizeof log), -CUDA_INVALID_PTX);
    CHECK(strncmp(log, "ptxas", 5) == 0);
    CHECK_SAME(sluice_cuda_module_compile(gpu->device, broken, NULL, 0), -CUDA_INVALID_PTX);
    CHECK_SAME(sluice_cuda_module_compile(gpu->device, NULL, log, sizeof log), -CUDA_INVALID_VALUE);
    CHECK_SAME(log[0], '\0');
    CHECK_SAME(sluice_cuda_module_function(gpu->kernels, NULL), -CUDA_INVALID_VALUE);
    int64_t function = sluice_cuda_module_function(gpu->kernels, "sluice_fill_pattern");
    CHECK(function > 0);
    void *fill = (void *)(intptr_t)function;
    CHECK_SAME(sluice_cuda_module_parameter(gpu->kernels, fill, 2), 8);
    CHECK_SAME(sluice_cuda_module_parameter(gpu->kernels, fill, 3), -CUDA_INVALID_VALUE);
    CHECK_SAME(sluice_cuda_module_parameter(gpu->kernels, fill, -1), -CUDA_INVALID_VALUE);
    CHECK_SAME(sluice_cuda_module_parameter(gpu->kernels, NULL, 0), -CUDA_INVALID_VALUE);
    CHECK_SAME(sluice_cuda_module_shared_bytes(gpu->kernels, NULL, 1), -CUDA_INVALID_VALUE);
    CHECK_SAME(sluice_cuda_module_shared_bytes(NULL, fill, 1), -CUDA_INVALID_VALUE);
    int64_t opened = sluice_cuda_stream_open(gpu->device, 1);
    CHECK(opened > 0);
    struct sluice_cuda_stream *own = (struct sluice_cuda_stream *)(intptr_t)opened;
    int64_t adopted =
            sluice_cuda_stream_adopt(gpu->device, (void *)(intptr_t)sluice_cuda_stream_handle(own));
    CHECK(adopted > 0);
    uint64_t address = seen(pinned->bytes);
    uint64_t bytes = 100;
    uint64_t seed = 1;
    void *arguments[] = {&address, &bytes, &seed};
    struct sluice_cuda_request launch = {
        .stream = adopted, .operation = SLUICE_CUDA_LAUNCH, .count = 1, .source = (uint64_t)function,
        .bytes = 8 | 4 << 16 | UINT64_C(2) << 32, .sources = 3 | UINT64_C(2) << 32, .destination = 1 << 10,
        .destinations = (uint64_t)(uintptr_t)arguments, .word = seen(&pinned->word), .value = 1000,
    };
    fill_pinned(0);
    CHECK_SAME(sluice_cuda_submit(&launch, 1), 1);
    await_word(1000);
    /* The highest byte of 0x9e37... */
    CHECK_SAME(pinned->bytes[0], 0x9e);
    launch.bytes = 8 | 4 << 16 | UINT64_C(64) << 32;
    CHECK_SAME(sluice_cuda_submit(&launch, 1), -CUDA_INVALID_VALUE);
    launch.bytes = 8;
    launch.destination = 100 << 10;
    CHECK_SAME(sluice_cuda_submit(&launch, 1), -CUDA_INVALID_VALUE);
    CHECK_SAME(sluice_cuda_module_shared_bytes(gpu->kernels, fill, 100 << 10), 0);
    launch.value = 1001;
    CHECK_SAME(sluice_cuda_submit(&launch, 1), 1);
    await_word(1001);
    launch.source = 0;
    CHECK_SAME(sluice_cuda_submit(&launch, 1), -CUDA_INVALID_VALUE);
    /* A signal takes a kernel of this library's. */
    launch.operation = SLUICE_CUDA_COMPLETE;
    launch.signal = seen(&pinned->signal);
    CHECK_SAME(sluice_cuda_submit(&launch, 1), -CUDA_NOT_SUPPORTED);
    CHECK_SAME(sluice_cuda_stream_destroy((struct sluice_cuda_stream *)(intptr_t)adopted), 0);
    await_stream(own);
    CHECK_SAME(sluice_cuda_stream_destroy(own), 0);
    CHECK_SAME(sluice_cuda_stream_open(NULL, 0), -CUDA_INVALID_VALUE);
    CHECK_SAME(sluice_cuda_stream_adopt(NULL, NULL), -CUDA_INVALID_VALUE);
}

/* Launches that follow each other, with the arguments that they had when the graph was made; and the time that they take. */
static void test_graphs(const struct gpu *gpu) {
    int64_t fill = sluice_cuda_module_function(gpu->kernels, "sluice_fill_pattern");
    int64_t compare = sluice_cuda_module_function(gpu->kernels, "sluice_compare_pattern");
    CHECK(fill > 0 && compare > 0);
    uint64_t address = seen(pinned->bytes);
    uint64_t bytes = 1000;
    uint64_t seed = 5;
    uint64_t result = seen(&pinned->signal);
    void *arguments[] = {&address, &bytes, &seed, &result};
    struct sluice_cuda_request launches[2];
    for (int i = 0; i < 2; i++) {
        launches[i] = (struct sluice_cuda_request){
            .stream = (int64_t)(intptr_t)gpu->stream, .operation = SLUICE_CUDA_LAUNCH, .count = 1, .bytes = 32,
            .source = (uint64_t)(i == 0 ? fill : compare), .destinations = (uint64_t)(uintptr_t)arguments,
        };
    }
    int64_t graph = sluice_cuda_graph_create(gpu->device, launches, 2);
    CHECK(graph > 0);
    CHECK_SAME(count_of("graphs"), 1);
    bytes = 0;
    int64_t begin = sluice_cuda_event_create_timed(gpu->device);
    int64_t end = sluice_cuda_event_create_timed(gpu->device);
    CHECK(begin > 0 && end > 0);
    CHECK_SAME(sluice_cuda_event_elapsed(gpu->device, (void *)(intptr_t)begin, (void *)(intptr_t)end), -CUDA_INVALID_HANDLE);
    for (int round = 0; round < 3; round++) {
        fill_pinned(0);
        pinned->signal = 0;
        submit(gpu, (struct sluice_cuda_request){.operation = SLUICE_CUDA_RECORD_EVENT, .destination = (uint64_t)begin});
        submit(gpu, (struct sluice_cuda_request){.operation = SLUICE_CUDA_LAUNCH_GRAPH, .source = (uint64_t)graph});
        submit(gpu, (struct sluice_cuda_request){.operation = SLUICE_CUDA_RECORD_EVENT, .destination = (uint64_t)end});
        CHECK_SAME((int64_t)pinned->signal, 0);
        CHECK(pinned->bytes[0] != 0 && pinned->bytes[999] != pinned->bytes[0]);
        CHECK(sluice_cuda_event_elapsed(gpu->device, (void *)(intptr_t)begin, (void *)(intptr_t)end) > 0);
    }
    CHECK_SAME(sluice_cuda_event_elapsed(gpu->device, NULL, (void *)(intptr_t)end), -CUDA_INVALID_VALUE);
    CHECK_SAME(sluice_cuda_event_destroy(gpu->device, (void *)(intptr_t)begin), 0);
    CHECK_SAME(sluice_cuda_event_destroy(gpu->device, (void *)(intptr_t)end), 0);
    CHECK_SAME(sluice_cuda_graph_destroy((struct sluice_cuda_graph *)(intptr_t)graph), 0);
    /* A stream, and the device that it was made on, may go before a graph of its launches. */
    struct sluice_cuda_device *other = (struct sluice_cuda_device *)(intptr_t)sluice_cuda_device_open(0);
    struct sluice_cuda_stream *gone = (struct sluice_cuda_stream *)(intptr_t)sluice_cuda_stream_open(other, 0);
    launches[0].stream = launches[1].stream = (int64_t)(intptr_t)gone;
    graph = sluice_cuda_graph_create(gpu->device, launches, 2);
    CHECK(graph > 0);
    await_stream(gone);
    CHECK_SAME(sluice_cuda_stream_destroy(gone), 0);
    CHECK_SAME(sluice_cuda_device_close(other), 0);
    bytes = 1000;
    submit(gpu, (struct sluice_cuda_request){.operation = SLUICE_CUDA_LAUNCH_GRAPH, .source = (uint64_t)graph});
    CHECK_SAME(sluice_cuda_graph_destroy((struct sluice_cuda_graph *)(intptr_t)graph), 0);
    launches[0].stream = launches[1].stream = (int64_t)(intptr_t)gpu->stream;
    CHECK_SAME(sluice_cuda_graph_create(gpu->device, NULL, 1), -CUDA_INVALID_VALUE);
    CHECK_SAME(sluice_cuda_graph_create(NULL, launches, 2), -CUDA_INVALID_VALUE);
    CHECK_SAME(sluice_cuda_graph_create(gpu->device, launches, 0), -CUDA_INVALID_VALUE);
    launches[1].operation = SLUICE_CUDA_COPY;
    CHECK_SAME(sluice_cuda_graph_create(gpu->device, launches, 2), -CUDA_INVALID_VALUE);
    CHECK_SAME(sluice_cuda_graph_destroy(NULL), -CUDA_INVALID_VALUE);
    launches[0].operation = SLUICE_CUDA_LAUNCH_GRAPH;
    launches[0].source = 0;
    CHECK_SAME(sluice_cuda_submit(launches, 1), -CUDA_INVALID_VALUE);
}

static void send_descriptor(int socket, int descriptor) {
    char control[CMSG_SPACE(sizeof descriptor)] = {0};
    char byte = 0;
    struct iovec part = {.iov_base = &byte, .iov_len = 1};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof descriptor);
    memcpy(CMSG_DATA(header), &descriptor, sizeof descriptor);
    CHECK_SAME(sendmsg(socket, &message, 0), 1);
}

static int receive_descriptor(int socket) {
    char control[CMSG_SPACE(sizeof(int))];
    char byte;
    int descriptor;
    struct iovec part = {.iov_base = &byte, .iov_len = 1};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
    CHECK_SAME(recvmsg(socket, &message, 0), 1);
    memcpy(&descriptor, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof descriptor);
    return descriptor;
}

static void pin(const struct gpu *gpu) {
    pinned = mmap(NULL, sizeof *pinned, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(pinned != MAP_FAILED);
    int64_t address = sluice_cuda_host_register(gpu->device, pinned, sizeof *pinned);
    CHECK(address > 0);
    pinned_address = (uint64_t)address;
}

static void unpin(const struct gpu *gpu) {
    CHECK_SAME(sluice_cuda_host_unregister(gpu->device, pinned), 0);
    CHECK_SAME(sluice_cuda_host_unregister(gpu->device, pinned), -CUDA_HOST_MEMORY_NOT_REGISTERED);
    munmap(pinned, sizeof *pinned);
}

/* The peer: a process with the driver to itself. It writes to what it is sent, by its other GPU, and says so. */
static void be_peer(int socket, const char *library) {
    CHECK(sluice_cuda_load(library) == NULL);
    struct gpu gpu = open_gpu(1);
    pin(&gpu);
    int descriptor = receive_descriptor(socket);
    int64_t bytes;
    uint8_t handle[SLUICE_CUDA_IPC_HANDLE_BYTES];
    CHECK_SAME(read(socket, &bytes, sizeof bytes), sizeof bytes);
    CHECK_SAME(read(socket, handle, sizeof handle), sizeof handle);
    int64_t imported = sluice_cuda_memory_import(gpu.device, descriptor, bytes);
    CHECK(imported > 0);
    CHECK_SAME(close(descriptor), 0);
    int64_t opened = sluice_cuda_memory_ipc_open(gpu.device, handle);
    CHECK(opened > 0);
    fill_pinned(9);
    copy(&gpu, (uint64_t)imported + 16, seen(pinned->bytes), 100);
    copy(&gpu, (uint64_t)opened + 32, seen(pinned->bytes), 200);
    CHECK_SAME(sluice_cuda_memory_free(gpu.device, (uint64_t)imported, bytes), 0);
    CHECK_SAME(sluice_cuda_memory_ipc_close(gpu.device, (uint64_t)opened), 0);
    CHECK_SAME(sluice_cuda_memory_ipc_close(gpu.device, (uint64_t)opened), -CUDA_INVALID_VALUE);
    CHECK_SAME(write(socket, "x", 1), 1);
    unpin(&gpu);
    close_gpu(gpu);
}

static void test_sharing(const struct gpu *gpu, int socket, void *library) {
    int (*allocate)(uint64_t *, size_t) = (int (*)(uint64_t *, size_t))dlsym(library, "cuMemAlloc_v2");
    int (*release)(uint64_t) = (int (*)(uint64_t))dlsym(library, "cuMemFree_v2");
    struct sluice_cuda_memory_record record;
    uint8_t handle[SLUICE_CUDA_IPC_HANDLE_BYTES];
    uint64_t legacy;
    char byte;
    int64_t bytes = sluice_cuda_memory_granularity(gpu->device);
    uint64_t memory = (uint64_t)sluice_cuda_memory_allocate(gpu->device, bytes);
    CHECK_SAME(sluice_cuda_device_make_current(gpu->device), 0);
    CHECK_SAME(allocate(&legacy, 5000), 0);
    CHECK_SAME(sluice_cuda_memory_describe(legacy + 4999, &record), 0);
    CHECK_SAME(record.sharing, SLUICE_CUDA_SHARED_BY_HANDLE);
    CHECK_SAME((int64_t)record.base, (int64_t)legacy);
    int descriptor = sluice_cuda_memory_export(gpu->device, memory);
    CHECK(descriptor >= 0);
    CHECK_SAME(sluice_cuda_memory_ipc_handle(gpu->device, legacy, handle), 0);
    CHECK_SAME(sluice_cuda_memory_ipc_open(gpu->device, handle), -CUDA_INVALID_CONTEXT);
    CHECK_SAME(sluice_cuda_memory_export(gpu->device, legacy), -CUDA_INVALID_VALUE);
    send_descriptor(socket, descriptor);
    CHECK_SAME(close(descriptor), 0);
    CHECK_SAME(write(socket, &bytes, sizeof bytes), sizeof bytes);
    CHECK_SAME(write(socket, handle, sizeof handle), sizeof handle);
    CHECK_SAME(read(socket, &byte, 1), 1);
    fill_pinned(9);
    uint8_t *there = pinned->bytes + sizeof pinned->bytes / 2;
    copy(gpu, seen(there), memory + 16, 100);
    CHECK_SAME(memcmp(there, pinned->bytes, 100), 0);
    copy(gpu, seen(there), legacy + 32, 200);
    CHECK_SAME(memcmp(there, pinned->bytes, 200), 0);
    int buffer = sluice_cuda_memory_dma_buffer(gpu->device, memory, 4096);
    CHECK(buffer >= 0);
    CHECK_SAME(close(buffer), 0);
    CHECK_SAME(sluice_cuda_memory_flush_remote_writes(gpu->device), 0);
    CHECK_SAME(release(legacy), 0);
    CHECK_SAME(sluice_cuda_memory_free(gpu->device, memory, bytes), 0);
}

/* An illegal address: the work fails, all that follows fails with it, and this process lives. */
static void be_faulty(const char *library) {
    CHECK(sluice_cuda_load(library) == NULL);
    void *handle = dlopen(library, RTLD_NOW | RTLD_NOLOAD);
    void (*fault_after)(int64_t) = (void (*)(int64_t))dlsym(handle, "soft_gpu_fault_after");
    struct gpu gpu = open_gpu(0);
    pin(&gpu);
    /* Work that creating the stream submitted must not be the work that fails. */
    await_stream(gpu.stream);
    CHECK_SAME(sluice_cuda_device_fault(gpu.device), 0);
    fault_after(0);
    struct sluice_cuda_request request = {.stream = (int64_t)(intptr_t)gpu.stream, .operation = SLUICE_CUDA_COMPLETE,
            .word = seen(&pinned->word), .value = 1};
    CHECK_SAME(sluice_cuda_submit(&request, 1), 1);
    CHECK_SAME(await_stream(gpu.stream), -CUDA_ILLEGAL_ADDRESS);
    CHECK_SAME(sluice_cuda_device_fault(gpu.device), -CUDA_ILLEGAL_ADDRESS);
    CHECK_SAME(sluice_cuda_memory_allocate(gpu.device, 1 << 21), -CUDA_ILLEGAL_ADDRESS);
    CHECK_SAME((int64_t)pinned->word, 0);
}

static int apart(void (*part)(int socket, const char *library), const char *library, int *socket) {
    int sockets[2];
    CHECK_SAME(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets), 0);
    int child = fork();
    if (child == 0) {
        alarm(120);
        close(sockets[0]);
        part(sockets[1], library);
        _exit(0);
    }
    close(sockets[1]);
    *socket = sockets[0];
    return child;
}

static void faulty(int socket, const char *library) {
    (void)socket;
    be_faulty(library);
}

void test_cuda(const char *library) {
    int socket;
    CHECK_SAME(sluice_cuda_device_count(), -CUDA_NOT_INITIALIZED);
    CHECK_SAME(sluice_cuda_device_open(0), -CUDA_NOT_INITIALIZED);
    /* Before this process has loaded it, as a driver does not survive a fork. */
    await_child(apart(faulty, library, &socket));
    close(socket);
    int peer = apart(be_peer, library, &socket);
    CHECK(sluice_cuda_load(library) == NULL);
    CHECK(sluice_cuda_load("another") == NULL);
    CHECK(sluice_cuda_driver_version() >= 11040);
    void *handle = dlopen(library, RTLD_NOW | RTLD_NOLOAD);
    CHECK(handle != NULL);
    count_of = (int64_t(*)(const char *))dlsym(handle, "soft_gpu_count");
    CHECK(count_of != NULL);
    test_devices();
    struct gpu first = open_gpu(0);
    struct gpu second = open_gpu(1);
    pin(&first);
    test_allocations(&first);
    test_copies(&first);
    test_copies(&second);
    test_events(&first, &second);
    test_refused_word(&first);
    test_callers(&first);
    test_graphs(&first);
    CHECK_SAME(sluice_cuda_memory_enable_peer(first.device, second.device), 0);
    CHECK_SAME(sluice_cuda_memory_enable_peer(first.device, second.device), 0);
    test_sharing(&first, socket, handle);
    await_child(peer);
    close(socket);
    unpin(&first);
    close_gpu(first);
    close_gpu(second);
    for (int64_t waited = 0; count_of("streams") > 0; waited += 50000) {
        CHECK(waited < BOUND_NANOS);
        nanosleep(&(struct timespec){.tv_nsec = 50000}, NULL);
    }
    CHECK_SAME(count_of("allocations"), 0);
    CHECK_SAME(count_of("mappings"), 0);
    CHECK_SAME(count_of("events"), 0);
    CHECK_SAME(count_of("modules"), 0);
    CHECK_SAME(count_of("graphs"), 0);
    CHECK_SAME(count_of("registrations"), 0);
}
