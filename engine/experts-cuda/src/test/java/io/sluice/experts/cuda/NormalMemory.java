package io.sluice.experts.cuda;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RegionOptions;
import java.lang.foreign.MemorySegment;

/** What a rank passes to calls, once in memory of the host and once of its GPU, with guards around. */
final class NormalMemory {
    /** Bytes before and behind. */
    static final int GUARD = 256;

    private static final byte POISON = 0x5A;

    final MemoryRegion host;
    final MemoryRegion gpu;
    private final GpuExpertRanks.GpuBytes bytes;
    private final long length;

    NormalMemory(GpuExpertRanks ranks, int rank, long length) {
        this.length = length;
        host = ranks.engine(rank).allocate(length + 2 * GUARD, RegionOptions.local());
        gpu = ranks.region(rank, length + 2 * GUARD);
        bytes = ranks.bytes(rank, gpu);
        poison();
    }

    void poison() {
        host.segment().fill(POISON);
        bytes.host().fill(POISON);
        bytes.put();
    }

    /** Puts bytes into both. */
    void put(MemorySegment from) {
        put(0, from);
        push();
    }

    /** Puts bytes into that of the host, for {@link #push}. */
    void put(long offset, MemorySegment from) {
        MemorySegment.copy(from, 0, host.segment(), GUARD + offset, from.byteSize());
    }

    void push() {
        bytes.host().copyFrom(host.segment());
        bytes.put();
    }

    /** Both have the same bytes, and the GPU's guards are as they were. */
    void checkSame(String what) {
        MemorySegment found = bytes.get();
        assertThat(found.asSlice(GUARD, length).mismatch(host.segment().asSlice(GUARD, length)))
                .as("first different byte of %s", what)
                .isEqualTo(-1);
        assertThat(found.mismatch(host.segment())).as("guards of %s", what).isEqualTo(-1);
    }

    MemorySegment hostBytes(long offset, long count) {
        return host.segment().asSlice(GUARD + offset, count);
    }
}
