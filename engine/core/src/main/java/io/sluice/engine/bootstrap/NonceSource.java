package io.sluice.engine.bootstrap;

import io.sluice.engine.security.Hmac;
import java.nio.ByteBuffer;
import java.security.SecureRandom;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Unpredictable bytes that never repeat, for any thread: a MAC of a running number under a secret that is drawn
 * once. The platform's own secure source reads a file behind a lock, which a poller should not.
 */
public final class NonceSource {
    static final int BYTES = 32;

    private final byte[] secret = new byte[BYTES];
    private final AtomicLong next = new AtomicLong();

    public NonceSource() {
        new SecureRandom().nextBytes(secret);
    }

    /** {@value #BYTES} fresh bytes. */
    byte[] draw() {
        return Hmac.of(
                secret,
                "nonce",
                ByteBuffer.allocate(Long.BYTES).putLong(next.getAndIncrement()).array());
    }
}
