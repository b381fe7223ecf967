package io.sluice.engine;

import java.io.Serial;
import org.jspecify.annotations.Nullable;

/**
 * The connection was refused because the peer already has as many handshakes or connections as its limits allow, or
 * this engine has {@link EngineOptions#maxConnections()} connections. The connect may be tried again later.
 */
public final class LimitExceededException extends ConnectFailedException {
    @Serial
    private static final long serialVersionUID = 1L;

    /**
     * Creates an exception.
     *
     * @param message what happened and, where useful, what to do
     */
    public LimitExceededException(String message) {
        super(message);
    }

    /**
     * Creates an exception with a cause.
     *
     * @param message what happened and, where useful, what to do
     * @param cause the underlying error, or {@code null}
     */
    public LimitExceededException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
