package io.sluice.samples.compare;

import io.sluice.samples.bench.Api;
import io.sluice.samples.bench.ExpertMode;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Dispatch and combine of experts compared with copies by plain C, with MPI, and with vectored writes. */
final class ExpertComparisons {
    private static final int FEWEST = 8;
    private static final int FEW = 128;
    private static final int MANY = 4_096;
    private static final Goal OF_COPIES = Goal.atLeast(0.7);
    private static final Goal OF_WRITES = Goal.atLeast(0.9);
    private static final Goal OF_MPI = Goal.atLeast(1.2);
    private static final Goal OF_MPI_FOR_LEAST = Goal.atLeast(1.5);

    private ExpertComparisons() {}

    static List<Comparison> all() {
        List<Comparison> comparisons = new ArrayList<>();
        for (boolean fp8 : List.of(false, true)) {
            comparisons.addAll(of(lowLatency(Route.SHM, FEW, fp8, 4), ExpertPeer.COPIES, OF_COPIES));
            comparisons.addAll(of(normal(Route.SHM, fp8, 4), ExpertPeer.COPIES, OF_COPIES));
        }
        comparisons.addAll(of(lowLatency(Route.SHM, FEWEST, true, 2), ExpertPeer.COPIES, null));
        comparisons.addAll(of(lowLatency(Route.SHM, FEW, true, 2), ExpertPeer.OPENMPI_VADER, null));
        comparisons.addAll(of(normal(Route.SHM, true, 2), ExpertPeer.OPENMPI_VADER, null));
        for (int tokens : List.of(1, FEWEST)) {
            comparisons.addAll(of(lowLatency(Route.TCP, tokens, true, 2), ExpertPeer.OPENMPI_TCP, OF_MPI_FOR_LEAST));
        }
        comparisons.addAll(of(lowLatency(Route.TCP, FEW, true, 2), ExpertPeer.OPENMPI_TCP, OF_MPI));
        comparisons.addAll(of(normal(Route.TCP, true, 2), ExpertPeer.OPENMPI_TCP, OF_MPI));
        Experts written = lowLatency(Route.TCP, FEW, false, 2);
        comparisons.add(new Comparison(
                written,
                Api.ENGINE,
                "dispatch-writev",
                SameElements.of(written),
                Quantity.DISPATCH_GIGABYTES_PER_SECOND,
                OF_WRITES));
        return comparisons;
    }

    private static Experts lowLatency(Route route, int tokens, boolean fp8, int ranks) {
        return new Experts(route, ExpertMode.LOW_LATENCY, tokens, fp8, ranks);
    }

    private static Experts normal(Route route, boolean fp8, int ranks) {
        return new Experts(route, ExpertMode.NORMAL, MANY, fp8, ranks);
    }

    private static List<Comparison> of(Experts ours, ExpertPeer peer, @Nullable Goal goal) {
        PeerExperts theirs = new PeerExperts(peer, ours);
        return List.of(
                new Comparison(
                        ours, Api.ENGINE, "dispatch-" + peer, theirs, Quantity.DISPATCH_GIGABYTES_PER_SECOND, goal),
                new Comparison(
                        ours, Api.ENGINE, "combine-" + peer, theirs, Quantity.COMBINE_GIGABYTES_PER_SECOND, goal));
    }
}
