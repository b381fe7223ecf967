package io.sluice.experts;

import io.sluice.engine.MemoryRegion;
import io.sluice.engine.SluiceException;
import io.sluice.experts.backend.CommBackend;
import io.sluice.experts.backend.CommMemory;
import io.sluice.experts.backend.PutBatch;
import org.jspecify.annotations.Nullable;

/** Batches of vectors that lie in regions of the user, kept for the regions that were used last. The loop's alone. */
final class NormalSources {
    private static final int KEPT = 8;

    private final CommBackend backend;
    private final NormalLinks links;
    private final @Nullable Source[] sources = new Source[KEPT];
    private int next;

    private record Source(
            MemoryRegion region,
            CommMemory memory,
            @Nullable PutBatch[] batches) {}

    NormalSources(CommBackend backend, NormalLinks links) {
        this.backend = backend;
        this.links = links;
    }

    /**
     * Returns an empty batch of rows of bfloat16.
     *
     * @throws SluiceException if the back end cannot put from the region
     */
    PutBatch batch(MemoryRegion region, int rank) {
        Source source = source(region);
        PutBatch batch = source.batches[rank];
        if (batch == null) {
            batch = backend.prepareBatch(source.memory, links.memory, links.at.rowBytes(), rank);
            source.batches[rank] = batch;
        }
        batch.clear();
        return batch;
    }

    private Source source(MemoryRegion region) {
        for (Source source : sources) {
            if (source != null && source.region.equals(region)) {
                return source;
            }
        }
        CommMemory memory = backend.source(region);
        if (memory == null) {
            throw new SluiceException("back end " + backend.type() + " puts from no region, which normal mode needs");
        }
        Source source = new Source(region, memory, new PutBatch[links.at.ranks]);
        sources[next] = source;
        next = (next + 1) % KEPT;
        return source;
    }
}
