package io.sluice.engine.transport.tcp;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/**
 * The fixed header of a data frame, network byte order:
 *
 * <pre>
 *  0  magic      4 bytes
 *  4  operation  1
 *  5  status     1, of NACK and READ_FAILED
 *  6  zero       2
 *  8  handle     8, of WRITE and READ; the running count of ACK and NACK
 * 16  key        8, of WRITE and READ
 * 24  epoch      8, of WRITE and READ
 * 32  offset     8, of WRITE and READ
 * 40  length     8, of the payload (WRITE, READ_DATA) or of what is asked for (READ)
 * </pre>
 */
final class FrameHeader {
    static final int BYTES = 48;

    static final int WRITE = 1;
    static final int READ = 2;
    static final int READ_DATA = 3;
    static final int READ_FAILED = 4;
    static final int ACK = 5;
    static final int NACK = 6;

    private static final int MAGIC = 0x534C4454;
    private static final int OPERATION_AT = 4;
    private static final int STATUS_AT = 5;
    private static final int ZERO_AT = 6;
    private static final int HANDLE_AT = 8;
    private static final int KEY_AT = 16;
    private static final int EPOCH_AT = 24;
    private static final int OFFSET_AT = 32;
    private static final int LENGTH_AT = 40;

    private static final ValueLayout.OfShort SHORT = ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);

    private FrameHeader() {}

    static void write(
            MemorySegment to,
            long at,
            int operation,
            int status,
            long handle,
            long key,
            long epoch,
            long offset,
            long length) {
        to.set(INT, at, MAGIC);
        to.set(ValueLayout.JAVA_BYTE, at + OPERATION_AT, (byte) operation);
        to.set(ValueLayout.JAVA_BYTE, at + STATUS_AT, (byte) status);
        to.set(SHORT, at + ZERO_AT, (short) 0);
        to.set(LONG, at + HANDLE_AT, handle);
        to.set(LONG, at + KEY_AT, key);
        to.set(LONG, at + EPOCH_AT, epoch);
        to.set(LONG, at + OFFSET_AT, offset);
        to.set(LONG, at + LENGTH_AT, length);
    }

    static boolean isWellFormed(MemorySegment from, long at) {
        return from.get(INT, at) == MAGIC && from.get(SHORT, at + ZERO_AT) == 0 && length(from, at) >= 0;
    }

    static int operation(MemorySegment from, long at) {
        return from.get(ValueLayout.JAVA_BYTE, at + OPERATION_AT);
    }

    static int status(MemorySegment from, long at) {
        return Byte.toUnsignedInt(from.get(ValueLayout.JAVA_BYTE, at + STATUS_AT));
    }

    static long handle(MemorySegment from, long at) {
        return from.get(LONG, at + HANDLE_AT);
    }

    static long key(MemorySegment from, long at) {
        return from.get(LONG, at + KEY_AT);
    }

    static long epoch(MemorySegment from, long at) {
        return from.get(LONG, at + EPOCH_AT);
    }

    static long offset(MemorySegment from, long at) {
        return from.get(LONG, at + OFFSET_AT);
    }

    static long length(MemorySegment from, long at) {
        return from.get(LONG, at + LENGTH_AT);
    }
}
