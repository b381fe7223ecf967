package io.sluice.engine.transport.tcp;

import java.io.Serial;

/** A system call on a socket failed. */
final class SocketFailedException extends Exception {
    @Serial
    private static final long serialVersionUID = 1L;

    SocketFailedException(String message) {
        super(message);
    }

    @Override
    public String getMessage() {
        return String.valueOf(super.getMessage());
    }
}
