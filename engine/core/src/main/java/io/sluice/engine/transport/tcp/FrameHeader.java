package io.sluice.engine.transport.tcp;

import io.sluice.engine.transport.MemoryChecksum;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/**
 * The fixed header of a data frame, in network byte order:
 *
 * <pre>
 *  0  magic      4 bytes
 *  4  operation  1
 *  5  status     1, of NACK and REFUSED
 *  6  zero       2
 *  8  handle     8, of requests; the running count of ACK and NACK
 * 16  key        8, of requests
 * 24  epoch      8, of requests
 * 32  offset     8, of requests; the length of a page (WRITE_PAGES, READ_PAGES)
 * 40  length     8, of the payload (WRITE, WRITE_BEFORE_SIGNAL, READ_DATA), of table and payload (WRITE_PAGES), of the table
 *                (READ_PAGES), of what is asked for (READ), of the value (PUT), else of the word
 * </pre>
 *
 * <p>A page table follows the header of WRITE_PAGES and READ_PAGES: 1 to 1024 offsets of 8 bytes each. READ_DATA
 * answers READ_PAGES with the pages in the table's order.
 *
 * <p>From {@link #PUT} on, the header is longer and no payload follows:
 *
 * <pre>
 * 48  operand    8, what is put, added, swapped in, or was fetched
 * 56  expected   8, of COMPARE_AND_SWAP
 * </pre>
 *
 * <p>If the connection has checksums, each header ends with two more fields:
 *
 * <pre>
 *  0  payload sum  4 bytes, the CRC-32C of the payload, or of operand and expected; 0 where there is neither
 *  4  header sum   4, the CRC-32C of the first 48 bytes, of the payload sum, and of the table of pages
 * </pre>
 */
final class FrameHeader {
    static final int BYTES = 48;
    static final int LONGEST_BYTES = 64;
    /** Additional header length on a connection with checksums. */
    static final int SUMS_BYTES = 8;

    static final int WRITE = 1;
    static final int READ = 2;
    static final int READ_DATA = 3;
    static final int REFUSED = 4;
    static final int ACK = 5;
    static final int NACK = 6;
    /** A write with the {@link #SIGNAL_OF_WRITE} right behind it; one request, acknowledged once. */
    static final int WRITE_BEFORE_SIGNAL = 7;
    /** A write of many pages; the page table precedes the payload. */
    static final int WRITE_PAGES = 8;

    static final int READ_PAGES = 9;

    static final int PUT = 16;
    static final int SIGNAL = 17;
    static final int SIGNAL_OF_WRITE = 18;
    static final int FETCH_ADD = 19;
    static final int COMPARE_AND_SWAP = 20;
    static final int FETCHED = 21;

    private static final int MAGIC = 0x534C4454;
    private static final int OPERATION_AT = 4;
    private static final int STATUS_AT = 5;
    private static final int ZERO_AT = 6;
    private static final int HANDLE_AT = 8;
    private static final int KEY_AT = 16;
    private static final int EPOCH_AT = 24;
    private static final int OFFSET_AT = 32;
    private static final int LENGTH_AT = 40;
    private static final int OPERAND_AT = 48;
    private static final int EXPECTED_AT = 56;

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

    static void writeOperands(MemorySegment to, long at, long operand, long expected) {
        to.set(LONG, at + OPERAND_AT, operand);
        to.set(LONG, at + EXPECTED_AT, expected);
    }

    /** The header length of an operation. */
    static int bytes(int operation) {
        return operation < PUT ? BYTES : LONGEST_BYTES;
    }

    /** Writes the checksums at the end of a complete header. */
    static void writeSums(MemorySegment to, long at, int payloadSum, MemoryChecksum sum) {
        long sumsAt = at + bytes(operation(to, at));
        to.set(INT, sumsAt, payloadSum);
        to.set(INT, sumsAt + Integer.BYTES, headerSum(to, at, sumsAt, sum));
    }

    /** Writes the checksums of a frame of pages; see {@link #writeSums(MemorySegment, long, int, MemoryChecksum)}. */
    static void writeSums(MemorySegment to, long at, int payloadSum, PagedPayload payload, MemoryChecksum sum) {
        long sumsAt = at + BYTES;
        to.set(INT, sumsAt, payloadSum);
        beginHeaderSum(to, at, sumsAt, sum);
        payload.sumTable(sum);
        to.set(INT, sumsAt + Integer.BYTES, sum.value());
    }

    /** Whether the checksum of a header and its page table matches. */
    static boolean isIntact(MemorySegment from, long at, MemoryChecksum sum, MemorySegment table, long tableBytes) {
        long sumsAt = at + BYTES;
        beginHeaderSum(from, at, sumsAt, sum);
        sum.update(table, 0, tableBytes);
        return from.get(INT, sumsAt + Integer.BYTES) == sum.value();
    }

    /** Whether a page table follows the header. */
    static boolean hasTable(int operation) {
        return operation == WRITE_PAGES || operation == READ_PAGES;
    }

    /** Whether the header's checksum matches. */
    static boolean isIntact(MemorySegment from, long at, MemoryChecksum sum) {
        long sumsAt = at + bytes(operation(from, at));
        return from.get(INT, sumsAt + Integer.BYTES) == headerSum(from, at, sumsAt, sum);
    }

    private static int headerSum(MemorySegment header, long at, long sumsAt, MemoryChecksum sum) {
        beginHeaderSum(header, at, sumsAt, sum);
        return sum.value();
    }

    private static void beginHeaderSum(MemorySegment header, long at, long sumsAt, MemoryChecksum sum) {
        sum.reset();
        sum.update(header, at, BYTES);
        sum.update(header, sumsAt, Integer.BYTES);
    }

    /** The payload checksum that the sender announced. */
    static int payloadSum(MemorySegment from, long at) {
        return from.get(INT, at + bytes(operation(from, at)));
    }

    /** The checksum of a header's operands, which are its whole payload. */
    static int operandSum(MemorySegment header, long at, MemoryChecksum sum) {
        sum.reset();
        sum.update(header, at + OPERAND_AT, (long) LONGEST_BYTES - OPERAND_AT);
        return sum.value();
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

    static long operand(MemorySegment from, long at) {
        return from.get(LONG, at + OPERAND_AT);
    }

    static long expected(MemorySegment from, long at) {
        return from.get(LONG, at + EXPECTED_AT);
    }
}
