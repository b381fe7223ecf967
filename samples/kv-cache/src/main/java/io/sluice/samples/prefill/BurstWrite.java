package io.sluice.samples.prefill;

import java.util.List;
import java.util.stream.IntStream;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * Fills and writes the pages of one request in bursts, each as large as the staging area: all of a burst is filled before
 * any of it is written, and all of it is written before the next is filled. So this side does nothing but write meanwhile,
 * and how long that takes can be told.
 */
record BurstWrite(RequestWrite request) {
    /** Pages that are filled, and wait to be written. */
    private record Filled(PageBatch batch, StagingArea.Buffer buffer) {}

    /** Moves all pages of all layers; completes when the decode side has acknowledged them. */
    Mono<Void> run() {
        int inLayer = PageBatch.countInLayer(request);
        return Flux.range(0, request.target.geometry().layers())
                .concatMapIterable(layer -> batches(layer, inLayer))
                .buffer(request.staging.buffers())
                .concatMap(batches -> fill(batches).flatMap(this::write), 1)
                .then();
    }

    private List<PageBatch> batches(int layer, int count) {
        return IntStream.range(0, count)
                .mapToObj(number -> PageBatch.of(request, layer, number))
                .toList();
    }

    private Mono<List<Filled>> fill(List<PageBatch> batches) {
        return Flux.fromIterable(batches)
                .flatMap(
                        batch -> request.staging
                                .acquire()
                                .publishOn(request.compute)
                                .map(buffer -> {
                                    batch.fill(buffer);
                                    return new Filled(batch, buffer);
                                }),
                        batches.size())
                .collectList();
    }

    private Mono<Void> write(List<Filled> burst) {
        return Mono.defer(() -> {
            long begun = System.nanoTime();
            return Flux.fromIterable(burst)
                    .flatMap(filled -> filled.batch().write(filled.buffer()), burst.size())
                    .then(Mono.fromRunnable(() -> {
                        request.wrote(System.nanoTime() - begun);
                        burst.forEach(this::moved);
                    }));
        });
    }

    private void moved(Filled filled) {
        request.staging.release(filled.buffer());
        request.moved(filled.batch().pages());
    }
}
