package io.sluice.engine;

import org.jspecify.annotations.Nullable;

/**
 * Observes rare events of an engine. Methods are called on a poller or on the thread that causes the event, and must
 * not block; an exception is logged and not propagated.
 */
public interface EngineObserver {
    /**
     * Called when a duty cycle took longer than {@link EngineOptions#stallThreshold()}.
     *
     * @param poller the poller's number in the engine
     * @param nanos the duration of the cycle, in nanoseconds
     */
    default void pollerStalled(int poller, long nanos) {}

    /**
     * Called when a connection was established, closed or lost.
     *
     * @param connection the connection
     * @param state its new state
     * @param reason why, in words; empty for a new connection
     */
    default void connectionChanged(Connection connection, ConnectionState state, String reason) {}

    /**
     * Called when a region was registered or allocated.
     *
     * @param region the region
     * @param nanos how long that took, in nanoseconds
     */
    default void regionOpened(MemoryRegion region, long nanos) {}

    /**
     * Called when a region was closed.
     *
     * @param region the region
     */
    default void regionClosed(MemoryRegion region) {}

    /**
     * Called when a transfer took at least as long as {@link EngineOptions#slowTransfer()}.
     *
     * @param connection the transfer's connection
     * @param operation the kind of operation
     * @param bytes the transfer's length
     * @param waitedNanos from submission to posting, in nanoseconds
     * @param nanos from submission to end, in nanoseconds
     * @param error the transfer's error; {@code null} for success
     */
    default void slowTransfer(
            Connection connection,
            EngineMetrics.Operation operation,
            long bytes,
            long waitedNanos,
            long nanos,
            @Nullable SluiceException error) {}
}
