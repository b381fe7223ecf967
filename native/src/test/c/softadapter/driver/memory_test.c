#define _GNU_SOURCE
#include "fixture.h"

#include <sys/mman.h>
#include <unistd.h>

#define PAGE 4096

static void expect_refused(struct ibv_mr *region, int error) {
    CHECK(region == NULL);
    CHECK_SAME(errno, error);
}

static void rights_are_checked(struct side *side) {
    expect_refused(ibv_reg_mr(side->domain, side->memory, PAGE, IBV_ACCESS_REMOTE_WRITE), EINVAL);
    expect_refused(ibv_reg_mr(side->domain, side->memory, PAGE, IBV_ACCESS_REMOTE_ATOMIC), EINVAL);
    expect_refused(ibv_reg_mr(side->domain, side->memory, PAGE, 1 << 15), EINVAL);
    expect_refused(ibv_reg_mr(side->domain, side->memory, PAGE, IBV_ACCESS_ON_DEMAND), EOPNOTSUPP);
    expect_refused(ibv_reg_mr(side->domain, side->memory, 0, 0), EINVAL);
    expect_refused(ibv_reg_mr(side->domain, side->memory, SIZE_MAX, 0), EINVAL);
    /* Optional ones may be ignored; and they aren't a constant here, so that it goes the other way. */
    unsigned int access = (unsigned int)ALL_RIGHTS | IBV_ACCESS_RELAXED_ORDERING;
    struct ibv_mr *region = ibv_reg_mr(side->domain, side->memory, PAGE, access);
    CHECK(region != NULL);
    CHECK(region->addr == side->memory);
    CHECK_SAME(region->length, PAGE);
    CHECK(region->lkey != region->rkey);
    CHECK_SAME(ibv_dereg_mr(region), 0);
}

static void memory_must_be_there(struct side *side) {
    uint8_t *pages = mmap(NULL, 4 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(pages != MAP_FAILED);
    CHECK_SAME(mprotect(pages + PAGE, PAGE, PROT_READ), 0);
    CHECK_SAME(mprotect(pages + 2 * PAGE, PAGE, PROT_NONE), 0);
    CHECK_SAME(munmap(pages + 3 * PAGE, PAGE), 0);
    expect_refused(ibv_reg_mr(side->domain, pages, 2 * PAGE, IBV_ACCESS_LOCAL_WRITE), EFAULT);
    expect_refused(ibv_reg_mr(side->domain, pages, 3 * PAGE, IBV_ACCESS_REMOTE_READ), EFAULT);
    expect_refused(ibv_reg_mr(side->domain, pages + 3 * PAGE, 1, 0), EFAULT);
    expect_refused(ibv_reg_mr(side->domain, pages + 2 * PAGE, 2 * PAGE, 0), EFAULT);
    struct ibv_mr *region = ibv_reg_mr(side->domain, pages + 10, 2 * PAGE - 10, IBV_ACCESS_REMOTE_READ);
    CHECK(region != NULL);
    CHECK_SAME(ibv_dereg_mr(region), 0);
    CHECK_SAME(munmap(pages, 3 * PAGE), 0);
}

static void a_region_may_have_addresses_of_its_own(struct side *one, struct side *other) {
    const uint64_t start = UINT64_C(0x123456789000);
    struct ibv_mr *region = ibv_reg_mr_iova2(other->domain, other->memory + 100, 1000, start, ALL_RIGHTS);
    CHECK(region != NULL);
    struct ibv_sge element;
    struct ibv_send_wr request = request_of(one, other, IBV_WR_RDMA_WRITE, 50, &element);
    memset(one->memory, 0x31, 50);
    request.wr.rdma.remote_addr = start + 950;
    request.wr.rdma.rkey = region->rkey;
    CHECK_SAME(post(one, &request), 0);
    expect_success(one, 0);
    CHECK(memcmp(other->memory + 100 + 950, one->memory, 50) == 0);
    CHECK_SAME(other->memory[100 + 949], 0);
    CHECK_SAME(other->memory[100 + 1000], 0);
    CHECK_SAME(ibv_dereg_mr(region), 0);
}

/* Any descriptor that can be mapped is a DMA buffer here. */
static void a_buffer_may_come_as_a_descriptor(struct side *one, struct side *other) {
    int fd = memfd_create("buffer", MFD_CLOEXEC);
    CHECK(fd >= 0);
    CHECK_SAME(ftruncate(fd, 4 * PAGE), 0);
    const uint64_t start = UINT64_C(0x7000) + 100;
    expect_refused(ibv_reg_dmabuf_mr(other->domain, 100, PAGE, 0x7000, fd, ALL_RIGHTS), EINVAL);
    expect_refused(ibv_reg_dmabuf_mr(other->domain, 0, 0, 0, fd, ALL_RIGHTS), EINVAL);
    expect_refused(ibv_reg_dmabuf_mr(other->domain, 0, PAGE, 0, -1, ALL_RIGHTS), EBADF);
    expect_refused(ibv_reg_dmabuf_mr(other->domain, 3 * PAGE + 1, PAGE, 1, fd, ALL_RIGHTS), EINVAL);
    soft_adapter_refuse_dma_buffers(1);
    expect_refused(ibv_reg_dmabuf_mr(other->domain, 0, PAGE, 0, fd, ALL_RIGHTS), EOPNOTSUPP);
    soft_adapter_refuse_dma_buffers(0);
    struct ibv_mr *region = ibv_reg_dmabuf_mr(other->domain, PAGE + 100, PAGE, start, fd, ALL_RIGHTS);
    CHECK(region != NULL);
    struct ibv_sge element;
    struct ibv_send_wr request = request_of(one, other, IBV_WR_RDMA_WRITE, 50, &element);
    request.wr.rdma.remote_addr = start + PAGE - 50;
    request.wr.rdma.rkey = region->rkey;
    memset(one->memory, 0x32, 50);
    CHECK_SAME(post(one, &request), 0);
    expect_success(one, 0);
    uint8_t bytes[52];
    CHECK_SAME(pread(fd, bytes, 52, PAGE + 100 + PAGE - 51), 52);
    CHECK_SAME(bytes[0], 0);
    CHECK(memcmp(bytes + 1, one->memory, 50) == 0);
    CHECK_SAME(bytes[51], 0);
    CHECK_SAME(ibv_dereg_mr(region), 0);
    CHECK_SAME(close(fd), 0);
}

static void counters_know_the_regions(struct side *side) {
    int64_t regions = soft_adapter_counter("regions");
    int64_t bytes = soft_adapter_counter("region_bytes");
    struct ibv_mr *region = ibv_reg_mr(side->domain, side->memory, 77, IBV_ACCESS_LOCAL_WRITE);
    CHECK_SAME(soft_adapter_counter("regions"), regions + 1);
    CHECK_SAME(soft_adapter_counter("region_bytes"), bytes + 77);
    soft_adapter_reset_counters();
    CHECK_SAME(soft_adapter_counter("registrations"), 0);
    CHECK_SAME(soft_adapter_counter("regions"), regions + 1);
    CHECK_SAME(ibv_dereg_mr(region), 0);
    CHECK_SAME(soft_adapter_counter("regions"), regions);
}

static void many_regions_have_different_keys(struct side *side) {
    struct ibv_mr *regions[300];
    for (int i = 0; i < 300; i++) {
        regions[i] = ibv_reg_mr(side->domain, side->memory, PAGE, ALL_RIGHTS);
        CHECK(regions[i] != NULL);
        for (int before = 0; before < i; before++) {
            CHECK(regions[i]->lkey != regions[before]->lkey && regions[i]->rkey != regions[before]->rkey);
        }
    }
    for (int i = 0; i < 300; i++) {
        CHECK_SAME(ibv_dereg_mr(regions[i]), 0);
    }
}

void test_memory(void) {
    struct side one;
    struct side other;
    open_connected(&one, &other, usual());
    rights_are_checked(&one);
    memory_must_be_there(&one);
    a_region_may_have_addresses_of_its_own(&one, &other);
    a_buffer_may_come_as_a_descriptor(&one, &other);
    counters_know_the_regions(&one);
    many_regions_have_different_keys(&one);
    close_both(&one, &other);
}
