package io.sluice.comm.nccl;

import io.sluice.engine.transport.CompletionStatus;
import io.sluice.engine.transport.EndpointContext;
import io.sluice.engine.transport.WorkRequest;
import java.nio.ByteBuffer;
import java.util.Arrays;

/**
 * What an endpoint says to the peer's in one cycle, in messages of many parts. A part has no number: answers come in the order of the
 * requests, groups take those that were granted in this order, and so both ends know what each is about.
 */
final class NcclParts {
    /** A request. */
    static final byte REQUEST = 1;

    /** Whether the oldest request without an answer is granted, or why not. */
    static final byte ANSWER = 2;

    /** Of rank 0: a group of the oldest granted requests, so many of rank 0's and then so many of rank 1's. */
    static final byte GROUP = 3;

    /** The number of the group that this side's stream has done last. */
    static final byte DONE = 4;

    static final byte WRITE = 1;
    static final byte READ = 2;

    private static final int MOST_BYTES = 4096;
    private static final int REQUEST_BYTES = 2 + 5 * Long.BYTES;

    private final EndpointContext context;
    private final ByteBuffer bytes = ByteBuffer.allocate(MOST_BYTES);

    NcclParts(EndpointContext context) {
        this.context = context;
    }

    private ByteBuffer part(byte type, int length) {
        if (bytes.remaining() <= length) {
            flush();
        }
        return bytes.put(type);
    }

    void request(WorkRequest request) {
        part(REQUEST, REQUEST_BYTES)
                .put(request.operation() == WorkRequest.Opcode.WRITE ? WRITE : READ)
                .putLong(request.remote().handle())
                .putLong(request.remote().key())
                .putLong(request.remote().epoch())
                .putLong(request.remoteOffset())
                .putLong(request.length());
    }

    void answer(CompletionStatus status) {
        part(ANSWER, 1).put((byte) status.code());
    }

    void group(int ofFirst, int ofSecond) {
        part(GROUP, 2).put((byte) ofFirst).put((byte) ofSecond);
    }

    void done(long number) {
        part(DONE, Long.BYTES).putLong(number);
    }

    /** Sends them; returns whether there were any. */
    boolean flush() {
        if (bytes.position() == 0) {
            return false;
        }
        byte[] message = Arrays.copyOf(bytes.array(), bytes.position());
        bytes.clear();
        context.send(message);
        return true;
    }

    /** Forgets them. */
    void clear() {
        bytes.clear();
    }
}
