#include "fixture.h"

#include <sys/mman.h>

static void fill(struct side *side, size_t length, uint8_t seed) {
    for (size_t i = 0; i < length; i++) {
        side->memory[i] = (uint8_t)(seed + i * 7 + (i >> 8));
    }
}

static const uint32_t lengths[] = {0, 1, 63, 4096, 4097, 262144, 262145, 1 << 20};
#define LENGTHS (sizeof lengths / sizeof *lengths)

static void writes_and_reads_move_the_bytes(struct side *one, struct side *other) {
    for (size_t i = 0; i < LENGTHS; i++) {
        fill(one, lengths[i], (uint8_t)(i + 1));
        memset(other->memory, 0, one->options.bytes);
        CHECK_SAME(post_request(one, other, IBV_WR_RDMA_WRITE, lengths[i], i), 0);
        expect_success(one, i);
        CHECK(memcmp(one->memory, other->memory, lengths[i]) == 0);
        CHECK(lengths[i] == one->options.bytes || other->memory[lengths[i]] == 0);

        fill(other, lengths[i], (uint8_t)(i + 101));
        memset(one->memory, 0, one->options.bytes);
        CHECK_SAME(post_request(one, other, IBV_WR_RDMA_READ, lengths[i], i), 0);
        struct ibv_wc completion = await_completion(one->queue);
        CHECK_SAME(completion.status, IBV_WC_SUCCESS);
        CHECK_SAME(completion.opcode, IBV_WC_RDMA_READ);
        CHECK_SAME(completion.byte_len, lengths[i]);
        CHECK(memcmp(one->memory, other->memory, lengths[i]) == 0);
        CHECK(lengths[i] == one->options.bytes || one->memory[lengths[i]] == 0);
    }
}

static void several_elements_are_gathered_and_scattered(struct side *one, struct side *other) {
    fill(one, 1000, 3);
    struct ibv_sge elements[4];
    const uint32_t parts[4] = {100, 0, 333, 1};
    const uint64_t offsets[4] = {500, 0, 7, 999};
    for (int i = 0; i < 4; i++) {
        elements[i] = (struct ibv_sge){
            .addr = (uintptr_t)one->memory + offsets[i],
            .length = parts[i],
            .lkey = parts[i] == 0 ? 0 : one->region->lkey,
        };
    }
    struct ibv_sge unused;
    struct ibv_send_wr request = request_of(one, other, IBV_WR_RDMA_WRITE, 0, &unused);
    request.sg_list = elements;
    request.num_sge = 4;
    CHECK_SAME(post(one, &request), 0);
    expect_success(one, 0);
    CHECK(memcmp(other->memory, one->memory + 500, 100) == 0);
    CHECK(memcmp(other->memory + 100, one->memory + 7, 333) == 0);
    CHECK_SAME(other->memory[433], one->memory[999]);

    fill(other, 434, 77);
    request.opcode = IBV_WR_RDMA_READ;
    CHECK_SAME(post(one, &request), 0);
    expect_success(one, 0);
    CHECK(memcmp(other->memory, one->memory + 500, 100) == 0);
    CHECK(memcmp(other->memory + 100, one->memory + 7, 333) == 0);
    CHECK_SAME(other->memory[433], one->memory[999]);
}

/* Elements and pieces don't end at the same places. */
static void long_elements_are_gathered_and_scattered(struct side *one, struct side *other) {
    const uint32_t parts[4] = {1, 299999, 400000, 5};
    const uint32_t total = 700005;
    struct ibv_sge elements[4];
    uint64_t offset = 0;
    fill(one, total + 30, 5);
    for (int i = 0; i < 4; i++) {
        elements[i] = (struct ibv_sge){
            .addr = (uintptr_t)one->memory + offset,
            .length = parts[i],
            .lkey = one->region->lkey,
        };
        offset += parts[i] + 10;
    }
    struct ibv_sge unused;
    struct ibv_send_wr request = request_of(one, other, IBV_WR_RDMA_WRITE, 0, &unused);
    request.sg_list = elements;
    request.num_sge = 4;
    CHECK_SAME(post(one, &request), 0);
    expect_success(one, 0);
    uint64_t there = 0;
    for (int i = 0; i < 4; i++) {
        CHECK(memcmp(other->memory + there, (void *)(uintptr_t)elements[i].addr, parts[i]) == 0);
        there += parts[i];
    }
    fill(other, total, 9);
    request.opcode = IBV_WR_RDMA_READ;
    CHECK_SAME(post(one, &request), 0);
    expect_success(one, 0);
    there = 0;
    for (int i = 0; i < 4; i++) {
        CHECK(memcmp(other->memory + there, (void *)(uintptr_t)elements[i].addr, parts[i]) == 0);
        there += parts[i];
    }
}

static void inline_bytes_are_taken_when_posted(struct side *one, struct side *other) {
    char bytes[] = "taken at once";
    struct ibv_sge element = {.addr = (uintptr_t)bytes, .length = sizeof bytes, .lkey = 12345};
    struct ibv_sge unused;
    struct ibv_send_wr request = request_of(one, other, IBV_WR_RDMA_WRITE, 0, &unused);
    request.sg_list = &element;
    request.send_flags |= IBV_SEND_INLINE;
    soft_adapter_delay(UINT64_MAX);
    CHECK_SAME(post(one, &request), 0);
    memset(bytes, 'x', sizeof bytes);
    soft_adapter_delay(0);
    expect_success(one, 0);
    CHECK(strcmp((char *)other->memory, "taken at once") == 0);

    element = (struct ibv_sge){.addr = (uintptr_t)one->memory, .length = one->options.inline_bytes + 1};
    CHECK_SAME(post(one, &request), EINVAL);
    element.length = 8;
    request.opcode = IBV_WR_RDMA_READ;
    CHECK_SAME(post(one, &request), EINVAL);
}

static void atomics_change_one_word(struct side *one, struct side *other) {
    struct ibv_sge element;
    uint64_t *word = (uint64_t *)(void *)other->memory;
    uint64_t *answer = (uint64_t *)(void *)one->memory;
    *word = UINT64_MAX;
    struct ibv_send_wr request = request_of(one, other, IBV_WR_ATOMIC_FETCH_AND_ADD, 8, &element);
    request.wr.atomic.compare_add = 3;
    CHECK_SAME(post(one, &request), 0);
    struct ibv_wc completion = await_completion(one->queue);
    CHECK_SAME(completion.status, IBV_WC_SUCCESS);
    CHECK_SAME(completion.opcode, IBV_WC_FETCH_ADD);
    CHECK(*answer == UINT64_MAX);
    CHECK(*word == 2);

    request.opcode = IBV_WR_ATOMIC_CMP_AND_SWP;
    request.wr.atomic.compare_add = 1;
    request.wr.atomic.swap = 9;
    CHECK_SAME(post(one, &request), 0);
    completion = await_completion(one->queue);
    CHECK_SAME(completion.opcode, IBV_WC_COMP_SWAP);
    CHECK(*answer == 2);
    CHECK(*word == 2);
    request.wr.atomic.compare_add = 2;
    CHECK_SAME(post(one, &request), 0);
    expect_success(one, 0);
    CHECK(*answer == 2);
    CHECK(*word == 9);
    element.length = 4;
    CHECK_SAME(post(one, &request), EINVAL);
}

static void work_of_a_queue_pair_keeps_its_order(struct side *one, struct side *other) {
    /* Unsignalled, but for the last. */
    struct ibv_sge elements[32];
    struct ibv_send_wr requests[32];
    for (int i = 0; i < 32; i++) {
        requests[i] = request_of(one, other, IBV_WR_RDMA_WRITE, 4, &elements[i]);
        elements[i].addr += (uint64_t)i * 4;
        requests[i].wr_id = (uint64_t)i;
        requests[i].send_flags = i == 31 ? IBV_SEND_SIGNALED | IBV_SEND_FENCE : 0;
        requests[i].next = i == 31 ? NULL : &requests[i + 1];
        memset(one->memory + i * 4, i + 1, 4);
    }
    CHECK_SAME(post(one, requests), 0);
    expect_success(one, 31);
    CHECK_SAME(other->memory[0], 32);
    CHECK_SAME(other->memory[3], 32);
    expect_nothing(one->queue);
}

static void a_bad_request_stops_the_list(struct side *one, struct side *other) {
    struct ibv_sge elements[3];
    struct ibv_send_wr requests[3];
    for (int i = 0; i < 3; i++) {
        requests[i] = request_of(one, other, IBV_WR_RDMA_WRITE, 4, &elements[i]);
        requests[i].wr_id = (uint64_t)i;
        requests[i].next = i == 2 ? NULL : &requests[i + 1];
    }
    requests[1].opcode = (enum ibv_wr_opcode)77;
    struct ibv_send_wr *bad = NULL;
    CHECK_SAME(ibv_post_send(one->pair, requests, &bad), EINVAL);
    CHECK(bad == &requests[1]);
    requests[1].opcode = IBV_WR_RDMA_WRITE;
    requests[1].num_sge = 5;
    CHECK_SAME(ibv_post_send(one->pair, requests, &bad), EINVAL);
    CHECK(bad == &requests[1]);
    requests[1].num_sge = -1;
    CHECK_SAME(ibv_post_send(one->pair, requests, &bad), EINVAL);
    for (int i = 0; i < 3; i++) {
        expect_success(one, 0);
    }
    expect_nothing(one->queue);
}

static void a_slot_is_free_when_its_completion_has_been_polled(void) {
    struct side one;
    struct side other;
    struct options options = usual();
    options.send_depth = 4;
    open_connected(&one, &other, options);
    struct ibv_sge element;
    struct ibv_send_wr request = request_of(&one, &other, IBV_WR_RDMA_WRITE, 4, &element);
    int64_t executed = soft_adapter_counter("executed");
    for (int i = 0; i < 4; i++) {
        request.send_flags = i == 2 ? IBV_SEND_SIGNALED : 0;
        CHECK_SAME(post(&one, &request), 0);
    }
    while (soft_adapter_counter("executed") < executed + 4) {
        sleep_nanos(MILLISECOND);
    }
    CHECK_SAME(post(&one, &request), ENOMEM);
    expect_success(&one, 0);
    /* The third one's completion frees three; the fourth had none. */
    request.send_flags = IBV_SEND_SIGNALED;
    for (int i = 0; i < 3; i++) {
        CHECK_SAME(post(&one, &request), 0);
    }
    CHECK_SAME(post(&one, &request), ENOMEM);
    for (int i = 0; i < 3; i++) {
        expect_success(&one, 0);
    }
    for (int i = 0; i < 4; i++) {
        CHECK_SAME(post(&one, &request), 0);
        expect_success(&one, 0);
    }
    close_both(&one, &other);
}

static void all_are_signalled_when_the_queue_pair_says_so(void) {
    struct side one;
    struct side other;
    struct options options = usual();
    options.signal_all = true;
    open_connected(&one, &other, options);
    struct ibv_sge element;
    struct ibv_send_wr request = request_of(&one, &other, IBV_WR_RDMA_WRITE, 4, &element);
    request.send_flags = 0;
    CHECK_SAME(post(&one, &request), 0);
    expect_success(&one, 0);
    close_both(&one, &other);
}

/* Also between queue pairs of one device, and from a queue pair to itself. */
static void a_device_reaches_itself(void) {
    struct side one;
    struct side other;
    struct options options = usual();
    options.gid_index = 1;
    open_side(&one, options);
    open_side(&other, options);
    connect_sides(&one, &other);
    writes_and_reads_move_the_bytes(&one, &other);
    close_side(&other);
    CHECK_SAME(to_state(&one, IBV_QPS_RESET), 0);
    CHECK_SAME(to_init(&one), 0);
    CHECK_SAME(to_ready_to_receive(&one, &one), 0);
    CHECK_SAME(to_ready_to_send(&one), 0);
    struct ibv_sge element;
    struct ibv_send_wr request = request_of(&one, &one, IBV_WR_RDMA_WRITE, 100, &element);
    request.wr.rdma.remote_addr += 50;
    fill(&one, 100, 9);
    uint8_t before[100];
    memcpy(before, one.memory, 100);
    CHECK_SAME(post(&one, &request), 0);
    expect_success(&one, 0);
    CHECK(memcmp(one.memory + 50, before, 100) == 0);
    close_side(&one);
}

/* Only a few of its pages are ever touched. */
static void a_region_may_be_larger_than_four_gibibytes(void) {
    struct side one;
    struct side other;
    struct options options = usual();
    open_side(&one, options);
    options.device = 1;
    options.bytes = (UINT64_C(5) << 30) + 4096;
    open_side(&other, options);
    connect_sides(&one, &other);
    struct ibv_sge element;
    struct ibv_send_wr request = request_of(&one, &other, IBV_WR_RDMA_WRITE, 4096, &element);
    fill(&one, 4096, 200);
    const uint64_t offsets[] = {(UINT64_C(4) << 30) - 100, UINT64_C(5) << 30};
    for (int i = 0; i < 2; i++) {
        request.wr.rdma.remote_addr = (uintptr_t)other.memory + offsets[i];
        CHECK_SAME(post(&one, &request), 0);
        expect_success(&one, 0);
        CHECK(memcmp(other.memory + offsets[i], one.memory, 4096) == 0);
    }
    CHECK_SAME(other.memory[0], 0);
    request.wr.rdma.remote_addr++;
    CHECK_SAME(post(&one, &request), 0);
    expect_status(&one, 0, IBV_WC_REM_ACCESS_ERR);
    close_both(&one, &other);
}

void test_transfers(void) {
    struct side one;
    struct side other;
    open_connected(&one, &other, usual());
    writes_and_reads_move_the_bytes(&one, &other);
    writes_and_reads_move_the_bytes(&other, &one);
    several_elements_are_gathered_and_scattered(&one, &other);
    long_elements_are_gathered_and_scattered(&one, &other);
    inline_bytes_are_taken_when_posted(&one, &other);
    atomics_change_one_word(&one, &other);
    work_of_a_queue_pair_keeps_its_order(&one, &other);
    a_bad_request_stops_the_list(&one, &other);
    close_both(&one, &other);
    a_slot_is_free_when_its_completion_has_been_polled();
    all_are_signalled_when_the_queue_pair_says_so();
    a_device_reaches_itself();
    a_region_may_be_larger_than_four_gibibytes();
}
