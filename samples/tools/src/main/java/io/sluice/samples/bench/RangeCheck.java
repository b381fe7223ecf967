package io.sluice.samples.bench;

import java.lang.foreign.MemorySegment;

/** Counts the ranges whose bytes are not those that they should be. */
final class RangeCheck {

    private final Layout layout;
    private final MemorySegment expected;
    private int lastDiffering = -1;
    private long differing;

    /** Against the sources of one connection. */
    RangeCheck(Layout layout, MemorySegment expected) {
        this.layout = layout;
        this.expected = expected;
    }

    /**
     * Compares a part of the targets.
     *
     * @param actual the bytes
     * @param from where the first of them lies, among the targets
     */
    void compare(MemorySegment actual, long from) {
        long end = from + actual.byteSize();
        long count;
        for (long at = from; at < end; at += count) {
            int target = (int) (at / layout.size());
            long within = at % layout.size();
            count = Math.min(layout.size() - within, end - at);
            long source = layout.sourceOffset(target) + within;
            long mismatch =
                    MemorySegment.mismatch(actual, at - from, at - from + count, expected, source, source + count);
            if (mismatch >= 0 && target != lastDiffering) {
                lastDiffering = target;
                differing++;
            }
        }
    }

    long differing() {
        return differing;
    }
}
