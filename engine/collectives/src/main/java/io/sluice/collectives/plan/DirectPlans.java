package io.sluice.collectives.plan;

import io.sluice.collectives.plan.Step.Buffer;

/** Each block goes straight from its sender to its receiver. Empty blocks are empty messages. */
public final class DirectPlans {
    private static final int UNDER_WAY = 8;

    private DirectPlans() {}

    /** All ranks' sources go to the root's target. */
    public static Plan gather(Shape shape, int root, Blocks blocks) {
        PlanBuilder plan = new PlanBuilder(shape);
        if (shape.rank() != root) {
            plan.send(root, Buffer.SOURCE, 0, blocks.length(shape.rank()));
            return plan.build();
        }
        if (!shape.inPlace()) {
            plan.copy(Buffer.SOURCE, 0, Buffer.TARGET, blocks.start(root), blocks.length(root));
        }
        for (int distance = 1; distance < shape.size(); distance++) {
            int peer = shape.after(distance);
            plan.receive(peer, Buffer.TARGET, blocks.start(peer), blocks.length(peer));
        }
        return plan.build();
    }

    /** Each block of the root's source goes to its rank's target. */
    public static Plan scatter(Shape shape, int root, Blocks blocks) {
        PlanBuilder plan = new PlanBuilder(shape);
        if (shape.rank() != root) {
            plan.receive(root, Buffer.TARGET, 0, blocks.length(shape.rank()));
            return plan.build();
        }
        for (int distance = 1; distance < shape.size(); distance++) {
            int peer = shape.after(distance);
            plan.send(peer, Buffer.SOURCE, blocks.start(peer), blocks.length(peer));
        }
        if (!shape.inPlace()) {
            plan.copy(Buffer.SOURCE, blocks.start(root), Buffer.TARGET, 0, blocks.length(root));
        }
        return plan.build();
    }

    /** Each rank's block i of the source goes to rank i, all at once. In place, the blocks are copied first. */
    public static Plan allToAll(Shape shape, Blocks sent, Blocks received) {
        PlanBuilder plan = new PlanBuilder(shape);
        int rank = shape.rank();
        Buffer from = sentBlocks(shape, plan, sent);
        for (int distance = 1; distance < shape.size(); distance++) {
            int peer = shape.after(distance);
            plan.send(peer, from, sent.start(peer), sent.length(peer));
        }
        if (!shape.inPlace()) {
            plan.copy(Buffer.SOURCE, sent.start(rank), Buffer.TARGET, received.start(rank), sent.length(rank));
        }
        for (int distance = 1; distance < shape.size(); distance++) {
            int peer = shape.before(distance);
            plan.receive(peer, Buffer.TARGET, received.start(peer), received.length(peer));
        }
        return plan.build();
    }

    /**
     * Each rank's block i of the source goes to rank i: to some ranks at once, and message by message, so that few messages
     * to few ranks are under way. In place, the blocks are copied first.
     */
    public static Plan pairwise(Shape shape, Blocks sent, Blocks received) {
        PlanBuilder plan = new PlanBuilder(shape);
        int rank = shape.rank();
        Buffer from = sentBlocks(shape, plan, sent);
        for (int first = 1; first < shape.size(); first += UNDER_WAY) {
            int end = Math.min(first + UNDER_WAY, shape.size());
            boolean more = true;
            for (int message = 0; more; message++) {
                more = false;
                for (int distance = first; distance < end; distance++) {
                    int peer = shape.after(distance);
                    more |= plan.sendPart(peer, from, sent.start(peer), sent.length(peer), message);
                }
                for (int distance = first; distance < end; distance++) {
                    int peer = shape.before(distance);
                    more |= plan.receivePart(peer, Buffer.TARGET, received.start(peer), received.length(peer), message);
                }
            }
        }
        if (!shape.inPlace()) {
            plan.copy(Buffer.SOURCE, sent.start(rank), Buffer.TARGET, received.start(rank), sent.length(rank));
        }
        return plan.build();
    }

    private static Buffer sentBlocks(Shape shape, PlanBuilder plan, Blocks sent) {
        if (!shape.inPlace() || shape.size() == 1) {
            return Buffer.SOURCE;
        }
        plan.work(sent.total());
        plan.copy(Buffer.SOURCE, 0, Buffer.WORK, 0, sent.total());
        return Buffer.WORK;
    }
}
