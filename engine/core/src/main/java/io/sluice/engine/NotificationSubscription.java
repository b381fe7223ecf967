package io.sluice.engine;

/** The one listener's hold on a connection's notifications. All methods may be called from any thread. */
public interface NotificationSubscription {
    /**
     * Requests more notifications. Those not requested stay in the connection and hold the sender's credits.
     *
     * @param count how many more, at least 1; adds up, {@link Long#MAX_VALUE} means all
     */
    void request(long count);

    /** Stops the delivery; another listener may subscribe, and gets what was not delivered. */
    void cancel();
}
