package io.sluice.samples.bench;

import java.util.Random;

/** Where a side's ranges lie that are scattered: in random order, with a gap of the same size after each. */
final class Scatter {
    /** Slots of memory for each range. */
    static final int SLOTS = 2;

    private final int[] slots;
    private final int[] ranges;

    Scatter(int count, long seed) {
        slots = new int[count];
        ranges = new int[count];
        Random random = new Random(seed);
        for (int i = 0; i < count; i++) {
            int j = random.nextInt(i + 1);
            ranges[i] = ranges[j];
            ranges[j] = i;
        }
        for (int i = 0; i < count; i++) {
            slots[ranges[i]] = i;
        }
    }

    /** The slot of a range. */
    long slot(int range) {
        return (long) SLOTS * slots[range];
    }

    /** The range in a slot; −1 if it is a gap. */
    int range(long slot) {
        return slot % SLOTS == 0 ? ranges[(int) (slot / SLOTS)] : -1;
    }
}
