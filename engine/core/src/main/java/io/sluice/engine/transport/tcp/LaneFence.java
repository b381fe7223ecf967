package io.sluice.engine.transport.tcp;

import io.sluice.engine.ProtocolException;
import io.sluice.engine.transport.CompletionStatus;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;

/**
 * One side's report on a lane that it has closed: no later frame of the peer takes effect on it, and this many of the
 * peer's writes, puts and signals were executed or refused. Lists refusals one by one, because the frames that reported
 * them may be lost.
 *
 * @param lane the lane's number
 * @param handled running count of the peer's writes, puts and signals that took effect or were refused
 * @param refusalsKnownAfter the count after which every refusal is listed; earlier ones may be missing
 * @param refusals the counts of refused requests with their status, in order
 */
record LaneFence(int lane, long handled, long refusalsKnownAfter, ArrayDeque<Refusal> refusals) {
    /** The most refusals in one message. */
    static final int MOST_REFUSALS = 400;

    private static final byte TYPE = 1;
    private static final int HEAD_BYTES = 20;
    private static final int REFUSAL_BYTES = 9;

    /** A refused write, put or signal of the peer. */
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
            throw new ProtocolException("the peer sent an unknown message about a lane");
        }
        int lane = message.get();
        long handled = message.getLong();
        long knownAfter = message.getLong();
        int count = message.getShort();
        if (count < 0 || count > MOST_REFUSALS || message.remaining() != count * REFUSAL_BYTES) {
            throw new ProtocolException("the peer sent a truncated lane report");
        }
        ArrayDeque<Refusal> refusals = new ArrayDeque<>(count);
        long last = knownAfter;
        for (int i = 0; i < count; i++) {
            Refusal refusal =
                    new Refusal(message.getLong(), CompletionStatus.refusal(Byte.toUnsignedInt(message.get())));
            if (refusal.count() <= last || refusal.count() > handled) {
                throw new ProtocolException("the peer sent a lane report whose refusals are out of order");
            }
            last = refusal.count();
            refusals.addLast(refusal);
        }
        return new LaneFence(lane, handled, knownAfter, refusals);
    }

    /** The outcome of one of the peer's requests, or null if it was not handled; ask in ascending order. */
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
