/* The functions of the CUDA driver: those that Sluice's library declares, and those for many copies and for capturing. */
#ifndef DRIVER_H
#define DRIVER_H

#include "cuda_api.h"

#define CUDA_BATCH_IN_STREAM_ORDER 1
#define CUDA_CAPTURE_RELAXED 2

/* Of a batch of copies. */
struct cuda_copy_attributes {
    int source_order;
    struct cuda_location source;
    struct cuda_location destination;
    unsigned flags;
};

/* Those that a driver may lack, which are NULL then: the batch call came with CUDA 12.8, and in 13.0 in another form. */
#define OPTIONAL_FUNCTIONS(FUNCTION) \
    FUNCTION(copy_batch_12, cuMemcpyBatchAsync, \
            (cuda_address *to, cuda_address *from, size_t *bytes, size_t count, struct cuda_copy_attributes *attributes, \
             size_t *first, size_t attribute_count, size_t *failed, cuda_stream stream)) \
    FUNCTION(copy_batch, cuMemcpyBatchAsync_v2, \
            (cuda_address *to, cuda_address *from, size_t *bytes, size_t count, struct cuda_copy_attributes *attributes, \
             size_t *first, size_t attribute_count, cuda_stream stream)) \
    FUNCTION(begin_capture, cuStreamBeginCapture_v2, (cuda_stream stream, int mode)) \
    FUNCTION(end_capture, cuStreamEndCapture, (cuda_stream stream, cuda_graph *graph))

struct driver {
#define MEMBER(name, symbol, parameters) cuda_result(*name) parameters;
    CUDA_FUNCTIONS(MEMBER)
    OPTIONAL_FUNCTIONS(MEMBER)
#undef MEMBER
};

extern struct driver cuda;

#endif
