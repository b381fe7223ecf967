package io.sluice.engine.transport;

/**
 * Of an endpoint that carries notifications itself, so that they arrive after all writes that completed before. The control channel
 * carries them otherwise, which suits a transport whose completed writes are visible. On the connection's event loop.
 */
@FunctionalInterface
public interface Notifications {
    /**
     * The sender of the notifications.
     *
     * @return always the same
     */
    NotificationSender notificationSender();
}
