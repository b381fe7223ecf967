package io.sluice.directory;

import io.sluice.engine.RegionOptions;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;

/** The names of regions as bytes. */
final class RegionNames {
    private RegionNames() {}

    /** Also refuses half a surrogate pair, which no bytes stand for. */
    static byte[] check(String name) {
        byte[] bytes = name.getBytes(StandardCharsets.UTF_8);
        if (bytes.length == 0 || bytes.length > RegionOptions.MAX_NAME_BYTES) {
            throw new IllegalArgumentException(
                    "a region's name is 1 to " + RegionOptions.MAX_NAME_BYTES + " bytes, not " + bytes.length);
        }
        if (!new String(bytes, StandardCharsets.UTF_8).equals(name)) {
            throw new IllegalArgumentException("a region's name is not Unicode text");
        }
        return bytes;
    }

    static String decode(byte[] bytes, int length) {
        if (length == 0 || length > RegionOptions.MAX_NAME_BYTES) {
            throw new DirectoryFormatException("a region's name of " + length + " bytes");
        }
        try {
            return StandardCharsets.UTF_8
                    .newDecoder()
                    .decode(ByteBuffer.wrap(bytes, 0, length))
                    .toString();
        } catch (CharacterCodingException e) {
            throw new DirectoryFormatException("a region's name is not UTF-8", e);
        }
    }
}
