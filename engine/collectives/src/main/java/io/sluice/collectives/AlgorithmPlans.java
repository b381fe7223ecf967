package io.sluice.collectives;

import io.sluice.collectives.plan.Blocks;
import io.sluice.collectives.plan.BruckPlans;
import io.sluice.collectives.plan.DirectPlans;
import io.sluice.collectives.plan.DoublingPlans;
import io.sluice.collectives.plan.FlatPlans;
import io.sluice.collectives.plan.HalvingPlans;
import io.sluice.collectives.plan.Plan;
import io.sluice.collectives.plan.RingPlans;
import io.sluice.collectives.plan.Shape;
import io.sluice.collectives.plan.SpreadPlans;
import io.sluice.collectives.plan.TreePlans;

/** The plan of each algorithm that serves a kind of collective. */
final class AlgorithmPlans {
    private AlgorithmPlans() {}

    static Plan allReduce(Algorithm algorithm, Shape shape, long count, int elementBytes) {
        return switch (algorithm) {
            case FLAT -> FlatPlans.allReduce(shape, count * elementBytes);
            case RECURSIVE_DOUBLING -> DoublingPlans.allReduce(shape, count * elementBytes);
            case RABENSEIFNER -> HalvingPlans.allReduce(shape, count, elementBytes);
            case RING -> RingPlans.allReduce(shape, count, elementBytes);
            default -> throw unplanned(algorithm);
        };
    }

    static Plan reduceScatter(Algorithm algorithm, Shape shape, Blocks blocks) {
        return switch (algorithm) {
            case RECURSIVE_HALVING -> HalvingPlans.reduceScatter(shape, blocks);
            case RING -> RingPlans.reduceScatter(shape, blocks);
            default -> throw unplanned(algorithm);
        };
    }

    static Plan allGather(Algorithm algorithm, Shape shape, Blocks blocks) {
        return switch (algorithm) {
            case BRUCK -> BruckPlans.allGather(shape, blocks);
            case RECURSIVE_DOUBLING -> DoublingPlans.allGather(shape, blocks);
            case RING -> RingPlans.allGather(shape, blocks);
            default -> throw unplanned(algorithm);
        };
    }

    static Plan broadcast(Algorithm algorithm, Shape shape, int root, long count, int elementBytes) {
        return switch (algorithm) {
            case BINOMIAL -> TreePlans.broadcast(shape, root, count * elementBytes);
            case SCATTER_ALL_GATHER -> SpreadPlans.broadcast(shape, root, count, elementBytes);
            default -> throw unplanned(algorithm);
        };
    }

    /** With Bruck's algorithm, all blocks must have one length. */
    static Plan allToAll(Algorithm algorithm, Shape shape, Blocks sent, Blocks received) {
        return switch (algorithm) {
            case BRUCK -> BruckPlans.allToAll(shape, sent.length(0));
            case PAIRWISE -> DirectPlans.pairwise(shape, sent, received);
            case DIRECT -> DirectPlans.allToAll(shape, sent, received);
            default -> throw unplanned(algorithm);
        };
    }

    private static IllegalStateException unplanned(Algorithm algorithm) {
        return new IllegalStateException("the table allows " + algorithm + ", which has no plan");
    }
}
