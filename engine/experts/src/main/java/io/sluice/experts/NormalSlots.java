package io.sluice.experts;

import java.lang.foreign.ValueLayout;

/**
 * Which slot of this rank a dispatch gets. The other ranks learn it as soon as the slot is free, mostly long before the
 * dispatch, so it seldom waits. The loop's alone.
 */
final class NormalSlots {
    private final NormalLinks links;
    private final int[] ofPlace = new int[NormalMemory.SLOTS];
    private int free;
    private long granted;
    private long done;

    NormalSlots(NormalLinks links) {
        this.links = links;
        this.free = (1 << NormalMemory.SLOTS) - 1;
        grant();
    }

    /** The place of the messages about a dispatch; the first one has number 1. */
    static int place(long number) {
        return (int) (number & 1);
    }

    /** Whether a dispatch has a slot here. */
    boolean isGranted(long number) {
        return granted >= number;
    }

    /** The slot that a dispatch has here. */
    int slot(long number) {
        return ofPlace[place(number)];
    }

    /** All rows of a dispatch are here, so the other ranks have read which slot it has. */
    void done(long number) {
        done = number;
        grant();
    }

    /** A slot has become free. */
    void free(int slot) {
        free |= 1 << slot;
        grant();
    }

    private void grant() {
        NormalMemory at = links.at;
        while (free != 0 && granted < done + NormalMemory.SLOTS) {
            int slot = Integer.numberOfTrailingZeros(free);
            free &= ~(1 << slot);
            granted++;
            int place = place(granted);
            ofPlace[place] = slot;
            links.segment.set(ValueLayout.JAVA_LONG, at.ownSlotNumberAt(place), slot);
            for (int rank = 0; rank < at.ranks; rank++) {
                if (rank != links.rank) {
                    links.peer(rank).grantSlot(place);
                }
            }
        }
    }
}
