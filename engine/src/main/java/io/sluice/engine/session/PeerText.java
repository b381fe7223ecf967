package io.sluice.engine.session;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/** What a peer says in words, made fit for messages and logs: short, and nothing that is not printable. */
final class PeerText {
    private static final int MAX_BYTES = 512;

    private PeerText() {}

    static String read(ByteBuffer body) {
        byte[] bytes = new byte[Math.min(body.remaining(), MAX_BYTES)];
        body.get(bytes);
        return read(bytes);
    }

    static String read(byte[] bytes) {
        return text(bytes).replaceAll("[^\\p{Print}]", "?");
    }

    /** The same for what has lines. */
    static String readLines(byte[] bytes) {
        return text(bytes).replaceAll("[^\\p{Print}\n]", "?");
    }

    private static String text(byte[] bytes) {
        return new String(bytes, 0, Math.min(bytes.length, MAX_BYTES), StandardCharsets.UTF_8);
    }
}
