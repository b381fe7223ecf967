package io.sluice.engine;

/** The transfers that a signal follows. */
public enum SignalOrder {
    /** After the bytes of its own write, and of nothing else. */
    WEAK,
    /**
     * After all writes, puts, signals and atomic operations that were submitted on its connection before it, those that
     * fail included.
     */
    STRONG
}
