package io.sluice.samples.prefill;

import io.sluice.engine.MemoryRegion;
import io.sluice.samples.kvcache.PageSeal;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.concurrent.atomic.LongAdder;
import java.util.stream.Stream;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/**
 * Fills and writes the pages of one request as lists of pages, layer after layer as a model computes them.
 * While a layer is on its way the next is being filled; or, in separate phases, in bursts.
 */
final class RequestWrite {
    /**
     * How many layers may be under way. Several, so that requests of a few pages don't wait for each layer's answer.
     */
    private static final int LAYERS_IN_FLIGHT = 4;

    final long requestId;
    final MovedPages pages;
    final PrefillSession session;
    private final LongAdder pagesFilled = new LongAdder();
    private final LongAdder pagesMoved = new LongAdder();
    private final LongAdder writeNanos = new LongAdder();
    private volatile long lastFilledNanos;

    RequestWrite(long requestId, MovedPages pages, PrefillSession session) {
        this.requestId = requestId;
        this.pages = pages;
        this.session = session;
    }

    /** Moves all pages of all layers; completes when the decode side has acknowledged them. */
    Mono<Void> run(PageMover.Phases phases) {
        if (pages.count() == 0) {
            return Mono.empty();
        }
        return phases == PageMover.Phases.SEPARATE ? runInBursts() : runOverlapping();
    }

    private Mono<Void> runOverlapping() {
        // Each opens when its layer is filled.
        List<Sinks.Empty<Void>> filled = Stream.generate(Sinks::<Void>empty)
                .limit(session.target.geometry().layers())
                .toList();
        return Flux.range(0, filled.size())
                .flatMap(
                        layer -> {
                            Mono<Void> before = layer == 0
                                    ? Mono.empty()
                                    : filled.get(layer - 1).asMono();
                            return before.then(
                                    runLayer(layer, () -> filled.get(layer).tryEmitEmpty()));
                        },
                        LAYERS_IN_FLIGHT)
                .then();
    }

    /**
     * Moves one layer in batches of pages, one staging buffer each, which are filled one after the other. Each is written as
     * a list of pages as soon as it is filled, while the next is being filled.
     *
     * @param filled is run when all of them are filled
     */
    private Mono<Void> runLayer(int layer, Runnable filled) {
        int batches = batchesInLayer();
        return Flux.range(0, batches)
                .map(number -> batch(layer, number))
                .concatMap(PageBatch::fill, 1)
                .doOnComplete(filled)
                // Where one fails its buffer stays out of use: what failed may still be read from there.
                .flatMap(batch -> batch.write().doOnSuccess(done -> batch.moved()), batches)
                .then();
    }

    /**
     * Each burst is as large as the staging area: all of it is filled before any of it is written, and all of it is written
     * before the next is filled. So this side does nothing but write meanwhile, and how long that takes can be told.
     */
    private Mono<Void> runInBursts() {
        int inLayer = batchesInLayer();
        return Flux.range(0, session.target.geometry().layers())
                .concatMap(layer -> Flux.range(0, inLayer).map(number -> batch(layer, number)))
                .buffer(session.staging.buffers())
                .concatMap(
                        batches -> Flux.fromIterable(batches)
                                .flatMap(PageBatch::fill, batches.size())
                                .collectList()
                                .flatMap(this::writeBurst),
                        1)
                .then();
    }

    private Mono<Void> writeBurst(List<PageBatch.Filled> burst) {
        return Mono.defer(() -> {
            long begun = System.nanoTime();
            return Flux.fromIterable(burst)
                    .flatMap(PageBatch.Filled::write, burst.size())
                    .then(Mono.fromRunnable(() -> {
                        writeNanos.add(System.nanoTime() - begun);
                        burst.forEach(PageBatch.Filled::moved);
                    }));
        });
    }

    private int batchesInLayer() {
        return Math.ceilDiv(pages.count(), session.staging.pagesPerBuffer());
    }

    /** One of a layer's batches, from 0. */
    private PageBatch batch(int layer, int number) {
        int start = number * session.staging.pagesPerBuffer();
        return new PageBatch(this, layer, start, Math.min(pages.count(), start + session.staging.pagesPerBuffer()));
    }

    /** Pages that were filled and handed over to be written, with any outcome, over all layers. */
    long pagesFilled() {
        return pagesFilled.sum();
    }

    /** Pages that were written and acknowledged, over all layers. */
    long pagesMoved() {
        return pagesMoved.sum();
    }

    /** How long writes were under way while this side did nothing else; 0 if it did. */
    long writeNanos() {
        return writeNanos.sum();
    }

    /** When the last page was filled, as {@link System#nanoTime}. */
    long lastFilledNanos() {
        return lastFilledNanos;
    }

    /** Some pages of a layer are filled, and are written next. */
    void filled(int layer, int startOfPages, int endOfPages) {
        pagesFilled.add(endOfPages - startOfPages);
        if (layer == session.target.geometry().layers() - 1 && endOfPages == pages.count()) {
            lastFilledNanos = System.nanoTime();
        }
    }

    /** Some pages of a layer are acknowledged. */
    void moved(int count) {
        pagesMoved.add(count);
        session.counters.bytesMoved().add(bytes(count));
    }

    /** All that so many pages bring with them: their bytes and a seal for each. */
    private long bytes(long count) {
        return count * (session.target.geometry().pageBytes() + PageSeal.BYTES);
    }

    /** Bytes that were written and acknowledged, over all layers: of pages and of seals. */
    long bytesWritten() {
        return bytes(pagesMoved());
    }

    /** Some pages of one layer of a request, as many as one staging buffer holds at most. */
    record PageBatch(RequestWrite request, int layer, int start, int end) {
        int pages() {
            return end - start;
        }

        record Filled(PageBatch batch, StagingArea.Buffer buffer) {
            Mono<Void> write() {
                return batch.write(buffer);
            }

            /** Its pages have moved, and nothing reads the buffer any more. */
            void moved() {
                batch.request.session.staging.release(buffer);
                batch.request.moved(batch.pages());
            }
        }

        /** Fills its pages and seals as soon as a buffer is free. */
        Mono<Filled> fill() {
            return request.session
                    .staging
                    .acquire()
                    .publishOn(request.session.compute)
                    .map(buffer -> {
                        fill(buffer);
                        return new Filled(this, buffer);
                    });
        }

        private void fill(StagingArea.Buffer buffer) {
            MovedPages pages = request.pages;
            MemorySegment memory = request.session.staging.region().segment();
            int pageBytes = request.session.target.geometry().pageBytes();
            for (int i = start; i < end; i++) {
                MemorySegment page = memory.asSlice(buffer.pagesAt() + (long) (i - start) * pageBytes, pageBytes);
                request.session.filler.fill(page, pages.blockHash(i), pages.pageInBlock(i), layer);
                int seal = PageSeal.of(page, request.requestId, pages.blockHash(i), pages.pageInBlock(i), layer);
                PageSeal.store(memory, buffer.sealsAt() + (long) (i - start) * PageSeal.BYTES, seal);
            }
            request.filled(layer, start, end);
        }

        /** Pages and seals are each a list of pages. */
        private Mono<Void> write(StagingArea.Buffer buffer) {
            PrefillSession.DecodeMemory target = request.session.target;
            MemoryRegion staged = request.session.staging.region();
            int pageBytes = target.geometry().pageBytes();
            long[] pagesFrom = new long[pages()];
            long[] pagesTo = new long[pages()];
            long[] sealsFrom = new long[pages()];
            long[] sealsTo = new long[pages()];
            for (int i = 0; i < pages(); i++) {
                int pageId = request.pages.pageId(start + i);
                pagesFrom[i] = buffer.pagesAt() + (long) i * pageBytes;
                pagesTo[i] = target.geometry().offset(layer, pageId);
                sealsFrom[i] = buffer.sealsAt() + (long) i * PageSeal.BYTES;
                sealsTo[i] = target.geometry().sealOffset(layer, pageId);
            }
            return request.session
                    .connection
                    .writePages(staged, pagesFrom, target.pages(), pagesTo, pageBytes)
                    .and(request.session.connection.writePages(
                            staged, sealsFrom, target.seals(), sealsTo, PageSeal.BYTES));
        }
    }
}
