package io.sluice.engine;

import org.jspecify.annotations.Nullable;

/**
 * Observes rare events of an engine. Every method is called on a poller or on the thread that causes the event, and
 * must not block it; an exception of a method is logged and not propagated.
 */
public interface EngineObserver {
    /**
     * A duty cycle took longer than {@link EngineOptions#stallThreshold()}.
     *
     * @param poller its number in the engine
     * @param nanos how long, nanoseconds
     */
    default void pollerStalled(int poller, long nanos) {}

    /**
     * A connection was established, closed or lost.
     *
     * @param connection which
     * @param state what it is now
     * @param reason why, in words; empty for one that was opened
     */
    default void connectionChanged(Connection connection, ConnectionState state, String reason) {}

    /**
     * A region was registered or allocated.
     *
     * @param region which
     * @param nanos how long that took, nanoseconds
     */
    default void regionOpened(MemoryRegion region, long nanos) {}

    /**
     * A region was closed.
     *
     * @param region which
     */
    default void regionClosed(MemoryRegion region) {}

    /**
     * A transfer took at least as long as {@link EngineOptions#slowTransfer()}.
     *
     * @param connection whose
     * @param operation what it did
     * @param bytes its length
     * @param waitedNanos until it was posted, nanoseconds
     * @param nanos from submission to end, nanoseconds
     * @param error how it ended; {@code null} for success
     */
    default void slowTransfer(
            Connection connection,
            EngineMetrics.Operation operation,
            long bytes,
            long waitedNanos,
            long nanos,
            @Nullable SluiceException error) {}
}
