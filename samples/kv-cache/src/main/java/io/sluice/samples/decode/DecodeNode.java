package io.sluice.samples.decode;

import io.sluice.engine.EngineAddress;
import io.sluice.engine.RegistrationException;
import io.sluice.reactor.ReactiveConnection;
import io.sluice.reactor.ReactiveTransferEngine;
import io.sluice.samples.control.ControlLink;
import io.sluice.samples.control.ControlMessage.Refused;
import io.sluice.samples.control.RefusedException.RefusalReason;
import io.sluice.samples.kvcache.ModelPreset;
import io.sluice.samples.kvcache.PageGeometry;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;

/**
 * A decode process: serves one prefill process after another, each with a page pool and a prefix cache of its own, so
 * that nothing of one replay shows in the next, and nothing that is left of a lost one can write into the next.
 */
public final class DecodeNode {
    private static final Logger LOG = LoggerFactory.getLogger(DecodeNode.class);

    private static final Duration REFUSAL = Duration.ofSeconds(5);

    private final ReactiveTransferEngine engine;
    private final ModelPreset model;
    private final PageGeometry geometry;
    private final boolean touched;
    private final AtomicBoolean occupied = new AtomicBoolean();
    private final Scheduler conversation = Schedulers.newSingle("decode-conversation", true);
    private final Scheduler checks = Schedulers.newParallel("decode-check", checkThreads(), true);

    /**
     * Prepares; serves only once subscribed to.
     *
     * @param geometry of each page pool
     * @param touched whether the kernel finds the memory of a page pool before its prefill process is served, not as pages are
     *     first written to, each of which waits for it
     */
    public DecodeNode(ReactiveTransferEngine engine, ModelPreset model, PageGeometry geometry, boolean touched) {
        this.engine = engine;
        this.model = model;
        this.geometry = geometry;
        this.touched = touched;
    }

    private static int checkThreads() {
        return Math.max(1, Runtime.getRuntime().availableProcessors() / 2);
    }

    /** Where prefill processes connect. */
    public EngineAddress address() {
        return engine.address();
    }

    /**
     * Serves all prefill processes that connect; to be subscribed to once.
     *
     * @return one report for each prefill process that was served; completes when the engine is closed
     */
    public Flux<SessionReport> sessions() {
        return engine.accepted().flatMap(this::serve).doFinally(end -> {
            conversation.dispose();
            checks.dispose();
        });
    }

    private Mono<SessionReport> serve(ReactiveConnection connection) {
        if (!occupied.compareAndSet(false, true)) {
            return refuse(
                            connection,
                            RefusalReason.OCCUPIED,
                            "the decode side serves another prefill process; try later")
                    .then(Mono.empty());
        }
        // On a poller it would hold up all connections: finding memory for a large pool takes seconds. Messages of
        // the prefill process wait meanwhile.
        return Mono.fromCallable(() -> ReceivedPages.allocate(engine.engine(), geometry))
                .subscribeOn(checks)
                .flatMap(received -> serve(connection, received))
                .onErrorResume(RegistrationException.class, error -> refuseWithoutMemory(connection, error))
                .doOnNext(report -> occupied.set(false));
    }

    private Mono<SessionReport> serve(ReactiveConnection connection, ReceivedPages received) {
        Mono<Void> ready = touched ? received.touch(checks) : Mono.empty();
        return ready.then(Mono.defer(() -> new DecodeSession(connection, model, received, conversation, checks).run()))
                .delayUntil(report -> Mono.fromFuture(received.close()));
    }

    private Mono<SessionReport> refuseWithoutMemory(ReactiveConnection connection, RegistrationException error) {
        LOG.error("no memory for a page pool of {} bytes: {}", geometry.poolBytes(), error.getMessage());
        String text =
                "the decode side has no memory for its page pool (" + error.getMessage() + "): give a smaller --pool";
        return refuse(connection, RefusalReason.POOL_TOO_SMALL, text).thenReturn(new SessionReport(0, 0, 0, error));
    }

    private static Mono<Void> refuse(ReactiveConnection connection, RefusalReason reason, String text) {
        return new ControlLink(connection)
                .send(new Refused(reason, text))
                .timeout(REFUSAL)
                .then(connection.close())
                .onErrorResume(error -> {
                    LOG.debug("{} went away while it was refused", connection, error);
                    return Mono.empty();
                });
    }

    /**
     * How a prefill process was served.
     *
     * @param pagesChecked pages that were checked, over all layers
     * @param error what ended the session, or {@code null} if the prefill side has closed it
     */
    public record SessionReport(
            long requests,
            long pagesChecked,
            long pagesCorrupted,
            @Nullable Throwable error) {}
}
