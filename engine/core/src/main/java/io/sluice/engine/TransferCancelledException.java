package io.sluice.engine;

import java.io.Serial;
import org.jspecify.annotations.Nullable;

/** A transfer was cancelled by its initiator. */
public final class TransferCancelledException extends SluiceException {
    @Serial
    private static final long serialVersionUID = 1L;

    /**
     * Makes one.
     *
     * @param message what happened, and where it helps what to do
     */
    public TransferCancelledException(String message) {
        super(message);
    }

    /**
     * Makes one with its cause.
     *
     * @param message what happened, and where it helps what to do
     * @param cause what led to it, or {@code null}
     */
    public TransferCancelledException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
