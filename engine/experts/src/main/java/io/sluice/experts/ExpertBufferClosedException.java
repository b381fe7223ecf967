package io.sluice.experts;

import io.sluice.engine.SluiceException;
import java.io.Serial;

/** The expert buffer was closed on this rank. */
public final class ExpertBufferClosedException extends SluiceException {
    @Serial
    private static final long serialVersionUID = 1L;

    /**
     * Creates an exception.
     *
     * @param message what happened and, where useful, what to do
     */
    public ExpertBufferClosedException(String message) {
        super(message);
    }
}
