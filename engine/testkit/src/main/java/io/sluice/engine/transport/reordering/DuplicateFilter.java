package io.sluice.engine.transport.reordering;

import java.util.BitSet;

/** Distinguishes the first delivery of a packet from later ones, in any order of arrival. Its memory is fixed. */
final class DuplicateFilter {
    /** How far a packet may be ahead of the first one that is missing. */
    static final int SPAN = 16 * 1024;

    private final BitSet delivered = new BitSet(SPAN);
    private long missing;

    /**
     * Notes a delivery.
     *
     * @param sequence the packet's number, less than {@link #firstMissing()} + {@link #SPAN}
     * @return false if it was delivered before
     */
    boolean isFirst(long sequence) {
        if (sequence < missing) {
            return false;
        }
        if (sequence - missing >= SPAN) {
            throw new IllegalArgumentException(
                    "packet " + sequence + " is too far ahead of packet " + missing + ", which is missing");
        }
        int bit = bit(sequence);
        if (delivered.get(bit)) {
            return false;
        }
        delivered.set(bit);
        while (delivered.get(bit(missing))) {
            delivered.clear(bit(missing));
            missing++;
        }
        return true;
    }

    /** The first packet that was not delivered yet. */
    long firstMissing() {
        return missing;
    }

    private static int bit(long sequence) {
        return (int) (sequence % SPAN);
    }
}
