#include "cuda_stream.h"

#include <stdatomic.h>

#define WARP 32
/* Enough warps to hide the latency of device memory, few enough for several blocks on a multiprocessor. */
#define THREADS 512
/* The bytes that a warp copies at a time: SLICE_BYTES of kernels.cu. */
#define SLICE_BYTES 4096
/* The bytes that a thread checksums at a time: CHECKED_BYTES of kernels.cu. */
#define CHECKED_BYTES 1024

static struct cuda_completion completion_of(
        const struct sluice_cuda_stream *stream, const struct sluice_cuda_request *request) {
    return (struct cuda_completion){
        .signal = request->signal,
        .addend = request->addend,
        .word = request->word,
        .value = request->value,
        .blocks = stream->blocks,
        .signal_is_store = request->signal_is_store != 0,
    };
}

static unsigned blocks_for(const struct sluice_cuda_stream *stream, uint64_t threads, int most) {
    uint64_t blocks = (threads + THREADS - 1) / THREADS;
    uint64_t limit = (uint64_t)(most > 0 && most < stream->max_blocks ? most : stream->max_blocks);
    return blocks == 0 ? 1 : (unsigned)(blocks < limit ? blocks : limit);
}

static cuda_result launch(
        const struct sluice_cuda_stream *stream, cuda_function function, unsigned blocks, unsigned threads,
        void **arguments) {
    /* A stream without kernels. */
    return function == NULL ? CUDA_NOT_SUPPORTED
                            : cuda.launch(function, blocks, 1, 1, threads, 1, 1, 0, stream->stream, arguments, NULL);
}

static unsigned extent(uint64_t size) {
    return size == 0 ? 1 : (unsigned)size;
}

struct cuda_kernel_node cuda_kernel_of(const struct sluice_cuda_request *request) {
    uint64_t block = request->bytes;
    return (struct cuda_kernel_node){
        .function = (cuda_function)(uintptr_t)request->source,
        .grid_x = (unsigned)request->count,
        .grid_y = extent(request->sources & UINT32_MAX),
        .grid_z = extent(request->sources >> 32),
        .block_x = (unsigned)(block & 0xffff),
        .block_y = extent(block >> 16 & 0xffff),
        .block_z = extent(block >> 32 & 0xffff),
        .shared_bytes = (unsigned)request->destination,
        .arguments = (void **)(uintptr_t)request->destinations,
    };
}

static cuda_result launch_callers(const struct sluice_cuda_stream *stream, const struct sluice_cuda_request *request) {
    struct cuda_kernel_node kernel = cuda_kernel_of(request);
    return kernel.function == NULL
            ? CUDA_INVALID_VALUE
            : cuda.launch(
                      kernel.function, kernel.grid_x, kernel.grid_y, kernel.grid_z, kernel.block_x, kernel.block_y,
                      kernel.block_z, kernel.shared_bytes, stream->stream, kernel.arguments, NULL);
}

static cuda_result launch_graph(const struct sluice_cuda_stream *stream, const struct sluice_cuda_request *request) {
    const struct sluice_cuda_graph *graph = (const struct sluice_cuda_graph *)(uintptr_t)request->source;
    return graph == NULL || graph->device->context != stream->device->context
            ? CUDA_INVALID_VALUE
            : cuda.graph_launch(graph->program, stream->stream);
}

static cuda_result copy_pages(const struct sluice_cuda_stream *stream, const struct sluice_cuda_request *request) {
    struct cuda_completion done = completion_of(stream, request);
    uint64_t to = request->destination;
    uint64_t from = request->source;
    uint64_t to_offsets = request->destinations;
    uint64_t from_offsets = request->sources;
    uint64_t page_bytes = request->bytes;
    uint64_t pages = (uint32_t)request->count;
    void *arguments[] = {&to, &from, &to_offsets, &from_offsets, &page_bytes, &pages, &done};
    uint64_t slices = (page_bytes + SLICE_BYTES - 1) / SLICE_BYTES;
    bool is_strided = request->operation == SLUICE_CUDA_COPY_STRIDED;
    return launch(
            stream, is_strided ? stream->kernels.copy_strided : stream->kernels.copy_pages,
            blocks_for(stream, pages * slices * WARP, request->most_blocks), THREADS, arguments);
}

/* Records the error of an operation that ran without its completion: the next query of the stream returns it. */
static cuda_result without_end(struct sluice_cuda_stream *stream, cuda_result result) {
    if (result != CUDA_SUCCESS) {
        atomic_store(&stream->failed, result);
    }
    return result;
}

static cuda_result checksum(struct sluice_cuda_stream *stream, const struct sluice_cuda_request *request) {
    struct cuda_completion done = completion_of(stream, request);
    uint64_t from = request->source;
    uint64_t bytes = request->bytes;
    uint64_t result_address = request->destination;
    void *arguments[] = {&from, &bytes, &result_address, &done};
    cuda_result result = cuda.fill(result_address, 0, sizeof(uint64_t), stream->stream);
    return result != CUDA_SUCCESS ? result
            : without_end(stream, launch(stream, stream->kernels.checksum,
                    blocks_for(stream, (bytes + CHECKED_BYTES - 1) / CHECKED_BYTES, 0), THREADS, arguments));
}

static cuda_result fetch(const struct sluice_cuda_stream *stream, const struct sluice_cuda_request *request) {
    struct cuda_completion done = completion_of(stream, request);
    uint64_t word = request->destination;
    uint64_t before = request->source;
    uint64_t operand = request->bytes;
    uint64_t expected = request->destinations;
    uint64_t is_swap = request->operation == SLUICE_CUDA_COMPARE_AND_SWAP;
    void *arguments[] = {&word, &before, &operand, &expected, &is_swap, &done};
    return launch(stream, stream->kernels.fetch, 1, WARP, arguments);
}

/*
 * Completes work that no kernel of this library has done: the stream itself writes a word if it can; a signal needs a
 * kernel.
 */
static cuda_result complete(const struct sluice_cuda_stream *stream, const struct sluice_cuda_request *request) {
    if (request->signal != 0 || (request->word != 0 && !stream->has_words)) {
        struct cuda_completion done = completion_of(stream, request);
        void *arguments[] = {&done};
        return launch(stream, stream->kernels.signal, 1, WARP, arguments);
    }
    return request->word == 0 ? CUDA_SUCCESS
                              : cuda.stream_write_value(stream->stream, request->word, request->value, 0);
}

static cuda_result submit(struct sluice_cuda_stream *stream, const struct sluice_cuda_request *request) {
    cuda_result result = CUDA_SUCCESS;
    switch (request->operation) {
        case SLUICE_CUDA_COPY_PAGES:
        case SLUICE_CUDA_COPY_STRIDED:
            return request->count > 0 && request->bytes > 0 ? copy_pages(stream, request) : CUDA_INVALID_VALUE;
        case SLUICE_CUDA_CHECKSUM:
            return checksum(stream, request);
        case SLUICE_CUDA_FETCH_ADD:
        case SLUICE_CUDA_COMPARE_AND_SWAP:
            return request->destination % 8 == 0 && request->source % 8 == 0 ? fetch(stream, request)
                                                                             : CUDA_INVALID_VALUE;
        case SLUICE_CUDA_COPY:
            result = cuda.copy(request->destination, request->source, request->bytes, stream->stream);
            break;
        case SLUICE_CUDA_FILL:
            result = cuda.fill(request->destination, (unsigned char)request->bytes, request->destinations, stream->stream);
            break;
        case SLUICE_CUDA_LAUNCH:
            result = launch_callers(stream, request);
            break;
        case SLUICE_CUDA_LAUNCH_GRAPH:
            result = launch_graph(stream, request);
            break;
        case SLUICE_CUDA_WAIT_EVENT:
            result = cuda.stream_wait_event(stream->stream, (cuda_event)(uintptr_t)request->source, 0);
            break;
        case SLUICE_CUDA_RECORD_EVENT:
            result = cuda.event_record((cuda_event)(uintptr_t)request->destination, stream->stream);
            break;
        case SLUICE_CUDA_COMPLETE:
            break;
        default:
            return CUDA_INVALID_VALUE;
    }
    return result == CUDA_SUCCESS ? without_end(stream, complete(stream, request)) : result;
}

/* Whether a stream of the caller's program is being captured: a replay would store the values of the requests once more. */
static bool is_captured(const struct sluice_cuda_stream *stream) {
    int is_capturing = 0;
    return stream->kernels.signal == NULL && cuda.stream_capturing(stream->stream, &is_capturing) == CUDA_SUCCESS
            && is_capturing != 0;
}

int sluice_cuda_submit(const struct sluice_cuda_request *requests, int count) {
    struct cuda_scope scope = {false};
    struct sluice_cuda_device *current = NULL;
    const struct sluice_cuda_stream *checked = NULL;
    int done = 0;
    int error = 0;
    if (requests == NULL || (uintptr_t)requests % 8 != 0 || count < 0) {
        return -CUDA_INVALID_VALUE;
    }
    for (; done < count; done++) {
        const struct sluice_cuda_request *request = &requests[done];
        struct sluice_cuda_stream *stream = (struct sluice_cuda_stream *)(uintptr_t)request->stream;
        if (stream == NULL) {
            error = -CUDA_INVALID_VALUE;
            break;
        }
        if (stream->device != current) {
            cuda_leave(&scope);
            current = NULL;
            error = cuda_enter(stream->device, &scope);
            if (error < 0) {
                break;
            }
            current = stream->device;
        }
        if (stream != checked && is_captured(stream)) {
            error = -CUDA_STREAM_CAPTURE_UNSUPPORTED;
            break;
        }
        checked = stream;
        cuda_result result = submit(stream, request);
        if (result != CUDA_SUCCESS) {
            error = cuda_failed(stream->device, result);
            break;
        }
    }
    cuda_leave(&scope);
    return done > 0 || count == 0 ? done : error;
}
