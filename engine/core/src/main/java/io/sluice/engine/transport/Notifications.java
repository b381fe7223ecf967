package io.sluice.engine.transport;

/**
 * Implemented by an endpoint that carries notifications itself, so that they arrive after all writes that completed
 * earlier. Otherwise the control channel carries them, which suits a transport whose completed writes are visible.
 * Called on the connection's event loop.
 */
@FunctionalInterface
public interface Notifications {
    /**
     * Returns the sender of notifications.
     *
     * @return always the same
     */
    NotificationSender notificationSender();
}
