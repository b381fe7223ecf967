/* NCCL's send and receive, by a process for each GPU. */
#include "gpu.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#define NCCL_BYTES 0 /* ncclInt8 */

struct nccl_id {
    char bytes[128];
};

/* As nccl.h has them. */
#define NCCL_FUNCTIONS(FUNCTION) \
    FUNCTION(error_text, ncclGetErrorString, const char *, (int result)) \
    FUNCTION(make_id, ncclGetUniqueId, int, (struct nccl_id *id)) \
    FUNCTION(join, ncclCommInitRank, int, (void **communicator, int ranks, struct nccl_id id, int rank)) \
    FUNCTION(send, ncclSend, int, (const void *from, size_t count, int type, int peer, void *communicator, void *stream)) \
    FUNCTION(receive, ncclRecv, int, (void *to, size_t count, int type, int peer, void *communicator, void *stream))

static struct {
#define MEMBER(name, symbol, result, parameters) result(*name) parameters;
    NCCL_FUNCTIONS(MEMBER)
#undef MEMBER
} nccl;

static void load(void) {
    const char *named = getenv("SLUICE_NCCL_LIBRARY");
    void *library = dlopen(named == NULL ? "libnccl.so.2" : named, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) {
        not_available("no NCCL; SLUICE_NCCL_LIBRARY names its file", dlerror());
    }
#define FIND(name, symbol, result, parameters) \
    void *name = dlsym(library, #symbol); \
    if (name == NULL) { \
        not_available("NCCL lacks a function", #symbol); \
    } \
    memcpy(&nccl.name, &name, sizeof name);
    NCCL_FUNCTIONS(FIND)
#undef FIND
}

static void nccl_check(int result, const char *what) {
    if (result != 0) {
        fail(what, nccl.error_text(result));
    }
}

struct side {
    size_t bytes;
    uint64_t inflight;
    cuda_address memory;
    void *communicator;
    struct work work;
};

static void open_side(struct side *side, int rank, const struct nccl_id *id) {
    side->memory = memory_allocate(side->bytes);
    work_open(&side->work);
    nccl_check(nccl.join(&side->communicator, 2, *id, rank), "ncclCommInitRank");
}

static void submit_receive(struct side *side) {
    nccl_check(nccl.receive((void *)(uintptr_t)side->memory, side->bytes, NCCL_BYTES, 0, side->communicator,
                       side->work.stream),
            "ncclRecv");
    work_end(&side->work, ++side->work.submitted);
}

/* The other process: it is killed when the first one ends, as it always waits for one more. */
static void receive(int socket, const void *argument) {
    struct side side = *(const struct side *)argument;
    struct nccl_id id;
    driver_load();
    device_open(1);
    load();
    nccl_check(nccl.make_id(&id), "ncclGetUniqueId");
    peer_send(socket, &id, sizeof id, -1);
    open_side(&side, 1, &id);
    submit_receive(&side);
    work_await(&side.work, 1);
    cuda_address expected = memory_allocate(side.bytes);
    content_fill(&side.work, expected, side.bytes);
    content_compare(&side.work, expected, side.memory, side.bytes);
    char good = 1;
    peer_send(socket, &good, sizeof good, -1);
    for (;;) {
        submit_receive(&side);
        if (side.work.submitted > side.inflight) {
            work_await(&side.work, side.work.submitted - side.inflight);
        }
    }
}

static void submit_send(struct work *work, uint64_t number, void *argument) {
    const struct side *side = argument;
    nccl_check(nccl.send((const void *)(uintptr_t)side->memory, side->bytes, NCCL_BYTES, 1, side->communicator,
                       work->stream),
            "ncclSend");
    work_end(work, number);
}

struct figures nccl_measure(const struct plan *plan) {
    struct side side = {.bytes = (size_t)plan->bytes, .inflight = plan->inflight};
    struct nccl_id id;
    char good;
    /* Multicast of NVLink can take the GPUs of a shared machine out of service. */
    setenv("NCCL_NVLS_ENABLE", "0", 1);
    struct peer peer = peer_start(receive, &side);
    peer_receive(peer, &id, sizeof id, NULL);
    driver_load();
    device_open(0);
    load();
    open_side(&side, 0, &id);
    content_fill(&side.work, side.memory, side.bytes);
    submit_send(&side.work, ++side.work.submitted, &side);
    work_await(&side.work, side.work.submitted);
    peer_receive(peer, &good, sizeof good, NULL);
    return measure(&side.work, plan, (struct operation){.submit = submit_send, .argument = &side});
}
