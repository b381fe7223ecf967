package io.sluice.reactor.recovery;

import io.sluice.engine.ConnectionLostException;
import java.io.Serial;
import org.jspecify.annotations.Nullable;

/**
 * There was no connection, and none to wait for any longer: the time to wait is over, too many wait already, or connecting was
 * given up. Nothing was submitted, so that doing it again later does nothing twice.
 */
public class NotConnectedException extends ConnectionLostException {
    @Serial
    private static final long serialVersionUID = 1L;

    /**
     * Makes one.
     *
     * @param message what happened, and where it helps what to do
     * @param cause what the last attempt to connect failed with, or how the last connection ended; or {@code null}
     */
    public NotConnectedException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
