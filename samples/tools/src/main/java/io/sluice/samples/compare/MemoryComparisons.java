package io.sluice.samples.compare;

import static io.sluice.samples.compare.Sizes.BLOCK;
import static io.sluice.samples.compare.Sizes.IN_FLIGHT;
import static io.sluice.samples.compare.Sizes.LARGEST;
import static io.sluice.samples.compare.Sizes.MIB;
import static io.sluice.samples.compare.Sizes.WORD;

import io.sluice.samples.bench.Api;
import io.sluice.samples.bench.BenchOperation;
import java.util.List;

/** Transfers over shared memory compared with other programs and fixed figures. */
final class MemoryComparisons {
    private MemoryComparisons() {}

    static List<Comparison> all() {
        return List.of(
                shm(BenchOperation.WRITE, BLOCK, Peer.MEMCPY).with(Goal.atLeast(0.8)),
                shm(BenchOperation.READ, BLOCK, Peer.MEMCPY).with(Goal.atLeast(0.8)),
                shm(BenchOperation.WRITE, MIB, Peer.MEMCPY).with(Goal.atLeast(0.9)),
                shm(BenchOperation.READ, MIB, Peer.MEMCPY).with(Goal.atLeast(0.9)),
                shm(BenchOperation.WRITE, LARGEST, Peer.MEMCPY).with(Goal.atLeast(0.9)),
                shm(BenchOperation.READ, LARGEST, Peer.MEMCPY).with(Goal.atLeast(0.9)),
                shm(BenchOperation.WRITE, BLOCK, Peer.CEILING),
                shm(BenchOperation.READ, BLOCK, Peer.CEILING),
                shm(BenchOperation.WRITE, MIB, Peer.CEILING),
                shm(BenchOperation.READ, MIB, Peer.CEILING),
                shm(BenchOperation.WRITE, LARGEST, Peer.CEILING),
                shm(BenchOperation.READ, LARGEST, Peer.CEILING),
                crossMemoryWrite().with(Goal.atLeast(0.9)),
                shm(BenchOperation.WRITE, BLOCK, Peer.UCX).with(Goal.atLeast(1)),
                shm(BenchOperation.READ, BLOCK, Peer.UCX),
                shm(BenchOperation.WRITE, MIB, Peer.UCX).with(Goal.atLeast(1)),
                shm(BenchOperation.READ, MIB, Peer.UCX),
                shm(BenchOperation.WRITE, LARGEST, Peer.UCX).with(Goal.atLeast(1)),
                shm(BenchOperation.READ, LARGEST, Peer.UCX),
                rate(Api.ENGINE, 5_000_000),
                rate(Api.REACTOR, 1_500_000),
                vectoredRate(20_000_000),
                latency(Api.ENGINE, 0.5),
                latency(Api.REACTOR, 1));
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
