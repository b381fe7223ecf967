package io.sluice.engine;

/** Hears of connections that peers make. */
@FunctionalInterface
public interface ConnectionListener {
    /**
     * A peer has connected. Called on a poller's thread; it must not block.
     *
     * @param connection open
     */
    void accepted(Connection connection);
}
