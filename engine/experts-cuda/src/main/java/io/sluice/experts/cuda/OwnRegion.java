package io.sluice.experts.cuda;

import io.sluice.cuda.MappedRegion;
import io.sluice.engine.MemoryKind;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.TransferEngine;
import java.util.concurrent.CompletableFuture;

/** Memory of this rank's GPU apart from the window, which its own engine can read. Any thread. */
final class OwnRegion {
    private final MemoryRegion region;
    private final MappedRegion mapped;

    /** Allocates it, zeroed. */
    OwnRegion(TransferEngine engine, String gpu, long bytes) {
        region = engine.allocate(bytes, RegionOptions.readOnly().on(MemoryKind.CUDA, gpu));
        mapped = MappedRegion.of(region);
    }

    MappedRegion mapped() {
        return mapped;
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
