#define _GNU_SOURCE
#include "fixture.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <unistd.h>

#define QUIET_MILLISECONDS 10

static void write_once(struct side *one, struct side *other) {
    CHECK_SAME(post_request(one, other, IBV_WR_RDMA_WRITE, 8, 1), 0);
    expect_success(one, 1);
}

static void expect_event(struct side *side) {
    CHECK(readable(side->channel->fd, 10000));
    struct ibv_cq *queue;
    void *context;
    CHECK_SAME(ibv_get_cq_event(side->channel, &queue, &context), 0);
    CHECK(queue == side->queue);
    CHECK(context == side);
    ibv_ack_cq_events(queue, 1);
}

static void expect_no_event(struct side *side) {
    CHECK(!readable(side->channel->fd, QUIET_MILLISECONDS));
}

static void an_armed_queue_tells_once(struct side *one, struct side *other) {
    write_once(one, other);
    expect_no_event(one);
    CHECK_SAME(ibv_req_notify_cq(one->queue, 0), 0);
    expect_no_event(one);
    write_once(one, other);
    expect_event(one);
    write_once(one, other);
    expect_no_event(one);
}

static void what_is_there_when_it_is_armed_gives_no_event(struct side *one, struct side *other) {
    int64_t completions = soft_adapter_counter("executed");
    CHECK_SAME(post_request(one, other, IBV_WR_RDMA_WRITE, 8, 1), 0);
    while (soft_adapter_counter("executed") == completions) {
        sleep_nanos(MILLISECOND);
    }
    CHECK_SAME(ibv_req_notify_cq(one->queue, 0), 0);
    expect_no_event(one);
    expect_success(one, 1);
    write_once(one, other);
    expect_event(one);
}

static void a_queue_may_wait_for_solicited_ones_alone(struct side *one, struct side *other) {
    struct ibv_sge element;
    struct ibv_send_wr request = request_of(one, other, IBV_WR_SEND, 8, &element);
    const enum ibv_wr_opcode opcodes[] = {IBV_WR_SEND, IBV_WR_SEND_WITH_IMM, IBV_WR_RDMA_WRITE_WITH_IMM};
    for (int i = 0; i < 3; i++) {
        request.opcode = opcodes[i];
        CHECK_SAME(ibv_req_notify_cq(other->queue, 1), 0);
        for (int solicited = 0; solicited < 2; solicited++) {
            CHECK_SAME(post_receive(other, 0, 8, 1), 0);
            request.send_flags = IBV_SEND_SIGNALED | (solicited ? IBV_SEND_SOLICITED : 0);
            CHECK_SAME(post(one, &request), 0);
            expect_success(one, 0);
            expect_success(other, 1);
            if (solicited) {
                expect_event(other);
            } else {
                expect_no_event(other);
            }
        }
    }
    /* To arm for all is more than for solicited ones, and is not taken back. */
    CHECK_SAME(ibv_req_notify_cq(other->queue, 0), 0);
    CHECK_SAME(ibv_req_notify_cq(other->queue, 1), 0);
    CHECK_SAME(post_receive(other, 0, 8, 1), 0);
    request.send_flags = IBV_SEND_SIGNALED;
    CHECK_SAME(post(one, &request), 0);
    expect_success(one, 0);
    expect_success(other, 1);
    expect_event(other);
}

static void an_error_counts_as_solicited(void) {
    struct side one;
    struct side other;
    open_connected(&one, &other, usual());
    CHECK_SAME(ibv_req_notify_cq(one.queue, 1), 0);
    write_once(&one, &other);
    expect_no_event(&one);
    CHECK_SAME(to_state(&one, IBV_QPS_ERR), 0);
    CHECK_SAME(post_request(&one, &other, IBV_WR_RDMA_WRITE, 8, 1), 0);
    expect_event(&one);
    expect_status(&one, 1, IBV_WC_WR_FLUSH_ERR);
    close_both(&one, &other);
}

static void the_descriptor_does_not_block_when_told_so(struct side *one, struct side *other) {
    struct ibv_cq *queue;
    void *context;
    int flags = fcntl(one->channel->fd, F_GETFL);
    CHECK_SAME(fcntl(one->channel->fd, F_SETFL, flags | O_NONBLOCK), 0);
    CHECK_SAME(ibv_get_cq_event(one->channel, &queue, &context), -1);
    CHECK_SAME(errno, EAGAIN);
    int epoll = epoll_create1(EPOLL_CLOEXEC);
    struct epoll_event event = {.events = EPOLLIN | EPOLLET};
    CHECK_SAME(epoll_ctl(epoll, EPOLL_CTL_ADD, one->channel->fd, &event), 0);
    /* Each event is an edge, taken or not. */
    for (int i = 0; i < 2; i++) {
        CHECK_SAME(ibv_req_notify_cq(one->queue, 0), 0);
        write_once(one, other);
        CHECK_SAME(epoll_wait(epoll, &event, 1, 10000), 1);
        CHECK_SAME(epoll_wait(epoll, &event, 1, QUIET_MILLISECONDS), 0);
    }
    for (int i = 0; i < 2; i++) {
        CHECK_SAME(ibv_get_cq_event(one->channel, &queue, &context), 0);
    }
    CHECK_SAME(ibv_get_cq_event(one->channel, &queue, &context), -1);
    ibv_ack_cq_events(queue, 2);
    CHECK_SAME(close(epoll), 0);
    CHECK_SAME(fcntl(one->channel->fd, F_SETFL, flags), 0);
}

static void *take_event(void *argument) {
    struct side *side = argument;
    struct ibv_cq *queue;
    void *context;
    CHECK_SAME(ibv_get_cq_event(side->channel, &queue, &context), 0);
    CHECK(queue == side->queue);
    ibv_ack_cq_events(queue, 1);
    return NULL;
}

static void to_get_an_event_waits_for_one(struct side *one, struct side *other) {
    pthread_t thread;
    CHECK_SAME(pthread_create(&thread, NULL, take_event, one), 0);
    sleep_nanos(5 * MILLISECOND);
    CHECK_SAME(ibv_req_notify_cq(one->queue, 0), 0);
    write_once(one, other);
    CHECK_SAME(pthread_join(thread, NULL), 0);
}

struct destruction {
    struct ibv_cq *queue;
    struct ibv_qp *pair;
    volatile int *done;
};

static void *destroy_queue(void *argument) {
    struct destruction *destruction = argument;
    CHECK_SAME(ibv_destroy_cq(destruction->queue), 0);
    __atomic_store_n(destruction->done, 1, __ATOMIC_SEQ_CST);
    return NULL;
}

static void *destroy_pair(void *argument) {
    struct destruction *destruction = argument;
    CHECK_SAME(ibv_destroy_qp(destruction->pair), 0);
    __atomic_store_n(destruction->done, 1, __ATOMIC_SEQ_CST);
    return NULL;
}

static void a_queue_is_destroyed_when_its_events_are_acknowledged(void) {
    struct side one;
    struct side other;
    open_connected(&one, &other, usual());
    CHECK_SAME(ibv_req_notify_cq(one.queue, 0), 0);
    write_once(&one, &other);
    struct ibv_cq *queue;
    void *context;
    CHECK_SAME(ibv_get_cq_event(one.channel, &queue, &context), 0);
    /* A second event that no thread takes does not block anything. */
    CHECK_SAME(ibv_req_notify_cq(one.queue, 0), 0);
    write_once(&one, &other);
    CHECK(readable(one.channel->fd, 10000));
    CHECK_SAME(ibv_destroy_qp(one.pair), 0);
    one.pair = NULL;
    volatile int done = 0;
    struct destruction destruction = {.queue = queue, .done = &done};
    pthread_t thread;
    CHECK_SAME(pthread_create(&thread, NULL, destroy_queue, &destruction), 0);
    sleep_nanos(20 * MILLISECOND);
    CHECK_SAME(__atomic_load_n(&done, __ATOMIC_SEQ_CST), 0);
    ibv_ack_cq_events(queue, 1);
    CHECK_SAME(pthread_join(thread, NULL), 0);
    CHECK(!readable(one.channel->fd, 0));
    one.queue = ibv_create_cq(one.context, 1, NULL, one.channel, 0);
    close_both(&one, &other);
}

static void a_queue_pair_is_destroyed_when_its_events_are_acknowledged(void) {
    struct side side;
    open_side(&side, usual());
    CHECK_SAME(to_init(&side), 0);
    CHECK_SAME(soft_adapter_break_queue_pair(side.pair->qp_num), 0);
    struct ibv_async_event event;
    CHECK(readable(side.context->async_fd, 10000));
    CHECK_SAME(ibv_get_async_event(side.context, &event), 0);
    CHECK_SAME(event.event_type, IBV_EVENT_QP_FATAL);
    volatile int done = 0;
    struct destruction destruction = {.pair = side.pair, .done = &done};
    side.pair = NULL;
    pthread_t thread;
    CHECK_SAME(pthread_create(&thread, NULL, destroy_pair, &destruction), 0);
    sleep_nanos(20 * MILLISECOND);
    CHECK_SAME(__atomic_load_n(&done, __ATOMIC_SEQ_CST), 0);
    ibv_ack_async_event(&event);
    CHECK_SAME(pthread_join(thread, NULL), 0);
    close_side(&side);
}

/* An event that was not taken goes with its queue pair. */
static void an_event_does_not_outlive_its_object(void) {
    struct side side;
    open_side(&side, usual());
    CHECK_SAME(to_init(&side), 0);
    CHECK_SAME(soft_adapter_break_queue_pair(side.pair->qp_num), 0);
    CHECK(readable(side.context->async_fd, 10000));
    CHECK_SAME(ibv_destroy_qp(side.pair), 0);
    side.pair = NULL;
    struct ibv_async_event event;
    CHECK(!readable(side.context->async_fd, 0));
    CHECK_SAME(ibv_get_async_event(side.context, &event), -1);
    CHECK_SAME(errno, EAGAIN);
    close_side(&side);
}

/* Many events, and a client that arms, polls and waits as it should: no wake-up is lost. */
static void no_completion_is_overlooked(struct side *one, struct side *other) {
    uint64_t next = 0;
    for (uint64_t posted = 0; next < 2000;) {
        while (posted < 2000 && posted - next < 8) {
            CHECK_SAME(post_request(one, other, IBV_WR_RDMA_WRITE, 8, posted++), 0);
        }
        struct ibv_wc completion;
        CHECK_SAME(ibv_req_notify_cq(one->queue, 0), 0);
        bool some = false;
        while (ibv_poll_cq(one->queue, 1, &completion) == 1) {
            CHECK_SAME(completion.wr_id, next++);
            some = true;
        }
        if (!some) {
            expect_event(one);
        }
    }
    while (readable(one->channel->fd, QUIET_MILLISECONDS)) {
        expect_event(one);
    }
}

void test_events(void) {
    struct side one;
    struct side other;
    open_connected(&one, &other, usual());
    an_armed_queue_tells_once(&one, &other);
    what_is_there_when_it_is_armed_gives_no_event(&one, &other);
    a_queue_may_wait_for_solicited_ones_alone(&one, &other);
    the_descriptor_does_not_block_when_told_so(&one, &other);
    to_get_an_event_waits_for_one(&one, &other);
    no_completion_is_overlooked(&one, &other);
    close_both(&one, &other);
    an_error_counts_as_solicited();
    a_queue_is_destroyed_when_its_events_are_acknowledged();
    a_queue_pair_is_destroyed_when_its_events_are_acknowledged();
    an_event_does_not_outlive_its_object();
}
