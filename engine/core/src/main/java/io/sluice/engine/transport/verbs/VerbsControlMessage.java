package io.sluice.engine.transport.verbs;

import io.sluice.engine.ProtocolException;
import java.nio.ByteBuffer;

/** The messages between endpoints over the control channel. The first byte is the type. */
final class VerbsControlMessage {
    /** The sender has destroyed its queue pair of a lane, and with it all requests in flight. */
    static final byte FENCE = 1;
    /** The sender has connected its new queue pair of a lane: the receiver may use it. */
    static final byte READY = 2;
    /** An attached region is closed. */
    static final byte ENDED = 3;
    /** Reports whether the region to which an adapter refused access is still attached. */
    static final byte REFUSED = 4;

    /** Asks for a {@link #FLUSHED} once the writes that have arrived are visible to the devices. */
    static final byte FLUSH = 5;
    /** Answers the oldest {@link #FLUSH}. */
    static final byte FLUSHED = 6;

    private VerbsControlMessage() {}

    /**
     * The end of one incarnation of a lane and the offer of the next.
     *
     * @param lane the lane's index
     * @param incarnation the incarnation that has ended, 0 for the first
     * @param received how many messages have arrived on the lane since it began
     * @param number the number of the new queue pair, or 0 if the lane stays down
     * @param sequence its first packet sequence number
     * @param refused the handle of a region to which the peer's adapter refused access, or −1
     */
    record Fence(int lane, int incarnation, long received, int number, int sequence, long refused) {
        byte[] toBytes() {
            return ByteBuffer.allocate(1 + 1 + 4 + 8 + 4 + 4 + 8)
                    .put(FENCE)
                    .put((byte) lane)
                    .putInt(incarnation)
                    .putLong(received)
                    .putInt(number)
                    .putInt(sequence)
                    .putLong(refused)
                    .array();
        }

        static Fence read(ByteBuffer bytes) {
            need(bytes, 29);
            return new Fence(
                    Byte.toUnsignedInt(bytes.get()),
                    bytes.getInt(),
                    bytes.getLong(),
                    bytes.getInt(),
                    bytes.getInt(),
                    bytes.getLong());
        }
    }

    static byte[] ready(int lane, int incarnation) {
        return ByteBuffer.allocate(6)
                .put(READY)
                .put((byte) lane)
                .putInt(incarnation)
                .array();
    }

    static byte[] ended(long handle) {
        return ByteBuffer.allocate(9).put(ENDED).putLong(handle).array();
    }

    static byte[] refused(int lane, boolean attached) {
        return ByteBuffer.allocate(3)
                .put(REFUSED)
                .put((byte) lane)
                .put((byte) (attached ? 1 : 0))
                .array();
    }

    static byte[] flush() {
        return new byte[] {FLUSH};
    }

    static byte[] flushed() {
        return new byte[] {FLUSHED};
    }

    static void need(ByteBuffer bytes, int count) {
        if (bytes.remaining() < count) {
            throw new ProtocolException("the peer's verbs endpoint sent a truncated message");
        }
    }
}
