package io.sluice.experts;

import io.sluice.engine.SluiceException;
import java.io.Serial;

/** Two results of low-latency dispatches are not closed, and a buffer has memory for no third one. */
public final class TooManyLiveResultsException extends SluiceException {
    @Serial
    private static final long serialVersionUID = 1L;

    /**
     * Creates an exception.
     *
     * @param message what happened and, where useful, what to do
     */
    public TooManyLiveResultsException(String message) {
        super(message);
    }
}
