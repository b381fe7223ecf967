package io.sluice.samples.prefill;

import io.sluice.engine.ConnectionLostException;
import io.sluice.engine.InFlightWindow;
import io.sluice.engine.RemoteRegion;
import io.sluice.engine.SluiceException;
import io.sluice.reactor.ReactiveConnection;
import io.sluice.reactor.ReactiveTransferEngine;
import io.sluice.samples.control.ControlLink;
import io.sluice.samples.control.ControlMessage.Result;
import io.sluice.samples.control.ControlMessage.Welcome;
import io.sluice.samples.control.MalformedMessageException;
import io.sluice.samples.control.PageAssignment;
import io.sluice.samples.control.RefusedException;
import io.sluice.samples.kvcache.ModelPreset;
import io.sluice.samples.kvcache.PageFiller;
import io.sluice.samples.kvcache.PageGeometry;
import io.sluice.samples.kvcache.TokenLayout;
import io.sluice.samples.trace.TraceRequest;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.LongAdder;
import reactor.core.publisher.Mono;
import reactor.core.publisher.SignalType;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;

/** A conversation with one decode side, over one connection. Several requests may be under way at once. Any thread. */
public final class PrefillSession implements PageMover {
    private static final Duration LAST_PAGE = Duration.ofSeconds(5);

    private final DecodeClient decode;
    final ReactiveConnection connection;
    final DecodeMemory target;
    final StagingArea staging;
    final PageFiller filler;
    final Scheduler compute;
    final MoveCounters counters;
    private final AtomicBoolean separate = new AtomicBoolean();

    private PrefillSession(
            ReactiveConnection connection,
            DecodeClient decode,
            DecodeMemory target,
            StagingArea staging,
            PageFiller filler,
            Scheduler compute,
            MoveCounters counters) {
        this.connection = connection;
        this.decode = decode;
        this.target = target;
        this.staging = staging;
        this.filler = filler;
        this.compute = compute;
        this.counters = counters;
    }

    /**
     * Introduces this side to the decode side.
     *
     * @param seed for the content of the pages
     * @return the session, or {@link RefusedException}
     */
    public static Mono<PrefillSession> open(
            ReactiveTransferEngine engine, ReactiveConnection connection, ModelPreset model, long seed) {
        return open(engine, connection, model, seed, new MoveCounters());
    }

    static Mono<PrefillSession> open(
            ReactiveTransferEngine engine,
            ReactiveConnection connection,
            ModelPreset model,
            long seed,
            MoveCounters counters) {
        return Mono.defer(() -> {
            Scheduler compute = computeScheduler();
            // Replies are handled there, too: they come on a poller, which is not to sort page ids.
            DecodeClient decode = DecodeClient.over(new ControlLink(connection.withScheduler(compute)));
            return decode.greet(model)
                    .flatMap(welcome -> attach(connection, model, welcome))
                    .onErrorResume(SluiceException.class, decode::explain)
                    .doOnError(error -> compute.dispose())
                    .map(target -> new PrefillSession(
                            connection,
                            decode,
                            target,
                            StagingArea.allocate(engine, model.pageBytes()),
                            new PageFiller(seed),
                            compute,
                            counters));
        });
    }

    private static Mono<DecodeMemory> attach(ReactiveConnection connection, ModelPreset model, Welcome welcome) {
        PageGeometry geometry = DecodeMemory.geometry(model, welcome);
        return connection
                .attach(List.of(welcome.pages(), welcome.seals()))
                .map(regions -> new DecodeMemory(geometry, regions.getFirst(), regions.getLast()));
    }

    /** Half of the processors fill pages; the pollers and, on one machine, the decode side need the others. */
    private static Scheduler computeScheduler() {
        int threads = Math.max(1, Runtime.getRuntime().availableProcessors() / 2);
        return Schedulers.newParallel("prefill-compute", threads, true);
    }

    @Override
    public PageGeometry geometry() {
        return target.geometry();
    }

    @Override
    public String transport() {
        return connection.connection().transport();
    }

    @Override
    public PageMover.InFlightFigures inFlight() {
        InFlightWindow window = connection.connection().window();
        return new PageMover.InFlightFigures(window.operations(), window.maxOperationsSeen(), window.maxBytesSeen());
    }

    @Override
    public long bytesMoved() {
        return counters.bytesMoved().sum();
    }

    @Override
    public Mono<PageMover.RequestOutcome> replay(long requestId, TraceRequest request, PageMover.Phases phases) {
        Mono<PageMover.RequestOutcome> outcome = outcome(requestId, request, phases);
        return phases == PageMover.Phases.SEPARATE ? alone(outcome) : outcome;
    }

    /** Each needs all of the staging area. */
    private <T> Mono<T> alone(Mono<T> request) {
        return Mono.defer(() -> separate.compareAndSet(false, true)
                // Before the subscriber asks for the next one.
                ? request.doOnTerminate(() -> separate.set(false)).doOnCancel(() -> separate.set(false))
                : Mono.error(new IllegalStateException("in separate phases there is one request at a time")));
    }

    private Mono<PageMover.RequestOutcome> outcome(long requestId, TraceRequest request, PageMover.Phases phases) {
        return decode.allocate(requestId, request)
                .flatMap(assignment -> move(requestId, request, assignment, phases))
                .onErrorResume(SluiceException.class, decode::explain);
    }

    private Mono<PageMover.RequestOutcome> move(
            long requestId, TraceRequest request, PageAssignment assignment, PageMover.Phases phases) {
        MovedPages pages = MovedPages.of(
                request.inputTokens(),
                request.blockHashes(),
                assignment,
                target.geometry().slots());
        RequestWrite write = new RequestWrite(requestId, pages, this);
        Mono<Result> result = decode.result(requestId);
        return write.run(phases)
                .then(decode.last(requestId))
                .then(Mono.fromSupplier(() -> transferNanos(write)))
                .flatMap(nanos -> result.map(checked -> outcome(request, write, checked, nanos)))
                .doFinally(
                        end -> counters.pagesAbandoned().add(end == SignalType.ON_COMPLETE ? 0 : write.pagesFilled()));
    }

    private static long transferNanos(RequestWrite write) {
        return write.pages.count() == 0
                ? PageMover.RequestOutcome.NOTHING_MOVED
                : System.nanoTime() - write.lastFilledNanos();
    }

    private PageMover.RequestOutcome outcome(
            TraceRequest request, RequestWrite write, Result checked, long transferNanos) {
        PageGeometry geometry = target.geometry();
        return new PageMover.RequestOutcome(
                (long) TokenLayout.wholePages(request.inputTokens()) * geometry.layers(),
                write.pagesMoved(),
                (long) write.pages.reusedPages() * geometry.layers(),
                checked.checkedPages(),
                checked.corruptedPages(),
                write.bytesWritten(),
                write.pagesMoved() * geometry.pageBytes(),
                write.writeNanos(),
                transferNanos);
    }

    @Override
    public PageMover.RecoveryFigures recovery() {
        return new PageMover.RecoveryFigures(0, 0, counters.pagesAbandoned().sum());
    }

    /** Ends when the connection does. */
    Mono<Void> broken() {
        return connection
                .ended()
                .then(Mono.error(() -> new ConnectionLostException("the decode side has closed the connection")));
    }

    @Override
    public Mono<Void> close() {
        return connection.close().doFinally(signal -> compute.dispose());
    }

    /** Gives back what the session of a connection that has ended still holds. */
    Mono<Void> release() {
        // Who fills a page at this moment is let finish before its memory goes.
        return compute.disposeGracefully()
                .timeout(LAST_PAGE)
                .onErrorComplete()
                .then(connection.quiesced().onErrorComplete())
                .then(Mono.fromFuture(() -> staging.region().close()));
    }

    /**
     * The counters over all sessions of one mover. Any thread.
     *
     * @param bytesMoved bytes acknowledged: of pages, and of the seal of each
     * @param pagesAbandoned pages, over all layers, that were handed over to be written by requests that did not end well
     */
    record MoveCounters(LongAdder bytesMoved, LongAdder pagesAbandoned) {
        MoveCounters() {
            this(new LongAdder(), new LongAdder());
        }
    }

    /** The decode side's memory, as this side reaches it. */
    record DecodeMemory(PageGeometry geometry, RemoteRegion pages, RemoteRegion seals) {
        static PageGeometry geometry(ModelPreset model, Welcome welcome) {
            PageGeometry geometry = new PageGeometry(model.layers(), model.pageBytes(), welcome.slots());
            if (welcome.pages().length() != geometry.poolBytes()
                    || welcome.seals().length() != geometry.sealBytes()) {
                throw new MalformedMessageException("the decode side's regions are not as large as its pool");
            }
            return geometry;
        }
    }
}
