package io.sluice.directory;

import io.sluice.engine.RegionOptions;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;

/** Encodes region names as bytes. */
final class RegionNames {
    private RegionNames() {}

    /** Also rejects unpaired surrogates, which have no encoding. */
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

    static String decode(FormReader form, byte[] bytes, int length) {
        if (length == 0 || length > RegionOptions.MAX_NAME_BYTES) {
            throw form.malformed("a region's name has " + length + " bytes");
        }
        try {
            return StandardCharsets.UTF_8
                    .newDecoder()
                    .decode(ByteBuffer.wrap(bytes, 0, length))
                    .toString();
        } catch (CharacterCodingException e) {
            throw form.malformed("a region's name is not UTF-8", e);
        }
    }
}
