package io.sluice.samples.compare;

import io.sluice.samples.bench.Api;
import io.sluice.samples.bench.ExpertMode;
import io.sluice.samples.bench.ExpertPlan;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Dispatch and combine of experts between two GPUs, a process each; tokens of 7,168 channels have 8 experts, and experts' results are
 * bfloat16. Low latency has 128 tokens a rank and 64 experts, normal mode 4,096 and 256.
 *
 * @param fp8 whether dispatch quantises
 */
record GpuExperts(ExpertMode mode, boolean fp8) implements Workload {
    static final int RANKS = 2;
    private static final int FEW_TOKENS = 128;
    private static final int FEW_EXPERTS = 64;
    private static final int MANY_TOKENS = 4_096;
    private static final int MANY_EXPERTS = 256;
    private static final int NORMAL_BLOCKS = 24;

    ExpertPlan plan() {
        boolean isNormal = mode == ExpertMode.NORMAL;
        return new ExpertPlan(
                mode,
                RANKS,
                isNormal ? MANY_TOKENS : FEW_TOKENS,
                Experts.HIDDEN,
                Experts.TOP_K,
                isNormal ? MANY_EXPERTS : FEW_EXPERTS,
                fp8,
                null,
                blocks(),
                true,
                Duration.ZERO,
                Duration.ZERO,
                RANKS);
    }

    /** The most of a kernel of ours; {@code null} for the usual number. */
    @Nullable
    Integer blocks() {
        return mode == ExpertMode.NORMAL ? NORMAL_BLOCKS : null;
    }

    String format() {
        return fp8 ? "fp8" : "bf16";
    }

    @Override
    public Route route() {
        return Route.GPUS;
    }

    @Override
    public String name() {
        return route().prefix() + mode + "-" + plan().tokens() + "-tokens-" + format();
    }

    @Override
    public String doing() {
        return mode.toString();
    }

    /** The bytes of a vector as dispatch carries it. */
    @Override
    public long size() {
        return plan().dispatchedBytes();
    }

    @Override
    public int inflight() {
        return 1;
    }

    @Override
    public Measurement measurement(Api api) {
        return new OwnGpuExperts(this);
    }

    String description() {
        return mode + " dispatch in " + format() + " and combine, " + plan().tokens() + " tokens a rank, " + RANKS
                + " GPUs";
    }

    /**
     * What is compared, of either side, by the clock of the slower GPU.
     *
     * @param vectors that travel in a dispatch, of the average rank
     */
    Figures figures(double vectors, double dispatchMicros, double combineMicros, double roundMicros) {
        ExpertPlan plan = plan();
        return Figures.of(Quantity.DEVICE_DISPATCH_MICROSECONDS, dispatchMicros)
                .with(Quantity.DEVICE_COMBINE_MICROSECONDS, combineMicros)
                .with(Quantity.DEVICE_ROUND_MICROSECONDS, roundMicros)
                .with(Quantity.DISPATCH_GIGABYTES_PER_SECOND, vectors * plan.dispatchedBytes() / dispatchMicros / 1e3)
                .with(Quantity.COMBINE_GIGABYTES_PER_SECOND, vectors * plan.combinedBytes() / combineMicros / 1e3);
    }
}
