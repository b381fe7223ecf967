package io.sluice.engine;

import java.io.Serial;
import org.jspecify.annotations.Nullable;

/**
 * The peer refuses the connection because it has as many handshakes or connections under way as its limits allow, or this
 * engine has as many connections as {@link EngineOptions#maxConnections()}. It may be tried again later.
 */
public final class LimitExceededException extends ConnectFailedException {
    @Serial
    private static final long serialVersionUID = 1L;

    /**
     * Makes one.
     *
     * @param message what happened, and where it helps what to do
     */
    public LimitExceededException(String message) {
        super(message);
    }

    /**
     * Makes one with its cause.
     *
     * @param message what happened, and where it helps what to do
     * @param cause what led to it, or {@code null}
     */
    public LimitExceededException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
