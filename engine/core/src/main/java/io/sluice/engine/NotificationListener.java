package io.sluice.engine;

import org.jspecify.annotations.Nullable;

/** Receives a connection's notifications on a poller's thread, one call at a time. It must not block. */
public interface NotificationListener {
    /**
     * A notification came, and was asked for by {@link NotificationSubscription#request(long)}. Every write that the peer
     * submitted before it, and that succeeded, is visible.
     *
     * @param payload the peer's bytes; the listener may keep the array
     */
    void notification(byte[] payload);

    /**
     * No further notification will come, as the connection has ended.
     *
     * @param error {@code null} if either side closed it
     */
    void ended(@Nullable SluiceException error);
}
