package io.sluice.samples.bench;

import java.util.Locale;

/** Which memory the elements in flight use. */
public enum Buffers {
    /** All the same, on both sides, which stays in the processor's cache if it fits. */
    SINGLE,
    /** Each one of its own, on both sides. */
    DISTINCT,
    /** The same, in random order and with gaps between them. */
    SCATTERED;

    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}
