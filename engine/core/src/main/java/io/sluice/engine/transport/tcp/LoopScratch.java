package io.sluice.engine.transport.tcp;

import io.sluice.engine.transport.MemoryChecksum;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;

/** Scratch memory that the lanes of one loop share, each within a single receive or send. */
final class LoopScratch {
    static final int STAGING_BYTES = 256 * 1024;
    /** The most entries that the kernel takes in one call ({@code UIO_MAXIOV}). */
    static final int VECTOR_ENTRIES = 1024;

    private static final int ENTRY_BYTES = 16;
    private static final int LENGTH_AT = 8;

    // freed by the garbage collector after the last lane is gone
    private final MemorySegment staging = Arena.ofAuto().allocate(STAGING_BYTES, 64);
    private final ByteBuffer stagingBytes = staging.asByteBuffer();
    private final MemorySegment vector = Arena.ofAuto().allocate((long) VECTOR_ENTRIES * ENTRY_BYTES, 16);

    private final byte[] piece = new byte[MemoryChecksum.PIECE_BYTES];
    private final MemoryChecksum sum = new MemoryChecksum(piece);

    /** A checksum that begins and ends within one call. */
    MemoryChecksum sum() {
        return sum;
    }

    /** Creates a checksum that continues over several calls. */
    MemoryChecksum newSum() {
        return new MemoryChecksum(piece);
    }

    /** The staging memory for small frames. */
    MemorySegment staging() {
        return staging;
    }

    /** The staging memory as a byte buffer, for encrypted streams. */
    ByteBuffer stagingBytes(int position, int limit) {
        return stagingBytes.clear().position(position).limit(limit);
    }

    /** The address of the {@code struct iovec} array. */
    long vectorAddress() {
        return vector.address();
    }

    void vectorEntry(int index, long address, long length) {
        long at = (long) index * ENTRY_BYTES;
        vector.set(ValueLayout.JAVA_LONG, at, address);
        vector.set(ValueLayout.JAVA_LONG, at + LENGTH_AT, length);
    }
}
