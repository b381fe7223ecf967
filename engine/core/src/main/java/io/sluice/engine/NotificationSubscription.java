package io.sluice.engine;

/** The subscription of a listener to a connection's notifications. All methods may be called from any thread. */
public interface NotificationSubscription {
    /**
     * Requests more notifications. Notifications that are not requested stay in the connection and hold the sender's
     * credits.
     *
     * @param count how many more, at least 1; adds up, {@link Long#MAX_VALUE} means all
     */
    void request(long count);

    /** Stops delivery. Another listener may subscribe and receives the notifications that were not delivered. */
    void cancel();
}
