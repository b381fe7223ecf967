/* What a buffer needs apart from its modes. */
#include "experts.cuh"

/* This rank makes no more calls; what it has written lies before the word. */
extern "C" __global__ void __launch_bounds__(64) sluice_experts_leave(buffer buffer) {
    unsigned peer = threadIdx.x;
    if (peer < buffer.ranks && peer != buffer.rank) {
        store_release(&((window *)buffer.windows[peer])->left[buffer.rank], 1);
    }
}
