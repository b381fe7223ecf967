package io.sluice.samples.mover.pool;

/** A block in its slot, with the number of those who read it. */
final class HeldBlock {

    private final int slot;
    private int pins;

    HeldBlock(int slot) {
        this.slot = slot;
    }

    int slot() {
        return slot;
    }

    /** One more reader; whether it is the first. */
    boolean pin() {
        pins++;
        return pins == 1;
    }

    /** One reader less; whether it was the last. */
    boolean unpin() {
        pins--;
        return pins == 0;
    }

    boolean isPinned() {
        return pins > 0;
    }
}
