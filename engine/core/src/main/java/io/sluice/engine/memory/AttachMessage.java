package io.sluice.engine.memory;

import io.sluice.engine.ProtocolException;
import java.nio.ByteBuffer;

/** The messages about attaching regions: their limits, and the statuses of their answers, as numbers on the wire. */
public final class AttachMessage {
    /** Descriptors in one message. */
    public static final int BATCH = 1000;

    /** Of one descriptor: a status and a handle; keys follow. */
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
    /** Of the last regions of an answer, which would be too long with their keys: to be asked for once more. */
    static final int NO_ROOM = 9;

    /** The longest answer to an attach, in bytes; any peer takes it. */
    static final int MOST_ANSWER_BYTES = 128 * 1024;

    private AttachMessage() {}

    /** The same message, which has at least so many bytes left. */
    static ByteBuffer need(ByteBuffer body, int bytes) {
        if (body.remaining() < bytes) {
            throw new ProtocolException("a control message is cut short");
        }
        return body;
    }
}
