package io.sluice.engine.security;

import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/**
 * HMAC-SHA-256 (RFC 2104) over a purpose and some parts. Each is preceded by its length, so that no two lists of parts give
 * the same input.
 */
public final class Hmac {
    private static final String ALGORITHM = "HmacSHA256";

    private Hmac() {}

    /**
     * Creates a MAC.
     *
     * @param key the secret
     * @param purpose what the MAC is for, in ASCII
     * @param parts the covered bytes
     * @return 32 bytes
     */
    public static byte[] of(byte[] key, String purpose, byte[]... parts) {
        return of(keyed(key), purpose, parts);
    }

    /**
     * The same with a MAC that is kept for many, and which one thread uses at a time.
     *
     * @param keyed made by {@link #keyed}
     * @param purpose what the MAC is for, in ASCII
     * @param parts the covered bytes
     * @return 32 bytes
     */
    public static byte[] of(Mac keyed, String purpose, byte[]... parts) {
        update(keyed, purpose.getBytes(StandardCharsets.US_ASCII));
        for (byte[] part : parts) {
            update(keyed, part);
        }
        return keyed.doFinal();
    }

    /**
     * A MAC under a key, to be used repeatedly.
     *
     * @param key the secret
     * @return ready for use
     */
    public static Mac keyed(byte[] key) {
        try {
            Mac mac = Mac.getInstance(ALGORITHM);
            mac.init(new SecretKeySpec(key, ALGORITHM));
            return mac;
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("every Java platform has " + ALGORITHM, e);
        }
    }

    private static void update(Mac mac, byte[] part) {
        int length = part.length;
        mac.update(new byte[] {(byte) (length >>> 24), (byte) (length >>> 16), (byte) (length >>> 8), (byte) length});
        mac.update(part);
    }
}
