package io.sluice.samples.compare;

import io.sluice.samples.bench.Api;
import io.sluice.samples.bench.Operation;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/** What is compared with what. */
final class Comparisons {

    /** Chooses those that have a goal. */
    private static final String GOALS = "goals";

    /** What a mark is called, by the quantity that it is of. */
    private static final String RATE = "rate";

    private static final String LATENCY = "latency";

    /** The same transfers while nobody watches; and what both allocate. */
    private static final String METRICS_COST = "metrics-cost";

    private static final String METRICS_ALLOCATION = "metrics-allocation";

    /** The same transfers through Reactor. */
    private static final String VERTX_COST = "vertx-cost";

    /** Chooses the same transfers with and without each kind of authentication and encryption. */
    private static final String SECURITY_COST = "security-cost";

    /** The same transfers without checksums. */
    private static final String CRC_COST = "crc-cost";

    private static final long SMALL = 8;
    private static final long KIB = 1L << 10;
    private static final long MIB = 1L << 20;
    private static final int IN_FLIGHT = 32;
    private static final int IOV = 256;

    private static final List<Comparison> ALL = List.of(
            write(MIB, Peer.IPERF3).with(Goal.atLeast(0.8)),
            write(4 * KIB, Peer.UCX).with(Goal.atLeast(1.5)),
            read(MIB, Peer.UCX).with(Goal.atLeast(1.2)),
            roundTrip().with(Goal.atMost(1.6)),
            write(SMALL, Peer.CEILING),
            read(SMALL, Peer.CEILING),
            write(4 * KIB, Peer.CEILING),
            read(4 * KIB, Peer.CEILING),
            read(4 * KIB, Peer.UCX),
            write(64 * KIB, Peer.CEILING),
            write(64 * KIB, Peer.UCX),
            read(64 * KIB, Peer.CEILING),
            read(64 * KIB, Peer.UCX),
            write(MIB, Peer.CEILING),
            write(MIB, Peer.UCX),
            write(MIB, Peer.MEMCPY),
            read(MIB, Peer.CEILING),
            write(16 * MIB, Peer.CEILING),
            write(16 * MIB, Peer.UCX),
            write(16 * MIB, Peer.IPERF3),
            write(16 * MIB, Peer.MEMCPY),
            read(16 * MIB, Peer.CEILING),
            read(16 * MIB, Peer.UCX),
            shm(Operation.WRITE, 64 * KIB, Peer.MEMCPY).with(Goal.atLeast(0.8)),
            shm(Operation.READ, 64 * KIB, Peer.MEMCPY).with(Goal.atLeast(0.8)),
            shm(Operation.WRITE, MIB, Peer.MEMCPY).with(Goal.atLeast(0.9)),
            shm(Operation.READ, MIB, Peer.MEMCPY).with(Goal.atLeast(0.9)),
            shm(Operation.WRITE, 16 * MIB, Peer.MEMCPY).with(Goal.atLeast(0.9)),
            shm(Operation.READ, 16 * MIB, Peer.MEMCPY).with(Goal.atLeast(0.9)),
            shm(Operation.WRITE, 64 * KIB, Peer.CEILING),
            shm(Operation.READ, 64 * KIB, Peer.CEILING),
            shm(Operation.WRITE, MIB, Peer.CEILING),
            shm(Operation.READ, MIB, Peer.CEILING),
            shm(Operation.WRITE, 16 * MIB, Peer.CEILING),
            shm(Operation.READ, 16 * MIB, Peer.CEILING),
            crossMemoryWrite(MIB).with(Goal.atLeast(0.9)),
            shm(Operation.WRITE, 64 * KIB, Peer.UCX),
            shm(Operation.READ, 64 * KIB, Peer.UCX),
            shm(Operation.WRITE, MIB, Peer.UCX),
            shm(Operation.READ, MIB, Peer.UCX),
            shm(Operation.WRITE, 16 * MIB, Peer.UCX),
            shm(Operation.READ, 16 * MIB, Peer.UCX),
            rate(Api.ENGINE, 5_000_000),
            rate(Api.REACTOR, 1_500_000),
            vectoredRate(20_000_000),
            latency(Api.ENGINE, 0.5),
            latency(Api.REACTOR, 1),
            metricsCost(Route.TCP, Quantity.TRANSFERS_PER_SECOND).with(Goal.atLeast(0.97)),
            metricsCost(Route.SHM, Quantity.TRANSFERS_PER_SECOND).with(Goal.atLeast(0.97)),
            metricsCost(Route.TCP, Quantity.ALLOCATED_BYTES),
            metricsCost(Route.SHM, Quantity.ALLOCATED_BYTES),
            vertxCost(Route.TCP).with(Goal.atLeast(0.9)),
            vertxCost(Route.SHM).with(Goal.atLeast(0.9)),
            securityCost(4 * KIB, Security.TOKEN),
            securityCost(4 * KIB, Security.TLS),
            securityCost(4 * KIB, Security.TLS_DATA),
            securityCost(MIB, Security.TOKEN),
            securityCost(MIB, Security.TLS),
            securityCost(MIB, Security.TLS_DATA),
            crcCost(Operation.WRITE, 4 * KIB, Quantity.TRANSFERS_PER_SECOND),
            crcCost(Operation.WRITE, MIB, Quantity.GIGABYTES_PER_SECOND),
            crcCost(Operation.READ, MIB, Quantity.GIGABYTES_PER_SECOND));

    private Comparisons() {}

    private static Comparison write(long size, Peer peer) {
        return throughput(Route.TCP, Operation.WRITE, size, peer);
    }

    private static Comparison read(long size, Peer peer) {
        return throughput(Route.TCP, Operation.READ, size, peer);
    }

    private static Comparison shm(Operation operation, long size, Peer peer) {
        return throughput(Route.SHM, operation, size, peer);
    }

    private static Comparison crossMemoryWrite(long size) {
        return throughput(Route.CROSS_MEMORY, Operation.WRITE, size, Peer.PROCESS_VM_WRITEV);
    }

    private static Comparison throughput(Route route, Operation operation, long size, Peer peer) {
        Quantity quantity = size < KIB ? Quantity.TRANSFERS_PER_SECOND : Quantity.GIGABYTES_PER_SECOND;
        return Comparison.with(
                peer, new Subject(route, operation, size, 1, IN_FLIGHT, IdlePollers.PARK, Metrics.OFF), quantity);
    }

    private static Comparison roundTrip() {
        Subject reads = new Subject(Route.TCP, Operation.READ, SMALL, 1, 1, IdlePollers.POLL_ON, Metrics.OFF);
        return Comparison.with(Peer.PING_PONG, reads, Quantity.MEDIAN_MICROSECONDS);
    }

    private static Comparison rate(Api api, double least) {
        return atLeast(api, smallWrites(Operation.WRITE, 1, IN_FLIGHT), Quantity.TRANSFERS_PER_SECOND, least);
    }

    private static Comparison vectoredRate(double least) {
        return atLeast(Api.ENGINE, smallWrites(Operation.WRITEV, IOV, IOV), Quantity.ELEMENTS_PER_SECOND, least);
    }

    private static Comparison atLeast(Api api, Subject subject, Quantity quantity, double least) {
        return new Comparison(subject, api, RATE, new Mark(quantity, least), quantity, Goal.atLeast(1));
    }

    private static Comparison latency(Api api, double mostMicros) {
        Quantity quantity = Quantity.MEDIAN_MICROSECONDS;
        Subject oneByOne = smallWrites(Operation.WRITE, 1, 1);
        return new Comparison(oneByOne, api, LATENCY, new Mark(quantity, mostMicros), quantity, Goal.atMost(1));
    }

    private static Comparison metricsCost(Route route, Quantity quantity) {
        Subject unwatched = new Subject(route, Operation.WRITE, 4 * KIB, 1, IN_FLIGHT, IdlePollers.PARK, Metrics.OFF);
        return new Comparison(
                unwatched.with(Metrics.SCRAPED),
                Api.ENGINE,
                quantity == Quantity.ALLOCATED_BYTES ? METRICS_ALLOCATION : METRICS_COST,
                new OwnTransfers(unwatched, Api.ENGINE),
                quantity,
                null);
    }

    private static Comparison vertxCost(Route route) {
        Subject writes = new Subject(route, Operation.WRITE, 4 * KIB, 1, IN_FLIGHT, IdlePollers.PARK, Metrics.OFF);
        return new Comparison(
                writes,
                Api.VERTX,
                VERTX_COST,
                new OwnTransfers(writes, Api.REACTOR),
                Quantity.TRANSFERS_PER_SECOND,
                null);
    }

    private static Comparison securityCost(long size, Security security) {
        Subject open = new Subject(Route.TCP, Operation.WRITE, size, 1, IN_FLIGHT, IdlePollers.PARK, Metrics.OFF);
        return new Comparison(
                open.with(security),
                Api.ENGINE,
                security.name().toLowerCase(Locale.ROOT).replace('_', '-') + "-cost",
                new OwnTransfers(open, Api.ENGINE),
                Quantity.GIGABYTES_PER_SECOND,
                null);
    }

    private static Comparison crcCost(Operation operation, long size, Quantity quantity) {
        return new Comparison(
                new Subject(Route.TCP_CRC32C, operation, size, 1, IN_FLIGHT, IdlePollers.PARK, Metrics.OFF),
                Api.ENGINE,
                CRC_COST,
                new OwnTransfers(
                        new Subject(Route.TCP, operation, size, 1, IN_FLIGHT, IdlePollers.PARK, Metrics.OFF),
                        Api.ENGINE),
                quantity,
                null);
    }

    private static Subject smallWrites(Operation operation, int iov, int inflight) {
        return new Subject(Route.SHM, operation, SMALL, iov, inflight, IdlePollers.PARK, Metrics.OFF);
    }

    /** All of them. */
    static List<Comparison> all() {
        return ALL;
    }

    /**
     * Some of them, in their order.
     *
     * @param names of comparisons, or of the first or second half of their names, or {@code goals} for those that have
     *     one; none for all
     * @param transports that our transfers go over; none for all
     * @throws IllegalArgumentException if a name or a transport is of none, or both together leave none; the message says
     *     which there are
     */
    static List<Comparison> chosen(List<String> names, List<String> transports) {
        for (String name : names) {
            require(
                    comparison -> matches(comparison, name),
                    "no comparison is called '" + name + "'; there are "
                            + ALL.stream().map(Comparison::name).distinct().collect(Collectors.joining(", ")));
        }
        for (String transport : transports) {
            require(
                    comparison -> transport(comparison).equals(transport),
                    "no comparison is made over '" + transport + "'; they are over "
                            + ALL.stream()
                                    .map(Comparisons::transport)
                                    .distinct()
                                    .collect(Collectors.joining(", ")));
        }
        List<Comparison> chosen = new ArrayList<>();
        for (Comparison comparison : ALL) {
            if ((names.isEmpty() || names.stream().anyMatch(name -> matches(comparison, name)))
                    && (transports.isEmpty() || transports.contains(transport(comparison)))) {
                chosen.add(comparison);
            }
        }
        if (chosen.isEmpty()) {
            throw new IllegalArgumentException(
                    "none of these comparisons is made over " + String.join(", ", transports));
        }
        return chosen;
    }

    private static void require(Predicate<Comparison> some, String otherwise) {
        if (ALL.stream().noneMatch(some)) {
            throw new IllegalArgumentException(otherwise);
        }
    }

    private static String transport(Comparison comparison) {
        return comparison.subject().route().transport();
    }

    private static boolean matches(Comparison comparison, String name) {
        return comparison.name().equals(name)
                || comparison.subject().name().equals(name)
                || comparison.peer().equals(name)
                || (name.equals(GOALS) && comparison.goal() != null)
                || (name.equals(SECURITY_COST) && comparison.subject().security() != Security.OFF);
    }
}
