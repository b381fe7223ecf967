package io.sluice.samples.prefill;

import io.sluice.engine.TransferElement;
import io.sluice.engine.TransferResult;
import io.sluice.samples.kvcache.PageSeal;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import reactor.core.publisher.Flux;

/**
 * One layer of one request: its elements, which are made, pages filled and all, as the connection asks for them, and
 * what happens as they end. The pages come in batches of one staging buffer each. An element is a run of pages, or of
 * seals, that are neighbours on the decode side.
 */
final class LayerWrite {

    private final RequestWrite request;
    private final int layer;
    private final int batches;

    // The compute thread writes a batch's entries before it hands over the first of the batch's elements, and their
    // results come after that.
    private final StagingBuffer[] buffers;
    private final int[] firstElements;

    // Touched by results only, which come one at a time.
    private final int[] elementsEnded;

    private int elements;

    LayerWrite(RequestWrite request, int layer) {
        this.request = request;
        this.layer = layer;
        this.batches =
                (request.pages.count() + request.staging.pagesPerBuffer() - 1) / request.staging.pagesPerBuffer();
        this.buffers = new StagingBuffer[batches];
        this.firstElements = new int[batches + 1];
        this.elementsEnded = new int[batches];
        Arrays.fill(firstElements, Integer.MAX_VALUE);
        firstElements[0] = 0;
    }

    /** The layer's elements. For one subscriber. */
    Flux<TransferElement> elements() {
        return Flux.range(0, batches)
                .concatMap(
                        batch -> request.staging
                                .acquire()
                                .publishOn(request.compute)
                                .flatMapIterable(buffer -> fill(batch, buffer)),
                        1);
    }

    /** An element has ended. */
    void ended(TransferResult result) {
        if (!result.succeeded()) {
            // The whole write fails after this. Its buffer stays out of use: what failed may still be read from there.
            return;
        }
        int batch = batchOf(result.element());
        elementsEnded[batch]++;
        if (elementsEnded[batch] == firstElements[batch + 1] - firstElements[batch]) {
            request.staging.release(buffers[batch]);
            request.moved(end(batch) - start(batch));
        }
    }

    private int batchOf(int element) {
        int found = Arrays.binarySearch(firstElements, element);
        return found >= 0 ? found : -found - 2;
    }

    private int start(int batch) {
        return batch * request.staging.pagesPerBuffer();
    }

    private int end(int batch) {
        return Math.min(request.pages.count(), start(batch) + request.staging.pagesPerBuffer());
    }

    private List<TransferElement> fill(int batch, StagingBuffer buffer) {
        int start = start(batch);
        int end = end(batch);
        fillPages(start, end, buffer);
        request.filled(layer, end);
        List<TransferElement> made = new ArrayList<>();
        addRuns(made, start, end, buffer);
        elements += made.size();
        buffers[batch] = buffer;
        firstElements[batch + 1] = elements;
        return made;
    }

    private void fillPages(int start, int end, StagingBuffer buffer) {
        MovedPages pages = request.pages;
        MemorySegment memory = request.staging.region().segment();
        int pageBytes = request.target.geometry().pageBytes();
        for (int i = start; i < end; i++) {
            MemorySegment page = memory.asSlice(buffer.pagesAt() + (long) (i - start) * pageBytes, pageBytes);
            request.filler.fill(page, pages.blockHash(i), pages.pageInBlock(i), layer);
            int seal = PageSeal.of(page, request.requestId, pages.blockHash(i), pages.pageInBlock(i), layer);
            PageSeal.store(memory, buffer.sealsAt() + (long) (i - start) * PageSeal.BYTES, seal);
        }
    }

    private void addRuns(List<TransferElement> to, int start, int end, StagingBuffer buffer) {
        DecodeMemory target = request.target;
        int pageBytes = target.geometry().pageBytes();
        for (int i = start; i < end; ) {
            int next = request.pages.endOfRun(i, end);
            int pageId = request.pages.pageId(i);
            to.add(new TransferElement(
                    request.staging.region(),
                    buffer.pagesAt() + (long) (i - start) * pageBytes,
                    target.pages(),
                    target.geometry().offset(layer, pageId),
                    (long) (next - i) * pageBytes));
            to.add(new TransferElement(
                    request.staging.region(),
                    buffer.sealsAt() + (long) (i - start) * PageSeal.BYTES,
                    target.seals(),
                    target.sealTable().offset(layer, pageId),
                    (long) (next - i) * PageSeal.BYTES));
            i = next;
        }
    }
}
