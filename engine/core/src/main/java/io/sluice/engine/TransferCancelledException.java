package io.sluice.engine;

import java.io.Serial;
import org.jspecify.annotations.Nullable;

/** The initiator cancelled the transfer. */
public final class TransferCancelledException extends SluiceException {
    @Serial
    private static final long serialVersionUID = 1L;

    /**
     * Creates an exception.
     *
     * @param message what happened and, where useful, what to do
     */
    public TransferCancelledException(String message) {
        super(message);
    }

    /**
     * Creates an exception with a cause.
     *
     * @param message what happened and, where useful, what to do
     * @param cause the underlying error, or {@code null}
     */
    public TransferCancelledException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
