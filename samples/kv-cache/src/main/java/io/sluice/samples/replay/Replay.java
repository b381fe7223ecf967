package io.sluice.samples.replay;

import io.sluice.samples.prefill.PageMover;
import io.sluice.samples.prefill.PageMover.RequestOutcome;
import io.sluice.samples.report.ProgressLine;
import io.sluice.samples.report.ReplaySummary;
import io.sluice.samples.trace.TraceRequest;
import io.sluice.samples.trace.TraceSource;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;

/**
 * Sends the requests of a trace through a session and counts what becomes of them. Unless phases are to be separate, a few
 * are under way at once, so that while one waits for room or for its checks another one's pages move; memory does not grow
 * with the trace.
 */
public final class Replay {
    private static final int REQUESTS_IN_FLIGHT = 8;

    private final PageMover session;
    private final TraceSource trace;
    private final Plan plan;
    // The totals of the requests that have ended. Guarded by this.
    private final Histogram transferNanos = new Histogram(3);
    private long startNanos;
    private long endNanos;
    private long requests;
    private long pagesMoved;
    private long pagesReused;
    private long pagesCorrupted;
    private long requestsUnaccounted;
    private long bytes;
    private long pageBytes;
    private long writeNanos;

    /**
     * Prepares; nothing happens yet.
     *
     * @param trace the requests; used by one thread at a time
     */
    public Replay(PageMover session, TraceSource trace, Plan plan) {
        this.session = session;
        this.trace = trace;
        this.plan = plan;
    }

    /**
     * Replays to the end; fails with the first thing that goes wrong. A corrupted page is counted and is no failure
     * here.
     */
    public Mono<Void> run() {
        return Mono.using(
                () -> Schedulers.newSingle("trace", true),
                reading -> Mono.fromRunnable(this::start)
                        .thenMany(due(reading))
                        .index()
                        .flatMap(
                                numbered -> session.replay(numbered.getT1(), numbered.getT2(), plan.phases()),
                                plan.phases() == PageMover.Phases.SEPARATE ? 1 : REQUESTS_IN_FLIGHT)
                        .doOnNext(this::add)
                        .then(),
                Scheduler::dispose);
    }

    private Flux<TraceRequest> due(Scheduler reading) {
        // Files are read on a thread that may wait for the disk.
        Flux<TraceRequest> due = plan.pacing().apply(read().subscribeOn(reading));
        return plan.duration() == null ? due : due.takeUntilOther(Mono.delay(plan.duration()));
    }

    private Flux<TraceRequest> read() {
        return Flux.defer(() -> {
            AtomicLong left = new AtomicLong(plan.requests());
            return Flux.generate(sink -> {
                if (left.getAndDecrement() > 0 && trace.hasNext()) {
                    sink.next(trace.next());
                } else {
                    sink.complete();
                }
            });
        });
    }

    private synchronized void start() {
        startNanos = System.nanoTime();
        endNanos = startNanos;
    }

    private synchronized void add(RequestOutcome outcome) {
        endNanos = System.nanoTime();
        requests++;
        pagesMoved += outcome.pagesMoved();
        pagesReused += outcome.pagesReused();
        pagesCorrupted += outcome.pagesCorrupted();
        requestsUnaccounted += outcome.accountedFor() ? 0 : 1;
        bytes += outcome.bytes();
        pageBytes += outcome.pageBytes();
        writeNanos += outcome.writeNanos();
        if (outcome.transferNanos() != RequestOutcome.NOTHING_MOVED) {
            transferNanos.recordValue(Math.max(0, outcome.transferNanos()));
        }
    }

    /** Requests of which some page was neither moved and checked nor reused. */
    public synchronized long requestsUnaccounted() {
        return requestsUnaccounted;
    }

    public synchronized ProgressLine.Progress progress() {
        return new ProgressLine.Progress(
                requests,
                plan.requests() == Long.MAX_VALUE ? ProgressLine.Progress.UNKNOWN : plan.requests(),
                session.bytesMoved(),
                session.inFlight().operations(),
                pagesMoved,
                pagesReused);
    }

    public synchronized ReplaySummary summary(String model, boolean interrupted) {
        PageMover.RecoveryFigures recovery = session.recovery();
        return new ReplaySummary(
                model,
                session.transport(),
                interrupted,
                requests,
                trace.skipped().count(),
                pagesMoved,
                pagesReused,
                pagesCorrupted,
                bytes,
                pageBytes,
                (endNanos - startNanos) / 1e9,
                plan.phases() == PageMover.Phases.SEPARATE ? writeNanos / 1e9 : null,
                ReplaySummary.TransferMillis.of(transferNanos),
                session.inFlight().maxOperations(),
                session.inFlight().maxBytes(),
                recovery.reconnects(),
                recovery.requestsRepeated(),
                recovery.pagesRepeated());
    }

    /**
     * How much of a trace is replayed, and when.
     *
     * @param requests the most requests to send; {@link Long#MAX_VALUE} for all
     * @param duration how long new requests are sent, or {@code null} for as long as there are any
     * @param phases whether filling, writing and checking pages overlap; if not, there is one request at a time
     */
    public record Plan(
            long requests, Pacing pacing, @Nullable Duration duration, PageMover.Phases phases) {}
}
