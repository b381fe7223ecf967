/* What a buffer needs apart from its modes. */
#include "experts.cuh"

/*
 * This rank makes no more calls, as a rank is lost, perhaps itself; what it has written lies before the word. It has no window of ranks
 * that are not to know.
 */
extern "C" __global__ void __launch_bounds__(64) sluice_experts_leave(buffer buffer, unsigned lost) {
    unsigned peer = threadIdx.x;
    if (peer < buffer.ranks && peer != buffer.rank && buffer.windows[peer] != nullptr) {
        leave(buffer, peer, lost);
    }
}
