package io.sluice.engine.flow;

/** Puts a notification on the control channel. On the loop's thread. */
@FunctionalInterface
public interface NotificationSender {
    /**
     * Sends.
     *
     * @param payload the bytes
     */
    void send(byte[] payload);
}
