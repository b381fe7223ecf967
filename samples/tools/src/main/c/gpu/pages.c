#include "gpu.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* As Sluice launches the kernel: a warp takes 4 KiB at a time. */
#define WARP 32
#define THREADS 512
#define SLICE_BYTES 4096
#define COMPARED_PAGES 64

/* struct completion of the kernels. */
struct completion {
    uint64_t signal;
    uint64_t addend;
    uint64_t word;
    uint64_t value;
    uint64_t blocks;
    uint32_t signal_is_store;
    uint32_t zero;
};

struct pages {
    uint64_t page_bytes;
    uint64_t count;
    cuda_address own;
    cuda_address other;
    /* Offsets in pinned memory, and where the GPU sees them. */
    uint64_t *to;
    uint64_t *from;
    cuda_address to_table;
    cuda_address from_table;
    /* For the batch call. */
    cuda_address *to_addresses;
    cuda_address *from_addresses;
    size_t *sizes;
    /* For the kernel. */
    cuda_function kernel;
    cuda_address block_counter;
    unsigned blocks;
};

static void submit_copies(struct work *work, uint64_t number, void *argument) {
    const struct pages *pages = argument;
    for (uint64_t i = 0; i < pages->count; i++) {
        check(cuda.copy(pages->other + pages->to[i], pages->own + pages->from[i], (size_t)pages->page_bytes, work->stream),
                "cuMemcpyAsync");
    }
    work_end(work, number);
}

static void submit_batch(struct work *work, uint64_t number, void *argument) {
    const struct pages *pages = argument;
    struct cuda_copy_attributes attributes = {.source_order = CUDA_BATCH_IN_STREAM_ORDER};
    size_t first = 0;
    size_t failed = 0;
    cuda_result result = cuda.copy_batch != NULL
            ? cuda.copy_batch(pages->to_addresses, pages->from_addresses, pages->sizes, (size_t)pages->count, &attributes,
                      &first, 1, work->stream)
            : cuda.copy_batch_12(pages->to_addresses, pages->from_addresses, pages->sizes, (size_t)pages->count,
                      &attributes, &first, 1, &failed, work->stream);
    check(result, "cuMemcpyBatchAsync");
    work_end(work, number);
}

static void submit_kernel(struct work *work, uint64_t number, void *argument) {
    struct pages *pages = argument;
    struct completion done = {.word = work->word_address, .value = number, .blocks = pages->block_counter};
    void *arguments[] = {
        &pages->other, &pages->own, &pages->to_table, &pages->from_table, &pages->page_bytes, &pages->count, &done};
    check(cuda.launch(pages->kernel, pages->blocks, 1, 1, THREADS, 1, 1, 0, work->stream, arguments, NULL),
            "cuLaunchKernel");
}

/* Every second slot of a window has a page, in random order. */
static uint64_t *table_make(const struct pages *pages, uint64_t random, cuda_address *address) {
    uint64_t *offsets = pinned_allocate((size_t)pages->count * sizeof *offsets, address);
    for (uint64_t i = 0; i < pages->count; i++) {
        offsets[i] = 2 * i * pages->page_bytes;
    }
    for (uint64_t i = pages->count - 1; i > 0; i--) {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        uint64_t j = random % (i + 1);
        uint64_t offset = offsets[i];
        offsets[i] = offsets[j];
        offsets[j] = offset;
    }
    return offsets;
}

static void prepare_batch(struct pages *pages) {
    if (cuda.copy_batch == NULL && cuda.copy_batch_12 == NULL) {
        not_available("the CUDA driver has no batch call", "it came with CUDA 12.8");
    }
    pages->to_addresses = allocate((size_t)pages->count, sizeof *pages->to_addresses);
    pages->from_addresses = allocate((size_t)pages->count, sizeof *pages->from_addresses);
    pages->sizes = allocate((size_t)pages->count, sizeof *pages->sizes);
    for (uint64_t i = 0; i < pages->count; i++) {
        pages->to_addresses[i] = pages->other + pages->to[i];
        pages->from_addresses[i] = pages->own + pages->from[i];
        pages->sizes[i] = (size_t)pages->page_bytes;
    }
}

static char *read_text(const char *name) {
    FILE *file = fopen(name, "r");
    if (file == NULL || fseek(file, 0, SEEK_END) != 0) {
        fail_errno(name);
    }
    long bytes = ftell(file);
    rewind(file);
    char *text = allocate((size_t)bytes + 1, 1);
    if (fread(text, 1, (size_t)bytes, file) != (size_t)bytes) {
        fail_errno(name);
    }
    fclose(file);
    return text;
}

static void prepare_kernel(struct pages *pages, struct work *work, const char *ptx, unsigned most_blocks) {
    cuda_module module = NULL;
    char *text = read_text(ptx);
    check(cuda.module_load(&module, text), "cuModuleLoadData");
    check(cuda.module_function(&pages->kernel, module, "sluice_copy_pages"), "cuModuleGetFunction");
    free(text);
    pages->block_counter = memory_allocate(sizeof(uint32_t));
    check(cuda.fill(pages->block_counter, 0, sizeof(uint32_t), work->stream), "cuMemsetD8Async");
    uint64_t slices = (pages->page_bytes + SLICE_BYTES - 1) / SLICE_BYTES;
    uint64_t blocks = (pages->count * slices * WARP + THREADS - 1) / THREADS;
    pages->blocks = blocks < most_blocks ? (unsigned)blocks : most_blocks;
}

static void compare(const struct pages *pages, struct work *work) {
    uint64_t step = pages->count / COMPARED_PAGES + 1;
    for (uint64_t i = 0; i < pages->count; i += step) {
        content_compare(work, pages->own + pages->from[i], pages->other + pages->to[i], (size_t)pages->page_bytes);
    }
}

struct figures pages_measure(
        const struct plan *plan, enum sharing sharing, enum way way, const char *ptx, unsigned blocks) {
    struct pair pair = pair_open((size_t)(2 * plan->bytes * plan->pages), sharing);
    struct pages pages = {.page_bytes = plan->bytes, .count = plan->pages, .own = pair.own, .other = pair.other};
    pages.to = table_make(&pages, 1, &pages.to_table);
    pages.from = table_make(&pages, 2, &pages.from_table);
    struct operation operation = {.submit = submit_copies, .argument = &pages};
    switch (way) {
    case COPIES:
        break;
    case BATCH:
        prepare_batch(&pages);
        operation.submit = submit_batch;
        break;
    case KERNEL:
        prepare_kernel(&pages, &pair.work, ptx, blocks);
        operation.submit = submit_kernel;
        break;
    }
    struct figures figures = measure(&pair.work, plan, operation);
    compare(&pages, &pair.work);
    return figures;
}
