#include "check.h"
#include "sluice_verbs.h"

#include <string.h>
#include <sys/epoll.h>
#include <time.h>

#define GIBIBYTE (INT64_C(1) << 30)
/* Offsets that do not fit 32 bits. */
#define REGION_BYTES (5 * GIBIBYTE)
#define FAR (4 * GIBIBYTE + 12345 * 8)
#define PAIRS 3
#define DEPTH 256
#define PIECES 4
#define SEQUENCE 0xfffff0
#define MANY 200
#define ALL_ACCESS \
    (SLUICE_VERBS_LOCAL_WRITE | SLUICE_VERBS_REMOTE_WRITE | SLUICE_VERBS_REMOTE_READ | SLUICE_VERBS_REMOTE_ATOMIC)

/* As libibverbs numbers them. */
enum { WRITE = 0, WRITE_WITH_IMMEDIATE = 1, READ = 4, FETCH_ADD = 6 };
enum { SIGNALED = 2 };
enum { COMPLETED_WRITE = 1, RECEIVED_WRITE = 129 };
enum { SUCCESS = 0, FLUSHED = 5, REMOTE_ACCESS_ERROR = 10 };
enum { STATE_RESET, STATE_INITIALISED, STATE_READY_TO_RECEIVE, STATE_READY_TO_SEND, STATE_ERROR = 6 };

struct peer {
    void *device;
    void *domain;
    void *channel;
    void *completions;
    void *receives;
    void *pairs[PAIRS];
    char *memory;
    void *region;
};

static void *handle(int64_t result) {
    CHECK(result > 0);
    return (void *)(intptr_t)result;
}

static void open_peer(struct peer *peer, const char *name) {
    peer->device = handle(sluice_verbs_device_open(name));
    peer->domain = handle(sluice_verbs_domain_allocate(peer->device));
    peer->channel = handle(sluice_verbs_channel_create(peer->device));
    peer->completions = handle(sluice_verbs_completion_queue_create(peer->device, 1024, peer->channel));
    CHECK(sluice_verbs_completion_queue_entries(peer->completions) >= 1024);
    peer->receives = handle(sluice_verbs_receive_queue_create(peer->domain, DEPTH));
    CHECK(sluice_verbs_receive_queue_depth(peer->receives) >= DEPTH);
    peer->memory = handle(sluice_memory_map(REGION_BYTES, false));
    peer->region = handle(sluice_verbs_memory_register(peer->domain, peer->memory, REGION_BYTES, ALL_ACCESS));
    for (int i = 0; i < PAIRS; i++) {
        peer->pairs[i] = handle(
                sluice_verbs_queue_pair_create(peer->domain, peer->completions, peer->receives, DEPTH, PIECES, 0));
        CHECK(sluice_verbs_queue_pair_send_depth(peer->pairs[i]) >= DEPTH);
        CHECK(sluice_verbs_queue_pair_inline_bytes(peer->pairs[i]) >= 0);
        CHECK_SAME(sluice_verbs_queue_pair_state(peer->pairs[i]), STATE_RESET);
    }
}

static void connect_to(struct peer *peer, struct peer *other) {
    struct sluice_verbs_gid_record gid __attribute__((aligned(8)));
    CHECK_SAME(sluice_verbs_device_query_gid(other->device, 1, 1, &gid), 0);
    CHECK_SAME(gid.type, SLUICE_VERBS_GID_ROCE_V2);
    for (int i = 0; i < PAIRS; i++) {
        struct sluice_verbs_path_record path = {
            .mtu_bytes = 4096,
            .destination_queue_pair = sluice_verbs_queue_pair_number(other->pairs[i]),
            .receive_sequence = SEQUENCE,
            .max_read_depth_as_target = 8,
            .minimum_rnr_timer = 1,
            .port = 1,
            .source_gid_index = 1,
            .hop_limit = 64,
            .is_global = 1,
        };
        memcpy(path.destination_gid, gid.gid, sizeof path.destination_gid);
        CHECK_SAME(sluice_verbs_queue_pair_initialise(peer->pairs[i], 1, 0, ALL_ACCESS), 0);
        CHECK_SAME(sluice_verbs_queue_pair_state(peer->pairs[i]), STATE_INITIALISED);
        CHECK_SAME(sluice_verbs_queue_pair_ready_to_receive(peer->pairs[i], &path), 0);
        CHECK_SAME(sluice_verbs_queue_pair_state(peer->pairs[i]), STATE_READY_TO_RECEIVE);
        CHECK_SAME(sluice_verbs_queue_pair_ready_to_send(peer->pairs[i], 8, 3, 2, SEQUENCE, 8), 0);
        CHECK_SAME(sluice_verbs_queue_pair_state(peer->pairs[i]), STATE_READY_TO_SEND);
    }
}

static void close_peer(struct peer *peer) {
    CHECK_SAME(sluice_verbs_domain_free(peer->domain), -EBUSY);
    for (int i = 0; i < PAIRS; i++) {
        CHECK_SAME(sluice_verbs_queue_pair_destroy(peer->pairs[i]), 0);
    }
    CHECK_SAME(sluice_verbs_memory_deregister(peer->region), 0);
    CHECK_SAME(sluice_memory_unmap(peer->memory, REGION_BYTES), 0);
    CHECK_SAME(sluice_verbs_receive_queue_destroy(peer->receives), 0);
    CHECK_SAME(sluice_verbs_completion_queue_destroy(peer->completions), 0);
    CHECK_SAME(sluice_verbs_channel_destroy(peer->channel), 0);
    CHECK_SAME(sluice_verbs_domain_free(peer->domain), 0);
    CHECK_SAME(sluice_verbs_device_close(peer->device), 0);
}

static struct sluice_verbs_work_request request(
        struct peer *from, struct peer *to, int pair, uint64_t id, uint32_t opcode, int64_t offset, int length) {
    return (struct sluice_verbs_work_request){
        .queue_pair = (int64_t)(intptr_t)from->pairs[pair],
        .id = id,
        .local_address = (uint64_t)(uintptr_t)(from->memory + offset),
        .remote_address = (uint64_t)(uintptr_t)(to->memory + offset),
        .length = length,
        .local_key = (uint32_t)sluice_verbs_memory_local_key(from->region),
        .remote_key = (uint32_t)sluice_verbs_memory_remote_key(to->region),
        .opcode = opcode,
        .flags = SIGNALED,
    };
}

static int64_t nanos(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

/* Waits for exactly so many completions. */
static void await(struct peer *peer, struct sluice_verbs_completion *records, int count) {
    int64_t end = nanos() + BOUND_NANOS;
    int found = 0;
    while (found < count) {
        int result = sluice_verbs_completion_queue_poll(peer->completions, records + found, count - found);
        CHECK(result >= 0);
        CHECK(nanos() < end);
        found += result;
    }
}

static void post_one(const struct sluice_verbs_work_request *record) {
    CHECK_SAME(sluice_verbs_queue_pair_post(record, 1), 1);
}

/* Pieces of this side's memory, behind each other at the peer. */
static void check_pieces(struct peer *here, struct peer *there) {
    struct sluice_verbs_completion completion;
    uint32_t key = (uint32_t)sluice_verbs_memory_local_key(here->region);
    struct sluice_verbs_piece pieces[PIECES];
    for (int i = 0; i < PIECES; i++) {
        char *at = here->memory + FAR + 1000 * (PIECES - i);
        memset(at, 'a' + i, 10);
        pieces[i] = (struct sluice_verbs_piece){(uint64_t)(uintptr_t)at, 10, key};
    }
    struct sluice_verbs_work_request write = request(here, there, 0, 4, WRITE, FAR, 10 * PIECES);
    write.local_address = (uint64_t)(uintptr_t)pieces;
    write.pieces = PIECES;
    post_one(&write);
    await(here, &completion, 1);
    CHECK_SAME(completion.status, SUCCESS);
    CHECK(memcmp(there->memory + FAR, "aaaaaaaaaabbbbbbbbbbccccccccccdddddddddd", 10 * PIECES) == 0);

    memset(there->memory + FAR, 'z', 10 * PIECES);
    struct sluice_verbs_work_request read = request(here, there, 0, 5, READ, FAR, 10 * PIECES);
    read.local_address = (uint64_t)(uintptr_t)pieces;
    read.pieces = PIECES;
    post_one(&read);
    await(here, &completion, 1);
    CHECK_SAME(completion.status, SUCCESS);
    for (int i = 1; i <= PIECES; i++) {
        CHECK(memcmp(here->memory + FAR + 1000 * i, "zzzzzzzzzz", 11) == 0);
    }

    write.pieces = PIECES + 1;
    CHECK_SAME(sluice_verbs_queue_pair_post(&write, 1), -EINVAL);
    write.pieces = -1;
    CHECK_SAME(sluice_verbs_queue_pair_post(&write, 1), -EINVAL);
    write.pieces = 1;
    write.local_address = 0;
    CHECK_SAME(sluice_verbs_queue_pair_post(&write, 1), -EINVAL);
}

static void check_far_offsets(struct peer *here, struct peer *there) {
    struct sluice_verbs_completion completion;
    strcpy(here->memory + FAR, "far away");
    struct sluice_verbs_work_request write = request(here, there, 0, 1, WRITE, FAR, 9);
    post_one(&write);
    await(here, &completion, 1);
    CHECK_SAME(completion.status, SUCCESS);
    CHECK_SAME(completion.opcode, COMPLETED_WRITE);
    CHECK_SAME(completion.bytes, 0);
    CHECK(strcmp(there->memory + FAR, "far away") == 0);

    strcpy(there->memory + FAR, "far back");
    struct sluice_verbs_work_request read = request(here, there, 0, 2, READ, FAR, 9);
    post_one(&read);
    await(here, &completion, 1);
    CHECK_SAME(completion.status, SUCCESS);
    CHECK_SAME(completion.bytes, 9);
    CHECK(strcmp(here->memory + FAR, "far back") == 0);

    uint64_t before = 41;
    memcpy(there->memory + FAR, &before, sizeof before);
    struct sluice_verbs_work_request add = request(here, there, 0, 3, FETCH_ADD, FAR, 8);
    add.operand = UINT64_C(1) << 40;
    post_one(&add);
    await(here, &completion, 1);
    CHECK_SAME(completion.status, SUCCESS);
    uint64_t values[2];
    memcpy(&values[0], here->memory + FAR, sizeof values[0]);
    memcpy(&values[1], there->memory + FAR, sizeof values[1]);
    CHECK_SAME((int64_t)values[0], 41);
    CHECK_SAME((int64_t)values[1], 41 + (INT64_C(1) << 40));
}

/* Records in an allocation of just their size, so that a step beyond either end is seen. */
static void check_many(struct peer *here, struct peer *there) {
    struct sluice_verbs_work_request *requests = malloc(MANY * sizeof *requests);
    struct sluice_verbs_completion *completions = malloc(MANY * sizeof *completions);
    for (int i = 0; i < MANY; i++) {
        /* Runs of one, of three chains, and of the rest. */
        int pair = i == 0 ? 0 : i < 140 ? 1 : 2;
        requests[i] = request(here, there, pair, (uint64_t)i, WRITE, 64 * i, 8);
        memcpy(here->memory + 64 * i, &i, sizeof i);
    }
    CHECK_SAME(sluice_verbs_queue_pair_post(requests, MANY), MANY);
    await(here, completions, MANY);
    uint64_t next[PAIRS] = {0, 1, 140};
    for (int i = 0; i < MANY; i++) {
        int pair = 0;
        CHECK_SAME(completions[i].status, SUCCESS);
        while ((uint32_t)sluice_verbs_queue_pair_number(here->pairs[pair]) != completions[i].queue_pair_number) {
            pair++;
            CHECK(pair < PAIRS);
        }
        CHECK(completions[i].id == next[pair]++);
        int value;
        memcpy(&value, there->memory + 64 * i, sizeof value);
        CHECK_SAME(value, i);
    }

    requests[70].opcode = 7;
    CHECK_SAME(sluice_verbs_queue_pair_post(requests, MANY), 70);
    CHECK_SAME(sluice_verbs_queue_pair_post(requests + 70, MANY - 70), -EINVAL);
    await(here, completions, 70);
    free(requests);
    free(completions);
}

static void check_receives(struct peer *here, struct peer *there) {
    struct sluice_verbs_receive_request *records = malloc(100 * sizeof *records);
    for (int i = 0; i < 100; i++) {
        records[i] = (struct sluice_verbs_receive_request){
            .id = (uint64_t)(1000 + i),
            .address = (uint64_t)(uintptr_t)there->memory,
            .length = 64,
            .local_key = (uint32_t)sluice_verbs_memory_local_key(there->region),
        };
    }
    CHECK_SAME(sluice_verbs_receive_queue_post(there->receives, records, 100), 100);
    struct sluice_verbs_work_request write = request(here, there, 1, 9, WRITE_WITH_IMMEDIATE, 128, 8);
    write.immediate = 0x81020304;
    CHECK_SAME(sluice_verbs_completion_queue_request_notification(there->completions), 0);
    post_one(&write);
    await_ready(sluice_verbs_channel_descriptor(there->channel), EPOLLIN);
    struct sluice_verbs_completion completion;
    await(there, &completion, 1);
    CHECK_SAME(completion.status, SUCCESS);
    CHECK_SAME((int64_t)completion.id, 1000);
    CHECK_SAME(completion.opcode, RECEIVED_WRITE);
    CHECK_SAME(completion.immediate, 0x81020304);
    CHECK_SAME(completion.bytes, 8);
    CHECK_SAME(sluice_verbs_completion_queue_take_events(there->channel, there->completions), 1);
    CHECK_SAME(sluice_verbs_completion_queue_take_events(there->channel, there->completions), 0);
    await(here, &completion, 1);
    CHECK_SAME((int64_t)completion.id, 9);

    records[3].length = -1;
    CHECK_SAME(sluice_verbs_receive_queue_post(there->receives, records, 100), 3);
    CHECK_SAME(sluice_verbs_receive_queue_post(there->receives, records + 3, 97), -EINVAL);
    free(records);
}

static void check_error(struct peer *here, struct peer *there) {
    struct sluice_verbs_completion completions[2];
    struct sluice_verbs_work_request requests[2] = {
        request(here, there, 2, 1, READ, 0, 8),
        request(here, there, 2, 2, READ, 0, 8),
    };
    requests[0].remote_key ^= 0x55;
    memset(completions, 0x55, sizeof completions);
    CHECK_SAME(sluice_verbs_queue_pair_post(requests, 2), 2);
    await(here, completions, 2);
    CHECK_SAME(completions[0].status, REMOTE_ACCESS_ERROR);
    CHECK_SAME(completions[1].status, FLUSHED);
    for (int i = 0; i < 2; i++) {
        CHECK_SAME((int64_t)completions[i].id, i + 1);
        CHECK_SAME(completions[i].queue_pair_number, (uint32_t)sluice_verbs_queue_pair_number(here->pairs[2]));
        CHECK_SAME(completions[i].bytes, 0);
        CHECK_SAME(completions[i].opcode, 0);
        CHECK_SAME(completions[i].immediate, 0);
    }
    CHECK_SAME(sluice_verbs_queue_pair_state(here->pairs[2]), STATE_ERROR);
    /* Acknowledge the resulting event, or the queue pairs cannot be destroyed. */
    struct sluice_verbs_event_record event;
    int result;
    while ((result = sluice_verbs_device_next_async_event(there->device, &event)) == 1) {
        CHECK(event.handle != 0 || event.port != 0);
    }
    CHECK_SAME(result, 0);
    CHECK_SAME(sluice_verbs_queue_pair_to_reset(here->pairs[2]), 0);
    CHECK_SAME(sluice_verbs_queue_pair_state(here->pairs[2]), STATE_RESET);
}

static void check_queries(struct peer *peer) {
    struct sluice_verbs_device_record *device = malloc(sizeof *device);
    CHECK_SAME(sluice_verbs_device_query(peer->device, device), 0);
    CHECK(device->max_queue_pairs > 0 && device->max_region_bytes >= REGION_BYTES && device->ports == 1);
    free(device);
    struct sluice_verbs_port_record *port = malloc(sizeof *port);
    CHECK_SAME(sluice_verbs_device_query_port(peer->device, 1, port), 0);
    CHECK_SAME(port->active_mtu_bytes, 4096);
    CHECK_SAME(sluice_verbs_device_query_port(peer->device, 2, port), -EINVAL);
    CHECK_SAME(sluice_verbs_device_query_port(peer->device, 257, port), -EINVAL);
    free(port);
    CHECK(sluice_verbs_device_async_descriptor(peer->device) >= 0);
    CHECK(strcmp(sluice_verbs_status_text(SUCCESS), "success") == 0);
    CHECK(strcmp(sluice_verbs_status_text(-1), "unknown") == 0);
}

static void check_nothing(struct peer *peer) {
    uint64_t space[16];
    void *misaligned = (char *)space + 4;
    CHECK_SAME(sluice_verbs_device_open("no-such-device"), -ENODEV);
    CHECK_SAME(sluice_verbs_device_query(NULL, (void *)space), -EINVAL);
    CHECK_SAME(sluice_verbs_device_query(peer->device, misaligned), -EINVAL);
    CHECK_SAME(sluice_verbs_device_query_port(peer->device, 1, misaligned), -EINVAL);
    CHECK_SAME(sluice_verbs_device_query_gid(peer->device, 1, 0, misaligned), -EINVAL);
    CHECK_SAME(sluice_verbs_device_next_async_event(peer->device, misaligned), -EINVAL);
    CHECK_SAME(sluice_verbs_completion_queue_poll(peer->completions, misaligned, 1), -EINVAL);
    CHECK_SAME(sluice_verbs_receive_queue_post(peer->receives, misaligned, 1), -EINVAL);
    CHECK_SAME(sluice_verbs_queue_pair_post(misaligned, 1), -EINVAL);
    CHECK_SAME(sluice_verbs_queue_pair_ready_to_receive(peer->pairs[0], misaligned), -EINVAL);
    CHECK_SAME(sluice_verbs_memory_register(peer->domain, peer->memory, 8, 1 << 30), -EINVAL);
    CHECK_SAME(sluice_verbs_memory_register(peer->domain, peer->memory, 0, 0), -EINVAL);
    CHECK_SAME(sluice_verbs_memory_deregister(NULL), -EINVAL);
    CHECK_SAME(sluice_verbs_memory_local_key(NULL), 0);
    CHECK_SAME(sluice_verbs_queue_pair_create(peer->domain, peer->completions, NULL, 1, 1, 0), -EINVAL);
}

void test_verbs(const char *library) {
    CHECK(sluice_verbs_device_list() == NULL);
    CHECK_SAME(sluice_verbs_device_open("soft0"), -ENODEV);
    const char *cause = sluice_verbs_load(library);
    if (cause != NULL) {
        fprintf(stderr, "%s\n", cause);
        exit(1);
    }
    CHECK(sluice_verbs_load("another") == NULL);
    void **list = sluice_verbs_device_list();
    CHECK(list != NULL && list[0] != NULL && strcmp(sluice_verbs_device_name(list[0]), "soft0") == 0);
    sluice_verbs_free_device_list(list);

    struct peer here, there;
    open_peer(&here, "soft0");
    open_peer(&there, "soft1");
    connect_to(&here, &there);
    connect_to(&there, &here);
    check_queries(&here);
    check_nothing(&here);
    check_far_offsets(&here, &there);
    check_pieces(&here, &there);
    check_many(&here, &there);
    check_receives(&here, &there);
    check_error(&here, &there);
    close_peer(&here);
    close_peer(&there);
}
