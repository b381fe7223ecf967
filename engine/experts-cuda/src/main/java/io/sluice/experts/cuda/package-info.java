/**
 * Expert parallelism on the memory of GPUs. Each rank of a {@link io.sluice.experts.cuda.GpuExpertBuffer} has one GPU, and
 * launches the same kernels. They store to the memory of GPUs that they reach over NVLink or PCIe; to others the host
 * carries what they send.
 */
@NullMarked
package io.sluice.experts.cuda;

import org.jspecify.annotations.NullMarked;
