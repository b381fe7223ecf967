package io.sluice.engine;

/** Receives the connections that peers open. */
@FunctionalInterface
public interface ConnectionListener {
    /**
     * A peer has connected. Called on a poller's thread; it must not block.
     *
     * @param connection open
     */
    void accepted(Connection connection);
}
