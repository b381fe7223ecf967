package io.sluice.experts;

import io.sluice.engine.SluiceException;
import java.io.Serial;

/** The communication back end that was asked for does not exist, or cannot serve this team. */
public final class BackendUnavailableException extends SluiceException {
    @Serial
    private static final long serialVersionUID = 1L;

    /**
     * Creates an exception.
     *
     * @param message what happened and, where useful, what to do
     */
    public BackendUnavailableException(String message) {
        super(message);
    }
}
