package io.sluice.collectives;

import io.sluice.collectives.run.Memory;
import io.sluice.engine.MemoryNotAccessibleException;
import io.sluice.engine.MemoryRegion;
import java.util.Objects;

/**
 * A range of a region.
 *
 * @param region in host memory
 * @param offset bytes
 * @param bytes the length
 */
record Buffer(MemoryRegion region, long offset, long bytes) {
    Buffer {
        Objects.checkFromIndexSize(offset, bytes, region.length());
        if (!region.memory().isHost()) {
            throw new MemoryNotAccessibleException("collectives reduce and copy host memory, not " + region.kind());
        }
    }

    private long address() {
        return region.memory().address() + offset;
    }

    boolean isSameAs(Buffer other) {
        return address() == other.address() && bytes == other.bytes;
    }

    /** Whether it begins so many bytes after the start of the other, and lies in it. */
    boolean isPartOf(Buffer other, long start) {
        return address() == other.address() + start && start + bytes <= other.bytes;
    }

    boolean overlaps(Buffer other) {
        return address() < other.address() + other.bytes && other.address() < address() + bytes;
    }

    Memory memory() {
        return Memory.of(region, offset);
    }
}
