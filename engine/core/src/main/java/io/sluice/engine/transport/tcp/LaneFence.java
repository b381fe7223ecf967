package io.sluice.engine.transport.tcp;

import io.sluice.engine.ProtocolException;
import io.sluice.engine.transport.CompletionStatus;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;

/**
 * The report of one side on a lane that it has closed: nothing more of the peer's can take effect on it, and so many of
 * the peer's writes, puts and signals did, or were refused. Refusals are listed one by one, as the frames that reported
 * them may be lost.
 *
 * @param lane the lane's number
 * @param handled running count of the peer's writes, puts and signals that took effect or were refused
 * @param refusalsKnownAfter the count after which all refusals are listed; of those before, some may be left out
 * @param refusals the counts of the refused ones, with their status, in order
 */
record LaneFence(int lane, long handled, long refusalsKnownAfter, ArrayDeque<Refusal> refusals) {
    /** The most refusals that fit into one message. */
    static final int MOST_REFUSALS = 400;

    private static final byte TYPE = 1;
    private static final int HEAD_BYTES = 20;
    private static final int REFUSAL_BYTES = 9;

    /** One of the peer's writes, puts or signals that was refused. */
    record Refusal(long count, CompletionStatus status) {}

    byte[] toBytes() {
        ByteBuffer message = ByteBuffer.allocate(HEAD_BYTES + refusals.size() * REFUSAL_BYTES)
                .put(TYPE)
                .put((byte) lane)
                .putLong(handled)
                .putLong(refusalsKnownAfter)
                .putShort((short) refusals.size());
        refusals.forEach(refusal ->
                message.putLong(refusal.count()).put((byte) refusal.status().code()));
        return message.array();
    }

    static LaneFence read(ByteBuffer message) {
        if (message.remaining() < HEAD_BYTES || message.get() != TYPE) {
            throw new ProtocolException("an invalid message about lanes");
        }
        int lane = message.get();
        long handled = message.getLong();
        long knownAfter = message.getLong();
        int count = message.getShort();
        if (count < 0 || count > MOST_REFUSALS || message.remaining() != count * REFUSAL_BYTES) {
            throw new ProtocolException("a message about a lane is cut short");
        }
        ArrayDeque<Refusal> refusals = new ArrayDeque<>(count);
        long last = knownAfter;
        for (int i = 0; i < count; i++) {
            Refusal refusal =
                    new Refusal(message.getLong(), CompletionStatus.refusal(Byte.toUnsignedInt(message.get())));
            if (refusal.count() <= last || refusal.count() > handled) {
                throw new ProtocolException("the refusals of a lane are out of order");
            }
            last = refusal.count();
            refusals.addLast(refusal);
        }
        return new LaneFence(lane, handled, knownAfter, refusals);
    }

    /** How one of the peer's requests ended, if it was handled; to be asked in order. */
    CompletionStatus statusOf(long count) {
        if (count <= refusalsKnownAfter) {
            return CompletionStatus.OUTCOME_UNKNOWN;
        }
        Refusal next = refusals.peekFirst();
        while (next != null && next.count() < count) {
            refusals.removeFirst();
            next = refusals.peekFirst();
        }
        return next != null && next.count() == count ? next.status() : CompletionStatus.SUCCESS;
    }
}
