package io.sluice.engine.bootstrap;

import io.sluice.engine.SluiceException;

/** An additional path of a connection cannot be set up; the connection is possible without it. */
public final class PathUnavailableException extends SluiceException {
    private static final long serialVersionUID = 1L;

    private final String transport;

    /**
     * Of a path.
     *
     * @param transport its transport's name
     * @param cause why it cannot be set up
     */
    public PathUnavailableException(String transport, SluiceException cause) {
        super("the path over " + transport + " cannot be set up: " + cause.getMessage(), cause);
        this.transport = transport;
    }

    /**
     * The transport that cannot be used.
     *
     * @return the transport's name
     */
    public String transport() {
        return transport;
    }
}
