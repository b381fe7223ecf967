package io.sluice.engine.transport;

/**
 * A transport's registration of a region's memory with its adapters. Thread-safe. May also implement {@link
 * DeviceWords} and {@link DmaBufferMemory}.
 */
public interface RegisteredMemory extends AutoCloseable {
    /**
     * Returns how much memory the registration locks.
     *
     * @return bytes, once for each adapter; none by default
     */
    default long lockedBytes() {
        return 0;
    }

    /**
     * Returns whether {@link #close()} may wait for work of a device that nothing here can end, such as a kernel of the
     * user's. Then it runs on another thread than the closes of other memory.
     *
     * @return false by default
     */
    default boolean waitsForDevice() {
        return false;
    }

    /** Ends the registration: once this returns no adapter may touch the memory. May block. Called once. */
    @Override
    default void close() {}
}
