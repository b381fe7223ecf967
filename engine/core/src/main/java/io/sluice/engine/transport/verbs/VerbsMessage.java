package io.sluice.engine.transport.verbs;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import org.jspecify.annotations.Nullable;

/**
 * A message between engines on a lane: by SEND, in a buffer of {@link #BYTES}, or as a WRITE with an immediate. In
 * network byte order; each has a header:
 *
 * <pre>
 *  0  type
 *  1  the lane whose requests the answered count is of: another than the message's own if that is down
 *  2  length of the body
 *  4  messages received on this lane so far, modulo 2^32: as many of the sender's credits have come back
 *  8  requests answered so far, modulo 2^32: those that no {@link #ANSWER} names have succeeded
 * 12  zero
 * 16  the body
 * </pre>
 */
final class VerbsMessage {
    /** The length of a receive buffer. */
    static final int BYTES = 512;

    static final int HEADER_BYTES = 16;
    /** The notification bytes in one message. */
    static final int FRAGMENT_BYTES = BYTES - HEADER_BYTES - 24;

    // requests, each answered by a count or an ANSWER: handle, key, epoch, offset, operand, expected
    static final int SIGNAL = 1;
    static final int FETCH_ADD = 2;
    static final int COMPARE_AND_SWAP = 3;
    /** A WRITE whose immediate names a defined signal; not sent by SEND. */
    static final int WRITE_WITH_SIGNAL = 4;
    /** The number of the request, its status, its value. */
    static final int ANSWER = 5;
    /** Number, total length, offset, expected markers, bytes. */
    static final int NOTIFICATION = 6;
    /** All writes on this lane before the notification of this number have arrived. */
    static final int MARKER = 7;
    /** An adapter has changed a word: handle, key, epoch, offset. */
    static final int WAKE = 8;
    /** A header only. */
    static final int CREDIT = 9;
    /** Defines an immediate: its value, then handle, key, epoch, offset, addend. */
    static final int DEFINE_SIGNAL = 10;

    private static final ValueLayout.OfByte BYTE = ValueLayout.JAVA_BYTE;
    private static final ValueLayout.OfShort SHORT = ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
    private static final int WORDS = 6;
    private static final byte[] NO_PAYLOAD = {};

    private final long[] words = new long[WORDS];
    private int type;
    private int count;
    private byte[] payload = NO_PAYLOAD;
    private int payloadOffset;
    private int payloadLength;
    private int immediate;
    private @Nullable LaneState origin;
    private @Nullable AwaitedAnswer awaited;
    private boolean enrolled;
    private boolean entrusted;

    /** Resets the message to a type; its answered count is of this lane. */
    VerbsMessage begin(int what, LaneState of) {
        type = what;
        origin = of;
        count = 0;
        payload = NO_PAYLOAD;
        payloadOffset = 0;
        payloadLength = 0;
        immediate = 0;
        awaited = null;
        enrolled = false;
        entrusted = false;
        return this;
    }

    /** Appends a word to the body. */
    VerbsMessage word(long value) {
        words[count++] = value;
        return this;
    }

    VerbsMessage payload(byte[] bytes, int offset, int length) {
        payload = bytes;
        payloadOffset = offset;
        payloadLength = length;
        return this;
    }

    VerbsMessage request(AwaitedAnswer answer) {
        awaited = answer;
        return this;
    }

    VerbsMessage immediate(int value) {
        immediate = value;
        return this;
    }

    int type() {
        return type;
    }

    int immediate() {
        return immediate;
    }

    long value(int index) {
        return words[index];
    }

    LaneState origin() {
        LaneState lane = origin;
        if (lane == null) {
            throw new IllegalStateException("the message is not in use");
        }
        return lane;
    }

    /** Another lane carries it for its origin. */
    void entrust() {
        entrusted = true;
    }

    boolean isEntrusted() {
        return entrusted;
    }

    /** The request that waits for the peer's answer, if any. */
    @Nullable
    AwaitedAnswer awaited() {
        return awaited;
    }

    /** Whether the request was added to those that wait for answers. */
    boolean isEnrolled() {
        return enrolled;
    }

    void enrolled(boolean isEnrolled) {
        enrolled = isEnrolled;
    }

    /** Drops all references. */
    void clear() {
        payload = NO_PAYLOAD;
        origin = null;
        awaited = null;
    }

    /** Encodes it into a buffer; returns its length. */
    int write(MemorySegment buffer, long at, int received, int answered) {
        int body = count * Long.BYTES + payloadLength;
        buffer.set(BYTE, at, (byte) type);
        buffer.set(BYTE, at + 1, (byte) origin().index());
        buffer.set(SHORT, at + 2, (short) body);
        buffer.set(INT, at + 4, received);
        buffer.set(INT, at + 8, answered);
        buffer.set(INT, at + 12, 0);
        for (int i = 0; i < count; i++) {
            buffer.set(LONG, at + HEADER_BYTES + (long) i * Long.BYTES, words[i]);
        }
        if (payloadLength > 0) {
            MemorySegment.copy(
                    payload, payloadOffset, buffer, BYTE, at + HEADER_BYTES + (long) count * Long.BYTES, payloadLength);
        }
        return HEADER_BYTES + body;
    }

    // ---- a received one ----

    static int type(MemorySegment buffer, long at) {
        return buffer.get(BYTE, at);
    }

    static int lane(MemorySegment buffer, long at) {
        return Byte.toUnsignedInt(buffer.get(BYTE, at + 1));
    }

    static int bodyLength(MemorySegment buffer, long at) {
        return Short.toUnsignedInt(buffer.get(SHORT, at + 2));
    }

    static int received(MemorySegment buffer, long at) {
        return buffer.get(INT, at + 4);
    }

    static int answered(MemorySegment buffer, long at) {
        return buffer.get(INT, at + 8);
    }

    static long word(MemorySegment buffer, long at, int index) {
        return buffer.get(LONG, at + HEADER_BYTES + (long) index * Long.BYTES);
    }

    /** The number of words before the payload in a body of this type; −1 for an unknown type. */
    static int words(int type) {
        return switch (type) {
            case SIGNAL, FETCH_ADD -> 5;
            case COMPARE_AND_SWAP, DEFINE_SIGNAL -> 6;
            case ANSWER, NOTIFICATION -> 3;
            case MARKER -> 1;
            case WAKE -> 4;
            case CREDIT -> 0;
            default -> -1;
        };
    }
}
