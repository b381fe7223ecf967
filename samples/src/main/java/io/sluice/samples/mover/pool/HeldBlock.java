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

    void pin() {
        pins++;
    }

    void unpin() {
        pins--;
    }

    boolean isPinned() {
        return pins > 0;
    }
}
