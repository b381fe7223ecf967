package io.sluice.experts.sluice;

import io.sluice.collectives.SharedRegion;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RemoteRegion;
import io.sluice.experts.backend.SymmetricMemory;
import java.lang.foreign.MemorySegment;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** A region of each rank, attached on all others. */
final class SluiceMemory extends SluiceSource implements SymmetricMemory {
    private final SharedRegion shared;
    private final int rank;
    private final @Nullable MemorySegment[] mapped;

    SluiceMemory(SharedRegion shared, int rank, int ranks) {
        super(shared.local());
        this.shared = shared;
        this.rank = rank;
        this.mapped = new MemorySegment[ranks];
        for (int other = 0; other < ranks; other++) {
            MemorySegment memory = other == rank ? null : shared.of(other).mapped();
            mapped[other] = memory == null || memory.isReadOnly() ? null : memory;
        }
    }

    @Override
    public @Nullable MemorySegment mapped(int other) {
        if (other == rank) {
            throw new IllegalArgumentException("rank " + other + " is this one");
        }
        return mapped[other];
    }

    /** Another rank's region, of which a range is used. */
    RemoteRegion remote(int other, long offset, long length) {
        Objects.checkFromIndexSize(offset, length, bytes());
        return shared.of(other);
    }

    /** Detaches the regions of the others, and closes this rank's. */
    CompletableFuture<Void> close() {
        MemoryRegion local = region;
        return shared.closeAsync().handle((nothing, error) -> local.close()).thenCompose(closed -> closed);
    }
}
