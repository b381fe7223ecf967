/* NCCL, opened when the program starts to measure it. */
#ifndef NCCL_H
#define NCCL_H

#include <stddef.h>

#define NCCL_INT8 0
#define NCCL_FLOAT32 7
#define NCCL_SUM 0

struct nccl_id {
    char bytes[128];
};

/* As nccl.h has them. */
#define NCCL_FUNCTIONS(FUNCTION) \
    FUNCTION(error_text, ncclGetErrorString, const char *, (int result)) \
    FUNCTION(make_id, ncclGetUniqueId, int, (struct nccl_id *id)) \
    FUNCTION(join, ncclCommInitRank, int, (void **communicator, int ranks, struct nccl_id id, int rank)) \
    FUNCTION(group_start, ncclGroupStart, int, (void)) \
    FUNCTION(group_end, ncclGroupEnd, int, (void)) \
    FUNCTION(send, ncclSend, int, (const void *from, size_t count, int type, int peer, void *communicator, void *stream)) \
    FUNCTION(receive, ncclRecv, int, (void *to, size_t count, int type, int peer, void *communicator, void *stream)) \
    FUNCTION(all_reduce, ncclAllReduce, int, \
            (const void *from, void *to, size_t count, int type, int operation, void *communicator, void *stream)) \
    FUNCTION(reduce_scatter, ncclReduceScatter, int, \
            (const void *from, void *to, size_t count, int type, int operation, void *communicator, void *stream)) \
    FUNCTION(all_gather, ncclAllGather, int, \
            (const void *from, void *to, size_t count, int type, void *communicator, void *stream)) \
    FUNCTION(broadcast, ncclBroadcast, int, \
            (const void *from, void *to, size_t count, int type, int root, void *communicator, void *stream))

struct nccl_library {
#define MEMBER(name, symbol, result, parameters) result(*name) parameters;
    NCCL_FUNCTIONS(MEMBER)
#undef MEMBER
};

extern struct nccl_library nccl;

/* Opens libnccl.so.2, or what SLUICE_NCCL_LIBRARY names. */
void nccl_load(void);
void nccl_check(int result, const char *what);

#endif
