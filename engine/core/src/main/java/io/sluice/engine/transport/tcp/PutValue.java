package io.sluice.engine.transport.tcp;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/**
 * Stores the value of a put: its low-order bytes, lowest first. A length of 1, 2, 4 or 8 is one store, so that it
 * cannot tear.
 */
final class PutValue {
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final ValueLayout.OfShort SHORT =
            ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

    private PutValue() {}

    static void store(MemorySegment to, long at, long value, int bytes) {
        switch (bytes) {
            case Long.BYTES -> to.set(LONG, at, value);
            case Integer.BYTES -> to.set(INT, at, (int) value);
            case Short.BYTES -> to.set(SHORT, at, (short) value);
            default -> {
                for (int i = 0; i < bytes; i++) {
                    to.set(ValueLayout.JAVA_BYTE, at + i, (byte) (value >>> (Byte.SIZE * i)));
                }
            }
        }
    }
}
