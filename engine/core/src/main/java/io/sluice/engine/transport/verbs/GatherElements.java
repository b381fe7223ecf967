package io.sluice.engine.transport.verbs;

import io.sluice.jni.VerbsCompletionQueue;
import io.sluice.jni.VerbsQueuePair;
import io.sluice.jni.VerbsReceiveQueue;

/**
 * The gather entries of a work request. Each enlarges every slot of a send queue, so a device may not provide its
 * advertised limit together with the wanted depth: that is tried once, when the transport opens.
 */
final class GatherElements {
    /** More would only enlarge send queues. */
    static final int MOST = 16;

    private GatherElements() {}

    /** Returns the most gather entries of a rail's queue pairs, at least 1. */
    static int of(Rail rail, int wantedSendDepth) {
        int elements = Math.min(MOST, rail.limits().gatherElements());
        if (elements <= 1) {
            return 1;
        }
        int depth = Math.min(wantedSendDepth, rail.limits().sendDepth());
        long queue = VerbsCompletionQueue.create(rail.device(), 1, 0);
        long receives = VerbsReceiveQueue.create(rail.domain(), 1);
        // without queues nothing can be tried; the first connection reports what is missing
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
