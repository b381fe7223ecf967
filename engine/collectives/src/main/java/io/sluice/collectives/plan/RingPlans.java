package io.sluice.collectives.plan;

import io.sluice.collectives.plan.Step.Buffer;

/**
 * Blocks that travel round: each rank sends to the next and receives from the one before. A message that has arrived is
 * sent on before the next is waited for, so the messages of a block are under way at once on all links.
 */
public final class RingPlans {
    private RingPlans() {}

    /** Reduces while the blocks travel, then gathers them. */
    public static Plan allReduce(Shape shape, long count, int elementBytes) {
        PlanBuilder plan = new PlanBuilder(shape);
        Blocks blocks = Blocks.shares(shape.size(), count, elementBytes);
        if (shape.size() == 1) {
            return alone(shape, plan, blocks.total());
        }
        int next = shape.after(1);
        int previous = shape.before(1);
        plan.send(next, Buffer.SOURCE, blocks.start(shape.rank()), blocks.length(shape.rank()));
        for (int round = 1; round < shape.size(); round++) {
            int block = shape.before(round);
            boolean last = round == shape.size() - 1;
            for (int i = 0; i < plan.messages(blocks.length(block)); i++) {
                long offset = blocks.start(block) + plan.start(i);
                long length = plan.length(i, blocks.length(block));
                plan.reduceOne(previous, Buffer.SOURCE, Buffer.TARGET, offset, offset, length, true);
                if (last) {
                    plan.divideIfAverage(offset, length);
                }
                plan.sendOne(next, Buffer.TARGET, offset, length);
            }
        }
        for (int round = 0; round < shape.size() - 1; round++) {
            passOn(shape, plan, blocks, shape.before(round), round < shape.size() - 2);
        }
        return plan.build();
    }

    /** Each block travels once round. */
    public static Plan allGather(Shape shape, Blocks blocks) {
        PlanBuilder plan = new PlanBuilder(shape);
        long own = blocks.start(shape.rank());
        long length = blocks.length(shape.rank());
        if (!shape.inPlace()) {
            plan.copy(Buffer.SOURCE, 0, Buffer.TARGET, own, length);
        }
        if (shape.size() > 1) {
            plan.send(shape.after(1), Buffer.TARGET, own, length);
        }
        for (int round = 1; round < shape.size(); round++) {
            passOn(shape, plan, blocks, shape.before(round), round < shape.size() - 1);
        }
        return plan.build();
    }

    private static void passOn(Shape shape, PlanBuilder plan, Blocks blocks, int block, boolean on) {
        for (int i = 0; i < plan.messages(blocks.length(block)); i++) {
            long offset = blocks.start(block) + plan.start(i);
            long length = plan.length(i, blocks.length(block));
            plan.receiveOne(shape.before(1), Buffer.TARGET, offset, length);
            if (on) {
                plan.sendOne(shape.after(1), Buffer.TARGET, offset, length);
            }
        }
    }

    /** Each block travels once round and ends at its rank. */
    public static Plan reduceScatter(Shape shape, Blocks blocks) {
        PlanBuilder plan = new PlanBuilder(shape);
        if (shape.size() == 1) {
            return alone(shape, plan, blocks.total());
        }
        int next = shape.after(1);
        plan.send(next, Buffer.SOURCE, blocks.start(shape.before(1)), blocks.length(shape.before(1)));
        for (int round = 2; round <= shape.size(); round++) {
            int block = shape.before(round);
            boolean last = round == shape.size();
            for (int i = 0; i < plan.messages(blocks.length(block)); i++) {
                long offset = blocks.start(block) + plan.start(i);
                long length = plan.length(i, blocks.length(block));
                Buffer to = last ? Buffer.TARGET : Buffer.WORK;
                long toOffset = last ? plan.start(i) : offset;
                plan.reduceOne(shape.before(1), Buffer.SOURCE, to, offset, toOffset, length, true);
                if (last) {
                    plan.divideIfAverage(toOffset, length);
                } else {
                    plan.work(blocks.total());
                    plan.sendOne(next, Buffer.WORK, offset, length);
                }
            }
        }
        return plan.build();
    }

    static Plan alone(Shape shape, PlanBuilder plan, long length) {
        if (!shape.inPlace()) {
            plan.copy(Buffer.SOURCE, 0, Buffer.TARGET, 0, length);
        }
        return plan.build();
    }
}
