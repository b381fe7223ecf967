/* Two GPUs that copy to each other at the same time, by a process for each: no collective moves more. */
#include "gpu.h"

#include <string.h>
#include <unistd.h>

struct side {
    cuda_address own;
    cuda_address other;
    size_t bytes;
    struct work work;
};

static void copy_times(struct side *side, uint64_t copies) {
    for (uint64_t i = 0; i < copies; i++) {
        check(cuda.copy(side->other, side->own, side->bytes, side->work.stream), "cuMemcpyAsync");
    }
    work_end(&side->work, ++side->work.submitted);
    work_await(&side->work, side->work.submitted);
}

/* Gives the other one memory to write to, and gets some of its. */
static void open_side(struct side *side, int device, struct peer peer, size_t bytes) {
    struct shared_memory theirs;
    int descriptor = -1;
    driver_load();
    device_open(device);
    struct shared_memory shared = memory_share(device, bytes, false);
    peer_send(peer.socket, &shared, sizeof shared, shared.descriptor);
    peer_receive(peer, &theirs, sizeof theirs, &descriptor);
    theirs.descriptor = descriptor;
    side->bytes = bytes;
    side->own = memory_allocate(bytes);
    side->other = memory_import(device, &theirs);
    work_open(&side->work);
    content_fill(&side->work, side->own, bytes);
}

static void follow(int socket, const void *argument) {
    const struct plan *plan = argument;
    struct side side;
    uint64_t copies = 0;
    open_side(&side, 1, (struct peer){.socket = socket, .process = -1}, (size_t)plan->bytes);
    while (read(socket, &copies, sizeof copies) == (ssize_t)sizeof copies) {
        copy_times(&side, copies);
        peer_send(socket, &copies, sizeof copies, -1);
    }
}

/* Nanoseconds until both have copied. */
static int64_t both(struct side *side, struct peer peer, uint64_t copies) {
    int64_t begin = clock_nanos();
    peer_send(peer.socket, &copies, sizeof copies, -1);
    copy_times(side, copies);
    peer_receive(peer, &copies, sizeof copies, NULL);
    return clock_nanos() - begin;
}

struct figures both_ways_measure(const struct plan *plan) {
    struct side side;
    struct figures figures = {.operations = 0};
    struct peer peer = peer_start(follow, plan);
    open_side(&side, 0, peer, (size_t)plan->bytes);
    int64_t warm = clock_nanos() + plan->warmup;
    do {
        both(&side, peer, plan->inflight);
    } while (clock_nanos() < warm);
    while (figures.nanos < plan->duration) {
        figures.nanos += both(&side, peer, plan->inflight);
        figures.operations += plan->inflight;
    }
    content_compare(&side.work, side.own, side.other, side.bytes);
    return figures;
}
