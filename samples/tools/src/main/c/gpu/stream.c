#include "gpu.h"

void work_open(struct work *work) {
    *work = (struct work){.submitted = 0};
    check(cuda.stream_create(&work->stream, CUDA_STREAM_NON_BLOCKING, 0), "cuStreamCreate");
    work->word = pinned_allocate(sizeof *work->word, &work->word_address);
}

void work_end(const struct work *work, uint64_t number) {
    check(cuda.stream_write_value(work->stream, work->word_address, number, 0), "cuStreamWriteValue64");
}

#define LOOKS 100000

void work_await(const struct work *work, uint64_t number) {
    for (uint64_t looks = 1; *work->word < number; looks++) {
        /* A kernel that fails never writes the word. */
        if (looks % LOOKS == 0) {
            cuda_result result = cuda.stream_query(work->stream);
            if (result != CUDA_NOT_READY) {
                check(result, "the stream");
            }
        }
    }
    /* Read the data after the word: the GPU wrote it before. */
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
}
