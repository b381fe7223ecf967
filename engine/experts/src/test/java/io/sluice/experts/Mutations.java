package io.sluice.experts;

/**
 * Faults that {@link io.sluice.testkit.MutatedClasses} builds in: each gets what a method returns, and the object. Public, as
 * all packages of the module call it.
 */
public final class Mutations {
    private static final ThreadLocal<Boolean> LOOKING = ThreadLocal.withInitial(() -> false);

    private Mutations() {}

    /** A token less goes to a rank, but its row is there. */
    static int droppedContribution(int count, NormalHandle handle) {
        return Math.max(0, count - 1);
    }

    /** Of two vectors of a token each has the place of the other. */
    static long swappedChoices(long offset, LowLatencyLayout layout) {
        if (LOOKING.get()) {
            return offset;
        }
        LOOKING.set(true);
        try {
            for (int set = 0; set < LowLatencyLayout.SETS; set++) {
                long place = offset - layout.combineSlotAt(set, 0);
                long next = layout.combineSlotAt(set, 1) - layout.combineSlotAt(set, 0);
                if (place >= 0 && place / next < (long) layout.tokens * layout.topK) {
                    return place / next % 2 == 0 ? offset + next : offset - next;
                }
            }
            return offset;
        } finally {
            LOOKING.set(false);
        }
    }

    /** Vectors of a rank are taken before they have arrived. */
    static boolean earlySignal(boolean arrived, CombineCall call) {
        return true;
    }

    /** Rows of a rank are taken before they have arrived. */
    static boolean earlyRows(boolean arrived, NormalDispatch dispatch) {
        return true;
    }

    /** Vectors of all ranks are added before they have arrived. */
    static boolean earlyVectors(boolean arrived, NormalCombine combine) {
        return true;
    }

    /** The rows of an earlier dispatch are taken again. */
    static int staleBuffer(int slot, NormalSlots slots) {
        return 0;
    }

    /** Rows begin one row later than they do. */
    static int offsetByOne(int row, NormalHandle handle) {
        return row + 1;
    }
}
