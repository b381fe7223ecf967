package io.sluice.experts;

import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.TransferEngine;
import io.sluice.experts.backend.CommBackend;
import io.sluice.experts.backend.CommMemory;
import io.sluice.experts.backend.SymmetricMemory;
import io.sluice.experts.sluice.FreeMemory;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** Memory for rows of combine that cannot be put from where they are; the first that needs it allocates it. */
final class CombineStage {
    /** Where an encoder stores a length. */
    final MemorySegment size = Arena.ofAuto().allocate(Integer.BYTES, Integer.BYTES);

    private final TransferEngine engine;
    private final CommBackend backend;
    private final int slotBytes;
    private final long setBytes;
    private final @Nullable SymmetricMemory symmetric;
    private final @Nullable MemoryRegion[] regions = new MemoryRegion[LowLatencyLayout.SETS];
    private final long[] used = new long[LowLatencyLayout.SETS];

    /**
     * Creates it.
     *
     * @param symmetric of {@link #bytes} where the back end puts from symmetric memory alone, else null
     */
    CombineStage(
            TransferEngine engine, CommBackend backend, LowLatencyLayout layout, @Nullable SymmetricMemory symmetric) {
        this.engine = engine;
        this.backend = backend;
        this.slotBytes = layout.combineSlotBytes();
        this.setBytes = setBytes(layout);
        this.symmetric = symmetric;
    }

    private static long setBytes(LowLatencyLayout layout) {
        return (long) layout.ranks * layout.mostListed * layout.combineSlotBytes();
    }

    /** How much all sets take. */
    static long bytes(LowLatencyLayout layout) {
        return LowLatencyLayout.SETS * setBytes(layout);
    }

    /** Returns the memory of a set. */
    CommMemory memory(int set) {
        if (symmetric != null) {
            return symmetric;
        }
        MemoryRegion region = regions[set];
        if (region == null) {
            FreeMemory.check("memory for encoded results of experts", setBytes);
            region = engine.allocate(setBytes, RegionOptions.local());
            regions[set] = region;
        }
        return Objects.requireNonNull(backend.source(region));
    }

    /** Nothing of a set is used any more. */
    void clear(int set) {
        used[set] = 0;
    }

    /** Returns where the next row of a set goes. */
    long next(int set) {
        long at = used[set];
        used[set] += slotBytes;
        return symmetric == null ? at : set * setBytes + at;
    }

    CompletableFuture<Void> close() {
        CompletableFuture<?>[] closing = new CompletableFuture<?>[LowLatencyLayout.SETS + 1];
        for (int set = 0; set < LowLatencyLayout.SETS; set++) {
            MemoryRegion region = regions[set];
            closing[set] = region == null ? CompletableFuture.completedFuture(null) : region.close();
        }
        closing[LowLatencyLayout.SETS] =
                symmetric == null ? CompletableFuture.completedFuture(null) : backend.free(symmetric);
        return CompletableFuture.allOf(closing);
    }
}
