package io.sluice.reactor.blocks;

import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * A notification about a lease: magic (4 bytes), version (1), type (1), zero (2), id (8), and the description of a lent
 * block; network byte order.
 */
record LeaseMessage(Type type, long id, byte[] description) {
    static final int HEADER_BYTES = 16;

    private static final int MAGIC = 0x534c424c;
    private static final byte VERSION = 1;
    private static final byte[] NONE = {};

    enum Type {
        LEND(0),
        ACKNOWLEDGE(1),
        RELEASE(2);

        /** The code on the wire, which never changes. */
        private final int code;

        Type(int code) {
            this.code = code;
        }

        private static @Nullable Type fromCode(int code) {
            for (Type type : values()) {
                if (type.code == code) {
                    return type;
                }
            }
            return null;
        }
    }

    static LeaseMessage of(Type type, long id) {
        return new LeaseMessage(type, id, NONE);
    }

    byte[] toBytes() {
        return ByteBuffer.allocate(HEADER_BYTES + description.length)
                .putInt(MAGIC)
                .put(VERSION)
                .put((byte) type.code)
                .putShort((short) 0)
                .putLong(id)
                .put(description)
                .array();
    }

    /** Returns {@code null} for another kind of message or version. */
    static @Nullable LeaseMessage fromBytes(byte[] bytes) {
        if (bytes.length < HEADER_BYTES) {
            return null;
        }
        ByteBuffer in = ByteBuffer.wrap(bytes);
        if (in.getInt() != MAGIC || in.get() != VERSION) {
            return null;
        }
        Type type = Type.fromCode(in.get());
        if (type == null || in.getShort() != 0) {
            return null;
        }
        long id = in.getLong();
        byte[] description = new byte[in.remaining()];
        in.get(description);
        return new LeaseMessage(type, id, description);
    }
}
