package io.sluice.engine.transport.verbs;

import io.sluice.engine.transport.verbs.VerbsOffer.OfferedLane;
import io.sluice.engine.transport.verbs.VerbsOffer.OfferedRail;
import io.sluice.jni.VerbsQueuePair;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;

/** The queue pair of a lane's current incarnation, and its path to the peer's. */
final class LaneQueuePair {
    private static final int SEQUENCE_MASK = 0xff_ffff;

    private final LaneGroup group;
    private final int slot;
    private final LaneSendQueue queue;
    private final PostBatch batch;
    private final VerbsOptions options;
    private long handle;
    private int sequence;
    private @Nullable OfferedRail peerPort;

    LaneQueuePair(LaneGroup group, int slot, LaneSendQueue queue, PostBatch batch, VerbsOptions options) {
        this.group = group;
        this.slot = slot;
        this.queue = queue;
        this.batch = batch;
        this.options = options;
    }

    Rail rail() {
        return group.rail();
    }

    /** The send queue of the queue pair. */
    LaneSendQueue queue() {
        return queue;
    }

    void make() {
        handle = group.createQueuePair(slot, group.rail().port().number(), options.partitionKeyIndex());
        queue.use(handle, group.idBase(slot));
        sequence = ThreadLocalRandom.current().nextInt() & SEQUENCE_MASK;
    }

    /** Destroys the queue pair, if any: it accesses no memory after that. */
    void destroy() {
        if (handle != 0) {
            // the batch may hold requests for this queue pair, whose handle is about to become invalid
            batch.post();
            VerbsQueuePair.toError(handle);
            group.drainBeforeDestroying();
            group.destroyQueuePair(slot, handle);
            handle = 0;
        }
    }

    OfferedLane offer() {
        return new OfferedLane(group.rail().index(), number(), sequence);
    }

    int number() {
        return VerbsQueuePair.number(handle);
    }

    int sequence() {
        return sequence;
    }

    /** Connects it for the first time. */
    void connect(OfferedLane peer, OfferedRail port) {
        queue.reach(peer.rail(), port);
        peerPort = port;
        connect(peer.number(), peer.sequence());
    }

    /** Connects it with another queue pair behind the same port of the peer. */
    void connect(int number, int peerSequence) {
        OfferedRail port = peerPort;
        if (port == null) {
            throw new IllegalStateException("the peer's port is not known");
        }
        QueuePairPath.connect(handle, sequence, group.rail(), options, port, number, peerSequence);
    }

    /** Moves it to the error state, which flushes its requests in flight. */
    void toError() {
        VerbsQueuePair.toError(handle);
    }

    boolean isInError() {
        return VerbsQueuePair.state(handle) == VerbsQueuePair.STATE_ERROR;
    }

    /** Handles all pending completions of the group. */
    void drain() {
        group.drain();
    }
}
