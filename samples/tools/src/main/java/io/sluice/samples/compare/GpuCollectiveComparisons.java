package io.sluice.samples.compare;

import static io.sluice.samples.compare.Sizes.BLOCK;
import static io.sluice.samples.compare.Sizes.LARGEST;
import static io.sluice.samples.compare.Sizes.MIB;
import static io.sluice.samples.compare.Sizes.WORD;

import io.sluice.samples.bench.Api;
import io.sluice.samples.bench.BenchCollective;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Collectives of two GPUs compared with those of NCCL, one by one and as graphs, and with what copies in both directions reach. */
final class GpuCollectiveComparisons {
    private static final int GRAPH = 20;
    private static final long HUGE = 256 * MIB;
    private static final String NCCL = "nccl";

    private GpuCollectiveComparisons() {}

    static List<Comparison> all() {
        List<Comparison> comparisons = new ArrayList<>();
        for (int graph : List.of(0, GRAPH)) {
            for (long size : List.of(WORD, BLOCK, MIB, 4 * MIB, LARGEST)) {
                GpuCollectives ours = new GpuCollectives(BenchCollective.ALLREDUCE, size, graph);
                comparisons.add(time(ours, Goal.atMost(0.9)));
                comparisons.add(roundTrip(ours, size <= MIB ? Goal.atMost(0.9) : null));
            }
            for (long size : List.of(BLOCK, MIB, LARGEST, HUGE)) {
                GpuCollectives toAll = new GpuCollectives(BenchCollective.ALLTOALL, size, graph);
                comparisons.add(size < MIB ? time(toAll, Goal.atMost(0.9)) : rate(toAll, Goal.atLeast(1.05)));
                for (BenchCollective half : List.of(BenchCollective.REDUCESCATTER, BenchCollective.ALLGATHER)) {
                    comparisons.add(rate(new GpuCollectives(half, size, graph), Goal.atLeast(1)));
                }
            }
        }
        for (long size : List.of(HUGE, 4 * HUGE)) {
            GpuCollectives ours = new GpuCollectives(BenchCollective.ALLREDUCE, size, 0);
            comparisons.add(rate(ours, Goal.atLeast(1)));
            comparisons.add(ofCopies(ours));
        }
        comparisons.add(ofCopies(new GpuCollectives(BenchCollective.ALLTOALL, HUGE, 0)));
        comparisons.add(rate(new GpuCollectives(BenchCollective.BROADCAST, HUGE, 0), null));
        return comparisons;
    }

    private static Comparison nccl(GpuCollectives ours, String name, Quantity quantity, @Nullable Goal goal) {
        return new Comparison(ours, Api.ENGINE, name, new NcclCollectives(ours), quantity, goal);
    }

    /** By the clock of the GPU. */
    private static Comparison time(GpuCollectives ours, Goal goal) {
        return nccl(ours, NCCL, Quantity.DEVICE_MICROSECONDS, goal);
    }

    private static Comparison rate(GpuCollectives ours, @Nullable Goal goal) {
        return nccl(ours, NCCL, Quantity.BUS_GIGABYTES_PER_SECOND, goal);
    }

    /** From the start until the host knows of the end. */
    private static Comparison roundTrip(GpuCollectives ours, @Nullable Goal goal) {
        return nccl(ours, "nccl-round-trip", Quantity.MEDIAN_MICROSECONDS, goal);
    }

    /** The bytes that pass a link in one direction, beside copies that pass it in both. */
    private static Comparison ofCopies(GpuCollectives ours) {
        return new Comparison(
                ours,
                Api.ENGINE,
                "copies-both-ways",
                CopiesBothWays.of(ours.size()),
                Quantity.BUS_GIGABYTES_PER_SECOND,
                null);
    }
}
