/* A stream, for the files that submit work to it. */
#ifndef CUDA_STREAM_H
#define CUDA_STREAM_H

#include "cuda_library.h"

struct sluice_cuda_module {
    struct sluice_cuda_device *device;
    cuda_module module;
};

/* The kernels of kernels.cu for transfers. */
struct cuda_kernels {
    cuda_function copy_pages;
    cuda_function copy_strided;
    cuda_function signal;
    cuda_function fetch;
    cuda_function checksum;
};

struct sluice_cuda_stream {
    struct sluice_cuda_device *device;
    cuda_stream stream;
    struct cuda_kernels kernels;
    cuda_address blocks;
    int max_blocks;
    bool has_words;
    /* The caller's, which stays when this object goes. */
    bool is_adopted;
    /* The error of an operation that ran without its completion, or 0. */
    _Atomic int failed;
};

struct sluice_cuda_graph {
    struct sluice_cuda_device *device;
    cuda_graph_program program;
};

/* Returns the kernel of a SLUICE_CUDA_LAUNCH request. */
struct cuda_kernel_node cuda_kernel_of(const struct sluice_cuda_request *request);

/* struct completion of kernels.cu. */
struct cuda_completion {
    uint64_t signal;
    uint64_t addend;
    uint64_t word;
    uint64_t value;
    uint64_t blocks;
    uint32_t signal_is_store;
    uint32_t zero;
};

#endif
