package io.sluice.engine.security;

import java.io.Serial;
import java.nio.ByteBuffer;
import javax.net.ssl.SSLException;

/**
 * The peer does not begin the TLS handshake that it was asked for, and says so: by a fatal alert {@code access_denied} in the
 * clear, before anything else. Platforms' TLS does not send that one by itself, so it is distinct from every failure of a
 * handshake. An attacker who can change packets can forge it, and gains no more than by dropping them.
 */
public final class RefusedBeforeTlsException extends SSLException {
    /** The meaning of the alert, for the side that connects. */
    public static final String MEANING =
            "more peers connect at once than it accepts (maxHandshakesPerSecond, maxHalfOpen); try again later";

    @Serial
    private static final long serialVersionUID = 1L;

    private static final byte ALERT = 21;
    private static final byte[] RECORD = {ALERT, 3, 3, 0, 2, 2, 49};

    RefusedBeforeTlsException() {
        super("the peer has refused it before it began");
    }

    /**
     * The record that carries the alert.
     *
     * @return a TLS record
     */
    public static byte[] sign() {
        return RECORD.clone();
    }

    static boolean isAlert(int type) {
        return type == ALERT;
    }

    /** Whether the received bytes begin with it. */
    static boolean isSign(ByteBuffer received) {
        return received.remaining() >= RECORD.length
                && received.slice(received.position(), RECORD.length).equals(ByteBuffer.wrap(RECORD));
    }
}
