package io.sluice.jni;

import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * A file written by a person, such as tokens, certificates or a trace: UTF-8 as editors save it, with or without a
 * byte-order mark. In the lowest module, so that the engine and the programs above it read such files alike. Any
 * thread.
 */
public final class TextFile {
    /** The length of the longest byte-order mark. */
    public static final int MOST_MARK_BYTES = 4;

    private static final byte[] UTF_8 = {(byte) 0xEF, (byte) 0xBB, (byte) 0xBF};
    private static final byte[][] OTHERS = {
        {(byte) 0xFE, (byte) 0xFF}, {(byte) 0xFF, (byte) 0xFE}, {0, 0, (byte) 0xFE, (byte) 0xFF}
    };

    private TextFile() {}

    /**
     * Returns the length of the byte-order mark at the start of a text.
     *
     * @param bytes the start of the text: {@value #MOST_MARK_BYTES} bytes or more, or all of it
     * @param count how many of the bytes are valid
     * @param name the file's name, for messages
     * @return the number of bytes to skip; 0 without a mark
     * @throws TextFormatException if the mark is that of UTF-16 or UTF-32
     */
    public static int markBytes(byte[] bytes, int count, String name) throws TextFormatException {
        for (byte[] other : OTHERS) {
            if (begins(bytes, count, other)) {
                throw new TextFormatException(
                        name + " begins with the byte-order mark of UTF-16 or UTF-32; save it as UTF-8");
            }
        }
        return begins(bytes, count, UTF_8) ? UTF_8.length : 0;
    }

    /**
     * Removes the byte-order mark.
     *
     * @param bytes the file's bytes
     * @param name the file's name, for messages
     * @return the bytes after the mark
     * @throws TextFormatException if the mark is that of UTF-16 or UTF-32
     */
    public static byte[] unmarked(byte[] bytes, String name) throws TextFormatException {
        return Arrays.copyOfRange(bytes, markBytes(bytes, bytes.length, name), bytes.length);
    }

    /**
     * Decodes the text without the mark.
     *
     * @param bytes the file's bytes
     * @param name the file's name, for messages
     * @return the text
     * @throws TextFormatException if it is not UTF-8, or contains NUL bytes, as UTF-16 does
     */
    public static String decoded(byte[] bytes, String name) throws TextFormatException {
        int mark = markBytes(bytes, bytes.length, name);
        String text;
        try {
            text = StandardCharsets.UTF_8
                    .newDecoder()
                    .decode(ByteBuffer.wrap(bytes, mark, bytes.length - mark))
                    .toString();
        } catch (CharacterCodingException e) {
            // without the cause, which would log bytes of a secret
            throw new TextFormatException(name + " is not text in UTF-8; save it as UTF-8");
        }
        if (text.indexOf('\0') >= 0) {
            throw new TextFormatException(name + " contains NUL bytes, as UTF-16 text does; save it as UTF-8");
        }
        return text;
    }

    private static boolean begins(byte[] bytes, int count, byte[] mark) {
        return count >= mark.length && Arrays.mismatch(bytes, 0, mark.length, mark, 0, mark.length) < 0;
    }
}
