/* Two GPUs and a process for each: the other one's memory is mapped here. */
#include "gpu.h"

#include <string.h>

struct wish {
    size_t bytes;
    enum sharing sharing;
};

static void share(int socket, const void *argument) {
    const struct wish *wish = argument;
    driver_load();
    device_open(1);
    struct shared_memory shared = memory_share(1, wish->bytes, wish->sharing == BY_HANDLE);
    peer_send(socket, &shared, sizeof shared, shared.descriptor);
    peer_wait(socket);
}

struct pair pair_open(size_t bytes, enum sharing sharing) {
    struct wish wish = {.bytes = bytes, .sharing = sharing};
    struct peer peer = peer_start(share, &wish);
    struct shared_memory shared;
    int descriptor;
    peer_receive(peer, &shared, sizeof shared, &descriptor);
    shared.descriptor = descriptor;
    driver_load();
    device_open(0);
    struct pair pair = {.own = memory_allocate(bytes), .other = memory_import(0, &shared)};
    work_open(&pair.work);
    content_fill(&pair.work, pair.own, bytes);
    return pair;
}
