package io.sluice.samples.compare;

import io.sluice.samples.bench.Api;
import io.sluice.samples.bench.BenchCollective;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Collectives compared with those of MPI and gloo, and prepared ones with those that are called each time. */
final class CollectiveComparisons {
    private static final String BEST = "best-peer";
    private static final List<Long> SIZES =
            List.of(Sizes.WORD, Sizes.PAGE, Sizes.BLOCK, Sizes.MIB, Sizes.LARGEST, 4 * Sizes.LARGEST);

    private CollectiveComparisons() {}

    static List<Comparison> all() {
        List<Comparison> comparisons = new ArrayList<>();
        for (int ranks : List.of(2, 4)) {
            for (long size : SIZES) {
                comparisons.addAll(of(Collectives.of(Route.SHM, BenchCollective.ALLREDUCE, size, ranks)));
            }
            comparisons.addAll(of(Collectives.of(Route.SHM, BenchCollective.BARRIER, 0, ranks)));
        }
        for (long size : SIZES) {
            comparisons.addAll(of(Collectives.of(Route.TCP, BenchCollective.ALLREDUCE, size, 2)));
        }
        comparisons.addAll(of(Collectives.of(Route.TCP, BenchCollective.BARRIER, 0, 2)));
        for (Route route : List.of(Route.SHM, Route.TCP)) {
            Collectives prepared = Collectives.of(route, BenchCollective.ALLREDUCE, Sizes.WORD, 2);
            comparisons.add(new Comparison(
                    prepared,
                    Api.ENGINE,
                    "called-each-time",
                    new OwnCollectives(prepared.calledOnce()),
                    Quantity.OPERATIONS_PER_SECOND,
                    route == Route.SHM ? Goal.atLeast(1.1) : null));
        }
        return comparisons;
    }

    private static List<Comparison> of(Collectives ours) {
        Quantity quantity = ours.size() < Sizes.PAGE ? Quantity.MEDIAN_MICROSECONDS : Quantity.BUS_GIGABYTES_PER_SECOND;
        List<PeerCollectives> peers = Arrays.stream(CollectivePeer.values())
                .filter(peer -> peer.serves(ours))
                .map(peer -> new PeerCollectives(peer, ours))
                .toList();
        List<Comparison> comparisons = new ArrayList<>();
        for (PeerCollectives peer : peers) {
            comparisons.add(
                    new Comparison(ours, Api.ENGINE, peer.peer().toString(), peer, quantity, goal(ours, peer.peer())));
        }
        comparisons.add(
                new Comparison(ours, Api.ENGINE, BEST, new BestPeer(peers, quantity), quantity, goalOfBest(ours)));
        return comparisons;
    }

    private static @Nullable Goal goal(Collectives ours, CollectivePeer peer) {
        boolean latency = ours.size() < Sizes.PAGE;
        return switch (peer) {
            case OPENMPI_VADER -> latency && ours.ranks() == 2 ? Goal.atMost(1.5) : null;
            case OPENMPI_TCP -> latency ? null : Goal.atLeast(1);
            case GLOO_RING, GLOO_HALVING -> latency ? Goal.atMost(1 / 1.2) : Goal.atLeast(1.2);
            case OPENMPI_UCX, OPENMPI_UCX_TCP, MPICH -> null;
        };
    }

    private static @Nullable Goal goalOfBest(Collectives ours) {
        if (ours.route() != Route.SHM || ours.size() < Sizes.BLOCK) {
            return null;
        }
        return Goal.atLeast(ours.ranks() == 2 ? 1 : 0.9);
    }
}
