package io.sluice.comm.rounds;

import io.sluice.engine.MemoryRegion;
import io.sluice.experts.backend.CommMemory;
import java.lang.foreign.MemorySegment;

/** A region of the engine as a source of puts. */
class HostMemory implements CommMemory {
    final MemoryRegion region;
    final MemorySegment segment;

    HostMemory(MemoryRegion region) {
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
