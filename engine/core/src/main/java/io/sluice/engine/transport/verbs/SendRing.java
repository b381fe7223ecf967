package io.sluice.engine.transport.verbs;

import org.jspecify.annotations.Nullable;

/** The entries of a lane's send queue, from the first unfinished one to the next free place. */
final class SendRing {
    private final @Nullable Object[] places;
    private final int mask;
    private long first;
    private long next;

    /**
     * Places for a send queue.
     *
     * @param length a power of two, as long as the queue is deep at least
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

    /** Takes the next place; gives its number. */
    long add(Object what) {
        places[(int) next & mask] = what;
        return next++;
    }

    /** The number of the place that was taken last. */
    long last() {
        return next - 1;
    }

    /** The number of the first place. */
    long first() {
        return first;
    }

    /** The number of a place that is taken, by its low bits; −1 if none is. */
    long find(int lowBits) {
        long found = first + (lowBits - (int) first);
        return found >= first && found < next ? found : -1;
    }

    /** The entry at a distance from the first. */
    @Nullable
    Object peek(int behind) {
        return places[(int) (first + behind) & mask];
    }

    /** Frees the first place; gives what stood there. */
    @Nullable
    Object removeFirst() {
        int at = (int) first++ & mask;
        Object removed = places[at];
        places[at] = null;
        return removed;
    }

    /** The offset of a place in an array of words, one for each. */
    long word(long place) {
        return (place & mask) * Long.BYTES;
    }
}
