package io.sluice.samples.prefill;

import io.sluice.engine.TransferElement;
import io.sluice.engine.TransferResult;
import java.util.Arrays;
import java.util.List;
import reactor.core.publisher.Flux;

/**
 * One layer of one request: its elements, which are made, pages filled and all, as the connection asks for them, and
 * what happens as they end. The pages come in batches of one staging buffer each.
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
        this.batches = PageBatch.countInLayer(request);
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
            request.moved(PageBatch.of(request, layer, batch).pages());
        }
    }

    private int batchOf(int element) {
        int found = Arrays.binarySearch(firstElements, element);
        return found >= 0 ? found : -found - 2;
    }

    private List<TransferElement> fill(int batch, StagingBuffer buffer) {
        List<TransferElement> made = PageBatch.of(request, layer, batch).fill(buffer);
        elements += made.size();
        buffers[batch] = buffer;
        firstElements[batch + 1] = elements;
        return made;
    }
}
