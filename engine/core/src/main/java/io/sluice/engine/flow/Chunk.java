package io.sluice.engine.flow;

import io.sluice.engine.StreamCompletion;
import io.sluice.engine.StreamEvent;
import io.sluice.engine.transport.PageTable;
import io.sluice.engine.transport.RemoteKey;
import io.sluice.engine.transport.WorkRequest;
import org.jspecify.annotations.Nullable;

/** A piece of an element for posting, with its byte credits and lease. Pooled by its flow. */
@SuppressWarnings("ReferenceEquality") // memory is told by identity
final class Chunk extends WorkRequest {
    // in the pool
    @Nullable
    Chunk nextFree;

    private @Nullable ElementOperation owner;
    private @Nullable LeasedMemory memory;
    private boolean first;
    // byte credits that it holds: its length, or none while it waits without
    private long credits;

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
        credits = bytes;
        describe(what, leased.memory(), leased.registration(transport), localOffset, bytes, key, remoteOffset);
    }

    /** Prepares the chunk as {@link #prepare} does, without local memory. */
    void prepareWord(
            ElementOperation element,
            Opcode what,
            RemoteKey key,
            long remoteOffset,
            long bytes,
            long operand,
            long expected) {
        owner = element;
        credits = bytes;
        describeWord(what, key, remoteOffset, bytes, operand, expected);
    }

    /** Whether it is the first of its element. */
    void first(boolean isFirst) {
        first = isFirst;
    }

    /** The element that it is a piece of. */
    ElementOperation element() {
        ElementOperation element = owner;
        if (element == null) {
            throw new IllegalStateException("the work request is not in use");
        }
        return element;
    }

    /** The byte credits that it holds. */
    long credits() {
        return credits;
    }

    /** It has been given its byte credits again. */
    void credited() {
        credits = length();
    }

    /** Gives its credits back, and its element's if nothing of that has been accepted; false if it holds none. */
    boolean giveBack(ConnectionWindow window) {
        int operations = first ? element().takeCredit() : 0;
        long bytes = credits;
        credits = 0;
        window.release(operations, bytes);
        return operations != 0 || bytes != 0;
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
            // another part of the run has failed since this chunk was made: the host completes the event
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

    /** The transfer that it is posted for; null while it is in the pool. */
    @Nullable
    DataTransfer transfer() {
        ElementOperation element = owner;
        return element == null ? null : element.transfer();
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
