package io.sluice.collectives.plan;

import io.sluice.collectives.plan.Step.Buffer;

/**
 * Recursive halving: in each round a rank exchanges half of what it still reduces with one at half the distance, and keeps
 * the other half. Where the number of ranks is no power of two, the first ranks are folded: the even ones give their
 * elements to the next rank and get their result from it. The operand of the lower ranks comes first, and each part has
 * one owner, so all ranks get its bits.
 */
public final class HalvingPlans {
    private HalvingPlans() {}

    /** Who takes part in the rounds. */
    private record Fold(int rank, int power, int folded) {
        static Fold of(Shape shape) {
            int power = Integer.highestOneBit(shape.size());
            return new Fold(shape.rank(), power, shape.size() - power);
        }

        /** Whether the rank and its neighbour take part as one. */
        boolean isPaired() {
            return rank < 2 * folded;
        }

        boolean givesAll() {
            return isPaired() && rank % 2 == 0;
        }

        int position() {
            return isPaired() ? rank / 2 : rank - folded;
        }

        int rankAt(int position) {
            return position < folded ? 2 * position + 1 : position + folded;
        }

        /** The first rank whose block belongs to a position; of the power itself the number of ranks. */
        int firstOf(int position) {
            return position < folded ? 2 * position : position + folded;
        }
    }

    /** Rabenseifner's all-reduce: each rank ends with its part of the reduction; then the parts are gathered by doubling. */
    public static Plan allReduce(Shape shape, long count, int elementBytes) {
        PlanBuilder plan = new PlanBuilder(shape);
        Fold fold = Fold.of(shape);
        Blocks parts = Blocks.shares(fold.power, count, elementBytes);
        if (shape.size() == 1) {
            return RingPlans.alone(shape, plan, parts.total());
        }
        int rank = shape.rank();
        if (fold.givesAll()) {
            plan.send(rank + 1, Buffer.SOURCE, 0, parts.total());
            // the result may overwrite the source, which the other rank has received by then
            plan.receive(rank + 1, Buffer.TARGET, 0, parts.total());
            return plan.build();
        }
        Buffer current = Buffer.SOURCE;
        if (fold.isPaired()) {
            plan.reduce(rank - 1, current, 0, Buffer.TARGET, 0, parts.total(), true);
            current = Buffer.TARGET;
        }
        int position = fold.position();
        for (int distance = fold.power / 2; distance > 0; distance /= 2) {
            int peer = fold.rankAt(position ^ distance);
            int kept = position & -distance;
            int given = kept ^ distance;
            plan.send(peer, current, parts.start(given), parts.length(given, given + distance));
            plan.reduce(
                    peer,
                    current,
                    parts.start(kept),
                    Buffer.TARGET,
                    parts.start(kept),
                    parts.length(kept, kept + distance),
                    (position & distance) != 0);
            current = Buffer.TARGET;
        }
        plan.divideIfAverage(parts.start(position), parts.length(position));
        for (int distance = 1; distance < fold.power; distance *= 2) {
            int peer = fold.rankAt(position ^ distance);
            int known = position & -distance;
            int missing = known ^ distance;
            plan.send(peer, Buffer.TARGET, parts.start(known), parts.length(known, known + distance));
            // what this rank gave the peer before; the peer has received it
            plan.receive(peer, Buffer.TARGET, parts.start(missing), parts.length(missing, missing + distance));
        }
        if (fold.isPaired()) {
            plan.send(rank - 1, Buffer.TARGET, 0, parts.total());
        }
        return plan.build();
    }

    /** Each rank ends with its block of the reduction. */
    public static Plan reduceScatter(Shape shape, Blocks blocks) {
        PlanBuilder plan = new PlanBuilder(shape);
        if (shape.size() == 1) {
            return RingPlans.alone(shape, plan, blocks.total());
        }
        Fold fold = Fold.of(shape);
        int rank = shape.rank();
        if (fold.givesAll()) {
            plan.send(rank + 1, Buffer.SOURCE, 0, blocks.total());
            plan.receive(rank + 1, Buffer.TARGET, 0, blocks.length(rank));
            plan.divideIfAverage(0, blocks.length(rank));
            return plan.build();
        }
        plan.work(blocks.total());
        Buffer current = Buffer.SOURCE;
        if (fold.isPaired()) {
            plan.reduce(rank - 1, current, 0, Buffer.WORK, 0, blocks.total(), true);
            current = Buffer.WORK;
        }
        int position = fold.position();
        for (int distance = fold.power / 2; distance > 0; distance /= 2) {
            int peer = fold.rankAt(position ^ distance);
            int kept = position & -distance;
            int given = kept ^ distance;
            long givenAt = blocks.start(fold.firstOf(given));
            plan.send(peer, current, givenAt, blocks.start(fold.firstOf(given + distance)) - givenAt);
            long keptAt = blocks.start(fold.firstOf(kept));
            boolean ends = distance == 1 && !fold.isPaired();
            plan.reduce(
                    peer,
                    current,
                    keptAt,
                    ends ? Buffer.TARGET : Buffer.WORK,
                    ends ? 0 : keptAt,
                    blocks.start(fold.firstOf(kept + distance)) - keptAt,
                    (position & distance) != 0);
            current = Buffer.WORK;
        }
        if (fold.isPaired()) {
            plan.send(rank - 1, Buffer.WORK, blocks.start(rank - 1), blocks.length(rank - 1));
            plan.copy(Buffer.WORK, blocks.start(rank), Buffer.TARGET, 0, blocks.length(rank));
        }
        plan.divideIfAverage(0, blocks.length(rank));
        return plan.build();
    }
}
