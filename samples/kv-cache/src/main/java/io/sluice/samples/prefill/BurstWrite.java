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

    private static Mono<List<PageBatch.Filled>> fill(List<PageBatch> batches) {
        return Flux.fromIterable(batches)
                .flatMap(PageBatch::fill, batches.size())
                .collectList();
    }

    private Mono<Void> write(List<PageBatch.Filled> burst) {
        return Mono.defer(() -> {
            long begun = System.nanoTime();
            return Flux.fromIterable(burst)
                    .flatMap(PageBatch.Filled::write, burst.size())
                    .then(Mono.fromRunnable(() -> {
                        request.wrote(System.nanoTime() - begun);
                        burst.forEach(PageBatch.Filled::moved);
                    }));
        });
    }
}
