package io.sluice.collectives.plan;

import io.sluice.collectives.plan.Step.Buffer;

/** One round in which all ranks give all others all that they have. */
public final class FlatPlans {
    private FlatPlans() {}

    /** Every rank reduces all sources, in the order of the ranks. */
    public static Plan allReduce(Shape shape, long bytes) {
        PlanBuilder plan = new PlanBuilder(shape);
        if (shape.size() == 1) {
            return RingPlans.alone(shape, plan, bytes);
        }
        for (int i = 0; i < plan.messages(bytes); i++) {
            exchange(shape, plan, plan.start(i), plan.length(i, bytes), bytes);
        }
        return plan.build();
    }

    private static void exchange(Shape shape, PlanBuilder plan, long start, long length, long bytes) {
        int rank = shape.rank();
        for (int distance = 1; distance < shape.size(); distance++) {
            plan.sendOne(shape.after(distance), Buffer.SOURCE, start, length);
        }
        if (shape.inPlace()) {
            plan.drain();
        }
        Buffer current = Buffer.SOURCE;
        if (rank == 1) {
            plan.reduceOne(0, Buffer.SOURCE, Buffer.TARGET, start, start, length, true);
            current = Buffer.TARGET;
        } else if (rank > 1) {
            plan.work(bytes);
            plan.receiveOne(0, Buffer.WORK, start, length);
            for (int lower = 1; lower < rank; lower++) {
                plan.reduceOne(lower, Buffer.WORK, Buffer.WORK, start, start, length, false);
            }
            if (!shape.inPlace()) {
                plan.copy(Buffer.SOURCE, start, Buffer.TARGET, start, length);
            }
            plan.combine(Buffer.WORK, Buffer.TARGET, start, length);
            current = Buffer.TARGET;
        }
        for (int higher = rank + 1; higher < shape.size(); higher++) {
            plan.reduceOne(higher, current, Buffer.TARGET, start, start, length, false);
            current = Buffer.TARGET;
        }
        plan.divideIfAverage(start, length);
    }
}
