package io.sluice.engine.transport;

/**
 * The part of a transport on one event loop: the endpoints of the loop's connections are made here, share what lies
 * here, and have their work posted together. The engine opens it with the first connection of the transport on that
 * loop ({@link Transport#openLoop}). Every method is called on the loop's thread.
 */
@FunctionalInterface
public interface TransportLoop extends AutoCloseable {
    /**
     * Makes this side's end of a connection.
     *
     * @param context what the engine gives it; its {@link EndpointContext#loop()} is this one's
     * @return the endpoint, which may do nothing before {@link Endpoint#begin}
     */
    Endpoint endpoint(EndpointContext context);

    /**
     * Posts what the endpoints have accepted and gathered, of all connections together. The loop calls this in each
     * duty cycle, after its tasks, ready descriptors, sources and deadlines, and it does not park before a call has
     * returned 0: so a lone request leaves in the cycle that has accepted it. Requests posted by tasks at the end of
     * the cycle leave in the next. An error of one connection must be kept from the others.
     *
     * @return how much there was; 0 for none, as always where {@link Endpoint#post} leaves nothing for later
     */
    default int flush() {
        return 0;
    }

    /**
     * Gives everything back. The engine closes, and all endpoints that were made here are closed; or the loop has failed, and
     * nothing of it runs any more.
     */
    @Override
    default void close() {}
}
