package io.sluice.samples.compare;

import io.sluice.samples.bench.Operation;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

/** What is compared with what. */
final class Comparisons {

    /** Chooses those that have a goal. */
    private static final String GOALS = "goals";

    private static final long SMALL = 8;
    private static final long KIB = 1L << 10;
    private static final long MIB = 1L << 20;
    private static final int IN_FLIGHT = 32;

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
            read(16 * MIB, Peer.UCX));

    private Comparisons() {}

    private static Comparison write(long size, Peer peer) {
        return throughput(Operation.WRITE, size, peer);
    }

    private static Comparison read(long size, Peer peer) {
        return throughput(Operation.READ, size, peer);
    }

    private static Comparison throughput(Operation operation, long size, Peer peer) {
        Quantity quantity = size < KIB ? Quantity.TRANSFERS_PER_SECOND : Quantity.GIGABYTES_PER_SECOND;
        return new Comparison(operation, size, IN_FLIGHT, IdlePollers.PARK, peer, quantity, null);
    }

    private static Comparison roundTrip() {
        return new Comparison(
                Operation.READ, SMALL, 1, IdlePollers.POLL_ON, Peer.PING_PONG, Quantity.MEDIAN_MICROSECONDS, null);
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
     * @throws IllegalArgumentException if a name is of none; the message says which there are
     */
    static List<Comparison> chosen(List<String> names) {
        List<Comparison> chosen = new ArrayList<>();
        for (String name : names) {
            if (ALL.stream().noneMatch(comparison -> matches(comparison, name))) {
                throw new IllegalArgumentException("no comparison is called '" + name + "'; there are "
                        + ALL.stream().map(Comparison::name).collect(Collectors.joining(", ")));
            }
        }
        for (Comparison comparison : ALL) {
            if (names.isEmpty() || names.stream().anyMatch(name -> matches(comparison, name))) {
                chosen.add(comparison);
            }
        }
        return chosen;
    }

    private static boolean matches(Comparison comparison, String name) {
        return comparison.name().equals(name)
                || comparison.subject().equals(name)
                || comparison.peer().toString().equals(name)
                || (name.equals(GOALS) && comparison.goal() != null);
    }
}
