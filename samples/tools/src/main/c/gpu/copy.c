#include "gpu.h"

struct copy {
    cuda_address to;
    cuda_address from;
    size_t bytes;
};

static void submit(struct work *work, uint64_t number, void *argument) {
    const struct copy *copy = argument;
    check(cuda.copy(copy->to, copy->from, copy->bytes, work->stream), "cuMemcpyAsync");
    work_end(work, number);
}

static struct figures run(struct work *work, const struct plan *plan, struct copy copy) {
    struct figures figures = measure(work, plan, (struct operation){.submit = submit, .argument = &copy});
    content_compare(work, copy.to, copy.from, copy.bytes);
    return figures;
}

struct figures copy_measure(const struct plan *plan, enum sharing sharing) {
    struct pair pair = pair_open((size_t)plan->bytes, sharing);
    return run(&pair.work, plan, (struct copy){pair.other, pair.own, (size_t)plan->bytes});
}

struct figures host_copy_measure(const struct plan *plan, bool to_device) {
    size_t bytes = (size_t)plan->bytes;
    struct work work;
    cuda_address pinned = 0;
    driver_load();
    device_open(0);
    work_open(&work);
    pinned_allocate(bytes, &pinned);
    cuda_address device = memory_allocate(bytes);
    struct copy copy = to_device ? (struct copy){device, pinned, bytes} : (struct copy){pinned, device, bytes};
    content_fill(&work, copy.from, bytes);
    return run(&work, plan, copy);
}
