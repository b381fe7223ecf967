package io.sluice.engine.transport;

/**
 * A region's memory as a transport has made it known to its adapters. Any thread.
 */
public interface RegisteredMemory extends AutoCloseable {
    /**
     * How much memory the registration keeps from being moved or swapped out.
     *
     * @return bytes, once for each adapter; none by default
     */
    default long lockedBytes() {
        return 0;
    }

    /** Ends the registration: when this returns no adapter touches the memory any more. It may block. Called once. */
    @Override
    default void close() {}
}
