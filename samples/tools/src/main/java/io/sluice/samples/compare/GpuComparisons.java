package io.sluice.samples.compare;

import static io.sluice.samples.compare.Sizes.BLOCK;
import static io.sluice.samples.compare.Sizes.KIB;
import static io.sluice.samples.compare.Sizes.LARGEST;
import static io.sluice.samples.compare.Sizes.MIB;
import static io.sluice.samples.compare.Sizes.PAGE;
import static io.sluice.samples.compare.Sizes.WORD;

import io.sluice.samples.bench.Api;
import io.sluice.samples.bench.BenchOperation;
import io.sluice.samples.bench.Buffers;
import java.util.List;

/** Transfers of memory of GPUs compared with plain C on the same driver, with NCCL, with PyTorch, and with fixed figures of two H100 with NVLink. */
final class GpuComparisons {
    private static final int SEVERAL = 4;
    private static final int SHORT_LIST = 256;
    private static final int LONG_LIST = 4096;
    private static final int MIDDLE_LIST = 2048;
    private static final long HUGE = 256 * MIB;

    private GpuComparisons() {}

    static List<Comparison> all() {
        Transfers word = single(BenchOperation.WRITE, WORD, 1);
        Transfers shortList = pages(BenchOperation.WRITE_PAGES, PAGE, SHORT_LIST, 1);
        Transfers small = pages(BenchOperation.WRITE_PAGES, PAGE, LONG_LIST, SEVERAL);
        Transfers middle = pages(BenchOperation.WRITE_PAGES, 16 * KIB, MIDDLE_LIST, SEVERAL);
        Transfers large = pages(BenchOperation.WRITE_PAGES, BLOCK, LONG_LIST, SEVERAL);
        return List.of(
                Comparison.with(Peer.GPU_COPY, word, Quantity.MEDIAN_MICROSECONDS),
                latency(word, Api.ENGINE, 12),
                rate(Peer.GPU_COPY, single(BenchOperation.WRITE, HUGE, SEVERAL)).with(Goal.atLeast(0.97)),
                rate(Peer.GPU_COPY, single(BenchOperation.READ, HUGE, SEVERAL)),
                // lists of Reactor are not prepared
                latency(shortList, Api.REACTOR, 25),
                Comparison.with(Peer.GPU_KERNEL, shortList, Quantity.MEDIAN_MICROSECONDS),
                least(small, 250),
                least(middle, 300),
                least(large, 340),
                least(pages(BenchOperation.READ_PAGES, PAGE, LONG_LIST, SEVERAL), 225),
                least(pages(BenchOperation.READ_PAGES, 16 * KIB, MIDDLE_LIST, SEVERAL), 270),
                least(pages(BenchOperation.READ_PAGES, BLOCK, LONG_LIST, SEVERAL), 306),
                prepared(Peer.GPU_KERNEL, small, 0.95),
                prepared(Peer.GPU_KERNEL, middle, 0.95),
                prepared(Peer.GPU_KERNEL, large, 0.95),
                prepared(Peer.GPU_COPIES, small, 10),
                prepared(Peer.GPU_COPIES, middle, 10),
                prepared(Peer.GPU_COPIES, large, 10),
                prepared(Peer.GPU_BATCH, small, 3),
                prepared(Peer.GPU_BATCH, middle, 3),
                prepared(Peer.GPU_BATCH, large, 3),
                rate(Peer.GPU_PINNED_COPY, pinned(BenchOperation.WRITE)).with(Goal.atLeast(0.95)),
                rate(Peer.GPU_PINNED_COPY, pinned(BenchOperation.READ)).with(Goal.atLeast(0.95)),
                Comparison.with(Peer.NCCL, single(BenchOperation.WRITE, PAGE, 1), Quantity.MEDIAN_MICROSECONDS)
                        .with(Goal.atMost(0.8)),
                rate(Peer.NCCL, single(BenchOperation.WRITE, MIB, SEVERAL)).with(Goal.atLeast(1.5)),
                rate(Peer.NCCL, single(BenchOperation.WRITE, LARGEST, SEVERAL)).with(Goal.atLeast(1.2)),
                rate(Peer.NCCL, single(BenchOperation.WRITE, HUGE, SEVERAL)).with(Goal.atLeast(1.05)),
                Comparison.with(Peer.TORCH, single(BenchOperation.WRITE, PAGE, 1), Quantity.MEDIAN_MICROSECONDS),
                rate(Peer.TORCH, single(BenchOperation.WRITE, MIB, SEVERAL)),
                rate(Peer.TORCH, single(BenchOperation.WRITE, LARGEST, SEVERAL)),
                rate(Peer.TORCH, single(BenchOperation.WRITE, HUGE, SEVERAL)),
                staged(64 * MIB),
                staged(HUGE));
    }

    /** Through the host, by the rate between memory of hosts. */
    private static Comparison staged(long size) {
        return Comparison.ofOwn(
                        Transfers.of(Route.TCP_UNBOUND, BenchOperation.WRITE, size, SEVERAL),
                        Transfers.of(Route.STAGED_GPUS, BenchOperation.WRITE, size, SEVERAL),
                        Api.ENGINE,
                        "host-to-host",
                        Quantity.GIGABYTES_PER_SECOND)
                .with(Goal.atLeast(0.85));
    }

    private static Transfers single(BenchOperation operation, long size, int inflight) {
        return Transfers.of(Route.GPUS, operation, size, inflight);
    }

    private static Transfers pinned(BenchOperation operation) {
        return Transfers.of(Route.HOST_AND_GPU, operation, 64 * MIB, SEVERAL);
    }

    private static Transfers pages(BenchOperation operation, long size, int pages, int lists) {
        return Transfers.of(Route.GPUS, operation, size, lists * pages)
                .withElements(pages)
                .with(Buffers.SCATTERED);
    }

    private static Comparison rate(Peer peer, Transfers ours) {
        return Comparison.with(peer, ours, Quantity.GIGABYTES_PER_SECOND);
    }

    /** By the engine's own interface, which prepares lists. */
    private static Comparison prepared(Peer peer, Transfers lists, double goal) {
        return new Comparison(
                lists,
                Api.ENGINE,
                peer.toString(),
                peer.measurement(lists),
                Quantity.GIGABYTES_PER_SECOND,
                Goal.atLeast(goal));
    }

    private static Comparison least(Transfers lists, double gigabytesPerSecond) {
        return Comparison.atLeast(
                lists, Api.ENGINE, "rate", new FixedTarget(Quantity.GIGABYTES_PER_SECOND, gigabytesPerSecond));
    }

    private static Comparison latency(Transfers alone, Api api, double micros) {
        return Comparison.atMost(alone, api, "latency", new FixedTarget(Quantity.MEDIAN_MICROSECONDS, micros));
    }
}
