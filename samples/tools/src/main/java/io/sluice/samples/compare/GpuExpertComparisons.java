package io.sluice.samples.compare;

import io.sluice.samples.bench.Api;
import io.sluice.samples.bench.ExpertMode;
import java.util.List;

/** Dispatch and combine of experts between two GPUs compared with PyTorch, which has NCCL carry the tokens. */
final class GpuExpertComparisons {
    /** Of times, so that ours is twice as fast. */
    private static final Goal OF_FEW_TOKENS = Goal.atMost(0.5);

    /** Of rates. */
    private static final Goal OF_MANY_TOKENS = Goal.atLeast(1.5);

    private GpuExpertComparisons() {}

    static List<Comparison> all() {
        GpuExperts lowLatency = new GpuExperts(ExpertMode.LOW_LATENCY, true);
        GpuExperts quantised = new GpuExperts(ExpertMode.NORMAL, true);
        GpuExperts plain = new GpuExperts(ExpertMode.NORMAL, false);
        return List.of(
                of(lowLatency, "dispatch-torch", Quantity.DEVICE_DISPATCH_MICROSECONDS, OF_FEW_TOKENS),
                of(lowLatency, "combine-torch", Quantity.DEVICE_COMBINE_MICROSECONDS, OF_FEW_TOKENS),
                of(lowLatency, "round-torch", Quantity.DEVICE_ROUND_MICROSECONDS, OF_FEW_TOKENS),
                of(quantised, "dispatch-torch", Quantity.DISPATCH_GIGABYTES_PER_SECOND, OF_MANY_TOKENS),
                of(plain, "dispatch-torch", Quantity.DISPATCH_GIGABYTES_PER_SECOND, OF_MANY_TOKENS),
                of(plain, "combine-torch", Quantity.COMBINE_GIGABYTES_PER_SECOND, OF_MANY_TOKENS));
    }

    private static Comparison of(GpuExperts ours, String name, Quantity quantity, Goal goal) {
        return new Comparison(ours, Api.ENGINE, name, new TorchExperts(ours), quantity, goal);
    }
}
