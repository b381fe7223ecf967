package io.sluice.reactor.recovery;

import io.sluice.engine.ConnectionLostException;
import java.io.Serial;
import org.jspecify.annotations.Nullable;

/**
 * There was no connection to use: the time to wait is over, too many subscribers wait already, or connecting was given
 * up. Nothing was submitted, so the operation can be repeated safely.
 */
public class NotConnectedException extends ConnectionLostException {
    @Serial
    private static final long serialVersionUID = 1L;

    /**
     * Creates an exception.
     *
     * @param message what happened and, where useful, what to do
     * @param cause the error of the last attempt to connect, or the end of the last connection; or {@code null}
     */
    public NotConnectedException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
