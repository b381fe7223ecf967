package io.sluice.engine;

import org.jspecify.annotations.Nullable;

/** Receives a connection's notifications on a poller's thread, one call at a time. It must not block. */
public interface NotificationListener {
    /**
     * Called with a notification that was requested by {@link NotificationSubscription#request(long)}. Every successful
     * write that the peer submitted before it is visible.
     *
     * @param payload the peer's bytes; the listener may keep the array
     */
    void notification(byte[] payload);

    /**
     * Called when the connection has ended and no further notification will come.
     *
     * @param error {@code null} if either side closed it
     */
    void ended(@Nullable SluiceException error);
}
