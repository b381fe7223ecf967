package io.sluice.engine.security;

import java.io.Serial;
import javax.net.ssl.SSLException;

/** The first bytes of the peer are no TLS. */
public final class NotTlsException extends SSLException {
    @Serial
    private static final long serialVersionUID = 1L;

    NotTlsException() {
        super("the peer does not speak TLS");
    }
}
