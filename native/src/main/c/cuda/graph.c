#include "cuda_stream.h"

#include <stdlib.h>

/* Each launch follows the one before it, with the priority of the stream, which launches of a graph do not inherit. */
static cuda_result add_launches(cuda_graph graph, const struct sluice_cuda_request *requests, int count, int priority) {
    union cuda_node_attribute attribute = {.bytes = {0}};
    cuda_node before = NULL;
    cuda_result result = CUDA_SUCCESS;
    attribute.priority = priority;
    for (int i = 0; result == CUDA_SUCCESS && i < count; i++) {
        struct cuda_kernel_node kernel = cuda_kernel_of(&requests[i]);
        cuda_node node = NULL;
        if (requests[i].operation != SLUICE_CUDA_LAUNCH || requests[i].stream != requests[0].stream || kernel.function == NULL) {
            return CUDA_INVALID_VALUE;
        }
        result = cuda.graph_add_kernel(&node, graph, &before, before != NULL, &kernel);
        if (result == CUDA_SUCCESS) {
            result = cuda.graph_set_kernel(node, CUDA_NODE_PRIORITY, &attribute);
        }
        before = node;
    }
    return result;
}

static cuda_result instantiate(
        cuda_graph_program *program, const struct sluice_cuda_request *requests, int count, cuda_stream stream) {
    cuda_graph graph = NULL;
    int priority = 0;
    cuda_result result = cuda.stream_priority(stream, &priority);
    if (result == CUDA_SUCCESS) {
        result = cuda.graph_create(&graph, 0);
    }
    if (result != CUDA_SUCCESS) {
        return result;
    }
    result = add_launches(graph, requests, count, priority);
    if (result == CUDA_SUCCESS) {
        result = cuda.graph_instantiate(program, graph, 0);
    }
    cuda.graph_destroy(graph);
    if (result != CUDA_SUCCESS) {
        return result;
    }
    /* So that the first launch takes no longer than others. */
    result = cuda.graph_upload(*program, stream);
    if (result != CUDA_SUCCESS) {
        cuda.graph_program_destroy(*program);
    }
    return result;
}

int64_t sluice_cuda_graph_create(
        struct sluice_cuda_device *device, const struct sluice_cuda_request *requests, int count) {
    if (device == NULL || requests == NULL || (uintptr_t)requests % 8 != 0 || count < 1 || requests->stream == 0) {
        return -CUDA_INVALID_VALUE;
    }
    const struct sluice_cuda_stream *stream = (const struct sluice_cuda_stream *)(uintptr_t)requests->stream;
    if (stream->device->context != device->context) {
        return -CUDA_INVALID_VALUE;
    }
    struct cuda_scope scope;
    int entered = cuda_enter(device, &scope);
    if (entered < 0) {
        return entered;
    }
    struct sluice_cuda_graph *graph = malloc(sizeof *graph);
    if (graph == NULL) {
        cuda_leave(&scope);
        return cuda_system_error(ENOMEM);
    }
    /* Not the stream's, which may be closed before. */
    graph->device = device;
    cuda_result result = instantiate(&graph->program, requests, count, stream->stream);
    cuda_leave(&scope);
    if (result != CUDA_SUCCESS) {
        free(graph);
        return cuda_failed(device, result);
    }
    return (int64_t)(intptr_t)graph;
}

int sluice_cuda_graph_destroy(struct sluice_cuda_graph *graph) {
    struct cuda_scope scope;
    int entered = cuda_enter(graph == NULL ? NULL : graph->device, &scope);
    if (entered < 0) {
        return entered;
    }
    struct sluice_cuda_device *device = graph->device;
    cuda_result result = cuda.graph_program_destroy(graph->program);
    cuda_leave(&scope);
    free(graph);
    return cuda_failed(device, result);
}
