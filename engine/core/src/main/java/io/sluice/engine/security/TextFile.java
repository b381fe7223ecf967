package io.sluice.engine.security;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Arrays;

/** What a file holds that a person has written: UTF-8, as editors save it, with a byte-order mark before it or without. */
public final class TextFile {
    private static final byte[] UTF_8 = {(byte) 0xEF, (byte) 0xBB, (byte) 0xBF};
    private static final byte[] UTF_16_BIG_ENDIAN = {(byte) 0xFE, (byte) 0xFF};
    private static final byte[] UTF_16_LITTLE_ENDIAN = {(byte) 0xFF, (byte) 0xFE};

    private TextFile() {}

    /**
     * Leaves out the mark.
     *
     * @param bytes of the file
     * @param path of the file, for messages
     * @return the bytes after the mark, or the same if there is none
     * @throws IOException if the mark is that of UTF-16 or UTF-32
     */
    public static byte[] unmarked(byte[] bytes, Path path) throws IOException {
        if (begins(bytes, UTF_16_BIG_ENDIAN) || begins(bytes, UTF_16_LITTLE_ENDIAN)) {
            throw new IOException(path + " begins with the byte-order mark of UTF-16 or UTF-32; save it as UTF-8");
        }
        return begins(bytes, UTF_8) ? Arrays.copyOfRange(bytes, UTF_8.length, bytes.length) : bytes;
    }

    /**
     * The text, without the mark.
     *
     * @param bytes of the file
     * @param path of the file, for messages
     * @return the text
     * @throws IOException if it is not UTF-8, or has NUL bytes, as UTF-16 has
     */
    public static String decoded(byte[] bytes, Path path) throws IOException {
        String text;
        try {
            text = StandardCharsets.UTF_8
                    .newDecoder()
                    .decode(ByteBuffer.wrap(unmarked(bytes, path)))
                    .toString();
        } catch (CharacterCodingException e) {
            // without the cause: what is wrong with which byte of a secret is not to be logged
            throw new IOException(path + " is not text in UTF-8; save it as UTF-8");
        }
        if (text.indexOf('\0') >= 0) {
            throw new IOException(path + " has NUL bytes, as text in UTF-16 has; save it as UTF-8");
        }
        return text;
    }

    private static boolean begins(byte[] bytes, byte[] mark) {
        return bytes.length >= mark.length && Arrays.mismatch(bytes, 0, mark.length, mark, 0, mark.length) < 0;
    }
}
