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
        String text = new String(bytes, 0, Math.min(bytes.length, MAX_BYTES), StandardCharsets.UTF_8);
        return text.replaceAll("[^\\p{Print}]", "?");
    }
}
