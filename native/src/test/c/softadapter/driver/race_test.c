#define _GNU_SOURCE
#include "fixture.h"

#include <pthread.h>
#include <sys/mman.h>

#define ROUNDS 30
#define REQUESTS 20000
#define CONNECTIONS 4

static bool raised(const int *flag) {
    return __atomic_load_n(flag, __ATOMIC_SEQ_CST) != 0;
}

static void raise_flag(int *flag) {
    __atomic_store_n(flag, 1, __ATOMIC_SEQ_CST);
}

struct stream {
    struct side one;
    struct side other;
    pthread_t poster;
    pthread_t poller;
    struct ibv_sge element;
    struct ibv_send_wr request;
    int stop;
    uint64_t posted;
    uint64_t completed;
    uint64_t failed;
    enum ibv_wc_status status;
};

/* Posts as fast as it may, a few requests at a time, some unsignalled. */
static void *post_all(void *argument) {
    struct stream *stream = argument;
    uint64_t id = 0;
    while (id < REQUESTS && !raised(&stream->stop)) {
        struct ibv_send_wr requests[4];
        for (int i = 0; i < 4; i++) {
            requests[i] = stream->request;
            requests[i].wr_id = id + (uint64_t)i;
            requests[i].send_flags = i == 3 ? IBV_SEND_SIGNALED : 0;
            requests[i].next = i == 3 ? NULL : &requests[i + 1];
        }
        struct ibv_send_wr *bad = NULL;
        struct ibv_send_wr *next = requests;
        while (next != NULL && !raised(&stream->stop)) {
            int result = ibv_post_send(stream->one.pair, next, &bad);
            CHECK(result == 0 || result == ENOMEM);
            next = result == 0 ? NULL : bad;
            if (result != 0) {
                sleep_nanos(1000);
            }
        }
        if (next == NULL) {
            id += 4;
        } else {
            id = next->wr_id;
        }
    }
    __atomic_store_n(&stream->posted, id, __ATOMIC_SEQ_CST);
    return NULL;
}

/* All come, in order; after the first failure each single one comes. */
static void *poll_all(void *argument) {
    struct stream *stream = argument;
    uint64_t expected = 3;
    while (stream->failed == 0 && stream->completed < REQUESTS / 4) {
        struct ibv_wc completion = await_completion(stream->one.queue);
        if (completion.status == IBV_WC_SUCCESS) {
            CHECK_SAME(completion.wr_id, expected);
            expected += 4;
            stream->completed++;
        } else {
            stream->failed = 1;
            stream->status = completion.status;
            expected = completion.wr_id + 1;
            raise_flag(&stream->stop);
        }
    }
    while (stream->failed != 0) {
        struct ibv_wc completion;
        if (ibv_poll_cq(stream->one.queue, 1, &completion) == 1) {
            CHECK_SAME(completion.status, IBV_WC_WR_FLUSH_ERR);
            CHECK_SAME(completion.wr_id, expected);
            expected++;
        } else if (__atomic_load_n(&stream->posted, __ATOMIC_SEQ_CST) == expected) {
            break;
        } else {
            sleep_nanos(1000);
        }
    }
    return NULL;
}

static void start(struct stream *stream, struct options options) {
    memset(stream, 0, sizeof *stream);
    stream->posted = UINT64_MAX;
    open_connected(&stream->one, &stream->other, options);
    stream->request = request_of(&stream->one, &stream->other, IBV_WR_RDMA_WRITE, 64, &stream->element);
    CHECK_SAME(pthread_create(&stream->poster, NULL, post_all, stream), 0);
    CHECK_SAME(pthread_create(&stream->poller, NULL, poll_all, stream), 0);
}

static void join(struct stream *stream) {
    CHECK_SAME(pthread_join(stream->poster, NULL), 0);
    CHECK_SAME(pthread_join(stream->poller, NULL), 0);
}

static void streams_run_side_by_side(void) {
    struct stream streams[CONNECTIONS];
    for (int i = 0; i < CONNECTIONS; i++) {
        struct options options = usual();
        options.device = i % 2;
        start(&streams[i], options);
    }
    for (int i = 0; i < CONNECTIONS; i++) {
        join(&streams[i]);
        CHECK_SAME(streams[i].completed, REQUESTS / 4);
        CHECK_SAME(streams[i].failed, 0);
        close_both(&streams[i].one, &streams[i].other);
    }
}

/* Each accepted request ends once, under any interleaving. */
static void a_stream_breaks_at_any_time(void) {
    for (int round = 0; round < ROUNDS; round++) {
        struct stream stream;
        start(&stream, usual());
        sleep_nanos((uint64_t)(round / 5) * 300000);
        switch (round % 5) {
        case 0:
            CHECK_SAME(to_state(&stream.one, IBV_QPS_ERR), 0);
            break;
        case 1:
            CHECK_SAME(to_state(&stream.other, IBV_QPS_ERR), 0);
            break;
        case 2:
            CHECK_SAME(soft_adapter_break_queue_pair(stream.one.pair->qp_num), 0);
            break;
        case 3:
            CHECK_SAME(ibv_destroy_qp(stream.other.pair), 0);
            stream.other.pair = NULL;
            break;
        default:
            /* A deregistered range may be unmapped at once. */
            CHECK_SAME(ibv_dereg_mr(stream.other.region), 0);
            stream.other.region = NULL;
            CHECK_SAME(munmap(stream.other.memory, stream.other.options.bytes), 0);
            break;
        }
        join(&stream);
        CHECK(stream.failed == 0 || stream.status == IBV_WC_WR_FLUSH_ERR || stream.status == IBV_WC_RETRY_EXC_ERR
                || stream.status == IBV_WC_REM_ACCESS_ERR);
        close_both(&stream.one, &stream.other);
    }
}

struct churn {
    int stop;
    int device;
};

/* Regions and queue pairs come and go all the while. */
static void *churn(void *argument) {
    struct churn *work = argument;
    while (!raised(&work->stop)) {
        struct side side;
        struct options options = usual();
        options.device = work->device;
        options.bytes = 4096;
        open_side(&side, options);
        CHECK_SAME(to_init(&side), 0);
        CHECK_SAME(to_ready_to_receive(&side, &side), 0);
        CHECK_SAME(to_ready_to_send(&side), 0);
        CHECK_SAME(post_request(&side, &side, IBV_WR_RDMA_READ, 64, 1), 0);
        close_side(&side);
    }
    return NULL;
}

static void objects_come_and_go_beside_a_stream(void) {
    struct churn work[2] = {{.device = 0}, {.device = 1}};
    pthread_t threads[2];
    struct stream stream;
    for (int i = 0; i < 2; i++) {
        CHECK_SAME(pthread_create(&threads[i], NULL, churn, &work[i]), 0);
    }
    start(&stream, usual());
    join(&stream);
    CHECK_SAME(stream.completed, REQUESTS / 4);
    for (int i = 0; i < 2; i++) {
        raise_flag(&work[i].stop);
        CHECK_SAME(pthread_join(threads[i], NULL), 0);
    }
    close_both(&stream.one, &stream.other);
}

/* A large copy is under way: once its target is deregistered, nothing is written there any more. */
static void nothing_is_written_after_deregistration(void) {
    for (int round = 0; round < 10; round++) {
        struct side one;
        struct side other;
        struct options options = usual();
        options.bytes = 64 << 20;
        open_connected(&one, &other, options);
        memset(one.memory, 1, options.bytes);
        CHECK_SAME(post_request(&one, &other, IBV_WR_RDMA_WRITE, 64 << 20, 1), 0);
        sleep_nanos((uint64_t)round * 500000);
        CHECK_SAME(ibv_dereg_mr(other.region), 0);
        other.region = NULL;
        CHECK_SAME(munmap(other.memory, options.bytes), 0);
        struct ibv_wc completion = await_completion(one.queue);
        CHECK(completion.status == IBV_WC_SUCCESS || completion.status == IBV_WC_REM_ACCESS_ERR);
        close_both(&one, &other);
    }
}

#define ADDERS 4
#define ADDITIONS 1000

struct adder {
    struct side side;
    struct side peer;
    struct side *shared;
    uint64_t sum;
};

static void *add(void *argument) {
    struct adder *adder = argument;
    struct ibv_sge element;
    struct ibv_send_wr request = request_of(&adder->side, adder->shared, IBV_WR_ATOMIC_FETCH_AND_ADD, 8, &element);
    request.wr.atomic.compare_add = 1;
    for (int i = 0; i < ADDITIONS; i++) {
        CHECK_SAME(post(&adder->side, &request), 0);
        expect_success(&adder->side, 0);
        adder->sum += *(uint64_t *)(void *)adder->side.memory;
    }
    return NULL;
}

/* From both devices at once, through queue pairs of one protection domain. */
static void additions_are_atomic(void) {
    struct adder adders[ADDERS];
    struct side target;
    struct options options = usual();
    open_side(&target, options);
    pthread_t threads[ADDERS];
    for (int i = 0; i < ADDERS; i++) {
        options.device = i % 2;
        open_side(&adders[i].side, options);
        adders[i].peer = target;
        adders[i].shared = &target;
        adders[i].sum = 0;
        open_pair(&adders[i].peer);
        connect_sides(&adders[i].side, &adders[i].peer);
    }
    for (int i = 0; i < ADDERS; i++) {
        CHECK_SAME(pthread_create(&threads[i], NULL, add, &adders[i]), 0);
    }
    uint64_t sum = 0;
    for (int i = 0; i < ADDERS; i++) {
        CHECK_SAME(pthread_join(threads[i], NULL), 0);
        sum += adders[i].sum;
        close_side(&adders[i].side);
        CHECK_SAME(ibv_destroy_qp(adders[i].peer.pair), 0);
    }
    uint64_t total = ADDERS * ADDITIONS;
    CHECK(*(uint64_t *)(void *)target.memory == total);
    /* Each value was seen once. */
    CHECK(sum == total * (total - 1) / 2);
    close_side(&target);
}

void test_races(void) {
    streams_run_side_by_side();
    a_stream_breaks_at_any_time();
    objects_come_and_go_beside_a_stream();
    nothing_is_written_after_deregistration();
    additions_are_atomic();
}
