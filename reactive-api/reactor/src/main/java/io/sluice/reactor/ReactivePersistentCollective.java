package io.sluice.reactor;

import io.sluice.collectives.CollectiveCallback;
import io.sluice.collectives.PersistentCollective;
import java.time.Duration;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;

/**
 * A collective that was prepared once, for any number of runs one after another. A run allocates the subscription alone.
 * All methods may be called from any thread.
 */
@SuppressWarnings("exports") // Applications with collectives require their module; others do without.
public final class ReactivePersistentCollective implements AutoCloseable {
    private final PersistentCollective collective;
    private final Mono<PersistentCollective> run;
    private final String name;
    private final @Nullable Scheduler scheduler;
    private final AbandonedCalls abandoned;

    ReactivePersistentCollective(
            Function<CollectiveCallback, PersistentCollective> preparation,
            String name,
            @Nullable Scheduler scheduler,
            AbandonedCalls abandoned) {
        // replaced by the callback of each run
        this.collective = preparation.apply((ended, error) -> {});
        this.name = name;
        this.scheduler = scheduler;
        this.abandoned = abandoned;
        Mono<PersistentCollective> mono = new CollectiveMono<>(name, this::start, abandoned).assembled();
        this.run = scheduler == null ? mono : mono.publishOn(scheduler);
    }

    private PersistentCollective start(CollectiveCallback end) {
        collective.start(end);
        return collective;
    }

    /**
     * Returns the source of runs, always the same one: each subscriber starts one when it requests the result, so {@code
     * repeat} works. For order and cancel see {@link ReactiveTeam}.
     *
     * @return the collective once the run has ended; {@link IllegalStateException} if another run goes on or this is
     *     closed
     */
    public Mono<PersistentCollective> run() {
        return run;
    }

    /**
     * Returns a source of runs that reports their progress, as {@link ReactiveTeam#progress} does.
     *
     * @param interval the shortest time between two reports but the last, positive
     * @return the reports
     */
    public Flux<CollectiveProgress> progress(Duration interval) {
        return ProgressReport.of(name, this::start, interval, scheduler, abandoned);
    }

    /**
     * Returns the engine's collective.
     *
     * @return what was prepared
     */
    public PersistentCollective collective() {
        return collective;
    }

    /** Releases what was prepared. A run that has not ended goes on. */
    @Override
    public void close() {
        collective.close();
    }
}
