package io.sluice.engine;

/** Receives the connections that peers open. */
@FunctionalInterface
public interface ConnectionListener {
    /**
     * Called on a poller's thread when a peer has connected. Must not block.
     *
     * @param connection the open connection
     */
    void accepted(Connection connection);
}
