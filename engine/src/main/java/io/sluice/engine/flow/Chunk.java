package io.sluice.engine.flow;

import io.sluice.engine.transport.RemoteKey;
import io.sluice.engine.transport.WorkRequest;
import org.jspecify.annotations.Nullable;

/** A piece of an element that is posted, with its byte credits and its lease. Pooled by its flow. */
@SuppressWarnings("ReferenceEquality") // memory is told by identity
final class Chunk extends WorkRequest {
    private @Nullable ElementOperation owner;
    private @Nullable LeasedMemory memory;

    void prepare(
            ElementOperation element,
            Operation what,
            LeasedMemory leased,
            long localOffset,
            long bytes,
            RemoteKey key,
            long remoteOffset) {
        owner = element;
        memory = leased;
        describe(what, leased.leasedSegment(), localOffset, bytes, key, remoteOffset);
    }

    boolean holds(LeasedMemory leased) {
        return memory == leased;
    }

    /** Ends the lease, makes the chunk fit for the pool and says whose it was. */
    ElementOperation retire() {
        ElementOperation element = owner;
        LeasedMemory leased = memory;
        if (element == null || leased == null) {
            throw new IllegalStateException("a work request was completed twice");
        }
        owner = null;
        memory = null;
        clear();
        leased.release();
        return element;
    }
}
