package io.sluice.engine.transport;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/**
 * A running CRC-32C over memory. The bytes are first copied to a small array, which stays in the processor's nearest
 * cache, so freed or truncated memory raises an exception as with any copy. Allocates nothing after its creation,
 * except for the first mapped file or device. Not thread-safe.
 */
public final class MemoryChecksum {
    /** The size of the array that {@link #MemoryChecksum(byte[])} takes. */
    public static final int PIECE_BYTES = 16 * 1024;

    private final CRC32C sum = new CRC32C();
    private final byte[] piece;
    // for bytes from a mapped file or a device
    private @Nullable MemorySegment present;

    /** Creates a checksum with an array of its own. */
    public MemoryChecksum() {
        this(new byte[PIECE_BYTES]);
    }

    /**
     * Creates a checksum with an array that others of the same thread use, too.
     *
     * @param piece the array for copies, used only within a call
     */
    public MemoryChecksum(byte[] piece) {
        this.piece = piece;
    }

    /** Restarts with the checksum of no bytes, 0. */
    public void reset() {
        sum.reset();
    }

    /**
     * Adds bytes.
     *
     * @param from the memory
     * @param offset the offset of the first byte
     * @param length the number of bytes
     * @throws MissingMemoryException if the memory belongs to a mapped file that was truncated
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
     * Adds bytes of device memory.
     *
     * @param from the device's memory
     * @param offset the offset of the first byte from the region's start
     * @param length the number of bytes
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
     * Returns the checksum of the bytes so far.
     *
     * @return the CRC-32C in all 32 bits
     */
    public int value() {
        return (int) sum.getValue();
    }
}
