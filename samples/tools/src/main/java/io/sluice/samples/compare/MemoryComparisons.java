package io.sluice.samples.compare;

import static io.sluice.samples.compare.Sizes.BLOCK;
import static io.sluice.samples.compare.Sizes.IN_FLIGHT;
import static io.sluice.samples.compare.Sizes.LARGEST;
import static io.sluice.samples.compare.Sizes.MIB;
import static io.sluice.samples.compare.Sizes.WORD;

import io.sluice.samples.bench.Api;
import io.sluice.samples.bench.BenchOperation;
import java.util.ArrayList;
import java.util.List;

/** Transfers over shared memory compared with other programs and fixed figures. */
final class MemoryComparisons {
    private static final List<Long> SIZES = List.of(BLOCK, MIB, LARGEST);

    private MemoryComparisons() {}

    static List<Comparison> all() {
        List<Comparison> all = new ArrayList<>();
        for (long size : SIZES) {
            Goal goal = Goal.atLeast(size == BLOCK ? 0.8 : 0.9);
            all.add(shm(BenchOperation.WRITE, size, Peer.MEMCPY).with(goal));
            all.add(shm(BenchOperation.READ, size, Peer.MEMCPY).with(goal));
        }
        for (long size : SIZES) {
            all.add(shm(BenchOperation.WRITE, size, Peer.CEILING));
            all.add(shm(BenchOperation.READ, size, Peer.CEILING));
        }
        all.add(crossMemoryWrite().with(Goal.atLeast(0.9)));
        for (long size : SIZES) {
            all.add(shm(BenchOperation.WRITE, size, Peer.UCX).with(Goal.atLeast(1)));
            all.add(shm(BenchOperation.READ, size, Peer.UCX));
        }
        all.add(rate(Api.ENGINE, 5_000_000));
        all.add(rate(Api.REACTOR, 1_500_000));
        all.add(vectoredRate(20_000_000));
        all.add(latency(Api.ENGINE, 0.5));
        all.add(latency(Api.REACTOR, 1));
        return List.copyOf(all);
    }

    private static Comparison shm(BenchOperation operation, long size, Peer peer) {
        return Comparison.with(
                peer, Transfers.of(Route.SHM, operation, size, IN_FLIGHT), Quantity.GIGABYTES_PER_SECOND);
    }

    private static Comparison crossMemoryWrite() {
        return Comparison.with(
                Peer.PROCESS_VM_WRITEV,
                Transfers.of(Route.CROSS_MEMORY, BenchOperation.WRITE, MIB, IN_FLIGHT),
                Quantity.GIGABYTES_PER_SECOND);
    }

    private static Comparison rate(Api api, double least) {
        Transfers writes = Transfers.of(Route.SHM, BenchOperation.WRITE, WORD, IN_FLIGHT);
        return Comparison.atLeast(writes, api, "rate", new FixedTarget(Quantity.TRANSFERS_PER_SECOND, least));
    }

    private static Comparison vectoredRate(double least) {
        Transfers writes = Transfers.vectored(Route.SHM, BenchOperation.WRITEV, WORD, 256);
        return Comparison.atLeast(writes, Api.ENGINE, "rate", new FixedTarget(Quantity.ELEMENTS_PER_SECOND, least));
    }

    private static Comparison latency(Api api, double mostMicros) {
        Transfers oneByOne = Transfers.of(Route.SHM, BenchOperation.WRITE, WORD, 1);
        return Comparison.atMost(oneByOne, api, "latency", new FixedTarget(Quantity.MEDIAN_MICROSECONDS, mostMicros));
    }
}
