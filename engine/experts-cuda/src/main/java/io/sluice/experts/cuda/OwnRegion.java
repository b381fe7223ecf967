package io.sluice.experts.cuda;

import io.sluice.cuda.MappedRegion;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.TransferEngine;
import java.util.concurrent.CompletableFuture;

/** Memory of this rank's GPU apart from the window. Any thread. */
final class OwnRegion {
    private final MemoryRegion region;
    private final MappedRegion mapped;

    /** Allocates it, zeroed, on a GPU. */
    OwnRegion(TransferEngine engine, RegionOptions options, long bytes) {
        region = engine.allocate(bytes, options);
        try {
            mapped = MappedRegion.of(region);
        } catch (RuntimeException | Error e) {
            region.close();
            throw e;
        }
    }

    MappedRegion mapped() {
        return mapped;
    }

    MemoryRegion region() {
        return region;
    }

    MemoryRegion slice(long offset, long length) {
        return region.slice(offset, length);
    }

    /** Gives it back once the work that uses it is done. */
    CompletableFuture<Void> close() {
        mapped.close();
        return region.close();
    }
}
