package io.sluice.directory;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.util.zip.CRC32C;

/**
 * Writes one stored record: magic (2 bytes), version (1), kind (1), CRC-32C of the rest (4), fields. Numbers are in
 * network byte order, or of variable length: seven bits a byte, lowest first.
 */
final class FormWriter {
    static final int HEADER_BYTES = 8;
    static final short MAGIC = 0x5344;
    static final byte VERSION = 1;

    private final byte kind;
    private final ByteArrayOutputStream fields = new ByteArrayOutputStream(512);

    FormWriter(byte kind) {
        this.kind = kind;
    }

    FormWriter putByte(int value) {
        fields.write(value);
        return this;
    }

    FormWriter putLong(long value) {
        for (int shift = 56; shift >= 0; shift -= 8) {
            fields.write((int) (value >>> shift));
        }
        return this;
    }

    FormWriter putVariable(long value) {
        long rest = value;
        while ((rest & ~0x7fL) != 0) {
            fields.write((int) (rest & 0x7f) | 0x80);
            rest >>>= 7;
        }
        fields.write((int) rest);
        return this;
    }

    FormWriter putBytes(byte[] bytes, int from) {
        putVariable(bytes.length - from);
        fields.write(bytes, from, bytes.length - from);
        return this;
    }

    /** Appends the fields of an unfinished record. */
    FormWriter putRest(FormWriter other) {
        fields.writeBytes(other.fields.toByteArray());
        return this;
    }

    int size() {
        return HEADER_BYTES + fields.size();
    }

    byte[] finish() {
        byte[] content = fields.toByteArray();
        return ByteBuffer.allocate(HEADER_BYTES + content.length)
                .putShort(MAGIC)
                .put(VERSION)
                .put(kind)
                .putInt(checksum(content, 0))
                .put(content)
                .array();
    }

    static int checksum(byte[] bytes, int from) {
        CRC32C crc = new CRC32C();
        crc.update(bytes, from, bytes.length - from);
        return (int) crc.getValue();
    }
}
