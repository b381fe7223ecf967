package io.sluice.engine.transport;

import java.nio.ByteBuffer;
import java.security.GeneralSecurityException;
import java.security.SecureRandom;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicLong;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/**
 * Unpredictable bytes, for any thread: a MAC of a running number under a key that is drawn once. The platform's own
 * source reads a file, which a poller should not.
 */
public final class SecretSource {
    /** How many bytes are drawn at once. */
    public static final int BYTES = 16;

    private static final String ALGORITHM = "HmacSHA256";

    private final byte[] key = new byte[32];
    private final AtomicLong next = new AtomicLong();

    /** Draws the key; it may read a file. */
    public SecretSource() {
        new SecureRandom().nextBytes(key);
    }

    /**
     * Draws fresh bytes; never waits.
     *
     * @return {@value #BYTES} bytes
     */
    public byte[] draw() {
        try {
            Mac mac = Mac.getInstance(ALGORITHM);
            mac.init(new SecretKeySpec(key, ALGORITHM));
            byte[] drawn = mac.doFinal(ByteBuffer.allocate(Long.BYTES)
                    .putLong(next.getAndIncrement())
                    .array());
            return Arrays.copyOf(drawn, BYTES);
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("every Java platform has " + ALGORITHM, e);
        }
    }
}
