package io.sluice.samples.compare;

import io.sluice.samples.bench.Api;
import io.sluice.samples.bench.ExpertMode;
import io.sluice.samples.bench.ExpertPlan;
import java.time.Duration;

/**
 * Dispatch and combine of 256 experts between ranks on this machine, a process each; tokens of 7,168 channels have 8 of them.
 *
 * @param tokens of each rank
 * @param fp8 whether dispatch quantises
 */
record Experts(Route route, ExpertMode mode, int tokens, boolean fp8, int ranks) implements Workload {
    static final int HIDDEN = 7_168;
    static final int TOP_K = 8;
    static final int TOTAL = 256;

    ExpertPlan plan() {
        return new ExpertPlan(
                mode, ranks, tokens, HIDDEN, TOP_K, TOTAL, fp8, null, null, true, Duration.ZERO, Duration.ZERO, ranks);
    }

    String format() {
        return fp8 ? "fp8" : "bf16";
    }

    @Override
    public String name() {
        return route.prefix() + mode + "-" + tokens + (tokens == 1 ? "-token-" : "-tokens-") + format() + "-" + ranks
                + "-ranks";
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
        return new OwnExperts(this);
    }

    String description() {
        return mode + " dispatch in " + format() + " and combine, " + tokens + (tokens == 1 ? " token" : " tokens")
                + " a rank over " + route + ", " + ranks + " ranks";
    }
}
