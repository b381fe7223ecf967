package io.sluice.engine.transport;

/** A transport opened for one engine. Called from any thread. */
public interface Transport extends AutoCloseable {
    /**
     * What it can do.
     *
     * @return constant
     */
    Capabilities capabilities();

    /**
     * Makes this side's end of a connection. Called on the connection's event loop.
     *
     * @param context what the engine gives it
     * @return the endpoint, which may do nothing before {@link Endpoint#begin}
     */
    Endpoint endpoint(EndpointContext context);

    /** Gives everything back. All endpoints are closed. */
    @Override
    void close();
}
