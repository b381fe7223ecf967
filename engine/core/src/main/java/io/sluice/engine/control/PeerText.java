package io.sluice.engine.control;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.regex.Pattern;

/**
 * Makes text from a peer fit for messages and logs: short and printable. Also removes memory addresses, which errors of
 * the platform may contain, from text for a peer.
 */
public final class PeerText {
    private static final int MAX_BYTES = 512;

    /** An address as {@code MemorySegment} and faults print it. */
    private static final Pattern ADDRESS = Pattern.compile("(?i)\\baddress: ?(0x)?[0-9a-f]+|\\b0x[0-9a-f]{6,}");

    private PeerText() {}

    /** Cleans a text for sending to the peer. */
    public static byte[] write(String text) {
        return ADDRESS.matcher(text).replaceAll("(an address)").getBytes(StandardCharsets.UTF_8);
    }

    public static String read(ByteBuffer body) {
        byte[] bytes = new byte[Math.min(body.remaining(), MAX_BYTES)];
        body.get(bytes);
        return read(bytes);
    }

    public static String read(byte[] bytes) {
        return text(bytes).replaceAll("[^\\p{Print}]", "?");
    }

    /** Reads as {@link #read}, but keeps line breaks. */
    public static String readLines(byte[] bytes) {
        return text(bytes).replaceAll("[^\\p{Print}\n]", "?");
    }

    private static String text(byte[] bytes) {
        return new String(bytes, 0, Math.min(bytes.length, MAX_BYTES), StandardCharsets.UTF_8);
    }
}
