package io.sluice.engine;

import java.nio.charset.StandardCharsets;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A secret by which engines prove to each other that they may connect. Immutable. {@link #toString()} omits the secret.
 * An attacker who has recorded a handshake can test guesses, so make it random, such as by {@code openssl rand -base64
 * 32}, and not a word.
 */
public final class Token {
    /** The shortest secret, in bytes. */
    public static final int MIN_BYTES = 16;

    private static final Pattern NAME = Pattern.compile("[A-Za-z0-9._@/-]{1,64}");

    private final @Nullable String name;
    private final byte[] secret;

    private Token(@Nullable String name, byte[] secret) {
        if (secret.length < MIN_BYTES) {
            throw new IllegalArgumentException(
                    "a token is at least " + MIN_BYTES + " bytes; this one has " + secret.length);
        }
        this.name = name;
        this.secret = secret.clone();
    }

    /**
     * Creates a token without a name.
     *
     * @param secret at least {@value #MIN_BYTES} bytes, copied
     * @return the token
     */
    public static Token of(byte[] secret) {
        return new Token(null, secret);
    }

    /**
     * Creates a token with a name. The accepting engine identifies a peer by the name of the token that the peer proved
     * to know ({@link PeerIdentity#tokenName()}).
     *
     * @param name 1 to 64 letters, digits or {@code . _ @ / -}; not a secret
     * @param secret at least {@value #MIN_BYTES} bytes, copied
     * @return the token
     */
    public static Token named(String name, byte[] secret) {
        if (!NAME.matcher(name).matches()) {
            throw new IllegalArgumentException("a token's name has 1 to 64 letters, digits or . _ @ / -");
        }
        return new Token(name, secret);
    }

    /**
     * Parses {@code name:secret} or {@code secret}; the text before the first colon is a name if it has the form of
     * one.
     */
    static Token parse(String text) {
        int colon = text.indexOf(':');
        String before = colon < 0 ? "" : text.substring(0, colon);
        if (colon == 0 || NAME.matcher(before).matches()) {
            byte[] secret = text.substring(colon + 1).strip().getBytes(StandardCharsets.UTF_8);
            return new Token(before.isEmpty() ? null : before, secret);
        }
        return of(text.getBytes(StandardCharsets.UTF_8));
    }

    /**
     * Returns the name.
     *
     * @return the name, or {@code null} if it has none
     */
    public @Nullable String name() {
        return name;
    }

    /**
     * Returns the secret.
     *
     * @return a copy of its bytes
     */
    public byte[] secret() {
        return secret.clone();
    }

    /** Omits the secret. */
    @Override
    public String toString() {
        return name == null ? "Token[unnamed]" : "Token[" + name + "]";
    }
}
