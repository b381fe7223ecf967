package io.sluice.engine.transport;

/** Carries notifications to the peer, in order. On the loop's thread. */
public interface NotificationSender {
    /**
     * Whether another is taken now. If not, {@link EndpointContext#notificationsSendable()} follows.
     *
     * @return false while much is queued
     */
    boolean hasRoom();

    /**
     * Sends.
     *
     * @param payload the bytes, not changed any more
     */
    void send(byte[] payload);
}
