package io.sluice.reactor;

import io.sluice.collectives.Team;
import io.sluice.collectives.cuda.GpuCollective;
import io.sluice.collectives.cuda.GpuCollectiveGraph;
import io.sluice.collectives.cuda.GpuTeam;
import io.sluice.collectives.cuda.GpuTeamOptions;
import io.sluice.collectives.cuda.TeamRegion;
import io.sluice.cuda.GpuStream;
import io.sluice.engine.MemoryRegion;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;

/**
 * A {@link GpuTeam} with a reactive interface; needs {@code sluice-collectives-cuda}. Collectives are prepared by {@link #team()}, and
 * each run of one is a {@code Mono}, which emits it when this rank's GPU is through with it:
 *
 * <pre>{@code
 * GpuCollective sum = gpus.team().allReduce(gradients, 0, gradients, 0, count, ElementType.BFLOAT16, ReduceOperation.SUM);
 * Mono<GpuCollective> step = gpus.run(sum);
 * }</pre>
 *
 * <p><strong>Lazy and cold.</strong> A collective is started when its subscriber requests the result, and once for each subscriber, so
 * {@code repeat} works. The order of these starts must be that of the other ranks, and one thread at a time starts: subscribe in order.
 * What {@link GpuCollective#start} throws is signalled by {@code onError}; the other errors are those of {@link GpuTeam#onReached}.
 *
 * <p><strong>Cancel.</strong> Before the start a cancel prevents it; the other ranks then wait for this one until their time-out.
 * Afterwards nothing more is emitted, but the collective goes on, as a GPU cannot be stopped and the other ranks need it: before changing
 * what it reads or writes wait for {@link #quiesced()}, or give the change to the team's stream.
 *
 * <p><strong>Threads.</strong> Signals arrive on the thread of the team's loop, which must not block, or on the scheduler of {@link
 * #withScheduler}. All methods may be called from any thread. Instances are immutable and cheap.
 */
@SuppressWarnings("exports") // Applications with collectives on GPUs require their module; others do without.
public final class ReactiveGpuTeam {
    static {
        PollerThreads.declareNonBlocking();
    }

    private final GpuTeam team;
    private final @Nullable Scheduler scheduler;
    private final AbandonedCalls abandoned;

    private ReactiveGpuTeam(GpuTeam team, @Nullable Scheduler scheduler, AbandonedCalls abandoned) {
        this.team = team;
        this.scheduler = scheduler;
        this.abandoned = abandoned;
    }

    /**
     * Wraps a GPU team. Both interfaces may be used side by side.
     *
     * @param team the GPU team
     * @return the wrapper, with signals on the team's loop
     */
    public static ReactiveGpuTeam from(GpuTeam team) {
        return new ReactiveGpuTeam(Objects.requireNonNull(team, "team"), null, new AbandonedCalls());
    }

    /**
     * Forms a GPU team, with a stream of its own, one for each subscriber. A collective of the team's; it is called on a thread of {@code
     * Schedulers.boundedElastic()}, as the driver takes milliseconds. Call nothing else of the team until it has
     * ended, so that the order stays that of the other ranks. A GPU team that no subscriber takes is closed.
     *
     * @param team of ranks whose engines have the transport {@code cuda}
     * @param gpu the stable id of this rank's GPU
     * @param options the same on all ranks
     * @return the GPU team, with signals where the team has its own, or an error as from {@link GpuTeam#form(Team, String,
     *     GpuTeamOptions)}
     */
    public static Mono<ReactiveGpuTeam> form(ReactiveTeam team, String gpu, GpuTeamOptions options) {
        Objects.requireNonNull(gpu, "gpu");
        Objects.requireNonNull(options, "options");
        return formed(team, () -> GpuTeam.form(team.team(), gpu, options));
    }

    /**
     * Forms a GPU team with a stream of the caller's, as {@link #form(ReactiveTeam, String, GpuTeamOptions)} does with one of its own.
     *
     * @param team of ranks whose engines have the transport {@code cuda}
     * @param stream of this rank's GPU; stays open when the GPU team closes
     * @param options the same on all ranks
     * @return the GPU team
     */
    public static Mono<ReactiveGpuTeam> form(ReactiveTeam team, GpuStream stream, GpuTeamOptions options) {
        Objects.requireNonNull(stream, "stream");
        Objects.requireNonNull(options, "options");
        return formed(team, () -> GpuTeam.form(team.team(), stream, options));
    }

    private static Mono<ReactiveGpuTeam> formed(ReactiveTeam team, Supplier<CompletableFuture<GpuTeam>> forming) {
        Scheduler scheduler = team.scheduler();
        Function<GpuTeam, ReactiveGpuTeam> wrapper =
                formed -> new ReactiveGpuTeam(formed, scheduler, new AbandonedCalls());
        return FutureMono.<ReactiveGpuTeam>ofResource(
                        "form", () -> GpuRun.elsewhere(forming).thenApply(wrapper), scheduler)
                .doOnDiscard(ReactiveGpuTeam.class, unwanted -> unwanted.team.closeAsync());
    }

    /**
     * Returns a wrapper that signals on a scheduler, so that subscribers may block or take long.
     *
     * @param completions the scheduler that signals results, completions and errors
     * @return a new wrapper; this one is unchanged
     */
    public ReactiveGpuTeam withScheduler(Scheduler completions) {
        return new ReactiveGpuTeam(team, Objects.requireNonNull(completions, "completions"), abandoned);
    }

    /**
     * Returns the wrapped GPU team, which prepares collectives and graphs, and tells stream and metrics.
     *
     * @return the GPU team
     */
    public GpuTeam team() {
        return team;
    }

    private <T> Mono<T> signalled(Mono<T> mono) {
        return scheduler == null ? mono : mono.publishOn(scheduler);
    }

    /**
     * Shares a region of each rank, for collectives. A collective of the team's: all ranks call it in the same order as others. Regions
     * that no subscriber takes are closed.
     *
     * @param region memory of this rank's GPU
     * @return the regions, or an error as from {@link GpuTeam#share}
     */
    public Mono<TeamRegion> share(MemoryRegion region) {
        Objects.requireNonNull(region, "region");
        return FutureMono.<TeamRegion>ofResource("share", () -> team.share(region), scheduler)
                .doOnDiscard(TeamRegion.class, TeamRegion::close);
    }

    /**
     * Runs a collective, once for each subscriber.
     *
     * @param collective prepared by {@link #team()}
     * @return the collective, when this rank's GPU is through with it
     */
    public Mono<GpuCollective> run(GpuCollective collective) {
        Objects.requireNonNull(collective, "collective");
        return signalled(FutureMono.ofCall(
                "run", () -> GpuRun.of(collective, collective::onReached, collective::start), abandoned));
    }

    /**
     * Runs a graph of collectives, once for each subscriber.
     *
     * @param graph made by {@link #team()}
     * @return the graph, when this rank's GPU is through with all of it
     */
    public Mono<GpuCollectiveGraph> run(GpuCollectiveGraph graph) {
        Objects.requireNonNull(graph, "graph");
        return signalled(FutureMono.ofCall("run", () -> GpuRun.of(graph, graph::onReached, graph::start), abandoned));
    }

    /**
     * Waits for the collectives whose subscribers have cancelled before the subscription.
     *
     * @return completes when none of them can touch memory by this rank's GPU any more
     */
    public Mono<Void> quiesced() {
        return signalled(FutureMono.of("quiesced", abandoned::ended));
    }

    /**
     * Closes the GPU team; see {@link GpuTeam#closeAsync}. The team stays open, and so do shared regions.
     *
     * @return completes when nothing of it is left here
     */
    public Mono<Void> close() {
        return signalled(FutureMono.of("close", team::closeAsync));
    }

    /** Returns the team and the GPU. */
    @Override
    public String toString() {
        return "ReactiveGpuTeam[" + team + "]";
    }
}
