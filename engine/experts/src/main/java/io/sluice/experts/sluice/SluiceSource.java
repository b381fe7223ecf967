package io.sluice.experts.sluice;

import io.sluice.engine.MemoryRegion;
import io.sluice.experts.backend.CommMemory;
import java.lang.foreign.MemorySegment;

/** A region of the engine as a source of puts. */
class SluiceSource implements CommMemory {
    final MemoryRegion region;
    private final MemorySegment segment;

    SluiceSource(MemoryRegion region) {
        this.region = region;
        this.segment = region.segment();
    }

    @Override
    public long bytes() {
        return region.length();
    }

    @Override
    public MemorySegment segment() {
        return segment;
    }
}
