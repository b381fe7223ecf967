package io.sluice.engine.transport.verbs;

import io.sluice.jni.VerbsCompletionQueue;
import io.sluice.jni.VerbsQueuePair;
import io.sluice.jni.VerbsReceiveQueue;

/**
 * In how many pieces of local memory a work request may be. Each piece makes every place of a send queue longer, so what a device
 * names may not be had with the depth that is wanted: that is tried once, when the transport is opened.
 */
final class GatherElements {
    /** More would only make send queues longer. */
    static final int MOST = 16;

    private GatherElements() {}

    /** The most pieces of a rail's queue pairs, at least 1. */
    static int of(Rail rail, int wantedSendDepth) {
        int elements = Math.min(MOST, rail.limits().gatherElements());
        if (elements <= 1) {
            return 1;
        }
        int depth = Math.min(wantedSendDepth, rail.limits().sendDepth());
        long queue = VerbsCompletionQueue.create(rail.device(), 1, 0);
        long receives = VerbsReceiveQueue.create(rail.domain(), 1);
        // with queues that cannot be had nothing can be tried; the first connection tells what is lacking
        boolean canTry = queue > 0 && receives > 0;
        while (elements > 1 && !(canTry && isMade(rail, queue, receives, depth, elements))) {
            elements /= 2;
        }
        if (receives > 0) {
            VerbsReceiveQueue.destroy(receives);
        }
        if (queue > 0) {
            VerbsCompletionQueue.destroy(queue);
        }
        return elements;
    }

    private static boolean isMade(Rail rail, long queue, long receives, int depth, int elements) {
        long made = VerbsQueuePair.create(rail.domain(), queue, receives, depth, elements, LaneGroup.INLINE_BYTES);
        if (made > 0) {
            VerbsQueuePair.destroy(made);
        }
        return made > 0;
    }
}
