package io.sluice.collectives.plan;

import io.sluice.collectives.plan.Step.Buffer;

/** Broadcasts whose data all ranks pass on. */
public final class SpreadPlans {
    // enough for the links to carry messages at once, each worth its fixed cost
    private static final int MESSAGES_OF_A_SHARE = 8;
    private static final long SHORTEST_MESSAGE = 16 << 10;

    private SpreadPlans() {}

    /**
     * The root gives each other rank a share of its target, and these pass their shares round a ring. Message i of all
     * shares goes before message i + 1, so all links are busy at once and the root sends each byte once. Needs two ranks.
     */
    public static Plan broadcast(Shape whole, int root, long count, int elementBytes) {
        int many = whole.size() - 1;
        Blocks shares = Blocks.shares(Math.max(1, many), count, elementBytes);
        long message = Math.max(SHORTEST_MESSAGE, shares.length(0) / MESSAGES_OF_A_SHARE / elementBytes * elementBytes);
        Shape shape = whole.withChunk(Math.min(whole.chunkBytes(), message));
        PlanBuilder plan = new PlanBuilder(shape);
        if (many == 0) {
            return plan.build();
        }
        int own = Math.floorMod(shape.rank() - root, shape.size()) - 1;
        for (int i = 0; i < plan.messages(shares.length(0)); i++) {
            if (own < 0) {
                for (int share = 0; share < many; share++) {
                    plan.sendPart(shape.after(share + 1), Buffer.TARGET, shares.start(share), shares.length(share), i);
                }
                continue;
            }
            int next = rankOf(shape, root, (own + 1) % many);
            int previous = rankOf(shape, root, Math.floorMod(own - 1, many));
            for (int round = 0; round < many; round++) {
                int share = Math.floorMod(own - round, many);
                int from = round == 0 ? root : previous;
                plan.receivePart(from, Buffer.TARGET, shares.start(share), shares.length(share), i);
                if (round < many - 1) {
                    plan.sendPart(next, Buffer.TARGET, shares.start(share), shares.length(share), i);
                }
            }
        }
        return plan.build();
    }

    private static int rankOf(Shape shape, int root, int share) {
        return (root + 1 + share) % shape.size();
    }
}
