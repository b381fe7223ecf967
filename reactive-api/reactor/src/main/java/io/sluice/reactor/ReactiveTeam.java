package io.sluice.reactor;

import io.sluice.collectives.Collective;
import io.sluice.collectives.CollectiveCallback;
import io.sluice.collectives.CollectiveOptions;
import io.sluice.collectives.ElementType;
import io.sluice.collectives.PersistentCollective;
import io.sluice.collectives.Team;
import io.sluice.collectives.TeamOptions;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.TransferEngine;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;

/**
 * A {@link Team} with a reactive interface; needs {@code sluice-collectives}. Each collective is a {@code Mono} of
 * itself, which emits when this rank's part has ended with success.
 *
 * <p><strong>Lazy and cold.</strong> A collective is called when its subscriber requests the result, and once for each
 * subscriber. The order of these calls must be that of the other ranks, so subscribe in order: {@code then}, {@code
 * concatMap} and {@code Mono.when} do. Errors of the call, such as a range outside its region, are signalled by {@code
 * onError}; the others are those of {@link CollectiveCallback#ended}.
 *
 * <p><strong>Cancel.</strong> Before the call a cancel prevents it; the other ranks then wait for this one until their
 * time-out. Afterwards nothing more is emitted, but the collective goes on, as the other ranks need it: before changing
 * its buffers wait for {@link #quiesced()}. {@link #revoke()} ends it on all ranks.
 *
 * <p><strong>Threads.</strong> Signals arrive on the thread of the team's loop, which must not block, or on the
 * scheduler of {@link #withScheduler}. All methods may be called from any thread. Instances are immutable and cheap.
 */
@SuppressWarnings("exports") // Applications with collectives require their module; others do without.
public final class ReactiveTeam extends ReactiveCollectives<Collective, Mono<Collective>> {
    static {
        PollerThreads.declareNonBlocking();
    }

    private final Team team;
    private final @Nullable Scheduler scheduler;
    private final AbandonedCalls abandoned;

    private ReactiveTeam(
            Team team, CollectiveOptions options, @Nullable Scheduler scheduler, AbandonedCalls abandoned) {
        super(team, options);
        this.team = team;
        this.scheduler = scheduler;
        this.abandoned = abandoned;
    }

    /**
     * Wraps a team. Both interfaces may be used side by side.
     *
     * @param team the team
     * @return the wrapper, with default options and signals on the team's loop
     */
    public static ReactiveTeam from(Team team) {
        Objects.requireNonNull(team, "team");
        return new ReactiveTeam(team, CollectiveOptions.defaults(), null, new AbandonedCalls());
    }

    /**
     * Forms a team, one for each subscriber. A team that no subscriber takes is closed, as {@link
     * ReactiveTransferEngine#connect} describes for connections.
     *
     * @param engine this rank's engine
     * @param options the rank, the number of ranks, and how they find each other
     * @return the team, or an error as from {@link Team#form}
     */
    public static Mono<ReactiveTeam> form(TransferEngine engine, TeamOptions options) {
        Objects.requireNonNull(engine, "engine");
        Objects.requireNonNull(options, "options");
        return formed("form", () -> Team.form(engine, options), ReactiveTeam::from, null);
    }

    private static Mono<ReactiveTeam> formed(
            String name,
            Supplier<CompletableFuture<Team>> forming,
            Function<Team, ReactiveTeam> wrapper,
            @Nullable Scheduler scheduler) {
        return FutureMono.<ReactiveTeam>ofResource(name, () -> forming.get().thenApply(wrapper), scheduler)
                .doOnDiscard(ReactiveTeam.class, unwanted -> unwanted.team.closeAsync());
    }

    @Nullable
    Scheduler scheduler() {
        return scheduler;
    }

    private ReactiveTeam wrap(Team other) {
        return new ReactiveTeam(other, options, scheduler, new AbandonedCalls());
    }

    /**
     * Returns a wrapper with other options for its collectives.
     *
     * @param collectiveOptions time-out, algorithm, priority and start
     * @return a new wrapper; this one is unchanged
     */
    public ReactiveTeam withOptions(CollectiveOptions collectiveOptions) {
        return new ReactiveTeam(team, collectiveOptions, scheduler, abandoned);
    }

    /**
     * Returns a wrapper that signals on a scheduler, so that subscribers may block or take long.
     *
     * @param completions the scheduler that signals results, completions and errors
     * @return a new wrapper; this one is unchanged
     */
    public ReactiveTeam withScheduler(Scheduler completions) {
        return new ReactiveTeam(team, options, Objects.requireNonNull(completions, "completions"), abandoned);
    }

    /**
     * Returns the wrapped team, which tells rank, size, failed ranks and metrics.
     *
     * @return the team
     */
    public Team team() {
        return team;
    }

    /**
     * Returns the same collectives, to be prepared once and started again and again. A method prepares at once and
     * throws what is wrong with its arguments; all ranks prepare in the same order.
     *
     * @return operations with the options of this object
     */
    public ReactiveCollectives<PersistentCollective, ReactivePersistentCollective> prepare() {
        return new ReactiveCollectives<>(team.prepare(), options) {
            @Override
            ReactivePersistentCollective made(String name, Function<CollectiveCallback, PersistentCollective> call) {
                return new ReactivePersistentCollective(call, name, scheduler, abandoned);
            }
        };
    }

    /**
     * Returns the same collectives, each as a Flux that calls it at its subscription and reports its progress. A
     * subscriber that requests less gets fewer, newer reports. The last one says that all is processed; then the Flux
     * completes. If the collective fails, the Flux does. After a cancel the collective goes on.
     *
     * @param interval the shortest time between two reports but the last, positive
     * @return operations with the options of this object
     */
    public ReactiveCollectives<Collective, Flux<CollectiveProgress>> progress(Duration interval) {
        return new ReactiveCollectives<>(team, options) {
            @Override
            Flux<CollectiveProgress> made(String name, Function<CollectiveCallback, Collective> call) {
                return ProgressReport.of(name, call, interval, scheduler, abandoned);
            }
        };
    }

    @Override
    Mono<Collective> made(String name, Function<CollectiveCallback, Collective> call) {
        return signalled(new CollectiveMono<>(name, call, abandoned).assembled());
    }

    private <T> Mono<T> signalled(Mono<T> mono) {
        return scheduler == null ? mono : mono.publishOn(scheduler);
    }

    /**
     * Sends elements to another rank; see {@link Team#send}. No collective: it has no place in their order.
     *
     * @param source the elements
     * @param sourceOffset where they begin, in bytes
     * @param count elements, 0 or more
     * @param type the type of the elements
     * @param peer the rank that receives them
     * @param tag any number
     * @return the send, when the receiver has taken the elements or is certain to
     */
    public Mono<Collective> send(
            MemoryRegion source, long sourceOffset, long count, ElementType type, int peer, int tag) {
        return made("send", end -> team.send(source, sourceOffset, count, type, peer, tag, options, end));
    }

    /**
     * Receives elements that another rank sends with the same tag, type and count; see {@link Team#receive}.
     *
     * @param target for the elements
     * @param targetOffset where they begin, in bytes
     * @param count elements, 0 or more
     * @param type the type of the elements
     * @param peer the rank that sends them
     * @param tag any number
     * @return the receive
     */
    public Mono<Collective> receive(
            MemoryRegion target, long targetOffset, long count, ElementType type, int peer, int tag) {
        return made("receive", end -> team.receive(target, targetOffset, count, type, peer, tag, options, end));
    }

    /**
     * Waits for the collectives whose subscribers have cancelled before the subscription.
     *
     * @return completes when none of them can touch memory any more
     */
    public Mono<Void> quiesced() {
        return signalled(FutureMono.of("quiesced", abandoned::ended));
    }

    /**
     * Revokes the team; see {@link Team#revoke}.
     *
     * @return completes when this rank has sent the word to the others
     */
    public Mono<Void> revoke() {
        return signalled(FutureMono.of("revoke", team::revoke));
    }

    /**
     * Forms a team of the survivors, and closes this one; see {@link Team#shrink}. A team that no subscriber takes is
     * closed as well.
     *
     * @return a team with the options of this object
     */
    public Mono<ReactiveTeam> shrink() {
        return formed("shrink", team::shrink, this::wrap, scheduler);
    }

    /**
     * Divides the team; see {@link Team#split}. A collective, with its place in the order. A team that no subscriber
     * takes is closed.
     *
     * @param color ranks of one color form a team
     * @param key orders the ranks of that team
     * @return the team of this rank's color, with the options of this object
     */
    public Mono<ReactiveTeam> split(int color, int key) {
        return formed("split", () -> team.split(color, key), this::wrap, scheduler);
    }

    /**
     * Leaves the team; see {@link Team#closeAsync}.
     *
     * @return completes when nothing of the team is left here
     */
    public Mono<Void> close() {
        return signalled(FutureMono.of("close", team::closeAsync));
    }

    /** Returns the team's name, rank and size. */
    @Override
    public String toString() {
        return "ReactiveTeam[" + team + "]";
    }
}
