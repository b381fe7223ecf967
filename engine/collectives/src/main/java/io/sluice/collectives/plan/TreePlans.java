package io.sluice.collectives.plan;

import io.sluice.collectives.plan.Step.Buffer;

/** Binomial trees, whose ranks are counted from the root on. Messages follow each other down or up the tree. */
public final class TreePlans {
    private TreePlans() {}

    /** The root's target goes to all. */
    public static Plan broadcast(Shape shape, int root, long bytes) {
        PlanBuilder plan = new PlanBuilder(shape);
        int position = Math.floorMod(shape.rank() - root, shape.size());
        int parentBit = position == 0 ? Integer.highestOneBit(2 * shape.size()) : Integer.lowestOneBit(position);
        for (int i = 0; i < plan.messages(bytes); i++) {
            long start = plan.start(i);
            long length = plan.length(i, bytes);
            if (position != 0) {
                plan.receiveOne(rankAt(shape, root, position - parentBit), Buffer.TARGET, start, length);
            }
            for (int bit = parentBit / 2; bit > 0; bit /= 2) {
                if (position + bit < shape.size()) {
                    plan.sendOne(rankAt(shape, root, position + bit), Buffer.TARGET, start, length);
                }
            }
        }
        return plan.build();
    }

    /** The reduction of all sources goes to the root's target. */
    public static Plan reduce(Shape shape, int root, long bytes) {
        PlanBuilder plan = new PlanBuilder(shape);
        if (shape.size() == 1) {
            return RingPlans.alone(shape, plan, bytes);
        }
        int position = Math.floorMod(shape.rank() - root, shape.size());
        int parentBit = position == 0 ? Integer.highestOneBit(2 * shape.size()) : Integer.lowestOneBit(position);
        Buffer sum = position == 0 ? Buffer.TARGET : Buffer.WORK;
        for (int i = 0; i < plan.messages(bytes); i++) {
            long start = plan.start(i);
            long length = plan.length(i, bytes);
            Buffer current = Buffer.SOURCE;
            for (int bit = 1; bit < parentBit; bit *= 2) {
                if (position + bit < shape.size()) {
                    int child = rankAt(shape, root, position + bit);
                    plan.reduceOne(child, current, sum, start, start, length, false);
                    current = sum;
                }
            }
            if (position == 0) {
                plan.divideIfAverage(start, length);
            } else {
                plan.work(current == Buffer.WORK ? bytes : 0);
                plan.sendOne(rankAt(shape, root, position - parentBit), current, start, length);
            }
        }
        return plan.build();
    }

    private static int rankAt(Shape shape, int root, int position) {
        return (root + position) % shape.size();
    }
}
