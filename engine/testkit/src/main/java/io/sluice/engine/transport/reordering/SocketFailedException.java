package io.sluice.engine.transport.reordering;

import java.io.Serial;

/** A socket's system call failed, or the peer has closed it. */
final class SocketFailedException extends Exception {
    @Serial
    private static final long serialVersionUID = 1L;

    SocketFailedException(String message) {
        super(message);
    }
}
