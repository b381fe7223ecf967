package io.sluice.engine.transport.verbs;

import io.sluice.engine.transport.RemoteKey;
import io.sluice.engine.transport.WorkRequest;
import org.jspecify.annotations.Nullable;

/**
 * The signals that the peer knows by a number, so that the immediate of a write can name one. Each signal hashes to one
 * slot, which holds the last one defined there. Confined to the loop.
 */
@SuppressWarnings("ReferenceEquality") // an attachment is its own identity
final class SignalTable {
    static final int COUNT = 64;

    private final @Nullable RemoteKey[] keys = new @Nullable RemoteKey[COUNT];
    private final long[] offsets = new long[COUNT];
    private final long[] addends = new long[COUNT];

    /** The number of a write's signal. */
    static int number(WorkRequest request) {
        long mixed = (request.signal().handle() * 31 + request.signalOffset() / WorkRequest.WORD_BYTES) * 31
                + request.signalAddend();
        return (int) (mixed ^ mixed >>> 32) & (COUNT - 1);
    }

    /** Returns whether the peer knows the signal by its number, and records that it does from now on. */
    boolean define(int number, WorkRequest request) {
        RemoteKey key = request.signal();
        if (keys[number] == key
                && offsets[number] == request.signalOffset()
                && addends[number] == request.signalAddend()) {
            return true;
        }
        keys[number] = key;
        offsets[number] = request.signalOffset();
        addends[number] = request.signalAddend();
        return false;
    }
}
