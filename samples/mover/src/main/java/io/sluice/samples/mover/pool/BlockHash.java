package io.sluice.samples.mover.pool;

import io.vertx.core.json.JsonArray;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;

/** The text of a block hash: JSON numbers lose the last bits of a 64-bit value in many a client. */
public final class BlockHash {
    private BlockHash() {}

    /** 16 lower-case hexadecimal digits. */
    public static String text(long hash) {
        return HexFormat.of().toHexDigits(hash);
    }

    /**
     * The hash that a text stands for.
     *
     * @param text 1 to 16 hexadecimal digits
     * @throws IllegalArgumentException if it has anything else in it
     */
    public static long parse(String text) {
        try {
            return Long.parseUnsignedLong(text, 16);
        } catch (NumberFormatException e) {
            throw new IllegalArgumentException("'" + text + "' is no block hash: give 1 to 16 hexadecimal digits", e);
        }
    }

    public static JsonArray texts(List<Long> hashes) {
        JsonArray texts = new JsonArray();
        hashes.forEach(hash -> texts.add(text(hash)));
        return texts;
    }

    /**
     * Hashes of many texts, in their order, without repetitions.
     *
     * @throws IllegalArgumentException if one is none
     */
    public static List<Long> parse(JsonArray texts) {
        List<Long> hashes = new ArrayList<>(texts.size());
        for (int i = 0; i < texts.size(); i++) {
            hashes.add(parse(texts.getString(i)));
        }
        return hashes.stream().distinct().toList();
    }
}
