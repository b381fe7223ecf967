package io.sluice.engine.transport;

/**
 * The part of a transport on one event loop. It creates the endpoints of the loop's connections, holds what they share,
 * and posts their work together. The engine opens it with the first connection of the transport on that loop ({@link
 * Transport#openLoop}). Methods are called on the loop's thread.
 */
@FunctionalInterface
public interface TransportLoop extends AutoCloseable {
    /**
     * Creates this side's endpoint of a connection.
     *
     * @param context the engine's services; their {@link EndpointContext#loop()} is this loop
     * @return the endpoint, which must do nothing before {@link Endpoint#begin}
     */
    Endpoint endpoint(EndpointContext context);

    /**
     * Posts the requests that the endpoints of all connections have accepted and gathered. The loop calls this in each
     * duty cycle, after its tasks, ready descriptors, sources and deadlines, and does not park before a call has
     * returned 0, so a lone request leaves in the cycle that accepted it. Requests posted by tasks at the end of the
     * cycle leave in the next. An error of one connection must not affect the others.
     *
     * @return how many requests were posted; 0 for none, as always if {@link Endpoint#post} leaves nothing for later
     */
    default int flush() {
        return 0;
    }

    /**
     * Releases all resources. Called when the engine closes and all endpoints created here are closed, or when the loop
     * has failed and runs no more.
     */
    @Override
    default void close() {}
}
