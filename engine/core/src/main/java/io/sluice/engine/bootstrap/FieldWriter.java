package io.sluice.engine.bootstrap;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/** Writes type-length-value fields: tag (2 bytes), length (2), value; network byte order. */
final class FieldWriter {
    private final ByteArrayOutputStream out = new ByteArrayOutputStream(256);

    FieldWriter put(int tag, byte[] value) {
        if (value.length > 0xffff) {
            throw new IllegalArgumentException("field " + tag + " is longer than 65535 bytes");
        }
        byte[] header = ByteBuffer.allocate(4)
                .putShort((short) tag)
                .putShort((short) value.length)
                .array();
        out.writeBytes(header);
        out.writeBytes(value);
        return this;
    }

    FieldWriter put(int tag, long value) {
        return put(tag, ByteBuffer.allocate(8).putLong(value).array());
    }

    FieldWriter put(int tag, String value) {
        return put(tag, value.getBytes(StandardCharsets.UTF_8));
    }

    byte[] toBytes() {
        return out.toByteArray();
    }
}
