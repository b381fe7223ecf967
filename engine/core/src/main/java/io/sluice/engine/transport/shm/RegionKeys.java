package io.sluice.engine.transport.shm;

import io.sluice.engine.ProtocolException;
import java.nio.ByteBuffer;

/**
 * The target's answer to an attach: how the initiator reaches the region.
 *
 * @param way the access method
 * @param processorAtomics whether processors execute the region's atomic operations
 * @param writable whether the initiator may write
 * @param number the file's number, unique in the target's engine; 0 without a file
 * @param fileBytes the file size
 * @param hugePages whether the file consists of huge pages
 * @param start the start of the slice in the file or in the target's address space
 */
record RegionKeys(
        Way way,
        boolean processorAtomics,
        boolean writable,
        long number,
        long fileBytes,
        boolean hugePages,
        long start) {
    private static final int BYTES = 1 + 1 + 8 + 8 + 8;
    private static final int PROCESSOR_ATOMICS = 1;
    private static final int WRITABLE = 2;
    private static final int HUGE_PAGES = 4;

    /** The method of access to a region. */
    enum Way {
        /** The initiator maps the region's file. */
        MAPPED(1),
        /** The initiator uses cross-memory attach. */
        CROSS_MEMORY(2);

        /** The code on the wire; never changes. */
        private final int code;

        Way(int code) {
            this.code = code;
        }

        private static Way fromCode(int code) {
            for (Way way : values()) {
                if (way.code == code) {
                    return way;
                }
            }
            throw new ProtocolException(
                    "the peer sent region keys of type " + code + ", which this version does not know");
        }
    }

    byte[] toBytes() {
        return ByteBuffer.allocate(BYTES)
                .put((byte) way.code)
                .put((byte) ((processorAtomics ? PROCESSOR_ATOMICS : 0)
                        | (writable ? WRITABLE : 0)
                        | (hugePages ? HUGE_PAGES : 0)))
                .putLong(number)
                .putLong(fileBytes)
                .putLong(start)
                .array();
    }

    /**
     * Parses the peer's keys.
     *
     * @param keys the bytes from the peer's endpoint
     * @param sliceBytes the length of the attached slice
     * @throws ProtocolException if they are malformed, or the slice exceeds its file
     */
    static RegionKeys read(ByteBuffer keys, long sliceBytes) {
        if (keys.remaining() != BYTES) {
            throw new ProtocolException("the peer sent region keys of " + keys.remaining() + " bytes");
        }
        Way way = Way.fromCode(Byte.toUnsignedInt(keys.get()));
        int flags = keys.get();
        RegionKeys read = new RegionKeys(
                way,
                (flags & PROCESSOR_ATOMICS) != 0,
                (flags & WRITABLE) != 0,
                keys.getLong(),
                keys.getLong(),
                (flags & HUGE_PAGES) != 0,
                keys.getLong());
        if (read.fileBytes < 0 || read.start < 0) {
            throw new ProtocolException("the peer sent region keys with a negative length or start");
        }
        boolean inside = sliceBytes >= 0 && read.start <= read.fileBytes - sliceBytes;
        if (read.way == Way.MAPPED && !inside) {
            throw new ProtocolException("the peer sent a slice that exceeds its region");
        }
        return read;
    }
}
