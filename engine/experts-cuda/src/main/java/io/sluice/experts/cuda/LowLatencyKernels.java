package io.sluice.experts.cuda;

import io.sluice.cuda.GpuKernel;
import io.sluice.experts.CombineFormat;
import java.util.List;

/** The kernels of {@code low_latency.cu} for a hidden length. */
record LowLatencyKernels(Halves dispatch, Halves combine, Halves logFmtCombine) {
    /** The name of the source file. */
    static final String SOURCE = "low_latency";

    // those that kernels are compiled for; others have one for any
    private static final List<Integer> HIDDEN = List.of(2048, 4096, 7168);

    static LowLatencyKernels of(KernelModule module, int hidden) {
        String suffix = HIDDEN.contains(hidden) ? "_" + hidden : "";
        return new LowLatencyKernels(
                Halves.of(module, "dispatch", suffix),
                Halves.of(module, "combine", suffix),
                Halves.of(module, "combine", "_logfmt"));
    }

    Halves combine(CombineFormat format) {
        return switch (format) {
            case BF16 -> combine;
            case LOGFMT -> logFmtCombine;
        };
    }

    /** The kernels of a call. */
    record Halves(GpuKernel send, GpuKernel receive) {
        private static Halves of(KernelModule module, String call, String suffix) {
            return new Halves(
                    module.kernel("sluice_experts_" + call + "_send" + suffix),
                    module.kernel("sluice_experts_" + call + "_receive" + suffix));
        }
    }
}
