package io.sluice.engine.transport.verbs;

/** The signals that a peer has defined on a lane, by the number in its immediates. Confined to the loop. */
final class PeerSignalTable {
    private final boolean[] known = new boolean[SignalTable.COUNT];
    private final long[] handles = new long[SignalTable.COUNT];
    private final long[] keys = new long[SignalTable.COUNT];
    private final long[] epochs = new long[SignalTable.COUNT];
    private final long[] offsets = new long[SignalTable.COUNT];
    private final long[] addends = new long[SignalTable.COUNT];

    /** Defines a signal; returns false if the number is out of range. */
    boolean define(long number, long handle, long key, long epoch, long offset, long addend) {
        if (number < 0 || number >= SignalTable.COUNT) {
            return false;
        }
        int at = (int) number;
        known[at] = true;
        handles[at] = handle;
        keys[at] = key;
        epochs[at] = epoch;
        offsets[at] = offset;
        addends[at] = addend;
        return true;
    }

    boolean isKnown(int number) {
        return number >= 0 && number < SignalTable.COUNT && known[number];
    }

    long handle(int number) {
        return handles[number];
    }

    long key(int number) {
        return keys[number];
    }

    long epoch(int number) {
        return epochs[number];
    }

    long offset(int number) {
        return offsets[number];
    }

    long addend(int number) {
        return addends[number];
    }
}
