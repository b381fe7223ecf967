package io.sluice.samples.prefill;

import io.sluice.engine.ErrorKind;
import io.sluice.engine.SluiceException;
import io.sluice.reactor.ReactiveConnection;
import io.sluice.reactor.ReactiveTransferEngine;
import io.sluice.reactor.recovery.CircuitBreakerOptions;
import io.sluice.reactor.recovery.NotConnectedException;
import io.sluice.reactor.recovery.ReconnectOptions;
import io.sluice.reactor.recovery.ReconnectingConnection;
import io.sluice.samples.control.RefusedException;
import io.sluice.samples.control.RefusedException.RefusalReason;
import io.sluice.samples.kvcache.ModelPreset;
import io.sluice.samples.kvcache.PageGeometry;
import io.sluice.samples.trace.TraceRequest;
import java.time.Duration;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Mono;
import reactor.util.retry.Retry;

/**
 * Moves pages over one session after the other. When the connection breaks, every request under way ends, waits for the next
 * connection, introduces itself there with the others, and is moved again from its first page: the decode side that comes back
 * has an empty pool, and whether what was under way had arrived is unknown.
 */
public final class RecoveringMover implements PageMover {
    private static final Logger LOG = LoggerFactory.getLogger(RecoveringMover.class);

    /** A peer that comes back so often and never lasts for one request will not. */
    private static final int MOST_REPEATS = 100;

    /** How long a decode side that still has the broken connection on its hands may take to notice. */
    private static final Duration OCCUPIED_PAUSE = Duration.ofMillis(200);

    private final ReactiveTransferEngine engine;
    private final ReconnectingConnection connection;
    private final ModelPreset model;
    private final long seed;
    private final Duration patience;
    private final PrefillSession.MoveCounters counters = new PrefillSession.MoveCounters();
    private final LongAdder requestsRepeated = new LongAdder();

    // Guarded by this.
    private @Nullable Opening opening;
    private @Nullable PrefillSession latest;
    private PageMover.InFlightFigures inFlightBefore = new PageMover.InFlightFigures(0, 0, 0);

    private RecoveringMover(
            ReactiveTransferEngine engine,
            ReconnectingConnection connection,
            ModelPreset model,
            long seed,
            Duration patience) {
        this.engine = engine;
        this.connection = connection;
        this.model = model;
        this.seed = seed;
        this.patience = patience;
    }

    /** A session being opened on a connection, once, for all who need it. */
    private record Opening(ReactiveConnection on, Mono<PrefillSession> session) {}

    /**
     * Introduces this side to the decode side.
     *
     * @param connect makes a connection to the decode side, for each subscriber
     * @param patience how long to wait for a decode side that is gone
     * @return a mover that outlives connections, or {@link RefusedException}, {@link NotConnectedException}
     */
    public static Mono<RecoveringMover> open(
            ReactiveTransferEngine engine,
            Mono<ReactiveConnection> connect,
            ModelPreset model,
            long seed,
            Duration patience) {
        return Mono.defer(() -> {
            // A process that is being started again may refuse many times; what bounds it is the patience.
            ReconnectOptions options = ReconnectOptions.defaults()
                    .withBackoff(Duration.ofMillis(50), Duration.ofSeconds(1))
                    .withMaxWait(patience)
                    .withCircuitBreaker(CircuitBreakerOptions.never());
            RecoveringMover mover =
                    new RecoveringMover(engine, ReconnectingConnection.over(connect, options), model, seed, patience);
            return mover.session()
                    .thenReturn(mover)
                    .onErrorResume(
                            error -> mover.connection.close().onErrorComplete().then(Mono.error(error)));
        });
    }

    @Override
    public Mono<PageMover.RequestOutcome> replay(long requestId, TraceRequest request, PageMover.Phases phases) {
        return Mono.defer(() -> session()
                        .flatMap(session -> Mono.firstWithSignal(
                                session.replay(requestId, request, phases),
                                // A broken session ends the wait for resources, such as a buffer that a failed
                                // write has kept.
                                session.broken().cast(PageMover.RequestOutcome.class))))
                .retryWhen(Retry.max(MOST_REPEATS)
                        .filter(RecoveringMover::isBreak)
                        .doBeforeRetry(failed -> again(requestId, failed.failure()))
                        .onRetryExhaustedThrow((spec, failed) -> failed.failure()));
    }

    private void again(long requestId, Throwable failure) {
        LOG.debug("request {} is moved again", requestId, failure);
        requestsRepeated.increment();
    }

    private static boolean isBreak(Throwable error) {
        if (!(error instanceof SluiceException known) || error instanceof NotConnectedException) {
            return false;
        }
        // of a vectored write, that of the element that failed first
        return switch (ErrorKind.of(known)) {
            case CONNECTION_LOST, CONNECTION_CLOSED, OUTCOME_UNKNOWN -> true;
            default -> false;
        };
    }

    private static boolean isOccupied(Throwable error) {
        return error instanceof RefusedException refused && refused.reason() == RefusalReason.OCCUPIED;
    }

    /** The session on the connection that there is, or on the next. */
    private Mono<PrefillSession> session() {
        return Mono.defer(() -> {
            long begun = System.nanoTime();
            return connection
                    .connection()
                    .flatMap(open -> openingOn(open).session())
                    .retryWhen(Retry.fixedDelay(Long.MAX_VALUE, OCCUPIED_PAUSE)
                            .filter(failure -> (isOccupied(failure) || isBreak(failure))
                                    && System.nanoTime() - begun < patience.toNanos()));
        });
    }

    private synchronized Opening openingOn(ReactiveConnection open) {
        Opening known = opening;
        if (known == null || known.on() != open) {
            known = new Opening(
                    open,
                    PrefillSession.open(engine, open, model, seed, counters)
                            .doOnNext(this::opened)
                            .cache());
            opening = known;
        }
        return known;
    }

    private void opened(PrefillSession session) {
        PrefillSession before;
        synchronized (this) {
            before = latest;
            latest = session;
            if (before != null) {
                inFlightBefore = before.inFlight().after(inFlightBefore);
            }
        }
        if (before != null) {
            before.release()
                    .subscribe(
                            nothing -> {},
                            error -> LOG.info("what a broken session held was not given back in order", error));
        }
    }

    private synchronized PrefillSession latest() {
        PrefillSession session = latest;
        if (session == null) {
            throw new IllegalStateException("no session was ever open");
        }
        return session;
    }

    @Override
    public PageGeometry geometry() {
        return latest().geometry();
    }

    @Override
    public String transport() {
        return latest().transport();
    }

    @Override
    public synchronized PageMover.InFlightFigures inFlight() {
        return latest().inFlight().after(inFlightBefore);
    }

    @Override
    public long bytesMoved() {
        return counters.bytesMoved().sum();
    }

    @Override
    public PageMover.RecoveryFigures recovery() {
        return new PageMover.RecoveryFigures(
                Math.max(0, connection.connectionsMade() - 1),
                requestsRepeated.sum(),
                counters.pagesAbandoned().sum());
    }

    @Override
    public Mono<Void> close() {
        return connection.close().then(Mono.defer(() -> latest().close()));
    }
}
