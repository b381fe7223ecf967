package io.sluice.collectives.link;

import io.sluice.engine.SluiceException;
import java.io.Serial;

/** A message could not be sent. */
public final class LinkFailedException extends RuntimeException {
    @Serial
    private static final long serialVersionUID = 1L;

    private final int peer;
    private final SluiceException error;

    LinkFailedException(int peer, SluiceException error) {
        super(error);
        this.peer = peer;
        this.error = error;
    }

    /** Returns the rank to which it was sent. */
    public int peer() {
        return peer;
    }

    /** Returns the transfer's error. */
    public SluiceException error() {
        return error;
    }
}
