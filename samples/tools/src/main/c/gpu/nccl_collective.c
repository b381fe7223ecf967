/* NCCL's collectives of two GPUs, by a process for each: both do the same, and the first one says how often. */
#include "gpu.h"
#include "nccl.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define RANKS 2
#define ELEMENT_BYTES sizeof(float)
#define PIECE_BYTES ((size_t)1 << 20)
#define MOST_PLACES 64
/* As Sluice measures it: so many follow each other, for about so long. */
#define MOST_UNDER_WAY 100
#define ROUND_NANOS INT64_C(50000000)
#define LEAST_ROUNDS 3
#define MOST_ROUNDS 100
#define MOST_SAMPLES (1 << 16)
#define WORTH_OF_A_BLOCK INT64_C(30000000)

struct rank {
    int rank;
    int socket;                     /* to the other one */
    const struct collective_plan *plan;
    size_t count;                   /* elements: of a block, where there are blocks */
    size_t source_bytes;
    size_t target_bytes;
    cuda_address source;
    cuda_address target;
    cuda_address word;              /* of small all-reduces, by which both begin together */
    void *communicator;
    struct work work;
    cuda_graph_program graph;
    cuda_event begin;
    cuda_event end;
};

/* What the first one has both do. */
enum task { FOLLOW_EACH_OTHER, WAIT_FOR_EACH };

struct order {
    enum task task;
    uint64_t starts;
};

static bool has_blocks(enum collective collective) {
    return collective == REDUCE_SCATTER || collective == ALL_GATHER || collective == ALL_TO_ALL;
}

static void enqueue(const struct rank *rank) {
    const void *from = (const void *)(uintptr_t)rank->source;
    void *to = (void *)(uintptr_t)rank->target;
    size_t count = rank->count;
    void *stream = rank->work.stream;
    switch (rank->plan->collective) {
        case ALL_REDUCE:
            nccl_check(nccl.all_reduce(from, to, count, NCCL_FLOAT32, NCCL_SUM, rank->communicator, stream), "ncclAllReduce");
            break;
        case REDUCE_SCATTER:
            nccl_check(nccl.reduce_scatter(from, to, count, NCCL_FLOAT32, NCCL_SUM, rank->communicator, stream),
                    "ncclReduceScatter");
            break;
        case ALL_GATHER:
            nccl_check(nccl.all_gather(from, to, count, NCCL_FLOAT32, rank->communicator, stream), "ncclAllGather");
            break;
        case BROADCAST:
            nccl_check(nccl.broadcast(from, to, count, NCCL_FLOAT32, 0, rank->communicator, stream), "ncclBroadcast");
            break;
        case ALL_TO_ALL:
            nccl_check(nccl.group_start(), "ncclGroupStart");
            for (int peer = 0; peer < RANKS; peer++) {
                size_t at = (size_t)peer * count;
                nccl_check(nccl.send((const float *)from + at, count, NCCL_FLOAT32, peer, rank->communicator, stream), "ncclSend");
                nccl_check(nccl.receive((float *)to + at, count, NCCL_FLOAT32, peer, rank->communicator, stream), "ncclRecv");
            }
            nccl_check(nccl.group_end(), "ncclGroupEnd");
            break;
    }
}

static void start(const struct rank *rank) {
    if (rank->graph != NULL) {
        check(cuda.graph_launch(rank->graph, rank->work.stream), "cuGraphLaunch");
    } else {
        enqueue(rank);
    }
}

static void await_all(struct rank *rank) {
    work_end(&rank->work, ++rank->work.submitted);
    work_await(&rank->work, rank->work.submitted);
}

static void begin_together(const struct rank *rank) {
    void *word = (void *)(uintptr_t)rank->word;
    nccl_check(nccl.all_reduce(word, word, 1, NCCL_FLOAT32, NCCL_SUM, rank->communicator, rank->work.stream), "ncclAllReduce");
}

/* ---- content ---- */

/* Small whole numbers: sums of them are exact. */
static float element(int rank, size_t at) {
    return (float)((at * 31 + (size_t)rank * 7) % 1009);
}

static float expected(const struct rank *rank, size_t at) {
    size_t block = at / rank->count;
    size_t within = at % rank->count;
    size_t own = (size_t)rank->rank * rank->count;
    switch (rank->plan->collective) {
        case ALL_REDUCE:
            return element(0, at) + element(1, at);
        case REDUCE_SCATTER:
            return element(0, own + at) + element(1, own + at);
        case ALL_GATHER:
            return element((int)block, within);
        case ALL_TO_ALL:
            return element((int)block, own + within);
        default:
            return element(0, at);
    }
}

static void move(struct rank *rank, cuda_address to, cuda_address from, size_t bytes) {
    check(cuda.copy(to, from, bytes, rank->work.stream), "cuMemcpyAsync");
    await_all(rank);
}

static void fill(struct rank *rank, float *piece, cuda_address pinned) {
    for (size_t at = 0; at < rank->source_bytes; at += PIECE_BYTES) {
        size_t length = rank->source_bytes - at < PIECE_BYTES ? rank->source_bytes - at : PIECE_BYTES;
        for (size_t i = 0; i < length / ELEMENT_BYTES; i++) {
            piece[i] = element(rank->rank, at / ELEMENT_BYTES + i);
        }
        move(rank, rank->source + at, pinned, length);
    }
}

static void compare(struct rank *rank, const float *piece, cuda_address pinned) {
    size_t step = rank->target_bytes / MOST_PLACES / PIECE_BYTES * PIECE_BYTES;
    for (size_t at = 0; at < rank->target_bytes; at += step < PIECE_BYTES ? PIECE_BYTES : step) {
        size_t length = rank->target_bytes - at < PIECE_BYTES ? rank->target_bytes - at : PIECE_BYTES;
        move(rank, pinned, rank->target + at, length);
        for (size_t i = 0; i < length / ELEMENT_BYTES; i++) {
            if (piece[i] != expected(rank, at / ELEMENT_BYTES + i)) {
                fail("wrong elements", "what came of the collective differs from what it should be");
            }
        }
    }
}

/* ---- both do these ---- */

static cuda_graph_program capture(const struct rank *rank) {
    cuda_graph graph = NULL;
    cuda_graph_program program = NULL;
    if (cuda.begin_capture == NULL || cuda.end_capture == NULL) {
        not_available("the CUDA driver is too old", "cuStreamBeginCapture_v2");
    }
    check(cuda.begin_capture(rank->work.stream, CUDA_CAPTURE_RELAXED), "cuStreamBeginCapture");
    for (uint64_t i = 0; i < rank->plan->graph; i++) {
        enqueue(rank);
    }
    check(cuda.end_capture(rank->work.stream, &graph), "cuStreamEndCapture");
    check(cuda.graph_instantiate(&program, graph, 0), "cuGraphInstantiate");
    check(cuda.graph_upload(program, rank->work.stream), "cuGraphUpload");
    return program;
}

static void open_rank(struct rank *rank, const struct nccl_id *id) {
    uint64_t blocks = has_blocks(rank->plan->collective) ? RANKS : 1;
    cuda_address pinned = 0;
    rank->count = (size_t)((rank->plan->bytes + blocks * ELEMENT_BYTES - 1) / (blocks * ELEMENT_BYTES));
    size_t one = rank->count * ELEMENT_BYTES;
    rank->source_bytes = rank->plan->collective == REDUCE_SCATTER || rank->plan->collective == ALL_TO_ALL ? RANKS * one : one;
    rank->target_bytes = rank->plan->collective == ALL_GATHER || rank->plan->collective == ALL_TO_ALL ? RANKS * one : one;
    rank->source = memory_allocate(rank->source_bytes);
    rank->target = memory_allocate(rank->target_bytes);
    rank->word = memory_allocate(ELEMENT_BYTES);
    check(cuda.event_create(&rank->begin, 0), "cuEventCreate");
    check(cuda.event_create(&rank->end, 0), "cuEventCreate");
    work_open(&rank->work);
    float *piece = pinned_allocate(PIECE_BYTES, &pinned);
    nccl_check(nccl.join(&rank->communicator, RANKS, *id, rank->rank), "ncclCommInitRank");
    fill(rank, piece, pinned);
    check(cuda.fill(rank->word, 0, ELEMENT_BYTES, rank->work.stream), "cuMemsetD8Async");
    begin_together(rank);
    enqueue(rank);
    await_all(rank);
    compare(rank, piece, pinned);
    if (rank->plan->graph > 0) {
        rank->graph = capture(rank);
        check(cuda.fill(rank->target, 0xff, rank->target_bytes, rank->work.stream), "cuMemsetD8Async");
        begin_together(rank);
        start(rank);
        await_all(rank);
        compare(rank, piece, pinned);
    }
}

/* Nanoseconds by the clock of this GPU. */
static int64_t follow_each_other(struct rank *rank, uint64_t starts) {
    float milliseconds = 0;
    begin_together(rank);
    check(cuda.event_record(rank->begin, rank->work.stream), "cuEventRecord");
    for (uint64_t i = 0; i < starts; i++) {
        start(rank);
    }
    check(cuda.event_record(rank->end, rank->work.stream), "cuEventRecord");
    await_all(rank);
    check(cuda.event_elapsed(&milliseconds, rank->begin, rank->end), "cuEventElapsedTime");
    return (int64_t)((double)milliseconds * 1e6);
}

static void wait_for_each(struct rank *rank, uint64_t starts, int64_t *samples) {
    begin_together(rank);
    await_all(rank);
    for (uint64_t i = 0; i < starts; i++) {
        int64_t begin = clock_nanos();
        start(rank);
        await_all(rank);
        samples[i] = clock_nanos() - begin;
    }
}

static void follow(int socket, const void *argument) {
    struct rank rank = {.rank = 1, .socket = socket, .plan = argument};
    struct nccl_id id;
    struct order order;
    int64_t *samples = allocate(MOST_SAMPLES, sizeof *samples);
    driver_load();
    device_open(1);
    nccl_load();
    nccl_check(nccl.make_id(&id), "ncclGetUniqueId");
    peer_send(socket, &id, sizeof id, -1);
    open_rank(&rank, &id);
    while (read(socket, &order, sizeof order) == (ssize_t)sizeof order) {
        int64_t nanos = 0;
        if (order.task == FOLLOW_EACH_OTHER) {
            nanos = follow_each_other(&rank, order.starts);
        } else {
            wait_for_each(&rank, order.starts, samples);
        }
        peer_send(socket, &nanos, sizeof nanos, -1);
    }
}

/* ---- the first one ---- */

/* The time of the slower one. */
static int64_t both(struct rank *rank, struct peer peer, struct order order, int64_t *samples) {
    int64_t own = 0;
    int64_t other = 0;
    peer_send(peer.socket, &order, sizeof order, -1);
    if (order.task == FOLLOW_EACH_OTHER) {
        own = follow_each_other(rank, order.starts);
    } else {
        wait_for_each(rank, order.starts, samples);
    }
    peer_receive(peer, &other, sizeof other, NULL);
    return own > other ? own : other;
}

static int by_size(const void *one, const void *other) {
    int64_t a = *(const int64_t *)one;
    int64_t b = *(const int64_t *)other;
    return (a > b) - (a < b);
}

static uint64_t bounded(int64_t value, uint64_t most) {
    return value < 1 ? 1 : (uint64_t)value > most ? most : (uint64_t)value;
}

/* Nanoseconds of one among others that follow each other. */
static double device_nanos(struct rank *rank, struct peer peer, int64_t duration) {
    uint64_t each = rank->plan->graph > 0 ? rank->plan->graph : 1;
    uint64_t most = bounded((int64_t)(MOST_UNDER_WAY / each), MOST_UNDER_WAY);
    int64_t one = both(rank, peer, (struct order){FOLLOW_EACH_OTHER, 1}, NULL);
    uint64_t starts = bounded(ROUND_NANOS / (one < 1 ? 1 : one), most);
    int64_t rounds[MOST_ROUNDS];
    int count = 0;
    int64_t end = clock_nanos() + duration;
    while (count < MOST_ROUNDS && (count < LEAST_ROUNDS || clock_nanos() < end)) {
        rounds[count++] = both(rank, peer, (struct order){FOLLOW_EACH_OTHER, starts}, NULL);
    }
    qsort(rounds, (size_t)count, sizeof *rounds, by_size);
    return (double)rounds[count / 2] / (double)(starts * each);
}

struct collective_figures nccl_collective_measure(const struct collective_plan *plan) {
    struct rank rank = {.rank = 0, .plan = plan};
    struct nccl_id id;
    int64_t *samples = allocate(MOST_SAMPLES, sizeof *samples);
    struct peer peer = peer_start(follow, plan);
    peer_receive(peer, &id, sizeof id, NULL);
    driver_load();
    device_open(0);
    nccl_load();
    open_rank(&rank, &id);
    struct collective_figures figures = {.operations = 0};
    uint64_t starts = 1;
    int64_t warm = clock_nanos() + plan->warmup;
    int64_t end = 0;
    uint64_t count = 0;
    do {
        int64_t begin = clock_nanos();
        both(&rank, peer, (struct order){WAIT_FOR_EACH, starts}, samples + count);
        int64_t now = clock_nanos();
        if (end != 0) {
            count += starts;
            figures.nanos += now - begin;
        } else if (now >= warm) {
            end = now + plan->duration;
        }
        starts = bounded(WORTH_OF_A_BLOCK * (int64_t)starts / (now - begin), MOST_SAMPLES / 4);
    } while ((end == 0 || clock_nanos() < end || count == 0) && count + starts <= MOST_SAMPLES);
    qsort(samples, (size_t)count, sizeof *samples, by_size);
    figures.operations = count * (plan->graph > 0 ? plan->graph : 1);
    figures.median_nanos = count == 0 ? 0 : samples[count / 2];
    figures.device_nanos = device_nanos(&rank, peer, plan->duration);
    free(samples);
    return figures;
}
