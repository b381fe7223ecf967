package io.sluice.engine.transport;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/**
 * A running CRC-32C over memory. The bytes are copied to a small array first, which stays in the processor's nearest cache: so
 * memory that was freed or cut short raises an exception, as with any copy, and regions of any size can be read. Allocates
 * nothing after it was made, but when it first meets a mapped file or a device. Not for use by several threads.
 */
public final class MemoryChecksum {
    /** The size of the array that {@link #MemoryChecksum(byte[])} takes. */
    public static final int PIECE_BYTES = 16 * 1024;

    private final CRC32C sum = new CRC32C();
    private final byte[] piece;
    // from a mapped file or a device by way of this
    private @Nullable MemorySegment present;

    /** Creates a checksum with an array of its own. */
    public MemoryChecksum() {
        this(new byte[PIECE_BYTES]);
    }

    /**
     * With an array that others of the same thread use too.
     *
     * @param piece for copies, within a call alone
     */
    public MemoryChecksum(byte[] piece) {
        this.piece = piece;
    }

    /** Restarts: the checksum of no bytes is 0. */
    public void reset() {
        sum.reset();
    }

    /**
     * Goes on over more bytes.
     *
     * @param from where they lie
     * @param offset the first of them
     * @param length how many
     * @throws MissingMemoryException if it is of a mapped file that was cut short
     * @throws IllegalStateException if the memory was freed
     */
    public void update(MemorySegment from, long offset, long length) {
        long at = offset;
        long end = offset + length;
        while (at < end) {
            int part = (int) Math.min(end - at, piece.length);
            if (from.isMapped()) {
                copyPresent(from, at, part);
            } else {
                MemorySegment.copy(from, ValueLayout.JAVA_BYTE, at, piece, 0, part);
            }
            sum.update(piece, 0, part);
            at += part;
        }
    }

    private void copyPresent(MemorySegment from, long offset, int length) {
        MemorySegment to = present();
        FaultCheckedCopy.copy(from, offset, to, 0, length);
        MemorySegment.copy(to, ValueLayout.JAVA_BYTE, 0, piece, 0, length);
    }

    private MemorySegment present() {
        MemorySegment memory = present;
        if (memory == null) {
            memory = Arena.ofAuto().allocate(piece.length);
            present = memory;
        }
        return memory;
    }

    /**
     * Goes on over more bytes of a region that is not the host's memory.
     *
     * @param from gives them
     * @param offset the first of them, from the region's start
     * @param length how many
     * @throws IllegalStateException if the memory was freed
     */
    public void update(DeviceWords from, long offset, long length) {
        MemorySegment to = present();
        long at = offset;
        long end = offset + length;
        while (at < end) {
            int part = (int) Math.min(end - at, piece.length);
            from.copyOut(at, part == piece.length ? to : to.asSlice(0, part));
            MemorySegment.copy(to, ValueLayout.JAVA_BYTE, 0, piece, 0, part);
            sum.update(piece, 0, part);
            at += part;
        }
    }

    /**
     * The checksum of the bytes so far.
     *
     * @return the CRC-32C in all 32 bits
     */
    public int value() {
        return (int) sum.getValue();
    }
}
