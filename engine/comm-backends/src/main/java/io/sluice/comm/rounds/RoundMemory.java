package io.sluice.comm.rounds;

import io.sluice.engine.MemoryRegion;
import io.sluice.experts.backend.SymmetricMemory;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;

/** Memory of each rank, known to all by a number. The back end's thread alone stores what arrives. */
final class RoundMemory extends HostMemory implements SymmetricMemory {
    private static final VarHandle WORD = ValueLayout.JAVA_LONG.varHandle();

    final int number;
    private final int rank;

    RoundMemory(MemoryRegion region, int number, int rank) {
        super(region);
        this.number = number;
        this.rank = rank;
    }

    @Override
    public @Nullable MemorySegment mapped(int other) {
        if (other == rank) {
            throw new IllegalArgumentException("rank " + other + " is this one");
        }
        return null;
    }

    long word(long offset) {
        return (long) WORD.getAcquire(segment, offset);
    }

    void add(long offset, long addend) {
        WORD.getAndAddRelease(segment, offset, addend);
    }
}
