/* Graphs of kernels that follow each other. */
#include "gpu.h"

#include <stdlib.h>
#include <string.h>

struct CUgraphNode_st {
    struct CUgraphNode_st *next;
    struct operation *launch;
};

struct CUgraph_st {
    struct CUgraphNode_st *first;
    struct CUgraphNode_st *last;
};

/* What a graph was when it was made ready. */
struct CUgraphExec_st {
    int ordinal;
    struct CUgraph_st launches;
};

static void launches_free(struct CUgraph_st *launches) {
    while (launches->first != NULL) {
        struct CUgraphNode_st *node = launches->first;
        launches->first = node->next;
        free(node->launch);
        free(node);
    }
    launches->last = NULL;
}

/* Takes the launch over. */
static struct CUgraphNode_st *launches_add(struct CUgraph_st *launches, struct operation *launch) {
    struct CUgraphNode_st *node = launch == NULL ? NULL : calloc(1, sizeof *node);
    if (node == NULL) {
        free(launch);
        return NULL;
    }
    node->launch = launch;
    if (launches->last == NULL) {
        launches->first = node;
    } else {
        launches->last->next = node;
    }
    launches->last = node;
    return node;
}

static struct operation *copy_of(const struct operation *launch) {
    struct operation *copy = operation_make(LAUNCH);
    if (copy != NULL) {
        memcpy(copy, launch, sizeof *copy);
        copy->next = NULL;
    }
    return copy;
}

EXPORT cuda_result cuGraphCreate(cuda_graph *graph, unsigned flags) {
    CONTEXT(context)
    (void)context;
    if (flags != 0) {
        return CUDA_INVALID_VALUE;
    }
    *graph = calloc(1, sizeof **graph);
    return *graph == NULL ? CUDA_OUT_OF_MEMORY : CUDA_SUCCESS;
}

EXPORT cuda_result cuStreamBeginCapture_v2(cuda_stream stream, int mode) {
    (void)mode;
    return stream_capture(stream, true);
}

EXPORT cuda_result cuStreamEndCapture(cuda_stream stream, cuda_graph *graph) {
    cuda_result result = stream_capture(stream, false);
    *graph = result == CUDA_SUCCESS ? calloc(1, sizeof **graph) : NULL;
    return result == CUDA_SUCCESS && *graph == NULL ? CUDA_OUT_OF_MEMORY : result;
}

EXPORT cuda_result cuGraphDestroy(cuda_graph graph) {
    if (graph == NULL) {
        return CUDA_INVALID_VALUE;
    }
    launches_free(graph);
    free(graph);
    return CUDA_SUCCESS;
}

/* Each follows the one before it: other graphs are not known here. */
EXPORT cuda_result cuGraphAddKernelNode(
        cuda_node *made, cuda_graph graph, const cuda_node *before, size_t count, const struct cuda_kernel_node *kernel) {
    CONTEXT(context)
    (void)context;
    if (graph == NULL || kernel == NULL) {
        return CUDA_INVALID_VALUE;
    }
    if (graph->last == NULL ? count != 0 : count != 1 || before[0] != graph->last) {
        return CUDA_NOT_SUPPORTED;
    }
    struct operation *launch = NULL;
    cuda_result result = launch_make(kernel, &launch);
    if (result != CUDA_SUCCESS) {
        return result;
    }
    *made = launches_add(graph, launch);
    return *made == NULL ? CUDA_OUT_OF_MEMORY : CUDA_SUCCESS;
}

EXPORT cuda_result cuGraphKernelNodeSetAttribute(cuda_node node, int attribute, const union cuda_node_attribute *value) {
    CONTEXT(context)
    (void)context;
    return node == NULL || value == NULL || attribute != CUDA_NODE_PRIORITY ? CUDA_INVALID_VALUE : CUDA_SUCCESS;
}

EXPORT cuda_result cuGraphInstantiateWithFlags(cuda_graph_program *made, cuda_graph graph, unsigned long long flags) {
    CONTEXT(context)
    if (graph == NULL || flags != 0) {
        return CUDA_INVALID_VALUE;
    }
    struct CUgraphExec_st *program = calloc(1, sizeof *program);
    if (program == NULL) {
        return CUDA_OUT_OF_MEMORY;
    }
    program->ordinal = context->ordinal;
    for (struct CUgraphNode_st *each = graph->first; each != NULL; each = each->next) {
        if (launches_add(&program->launches, copy_of(each->launch)) == NULL) {
            launches_free(&program->launches);
            free(program);
            return CUDA_OUT_OF_MEMORY;
        }
    }
    COUNT(graphs, 1);
    *made = program;
    return CUDA_SUCCESS;
}

EXPORT cuda_result cuGraphUpload(cuda_graph_program program, cuda_stream stream) {
    CONTEXT(context)
    return program == NULL || stream == NULL || program->ordinal != context->ordinal ? CUDA_INVALID_VALUE : CUDA_SUCCESS;
}

EXPORT cuda_result cuGraphLaunch(cuda_graph_program program, cuda_stream stream) {
    CONTEXT(context)
    if (program == NULL || stream == NULL || program->ordinal != context->ordinal) {
        return CUDA_INVALID_VALUE;
    }
    cuda_result result = CUDA_SUCCESS;
    for (struct CUgraphNode_st *each = program->launches.first; result == CUDA_SUCCESS && each != NULL; each = each->next) {
        struct operation *launch = copy_of(each->launch);
        result = launch == NULL ? CUDA_OUT_OF_MEMORY : stream_add(stream, launch);
    }
    return result;
}

EXPORT cuda_result cuGraphExecDestroy(cuda_graph_program program) {
    if (program == NULL) {
        return CUDA_INVALID_VALUE;
    }
    launches_free(&program->launches);
    free(program);
    COUNT(graphs, -1);
    return CUDA_SUCCESS;
}
