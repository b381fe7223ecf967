package io.sluice.samples.prefill;

import io.sluice.reactor.ReactiveConnection;
import io.sluice.samples.kvcache.PageFiller;
import io.sluice.samples.kvcache.PageSeal;
import java.util.List;
import java.util.concurrent.atomic.LongAdder;
import java.util.stream.Stream;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.core.scheduler.Scheduler;

/**
 * Fills and writes the pages of one request as lists of pages, layer after layer as a model computes them ({@link LayerWrite}).
 * While a layer is on its way the next is being filled; or, in separate phases, in bursts ({@link BurstWrite}).
 */
final class RequestWrite {

    /**
     * How many layers may be under way. Several, so that requests of a few pages don't wait for each layer's answer.
     */
    private static final int LAYERS_IN_FLIGHT = 4;

    final long requestId;
    final MovedPages pages;
    final ReactiveConnection connection;
    final DecodeMemory target;
    final StagingArea staging;
    final PageFiller filler;
    final Scheduler compute;
    private final LongAdder bytesMoved;
    private final LongAdder pagesFilled = new LongAdder();
    private final LongAdder pagesMoved = new LongAdder();
    private final LongAdder writeNanos = new LongAdder();
    private volatile long lastFilledNanos;

    /**
     * Prepares; nothing happens yet.
     *
     * @param requestId the request
     * @param pages what is to be moved
     * @param connection to the decode side
     * @param target where to
     * @param staging where from
     * @param filler the content
     * @param compute where pages are filled
     * @param bytesMoved counts bytes of pages and seals as they are acknowledged
     */
    RequestWrite(
            long requestId,
            MovedPages pages,
            ReactiveConnection connection,
            DecodeMemory target,
            StagingArea staging,
            PageFiller filler,
            Scheduler compute,
            LongAdder bytesMoved) {
        this.requestId = requestId;
        this.pages = pages;
        this.connection = connection;
        this.target = target;
        this.staging = staging;
        this.filler = filler;
        this.compute = compute;
        this.bytesMoved = bytesMoved;
    }

    /** Moves all pages of all layers; completes when the decode side has acknowledged them. */
    Mono<Void> run(PageMover.Phases phases) {
        if (pages.count() == 0) {
            return Mono.empty();
        }
        return phases == PageMover.Phases.SEPARATE ? new BurstWrite(this).run() : runOverlapping();
    }

    private Mono<Void> runOverlapping() {
        // Each opens when its layer is filled.
        List<Sinks.Empty<Void>> filled = Stream.generate(Sinks::<Void>empty)
                .limit(target.geometry().layers())
                .toList();
        return Flux.range(0, filled.size())
                .flatMap(
                        layer -> {
                            Mono<Void> before = layer == 0
                                    ? Mono.empty()
                                    : filled.get(layer - 1).asMono();
                            return before.then(new LayerWrite(this, layer)
                                    .run(() -> filled.get(layer).tryEmitEmpty()));
                        },
                        LAYERS_IN_FLIGHT)
                .then();
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
        if (layer == target.geometry().layers() - 1 && endOfPages == pages.count()) {
            lastFilledNanos = System.nanoTime();
        }
    }

    /** Writes took so long, from the submission of the first to the completion of the last, and nothing else was done. */
    void wrote(long nanos) {
        writeNanos.add(nanos);
    }

    /** Some pages of a layer are acknowledged. */
    void moved(int count) {
        pagesMoved.add(count);
        bytesMoved.add(bytes(count));
    }

    /** All that so many pages bring with them: their bytes and a seal for each. */
    private long bytes(long count) {
        return count * (target.geometry().pageBytes() + PageSeal.BYTES);
    }

    /** Bytes that were written and acknowledged, over all layers: of pages and of seals. */
    long bytesWritten() {
        return bytes(pagesMoved());
    }
}
