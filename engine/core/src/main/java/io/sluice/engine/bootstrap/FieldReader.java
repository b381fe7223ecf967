package io.sluice.engine.bootstrap;

import io.sluice.engine.EngineId;
import io.sluice.engine.ProtocolException;
import io.sluice.engine.control.PeerText;
import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Reads what {@link FieldWriter} writes, from a peer that may send anything. */
final class FieldReader {
    private static final int MAX_FIELDS = 64;
    // of all transports' names; a stranger's message has room for thousands, to be searched again and again
    private static final int MAX_NAMES_BYTES = 512;

    private final Map<Integer, byte[]> fields = new HashMap<>();

    FieldReader(ByteBuffer body) {
        while (body.hasRemaining()) {
            if (body.remaining() < 4 || fields.size() == MAX_FIELDS) {
                throw new ProtocolException("the fields of a bootstrap message are damaged");
            }
            int tag = Short.toUnsignedInt(body.getShort());
            int length = Short.toUnsignedInt(body.getShort());
            if (length > body.remaining()) {
                throw new ProtocolException("field " + tag + " of a bootstrap message is cut short");
            }
            byte[] value = new byte[length];
            body.get(value);
            if (fields.put(tag, value) != null) {
                throw new ProtocolException("field " + tag + " of a bootstrap message occurs twice");
            }
        }
    }

    byte @Nullable [] optional(int tag) {
        return fields.get(tag);
    }

    byte[] bytes(int tag) {
        byte[] value = fields.get(tag);
        if (value == null) {
            throw new ProtocolException("a bootstrap message lacks field " + tag);
        }
        return value;
    }

    byte[] bytes(int tag, int length) {
        byte[] value = bytes(tag);
        if (value.length != length) {
            throw new ProtocolException(
                    "field " + tag + " of a bootstrap message has " + value.length + " bytes, not " + length);
        }
        return value;
    }

    long number(int tag, long lowest, long highest) {
        long value = ByteBuffer.wrap(bytes(tag, 8)).getLong();
        if (value < lowest || value > highest) {
            throw new ProtocolException(
                    "field " + tag + " of a bootstrap message is " + value + ", not " + lowest + " to " + highest);
        }
        return value;
    }

    /** Fit for messages, and cut where it is longer than any of this engine's. */
    String text(int tag) {
        return PeerText.read(bytes(tag));
    }

    /** Names between commas. */
    List<String> names(int tag) {
        int length = bytes(tag).length;
        if (length > MAX_NAMES_BYTES) {
            throw new ProtocolException("field " + tag + " of a bootstrap message has " + length
                    + " bytes of names, and at most " + MAX_NAMES_BYTES + " are allowed");
        }
        return List.of(text(tag).split(","));
    }

    EngineId engineId(int tag) {
        ByteBuffer value = ByteBuffer.wrap(bytes(tag, 16));
        return new EngineId(value.getLong(), value.getLong());
    }

    static byte[] toBytes(EngineId id) {
        return ByteBuffer.allocate(16).putLong(id.high()).putLong(id.low()).array();
    }
}
