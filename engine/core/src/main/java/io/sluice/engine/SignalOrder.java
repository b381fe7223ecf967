package io.sluice.engine;

/** Which transfers a signal follows. */
public enum SignalOrder {
    /** After the bytes of its own write only. */
    WEAK,
    /**
     * After all writes, puts, signals and atomic operations submitted earlier on its connection, including those that
     * fail.
     */
    STRONG
}
