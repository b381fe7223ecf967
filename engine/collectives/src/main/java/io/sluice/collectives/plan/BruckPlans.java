package io.sluice.collectives.plan;

import io.sluice.collectives.plan.Step.Buffer;

/** Bruck's algorithms: log2(n) rounds with ranks at distances 1, 2, 4 and so on, for any number of ranks. */
public final class BruckPlans {
    private BruckPlans() {}

    /** In each round a rank doubles the blocks that it knows, which follow its own round the ring. */
    public static Plan allGather(Shape shape, Blocks blocks) {
        PlanBuilder plan = new PlanBuilder(shape);
        int rank = shape.rank();
        int size = shape.size();
        if (!shape.inPlace()) {
            plan.copy(Buffer.SOURCE, 0, Buffer.TARGET, blocks.start(rank), blocks.length(rank));
        }
        for (int distance = 1; distance < size; distance *= 2) {
            int many = Math.min(distance, size - distance);
            int unwrapped = Math.min(many, size - rank);
            sendBlocks(plan, shape.before(distance), blocks, rank, unwrapped);
            if (many > unwrapped) {
                sendBlocks(plan, shape.before(distance), blocks, 0, many - unwrapped);
            }
            int first = shape.after(distance);
            unwrapped = Math.min(many, size - first);
            receiveBlocks(plan, first, blocks, first, unwrapped);
            if (many > unwrapped) {
                receiveBlocks(plan, first, blocks, 0, many - unwrapped);
            }
        }
        return plan.build();
    }

    private static void sendBlocks(PlanBuilder plan, int peer, Blocks blocks, int first, int many) {
        plan.send(peer, Buffer.TARGET, blocks.start(first), blocks.length(first, first + many));
    }

    private static void receiveBlocks(PlanBuilder plan, int peer, Blocks blocks, int first, int many) {
        plan.receive(peer, Buffer.TARGET, blocks.start(first), blocks.length(first, first + many));
    }

    /**
     * Blocks of one length hop towards their ranks: in the round of distance d go those whose way, as a number, has the bit
     * d. Each block travels several times, in few messages.
     */
    public static Plan allToAll(Shape shape, long bytes) {
        PlanBuilder plan = new PlanBuilder(shape);
        int size = shape.size();
        long all = size * bytes;
        if (size == 1) {
            return RingPlans.alone(shape, plan, all);
        }
        // by the way that they still have to go
        for (int way = 0; way < size; way++) {
            plan.copy(Buffer.SOURCE, shape.after(way) * bytes, Buffer.WORK, way * bytes, bytes);
        }
        long arrived = all;
        // of each round, as an earlier one may still be read
        long packed = arrived + (size + 1) / 2 * bytes;
        for (int distance = 1; distance < size; distance *= 2) {
            int many = 0;
            for (int way = distance; way < size; way++) {
                if ((way & distance) != 0) {
                    plan.copy(Buffer.WORK, way * bytes, Buffer.WORK, packed + many++ * bytes, bytes);
                }
            }
            plan.send(shape.after(distance), Buffer.WORK, packed, many * bytes);
            plan.receive(shape.before(distance), Buffer.WORK, arrived, many * bytes);
            packed += many * bytes;
            many = 0;
            for (int way = distance; way < size; way++) {
                if ((way & distance) != 0) {
                    plan.copy(Buffer.WORK, arrived + many++ * bytes, Buffer.WORK, way * bytes, bytes);
                }
            }
        }
        plan.work(packed);
        for (int way = 0; way < size; way++) {
            plan.copy(Buffer.WORK, way * bytes, Buffer.TARGET, shape.before(way) * bytes, bytes);
        }
        return plan.build();
    }
}
