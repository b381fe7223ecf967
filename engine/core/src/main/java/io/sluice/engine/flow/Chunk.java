package io.sluice.engine.flow;

import io.sluice.engine.StreamCompletion;
import io.sluice.engine.StreamEvent;
import io.sluice.engine.transport.PageTable;
import io.sluice.engine.transport.RemoteKey;
import io.sluice.engine.transport.WorkRequest;
import org.jspecify.annotations.Nullable;

/** A piece of an element that is posted, with its byte credits and its lease. Pooled by its flow. */
@SuppressWarnings("ReferenceEquality") // memory is told by identity
final class Chunk extends WorkRequest {
    private @Nullable ElementOperation owner;
    private @Nullable LeasedMemory memory;
    private boolean first;

    void prepare(
            ElementOperation element,
            Opcode what,
            LeasedMemory leased,
            int transport,
            long localOffset,
            long bytes,
            RemoteKey key,
            long remoteOffset) {
        owner = element;
        memory = leased;
        describe(what, leased.memory(), leased.registration(transport), localOffset, bytes, key, remoteOffset);
    }

    /** As {@link #prepare}, without local memory. */
    void prepareWord(
            ElementOperation element,
            Opcode what,
            RemoteKey key,
            long remoteOffset,
            long bytes,
            long operand,
            long expected) {
        owner = element;
        describeWord(what, key, remoteOffset, bytes, operand, expected);
    }

    /** Whether it is the first of its element. */
    void first(boolean isFirst) {
        first = isFirst;
    }

    /** It is about to be given to the endpoint. */
    void offered(long at) {
        ElementOperation element = owner;
        if (element == null) {
            return;
        }
        if (first) {
            element.posted(at);
        }
        if (completesInto() != null && element.transfer().completionOnDevice() == null) {
            // another part of the run has failed since this one was cut: the host completes the event
            completeInto(null, false);
        }
    }

    void carry(SignalPlan plan) {
        addSignal(plan.remote(), plan.offset(), plan.addend());
    }

    void waitFor(@Nullable StreamEvent event) {
        startAfter(event);
    }

    void tellOfTheEnd(StreamCompletion event, boolean last) {
        completeInto(event, last);
    }

    void gather(PageTable table, int firstPage, int count) {
        addPages(table, firstPage, count);
    }

    boolean holds(LeasedMemory leased) {
        return memory == leased;
    }

    /** Ends the lease, makes the chunk fit for the pool and says whose it was. */
    ElementOperation retire() {
        ElementOperation element = owner;
        LeasedMemory leased = memory;
        if (element == null) {
            throw new IllegalStateException("a work request was completed twice");
        }
        owner = null;
        memory = null;
        clear();
        if (leased != null) {
            leased.release();
        }
        return element;
    }
}
