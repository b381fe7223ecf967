/* NCCL's send and receive, by a process for each GPU. */
#include "gpu.h"

#include "nccl.h"

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
    nccl_check(nccl.receive((void *)(uintptr_t)side->memory, side->bytes, NCCL_INT8, 0, side->communicator,
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
    nccl_load();
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
    nccl_check(nccl.send((const void *)(uintptr_t)side->memory, side->bytes, NCCL_INT8, 1, side->communicator,
                       work->stream),
            "ncclSend");
    work_end(work, number);
}

struct figures nccl_measure(const struct plan *plan) {
    struct side side = {.bytes = (size_t)plan->bytes, .inflight = plan->inflight};
    struct nccl_id id;
    char good;
    struct peer peer = peer_start(receive, &side);
    peer_receive(peer, &id, sizeof id, NULL);
    driver_load();
    device_open(0);
    nccl_load();
    open_side(&side, 0, &id);
    content_fill(&side.work, side.memory, side.bytes);
    submit_send(&side.work, ++side.work.submitted, &side);
    work_await(&side.work, side.work.submitted);
    peer_receive(peer, &good, sizeof good, NULL);
    return measure(&side.work, plan, (struct operation){.submit = submit_send, .argument = &side});
}
