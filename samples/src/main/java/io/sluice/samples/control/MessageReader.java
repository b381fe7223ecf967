package io.sluice.samples.control;

import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;

/**
 * Reads the fields of a message, in network byte order; whatever does not fit is a {@link MalformedMessageException}.
 */
final class MessageReader {

    private final String name;
    private final ByteBuffer in;

    /**
     * Of the bytes from the buffer's position to its limit.
     *
     * @param name what complaints call the message
     */
    MessageReader(String name, ByteBuffer in) {
        this.name = name;
        this.in = in;
    }

    int number8() {
        require(1);
        return Byte.toUnsignedInt(in.get());
    }

    /** A count or size: an int that is not below a bound, nor above another. */
    int number32(String field, int least, int most) {
        require(Integer.BYTES);
        int value = in.getInt();
        if (value < least || value > most) {
            throw malformed(field + " is " + value + ", which is not between " + least + " and " + most);
        }
        return value;
    }

    long number64() {
        require(Long.BYTES);
        return in.getLong();
    }

    /** A count: a long that is not negative. */
    long count64(String field) {
        long value = number64();
        if (value < 0) {
            throw malformed(field + " is negative");
        }
        return value;
    }

    byte[] bytes(int count) {
        require(count);
        byte[] bytes = new byte[count];
        in.get(bytes);
        return bytes;
    }

    String text(String field) {
        require(Short.BYTES);
        int length = Short.toUnsignedInt(in.getShort());
        require(length);
        ByteBuffer utf8 = in.slice(in.position(), length);
        in.position(in.position() + length);
        try {
            CharBuffer text = StandardCharsets.UTF_8.newDecoder().decode(utf8);
            return text.toString();
        } catch (CharacterCodingException e) {
            throw malformed(field + " is not UTF-8 text");
        }
    }

    /** Complains unless so many bytes are left: to be asked before memory is taken for them. */
    void require(long bytes) {
        if (in.remaining() < bytes) {
            throw malformed("it is cut short: " + bytes + " bytes are missing where " + in.remaining() + " are left");
        }
    }

    void end() {
        if (in.hasRemaining()) {
            throw malformed(in.remaining() + " bytes are left over at its end");
        }
    }

    MalformedMessageException malformed(String what) {
        return new MalformedMessageException("malformed " + name + " message: " + what);
    }
}
