package io.sluice.experts.cuda;

import io.sluice.cuda.GpuKernel;
import java.util.List;

/** The kernels of {@code low_latency.cu} for a hidden length. */
record LowLatencyKernels(
        GpuKernel dispatchSend, GpuKernel dispatchReceive, GpuKernel combineSend, GpuKernel combineReceive) {
    /** The name of the source file. */
    static final String SOURCE = "low_latency";

    // those that kernels are compiled for; others have one for any
    private static final List<Integer> HIDDEN = List.of(2048, 4096, 7168);

    static LowLatencyKernels of(KernelModule module, int hidden) {
        String suffix = HIDDEN.contains(hidden) ? "_" + hidden : "";
        return new LowLatencyKernels(
                module.kernel("sluice_experts_dispatch_send" + suffix),
                module.kernel("sluice_experts_dispatch_receive" + suffix),
                module.kernel("sluice_experts_combine_send" + suffix),
                module.kernel("sluice_experts_combine_receive" + suffix));
    }
}
