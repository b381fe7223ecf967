package io.sluice.samples.prefill;

import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * One layer of one request: batches of pages, one staging buffer each, which are filled one after the other. Each is written as
 * a list of pages as soon as it is filled, while the next is being filled.
 */
final class LayerWrite {

    private final RequestWrite request;
    private final int layer;
    private final int batches;

    LayerWrite(RequestWrite request, int layer) {
        this.request = request;
        this.layer = layer;
        this.batches = PageBatch.countInLayer(request);
    }

    /**
     * Moves the layer's pages.
     *
     * @param filled is run when all of them are filled
     * @return completes when the decode side has acknowledged them
     */
    Mono<Void> run(Runnable filled) {
        return Flux.range(0, batches)
                .map(number -> PageBatch.of(request, layer, number))
                .concatMap(PageBatch::fill, 1)
                .doOnComplete(filled)
                // Where one fails its buffer stays out of use: what failed may still be read from there.
                .flatMap(batch -> batch.write().doOnSuccess(done -> batch.moved()), batches)
                .then();
    }
}
