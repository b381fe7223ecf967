package io.sluice.vertx;

import io.sluice.engine.MemoryRegion;
import java.lang.foreign.MemorySegment;

/**
 * A part of the staging region that one chunk has for itself.
 *
 * @param region the staging region
 * @param offset where the slot begins, in bytes
 * @param bytes how long it is
 */
record StagingSlot(MemoryRegion region, long offset, int bytes) {
    MemorySegment segment() {
        return region.segment().asSlice(offset, bytes);
    }
}
