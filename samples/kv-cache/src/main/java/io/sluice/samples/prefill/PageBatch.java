package io.sluice.samples.prefill;

import io.sluice.engine.MemoryRegion;
import io.sluice.samples.kvcache.PageSeal;
import java.lang.foreign.MemorySegment;
import reactor.core.publisher.Mono;

/**
 * Some pages of one layer of a request, as many as one staging buffer holds at most.
 *
 * @param request whose pages
 * @param layer the layer
 * @param start the first of the pages that are to be moved
 * @param end behind the last of them
 */
record PageBatch(RequestWrite request, int layer, int start, int end) {

    static int countInLayer(RequestWrite request) {
        return Math.ceilDiv(request.pages.count(), request.staging.pagesPerBuffer());
    }

    /** One of a layer's batches, from 0. */
    static PageBatch of(RequestWrite request, int layer, int number) {
        int perBuffer = request.staging.pagesPerBuffer();
        int start = number * perBuffer;
        return new PageBatch(request, layer, start, Math.min(request.pages.count(), start + perBuffer));
    }

    int pages() {
        return end - start;
    }

    /** A batch that is filled, and is written next. */
    record Filled(PageBatch batch, StagingArea.Buffer buffer) {
        /** Writes it; completes when the decode side has acknowledged it. */
        Mono<Void> write() {
            return batch.write(buffer);
        }

        /** Its pages have moved, and nothing reads the buffer any more. */
        void moved() {
            batch.request.staging.release(buffer);
            batch.request.moved(batch.pages());
        }
    }

    /** Fills its pages and seals as soon as a buffer is free. */
    Mono<Filled> fill() {
        return request.staging.acquire().publishOn(request.compute).map(buffer -> {
            fill(buffer);
            return new Filled(this, buffer);
        });
    }

    private void fill(StagingArea.Buffer buffer) {
        MovedPages pages = request.pages;
        MemorySegment memory = request.staging.region().segment();
        int pageBytes = request.target.geometry().pageBytes();
        for (int i = start; i < end; i++) {
            MemorySegment page = memory.asSlice(buffer.pagesAt() + (long) (i - start) * pageBytes, pageBytes);
            request.filler.fill(page, pages.blockHash(i), pages.pageInBlock(i), layer);
            int seal = PageSeal.of(page, request.requestId, pages.blockHash(i), pages.pageInBlock(i), layer);
            PageSeal.store(memory, buffer.sealsAt() + (long) (i - start) * PageSeal.BYTES, seal);
        }
        request.filled(layer, start, end);
    }

    /** Pages and seals are each a list of pages. */
    private Mono<Void> write(StagingArea.Buffer buffer) {
        DecodeMemory target = request.target;
        MemoryRegion staged = request.staging.region();
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
            sealsTo[i] = target.sealTable().offset(layer, pageId);
        }
        return request.connection
                .writePages(staged, pagesFrom, target.pages(), pagesTo, pageBytes)
                .and(request.connection.writePages(staged, sealsFrom, target.seals(), sealsTo, PageSeal.BYTES));
    }
}
