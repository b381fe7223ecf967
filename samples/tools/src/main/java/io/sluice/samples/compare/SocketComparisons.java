package io.sluice.samples.compare;

import static io.sluice.samples.bench.BenchOperation.READ;
import static io.sluice.samples.bench.BenchOperation.READV;
import static io.sluice.samples.bench.BenchOperation.WRITE;
import static io.sluice.samples.bench.BenchOperation.WRITEV;
import static io.sluice.samples.compare.Goal.atLeast;
import static io.sluice.samples.compare.Goal.atMost;
import static io.sluice.samples.compare.Sizes.BLOCK;
import static io.sluice.samples.compare.Sizes.IN_FLIGHT;
import static io.sluice.samples.compare.Sizes.KIB;
import static io.sluice.samples.compare.Sizes.LARGEST;
import static io.sluice.samples.compare.Sizes.MIB;
import static io.sluice.samples.compare.Sizes.PAGE;
import static io.sluice.samples.compare.Sizes.WORD;

import io.sluice.samples.bench.BenchOperation;
import io.sluice.samples.bench.Buffers;
import java.util.List;

/** Transfers over tcp compared with other programs. */
final class SocketComparisons {
    private static final int FEW = 256;
    private static final int PAGES_OF_A_CACHE = 1024;

    private SocketComparisons() {}

    static List<Comparison> small() {
        return List.of(
                write(WORD, Peer.CEILING).with(atLeast(4)),
                read(WORD, Peer.CEILING).with(atLeast(4)),
                write(PAGE, Peer.CEILING).with(atLeast(2)),
                read(PAGE, Peer.CEILING).with(atLeast(2)),
                alone(WRITE).with(atLeast(1)),
                alone(READ).with(atLeast(1)),
                write(PAGE, Peer.UCX).with(atLeast(1.5)),
                read(PAGE, Peer.UCX),
                write(WORD, Peer.JUCX),
                read(WORD, Peer.JUCX),
                write(PAGE, Peer.JUCX),
                read(PAGE, Peer.JUCX));
    }

    static List<Comparison> large() {
        return List.of(
                write(BLOCK, Peer.CEILING).with(atLeast(1)),
                write(BLOCK, Peer.IPERF3).with(atLeast(1)),
                write(BLOCK, Peer.UCX).with(atLeast(1.2)),
                read(BLOCK, Peer.CEILING),
                read(BLOCK, Peer.UCX).with(atLeast(2)),
                read(BLOCK, Peer.UCX_TUNED).with(atLeast(1)),
                write(MIB, Peer.CEILING).with(atLeast(1)),
                write(MIB, Peer.IPERF3).with(atLeast(1)),
                write(MIB, Peer.UCX).with(atLeast(1.2)),
                write(MIB, Peer.MEMCPY),
                read(MIB, Peer.CEILING),
                read(MIB, Peer.UCX).with(atLeast(2)),
                read(MIB, Peer.UCX_TUNED).with(atLeast(1)),
                write(LARGEST, Peer.CEILING).with(atLeast(1)),
                write(LARGEST, Peer.IPERF3).with(atLeast(1)),
                write(LARGEST, Peer.UCX).with(atLeast(1.2)),
                write(LARGEST, Peer.MEMCPY),
                read(LARGEST, Peer.CEILING),
                read(LARGEST, Peer.UCX).with(atLeast(1.5)),
                write(BLOCK, Peer.JUCX),
                read(BLOCK, Peer.JUCX),
                write(MIB, Peer.JUCX),
                read(MIB, Peer.JUCX),
                write(LARGEST, Peer.JUCX),
                read(LARGEST, Peer.JUCX));
    }

    static List<Comparison> vectored() {
        return List.of(
                vectored(WRITEV, KIB, FEW, Buffers.SINGLE).with(atLeast(3)),
                vectored(READV, KIB, FEW, Buffers.SINGLE).with(atLeast(3)),
                vectored(WRITEV, BLOCK, PAGES_OF_A_CACHE, Buffers.DISTINCT).with(atLeast(1.2)),
                vectored(READV, BLOCK, PAGES_OF_A_CACHE, Buffers.DISTINCT).with(atLeast(1.2)));
    }

    static List<Comparison> roundTrips() {
        return List.of(
                roundTrip(READ, IdlePollers.POLL_ON, Peer.PING_PONG).with(atMost(1.25)),
                roundTrip(WRITE, IdlePollers.POLL_ON, Peer.PING_PONG).with(atMost(1.25)),
                tail(READ),
                tail(WRITE),
                tailOfThePingPong(READ),
                tailOfThePingPong(WRITE),
                roundTrip(READ, IdlePollers.SLEEP, Peer.BLOCKING_PING_PONG).with(atMost(1.2)),
                roundTrip(WRITE, IdlePollers.SLEEP, Peer.BLOCKING_PING_PONG).with(atMost(1.2)));
    }

    private static Comparison write(long size, Peer peer) {
        return single(WRITE, size, peer);
    }

    private static Comparison read(long size, Peer peer) {
        return single(READ, size, peer);
    }

    private static Comparison single(BenchOperation operation, long size, Peer peer) {
        Quantity quantity = size < KIB ? Quantity.TRANSFERS_PER_SECOND : Quantity.GIGABYTES_PER_SECOND;
        return Comparison.with(peer, Transfers.of(Route.TCP, operation, size, IN_FLIGHT), quantity);
    }

    private static Comparison vectored(BenchOperation operation, long size, int iov, Buffers buffers) {
        Transfers transfers =
                Transfers.vectored(Route.TCP, operation, size, iov).with(buffers);
        return Comparison.with(Peer.UCX, transfers, Quantity.GIGABYTES_PER_SECOND);
    }

    private static Comparison alone(BenchOperation operation) {
        return Comparison.with(Peer.CEILING_ALONE, oneByOne(operation), Quantity.TRANSFERS_PER_SECOND);
    }

    private static Comparison roundTrip(BenchOperation operation, IdlePollers pollers, Peer peer) {
        return Comparison.with(peer, oneByOne(operation).with(pollers), Quantity.MEDIAN_MICROSECONDS);
    }

    private static Comparison tail(BenchOperation operation) {
        return tail(operation, "tail", new FixedTarget(Quantity.TAIL, 1)).with(atMost(2));
    }

    /** So that what the machine does to every round trip can be told from what is ours. */
    private static Comparison tailOfThePingPong(BenchOperation operation) {
        return tail(operation, "ping-pong-tail", BaselineRun.pingPong());
    }

    private static Comparison tail(BenchOperation operation, String name, Measurement theirs) {
        Transfers workload = oneByOne(operation).with(IdlePollers.POLL_ON);
        return new Comparison(workload, null, name, theirs, Quantity.TAIL, null);
    }

    private static Transfers oneByOne(BenchOperation operation) {
        return Transfers.of(Route.TCP, operation, WORD, 1);
    }
}
