package io.sluice.engine.flow;

/** Puts notifications on the control channel. On the loop's thread. */
public interface NotificationSender {
    /**
     * Whether the control channel takes another now. If not, {@link ConnectionFlow#notificationsSendable()} follows.
     *
     * @return false while much is queued on it
     */
    boolean hasRoom();

    /**
     * Sends.
     *
     * @param payload the bytes
     */
    void send(byte[] payload);
}
