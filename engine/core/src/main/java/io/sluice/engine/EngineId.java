package io.sluice.engine;

import java.security.SecureRandom;
import java.util.HexFormat;

/**
 * The identity of an engine: 128 random bits, drawn when the engine opens, so that no two engines share one.
 *
 * @param high the upper 64 bits
 * @param low the lower 64 bits
 */
public record EngineId(long high, long low) {
    private static final SecureRandom RANDOM = new SecureRandom();

    /**
     * Draws a new identity from the platform's secure random source.
     *
     * @return an identity that no other engine has
     */
    public static EngineId random() {
        return new EngineId(RANDOM.nextLong(), RANDOM.nextLong());
    }

    /**
     * Parses the form that {@link #toString()} returns.
     *
     * @param text 32 hexadecimal digits
     * @return the identity
     * @throws IllegalArgumentException if the text has another form
     */
    public static EngineId parse(String text) {
        if (text.length() != 32) {
            throw new IllegalArgumentException("an engine id is 32 hexadecimal digits, not '" + text + "'");
        }
        return new EngineId(HexFormat.fromHexDigitsToLong(text, 0, 16), HexFormat.fromHexDigitsToLong(text, 16, 32));
    }

    /** Returns 32 hexadecimal digits. */
    @Override
    public String toString() {
        return HexFormat.of().toHexDigits(high) + HexFormat.of().toHexDigits(low);
    }
}
