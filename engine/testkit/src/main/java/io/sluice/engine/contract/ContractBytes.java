package io.sluice.engine.contract;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * Bytes that a test fills and compares: of a region, or of memory that a test registers. They are reached by copies, so
 * that they may lie where no processor sees them; on the host nothing is copied that need not be.
 */
public interface ContractBytes {
    /** The most bytes read or written at once; more goes in pieces. */
    int PIECE_BYTES = 1 << 20;

    /**
     * Bytes of the host.
     *
     * @param segment where they lie
     * @return these bytes, not a copy
     */
    static ContractBytes of(MemorySegment segment) {
        return new HostBytes(segment);
    }

    /**
     * Bytes of the host.
     *
     * @param bytes where they lie
     * @return these bytes, not a copy
     */
    static ContractBytes of(byte[] bytes) {
        return of(MemorySegment.ofArray(bytes));
    }

    /**
     * How many there are.
     *
     * @return bytes
     */
    long length();

    /**
     * A part of them.
     *
     * @param offset bytes from the first
     * @param length bytes
     * @return the part, not a copy
     */
    ContractBytes slice(long offset, long length);

    /**
     * All of them from an offset on.
     *
     * @param offset bytes from the first
     * @return the part, not a copy
     */
    default ContractBytes slice(long offset) {
        return slice(offset, length() - offset);
    }

    /**
     * The present content: on the host the bytes themselves, elsewhere a copy, good for one look. Callers ask for no
     * more than {@link #PIECE_BYTES} at a time.
     *
     * @return read-only
     */
    MemorySegment contents();

    /**
     * Copies bytes of the host over some of these.
     *
     * @param offset bytes from the first
     * @param from the bytes to copy, all of them
     */
    void write(long offset, MemorySegment from);

    /**
     * Sets all of them to one value.
     *
     * @param value of each
     */
    void fill(byte value);

    /**
     * Adds to a word in the way that is atomic for the target's own code.
     *
     * @param offset bytes from the first, at a multiple of 8
     * @param addend the number to add
     * @return what the word held before
     */
    long getAndAdd(long offset, long addend);

    /**
     * Compares them with others of the same number.
     *
     * @param other the expected bytes
     * @return the first that differs, -1 for none
     */
    default long mismatch(ContractBytes other) {
        for (long at = 0; at < length(); at += PIECE_BYTES) {
            long length = Math.min(PIECE_BYTES, length() - at);
            long found = slice(at, length)
                    .contents()
                    .mismatch(other.slice(at, length).contents());
            if (found != -1) {
                return at + found;
            }
        }
        return -1;
    }

    /**
     * One byte, as it is now.
     *
     * @param offset bytes from the first
     * @return the byte
     */
    default byte byteAt(long offset) {
        return slice(offset, Byte.BYTES).contents().get(ValueLayout.JAVA_BYTE, 0);
    }

    /**
     * Four bytes, as they are now, in the host's order.
     *
     * @param offset bytes from the first, aligned or not
     * @return the number
     */
    default int intAt(long offset) {
        return slice(offset, Integer.BYTES).contents().get(ValueLayout.JAVA_INT_UNALIGNED, 0);
    }

    /**
     * Eight bytes, as they are now, in the host's order.
     *
     * @param offset bytes from the first, aligned or not
     * @return the number
     */
    default long longAt(long offset) {
        return slice(offset, Long.BYTES).contents().get(ValueLayout.JAVA_LONG_UNALIGNED, 0);
    }

    /**
     * Sets eight bytes, in the host's order.
     *
     * @param offset bytes from the first, aligned or not
     * @param value the number
     */
    default void setLong(long offset, long value) {
        write(offset, MemorySegment.ofArray(new long[] {value}));
    }
}
