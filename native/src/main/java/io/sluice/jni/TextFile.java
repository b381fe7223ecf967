package io.sluice.jni;

import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * What a file holds that a person has written, such as tokens, certificates or a trace: UTF-8, as editors save it, with a
 * byte-order mark before it or without. It is here, in the lowest module, so that the engine and the programs above it
 * read such files alike. Any thread.
 */
public final class TextFile {
    /** The most bytes that a mark has. */
    public static final int MOST_MARK_BYTES = 4;

    private static final byte[] UTF_8 = {(byte) 0xEF, (byte) 0xBB, (byte) 0xBF};
    private static final byte[][] OTHERS = {
        {(byte) 0xFE, (byte) 0xFF}, {(byte) 0xFF, (byte) 0xFE}, {0, 0, (byte) 0xFE, (byte) 0xFF}
    };

    private TextFile() {}

    /**
     * How long the mark is that a text begins with.
     *
     * @param bytes the first of the text: {@value #MOST_MARK_BYTES} or more, or all
     * @param count how many of them count
     * @param name of the file, for messages
     * @return bytes to leave out; 0 if there is no mark
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
     * Leaves out the mark.
     *
     * @param bytes of the file
     * @param name of the file, for messages
     * @return the bytes after the mark
     * @throws TextFormatException if the mark is that of UTF-16 or UTF-32
     */
    public static byte[] unmarked(byte[] bytes, String name) throws TextFormatException {
        return Arrays.copyOfRange(bytes, markBytes(bytes, bytes.length, name), bytes.length);
    }

    /**
     * The text, without the mark.
     *
     * @param bytes of the file
     * @param name of the file, for messages
     * @return the text
     * @throws TextFormatException if it is not UTF-8, or has NUL bytes, as UTF-16 has
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
            // without the cause: what is wrong with which byte of a secret is not to be logged
            throw new TextFormatException(name + " is not text in UTF-8; save it as UTF-8");
        }
        if (text.indexOf('\0') >= 0) {
            throw new TextFormatException(name + " has NUL bytes, as text in UTF-16 has; save it as UTF-8");
        }
        return text;
    }

    private static boolean begins(byte[] bytes, int count, byte[] mark) {
        return count >= mark.length && Arrays.mismatch(bytes, 0, mark.length, mark, 0, mark.length) < 0;
    }
}
