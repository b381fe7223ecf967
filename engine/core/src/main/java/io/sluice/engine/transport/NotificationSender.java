package io.sluice.engine.transport;

/** Carries notifications to the peer, in order. On the loop's thread. */
public interface NotificationSender {
    /**
     * Returns whether another notification can be sent now. If not, {@link EndpointContext#notificationsSendable()}
     * follows.
     *
     * @return false while much is queued
     */
    boolean hasRoom();

    /**
     * Sends a notification.
     *
     * @param payload the bytes, which must not change any more
     */
    void send(byte[] payload);
}
