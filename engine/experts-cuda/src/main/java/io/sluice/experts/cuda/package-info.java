/**
 * Expert parallelism on the memory of GPUs. Each rank of a {@link io.sluice.experts.cuda.GpuExpertBuffer} has one GPU, which reaches the
 * memory of the others over NVLink or PCIe, and launches the same kernels.
 */
@NullMarked
package io.sluice.experts.cuda;

import org.jspecify.annotations.NullMarked;
