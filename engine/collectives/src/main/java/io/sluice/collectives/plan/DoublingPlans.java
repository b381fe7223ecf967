package io.sluice.collectives.plan;

import io.sluice.collectives.plan.Step.Buffer;

/** Exchanges with ranks at distances 1, 2, 4 and so on. */
public final class DoublingPlans {
    private DoublingPlans() {}

    /**
     * Recursive doubling. Where the number of ranks is no power of two, the first ranks are folded: the even ones give
     * their elements to the next rank and get the result from it. Both ranks of an exchange compute the reduction with
     * the lower one's operand first, so all get the same bits.
     */
    public static Plan allReduce(Shape shape, long bytes) {
        PlanBuilder plan = new PlanBuilder(shape);
        if (shape.size() == 1) {
            return RingPlans.alone(shape, plan, bytes);
        }
        int power = Integer.highestOneBit(shape.size());
        int folded = shape.size() - power;
        int rank = shape.rank();
        boolean pairs = rank < 2 * folded;
        if (pairs && rank % 2 == 0) {
            plan.send(rank + 1, Buffer.SOURCE, 0, bytes);
            // the result may overwrite the source
            plan.receive(rank + 1, Buffer.TARGET, 0, bytes);
            return plan.build();
        }
        Buffer current = Buffer.SOURCE;
        if (pairs) {
            for (int i = 0; i < plan.messages(bytes); i++) {
                plan.reduceOne(
                        rank - 1, current, Buffer.TARGET, plan.start(i), plan.start(i), plan.length(i, bytes), true);
            }
            current = Buffer.TARGET;
        }
        int position = pairs ? rank / 2 : rank - folded;
        for (int distance = 1; distance < power; distance *= 2) {
            int other = position ^ distance;
            int peer = other < folded ? 2 * other + 1 : other + folded;
            // all messages are under way before the first is waited for
            int[] sends = new int[plan.messages(bytes)];
            for (int i = 0; i < sends.length; i++) {
                sends[i] = plan.sendOne(peer, current, plan.start(i), plan.length(i, bytes));
            }
            for (int i = 0; i < sends.length; i++) {
                long start = plan.start(i);
                if (current == Buffer.TARGET || shape.inPlace()) {
                    plan.sent(peer, sends[i]);
                }
                plan.reduceOne(peer, current, Buffer.TARGET, start, start, plan.length(i, bytes), other < position);
            }
            current = Buffer.TARGET;
        }
        plan.divideIfAverage(0, bytes);
        if (pairs) {
            plan.send(rank - 1, Buffer.TARGET, 0, bytes);
        }
        return plan.build();
    }

    /** Of a power of two of ranks, in each round two groups exchange all that they know. */
    public static Plan allGather(Shape shape, Blocks blocks) {
        PlanBuilder plan = new PlanBuilder(shape);
        int rank = shape.rank();
        if (!shape.inPlace()) {
            plan.copy(Buffer.SOURCE, 0, Buffer.TARGET, blocks.start(rank), blocks.length(rank));
        }
        for (int distance = 1; distance < shape.size(); distance *= 2) {
            int known = rank & -distance;
            int missing = known ^ distance;
            plan.send(rank ^ distance, Buffer.TARGET, blocks.start(known), blocks.length(known, known + distance));
            plan.receive(
                    rank ^ distance, Buffer.TARGET, blocks.start(missing), blocks.length(missing, missing + distance));
        }
        return plan.build();
    }

    /** A barrier: after round k a rank has heard, directly or not, from the 2^k ranks before it. */
    public static Plan barrier(Shape shape) {
        PlanBuilder plan = new PlanBuilder(shape);
        for (int distance = 1; distance < shape.size(); distance *= 2) {
            plan.sendOne(shape.after(distance), Buffer.SOURCE, 0, 0);
            plan.receiveOne(shape.before(distance), Buffer.TARGET, 0, 0);
        }
        return plan.build();
    }
}
