package io.sluice.engine;

import java.io.Serial;
import org.jspecify.annotations.Nullable;

/** The connection ended while a transfer or request needed it: the peer closed, died, froze, or a lane stalled. */
public class ConnectionLostException extends SluiceException {
    @Serial
    private static final long serialVersionUID = 1L;

    /**
     * Creates an exception.
     *
     * @param message what happened and, where useful, what to do
     */
    public ConnectionLostException(String message) {
        super(message);
    }

    /**
     * Creates an exception with a cause.
     *
     * @param message what happened and, where useful, what to do
     * @param cause the underlying error, or {@code null}
     */
    public ConnectionLostException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
