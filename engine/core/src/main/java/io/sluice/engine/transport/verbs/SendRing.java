package io.sluice.engine.transport.verbs;

import org.jspecify.annotations.Nullable;

/** The entries of a lane's send queue, from the first unfinished slot to the next free one. */
final class SendRing {
    private final @Nullable Object[] places;
    private final int mask;
    private long first;
    private long next;

    /**
     * Creates the slots of a send queue.
     *
     * @param length a power of two, at least the depth of the queue
     */
    SendRing(int length) {
        places = new @Nullable Object[length];
        mask = length - 1;
    }

    boolean isEmpty() {
        return first == next;
    }

    int count() {
        return (int) (next - first);
    }

    /** Takes the next slot; returns its number. */
    long add(Object what) {
        places[(int) next & mask] = what;
        return next++;
    }

    /** The number of the last taken slot. */
    long last() {
        return next - 1;
    }

    /** The number of the first slot. */
    long first() {
        return first;
    }

    /** Finds the number of a taken slot by its low bits; −1 if there is none. */
    long find(int lowBits) {
        long found = first + (lowBits - (int) first);
        return found >= first && found < next ? found : -1;
    }

    /** The entry at a distance from the first slot. */
    @Nullable
    Object peek(int behind) {
        return places[(int) (first + behind) & mask];
    }

    /** Frees the first slot; returns its entry. */
    @Nullable
    Object removeFirst() {
        int at = (int) first++ & mask;
        Object removed = places[at];
        places[at] = null;
        return removed;
    }

    /** The offset of a slot in an array of words. */
    long word(long place) {
        return (place & mask) * Long.BYTES;
    }
}
