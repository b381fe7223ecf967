package io.sluice.engine.memory;

import io.sluice.engine.ProtocolException;
import java.nio.ByteBuffer;

/** The messages about attaching regions: their limits, and the statuses of their answers, as numbers on the wire. */
public final class AttachMessage {
    /** Descriptors in one message. */
    public static final int BATCH = 1000;

    /** The bytes of one descriptor: a status and a handle; keys follow. */
    static final int ANSWER_BYTES = 9;

    static final int OK = 0;
    static final int STALE_EPOCH = 1;
    static final int REGION_CLOSED = 2;
    static final int NOT_GENUINE = 3;
    static final int WRONG_ENGINE = 4;
    static final int TOO_MANY = 5;
    static final int NOT_FOUND = 6;
    static final int NOT_AUTHORIZED = 7;
    static final int UNSUPPORTED_MEMORY = 8;

    /**
     * In place of the handle of a region that is refused as one {@link #TOO_MANY}, and of all behind it: the answer would be too long
     * with their keys, so they are to be asked for once more. A peer that does not know this takes them as refused.
     */
    static final long ASK_AGAIN = 1;

    /** The longest answer to an attach, in bytes, which any peer accepts. */
    static final int MOST_ANSWER_BYTES = 128 * 1024;

    private AttachMessage() {}

    /** Returns the message after checking that it has enough bytes left. */
    static ByteBuffer need(ByteBuffer body, int bytes) {
        if (body.remaining() < bytes) {
            throw new ProtocolException("a control message is cut short");
        }
        return body;
    }
}
