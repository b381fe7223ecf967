package io.sluice.engine.transport.verbs;

/** The signals that a peer has defined on a lane: what its immediates stand for. Confined to the loop. */
final class KnownSignals {
    private final boolean[] known = new boolean[DefinedSignals.COUNT];
    private final long[] handles = new long[DefinedSignals.COUNT];
    private final long[] keys = new long[DefinedSignals.COUNT];
    private final long[] epochs = new long[DefinedSignals.COUNT];
    private final long[] offsets = new long[DefinedSignals.COUNT];
    private final long[] addends = new long[DefinedSignals.COUNT];

    /** False if there is no such number. */
    boolean define(long number, long handle, long key, long epoch, long offset, long addend) {
        if (number < 0 || number >= DefinedSignals.COUNT) {
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
        return number >= 0 && number < DefinedSignals.COUNT && known[number];
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
