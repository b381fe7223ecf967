package io.sluice.experts.cuda;

import io.sluice.engine.SluiceException;
import java.io.Serial;

/** More rows arrive at a rank, or are to be combined there, than the call has room for: nothing was written. */
public final class TooManyRowsException extends SluiceException {
    @Serial
    private static final long serialVersionUID = 1L;

    /**
     * Creates an exception.
     *
     * @param message which rank, and how many rows
     */
    public TooManyRowsException(String message) {
        super(message);
    }
}
