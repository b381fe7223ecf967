package io.sluice.samples.decode;

import io.sluice.engine.Access;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.TransferEngine;
import io.sluice.samples.kvcache.PageGeometry;
import io.sluice.samples.kvcache.PageSeal;
import io.sluice.samples.kvcache.RequestPlan;
import io.sluice.samples.kvcache.RequestPlan.PlannedBlock;
import java.lang.foreign.MemorySegment;
import java.util.EnumSet;
import java.util.concurrent.CompletableFuture;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;

/** The memory that a prefill process writes into. */
record ReceivedPages(PageGeometry geometry, MemoryRegion pages, MemoryRegion seals) {
    private static final Logger LOG = LoggerFactory.getLogger(ReceivedPages.class);

    /** The bytes that one thread touches at a time. */
    private static final long TOUCHED_BYTES = 64L << 20;

    /** New memory, which no peer has yet. */
    static ReceivedPages allocate(TransferEngine engine, PageGeometry geometry) {
        RegionOptions writable = new RegionOptions(EnumSet.of(Access.REMOTE_WRITE), null);
        MemoryRegion pages = engine.allocate(geometry.poolBytes(), writable);
        return new ReceivedPages(geometry, pages, engine.allocate(geometry.sealBytes(), writable));
    }

    /** Has the kernel find memory for all pages. For new memory alone: it overwrites them. */
    Mono<Void> touch(Scheduler threads) {
        MemorySegment pool = pages.segment();
        return Flux.range(0, Math.toIntExact(Math.ceilDiv(pool.byteSize(), TOUCHED_BYTES)))
                .flatMap(slice -> Mono.fromRunnable(() -> touch(pool, slice * TOUCHED_BYTES))
                        .subscribeOn(threads))
                .then();
    }

    private static void touch(MemorySegment pool, long offset) {
        pool.asSlice(offset, Math.min(TOUCHED_BYTES, pool.byteSize() - offset)).fill((byte) 0);
    }

    /**
     * Checks every page that a request has moved.
     *
     * @return how many are not what they were when they were filled
     */
    long corrupted(long requestId, RequestPlan plan) {
        long corrupted = 0;
        for (int layer = 0; layer < geometry.layers(); layer++) {
            for (PlannedBlock block : plan.blocks()) {
                for (int page = block.reusedPages(); page < block.pages(); page++) {
                    if (!intact(requestId, block, page, layer)) {
                        corrupted++;
                        if (corrupted == 1) {
                            LOG.warn(
                                    "request {}: layer {}, block {}, page {} differs from the page that was sent",
                                    requestId,
                                    layer,
                                    block.index(),
                                    page);
                        }
                    }
                }
            }
        }
        return corrupted;
    }

    private boolean intact(long requestId, PlannedBlock block, int page, int layer) {
        int pageId = block.pageId(page);
        MemorySegment bytes = pages.segment().asSlice(geometry.offset(layer, pageId), geometry.pageBytes());
        int seal = PageSeal.load(seals.segment(), geometry.sealOffset(layer, pageId));
        return seal == PageSeal.of(bytes, requestId, block.hash(), page, layer);
    }

    /** Ends the regions; completes when nothing can write into them and the memory is given back. */
    CompletableFuture<Void> close() {
        return CompletableFuture.allOf(pages.close(), seals.close());
    }
}
