package io.sluice.collectives.run;

import io.sluice.engine.MemoryRegion;
import java.lang.foreign.MemorySegment;

/**
 * A buffer of a collective.
 *
 * @param region the region; of this engine
 * @param offset where the buffer begins in the region, in bytes
 * @param segment the whole region
 */
public record Memory(MemoryRegion region, long offset, MemorySegment segment) {
    /** Creates a buffer. */
    public static Memory of(MemoryRegion region, long offset) {
        return new Memory(region, offset, region.segment());
    }
}
