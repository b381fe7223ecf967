package io.sluice.reactor;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.collectives.Collective;
import io.sluice.collectives.CollectiveKind;
import io.sluice.collectives.CollectiveMismatchException;
import io.sluice.collectives.CollectiveOptions;
import io.sluice.collectives.CollectiveTimeoutException;
import io.sluice.collectives.ElementType;
import io.sluice.collectives.RankFailedException;
import io.sluice.collectives.ReduceOperation;
import io.sluice.collectives.TeamRevokedException;
import io.sluice.engine.MemoryRegion;
import io.sluice.testkit.Patience;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.BiFunction;
import org.junit.jupiter.api.Test;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;
import reactor.test.StepVerifier;

/** Teams of engines of this process, with Reactor. */
class ReactiveTeamTest {
    private static final Duration LIMIT = Patience.BOUND;
    private static final int COUNT = 6;
    private static final ElementType INT = ElementType.INT32;
    private static final ReduceOperation SUM = ReduceOperation.SUM;

    private static Mono<Collective> sum(ReactiveTeam team, MemoryRegion region) {
        return team.allReduce(region, 0, region, 0, COUNT, INT, SUM);
    }

    private static int first(MemoryRegion region) {
        return region.segment().get(ValueLayout.JAVA_INT, 0);
    }

    @Test
    void aCollectiveEmitsItselfWhenItHasEnded() {
        try (ReactiveRanks ranks = ReactiveRanks.form(2)) {
            List<MemoryRegion> regions = List.of(ranks.ints(0, COUNT), ranks.ints(1, COUNT));
            StepVerifier.create(ranks.all(rank -> sum(ranks.team(rank), regions.get(rank))))
                    .assertNext(ended -> {
                        assertThat(ended.kind()).isEqualTo(CollectiveKind.ALL_REDUCE);
                        assertThat(ended.isTerminated()).isTrue();
                    })
                    .expectNextCount(1)
                    .expectComplete()
                    .verify(LIMIT);
            assertThat(regions).allSatisfy(region -> assertThat(first(region)).isEqualTo(3));
        }
    }

    @Test
    void everyMethodCallsItsNamesake() {
        long[] counts = {2, 2};
        List<BiFunction<ReactiveTeam, MemoryRegion[], Mono<Collective>>> all = List.of(
                (team, at) -> team.allReduce(at[0], 0, at[1], 0, 2, INT, SUM),
                (team, at) -> team.reduceScatter(at[0], 0, at[1], 0, 2, INT, SUM),
                (team, at) -> team.reduceScatterV(at[0], 0, at[1], 0, counts, INT, SUM),
                (team, at) -> team.allGather(at[0], 0, at[1], 0, 2, INT),
                (team, at) -> team.allGatherV(at[0], 0, at[1], 0, counts, INT),
                (team, at) -> team.broadcast(at[0], 0, 2, INT, 1),
                (team, at) -> team.reduce(at[0], 0, at[1], 0, 2, INT, SUM, 1),
                (team, at) -> team.gather(at[0], 0, at[1], 0, 2, INT, 1),
                (team, at) -> team.gatherV(at[0], 0, at[1], 0, counts, INT, 1),
                (team, at) -> team.scatter(at[0], 0, at[1], 0, 2, INT, 1),
                (team, at) -> team.scatterV(at[0], 0, at[1], 0, counts, INT, 1),
                (team, at) -> team.allToAll(at[0], 0, at[1], 0, 2, INT),
                (team, at) -> team.allToAllV(at[0], 0, counts, at[1], 0, counts, INT),
                (team, at) -> team.barrier());
        try (ReactiveRanks ranks = ReactiveRanks.form(2)) {
            MemoryRegion[][] buffers = {
                {ranks.ints(0, COUNT), ranks.ints(0, COUNT)}, {ranks.ints(1, COUNT), ranks.ints(1, COUNT)}
            };
            List<CollectiveKind> kinds = new ArrayList<>();
            for (var each : all) {
                kinds.add(ranks.all(rank -> each.apply(ranks.team(rank), buffers[rank]))
                        .blockLast(LIMIT)
                        .kind());
            }
            assertThat(kinds)
                    .containsExactly(
                            CollectiveKind.ALL_REDUCE,
                            CollectiveKind.REDUCE_SCATTER,
                            CollectiveKind.REDUCE_SCATTER,
                            CollectiveKind.ALL_GATHER,
                            CollectiveKind.ALL_GATHER,
                            CollectiveKind.BROADCAST,
                            CollectiveKind.REDUCE,
                            CollectiveKind.GATHER,
                            CollectiveKind.GATHER,
                            CollectiveKind.SCATTER,
                            CollectiveKind.SCATTER,
                            CollectiveKind.ALL_TO_ALL,
                            CollectiveKind.ALL_TO_ALL,
                            CollectiveKind.BARRIER);
            StepVerifier.create(Mono.zip(
                            ranks.team(0).send(buffers[0][0], 0, 2, INT, 1, 7),
                            ranks.team(1).receive(buffers[1][0], 0, 2, INT, 0, 7)))
                    .expectNextCount(1)
                    .expectComplete()
                    .verify(LIMIT);
        }
    }

    @Test
    void anInvalidCallAndARevokedTeamAreErrors() {
        try (ReactiveRanks ranks = ReactiveRanks.form(2)) {
            MemoryRegion region = ranks.ints(0, 1);
            StepVerifier.create(sum(ranks.team(0), region))
                    .expectError(IndexOutOfBoundsException.class)
                    .verify(LIMIT);

            StepVerifier.create(ranks.team(0).barrier())
                    .then(() -> ranks.team(1).revoke().block(LIMIT))
                    .expectError(TeamRevokedException.class)
                    .verify(LIMIT);
            StepVerifier.create(ranks.team(1).barrier())
                    .expectError(TeamRevokedException.class)
                    .verify(LIMIT);
        }
    }

    @Test
    void otherCallsAndALateRankAreErrorsOfAllRanks() {
        try (ReactiveRanks ranks = ReactiveRanks.form(2)) {
            MemoryRegion region = ranks.ints(0, COUNT);
            StepVerifier.create(Flux.mergeDelayError(
                            2, sum(ranks.team(0), region), ranks.team(1).barrier()))
                    .expectError()
                    .verify(LIMIT);
            StepVerifier.create(ranks.team(0).barrier())
                    .expectError(CollectiveMismatchException.class)
                    .verify(LIMIT);
        }
        try (ReactiveRanks ranks = ReactiveRanks.form(2)) {
            ReactiveTeam hasty =
                    ranks.team(0).withOptions(CollectiveOptions.defaults().withTimeout(Duration.ofMillis(20)));
            StepVerifier.create(hasty.barrier())
                    .expectError(CollectiveTimeoutException.class)
                    .verify(LIMIT);
        }
    }

    @Test
    void aCancelledCollectiveGoesOn() {
        try (ReactiveRanks ranks = ReactiveRanks.form(2)) {
            List<MemoryRegion> regions = List.of(ranks.ints(0, COUNT), ranks.ints(1, COUNT));
            Disposable cancelled = sum(ranks.team(0), regions.get(0)).subscribe(ended -> {
                throw new AssertionError("emitted after the cancel");
            });
            cancelled.dispose();
            Mono<Void> quiesced = ranks.team(0).quiesced().cache();
            Disposable waiting = quiesced.subscribe();
            assertThat(waiting.isDisposed()).isFalse();

            sum(ranks.team(1), regions.get(1)).block(LIMIT);
            quiesced.block(LIMIT);
            assertThat(first(regions.get(0))).isEqualTo(3);
            assertThat(first(regions.get(1))).isEqualTo(3);
            ranks.team(0).quiesced().block(LIMIT);
        }
    }

    @Test
    void signalsArriveOnTheScheduler() {
        try (ReactiveRanks ranks = ReactiveRanks.form(2)) {
            assertThat(ranks.all(rank -> ranks.team(rank)
                                    .withScheduler(Schedulers.boundedElastic())
                                    .barrier()
                                    .map(ended -> Thread.currentThread().getName()))
                            .collectList()
                            .block(LIMIT))
                    .hasSize(2)
                    .allSatisfy(thread -> assertThat(thread).startsWith("boundedElastic"));
        }
    }

    @Test
    void aPreparedCollectiveRunsForEachSubscriber() {
        try (ReactiveRanks ranks = ReactiveRanks.form(2)) {
            List<MemoryRegion> regions = List.of(ranks.ints(0, COUNT), ranks.ints(1, COUNT));
            List<ReactivePersistentCollective> prepared = new ArrayList<>();
            for (int rank = 0; rank < 2; rank++) {
                prepared.add(ranks.team(rank)
                        .prepare()
                        .allReduce(regions.get(rank), 0, regions.get(rank), 0, COUNT, INT, SUM));
            }
            StepVerifier.create(ranks.all(rank -> prepared.get(rank).run().repeat(2)))
                    .expectNextCount(6)
                    .expectComplete()
                    .verify(LIMIT);
            assertThat(first(regions.get(0))).isEqualTo(3 * 2 * 2);

            Mono<?> other = prepared.get(1).run();
            StepVerifier.create(prepared.get(0).run())
                    .then(() -> StepVerifier.create(prepared.get(0).run())
                            .expectError(IllegalStateException.class)
                            .verify(LIMIT))
                    .then(() -> other.subscribe())
                    .expectNext(prepared.get(0).collective())
                    .expectComplete()
                    .verify(LIMIT);
            prepared.forEach(ReactivePersistentCollective::close);
            StepVerifier.create(other).expectError(IllegalStateException.class).verify(LIMIT);
        }
    }

    @Test
    void progressEndsWithAllBytes() {
        int count = 1 << 20;
        try (ReactiveRanks ranks = ReactiveRanks.form(2)) {
            List<MemoryRegion> regions = List.of(ranks.ints(0, count), ranks.ints(1, count));
            List<List<CollectiveProgress>> reports = ranks.all(rank -> ranks.team(rank)
                            .progress(Duration.ofMillis(1))
                            .allReduce(regions.get(rank), 0, regions.get(rank), 0, count, INT, SUM)
                            .collectList())
                    .collectList()
                    .block(LIMIT);
            assertThat(reports).hasSize(2).allSatisfy(ofRank -> {
                assertThat(ofRank)
                        .isSortedAccordingTo((one, next) -> Long.compare(one.processedBytes(), next.processedBytes()));
                assertThat(ofRank.getLast().totalBytes()).isPositive();
                assertThat(ofRank.getLast().fraction()).isEqualTo(1);
            });
        }
    }

    /** While other threads hold the locks of the queues in which timers are. */
    @Test
    void progressEndsOnAPollerWithoutALock() {
        Queue<ScheduledThreadPoolExecutor> timers = new ConcurrentLinkedQueue<>();
        CountDownLatch release = new CountDownLatch(1);
        Schedulers.addExecutorServiceDecorator("timers", (scheduler, executor) -> {
            timers.add((ScheduledThreadPoolExecutor) executor);
            return executor;
        });
        Schedulers.shutdownNow();
        try (ReactiveRanks ranks = ReactiveRanks.form(2)) {
            List<MemoryRegion> regions = List.of(ranks.ints(0, 8), ranks.ints(1, 8));
            CompletableFuture<CollectiveProgress> last = ranks.team(0)
                    .progress(Duration.ofMinutes(1))
                    .allReduce(regions.get(0), 0, regions.get(0), 0, 8, INT, SUM)
                    .last()
                    .toFuture();
            assertThat(timers).isNotEmpty();
            CountDownLatch held = new CountDownLatch(timers.size());
            List<Thread> holders = timers.stream()
                    .map(each -> Thread.ofPlatform().start(() -> holdLock(each, held, release)))
                    .toList();
            Patience.await(held);
            ranks.team(1)
                    .allReduce(regions.get(1), 0, regions.get(1), 0, 8, INT, SUM)
                    .block(LIMIT);
            assertThat(Patience.await(last).fraction()).isEqualTo(1);
            release.countDown();
            holders.forEach(Patience::join);
        } finally {
            release.countDown();
            Schedulers.removeExecutorServiceDecorator("timers");
        }
    }

    /** A queue compares what it looks for under its lock. */
    private static void holdLock(ScheduledThreadPoolExecutor timers, CountDownLatch held, CountDownLatch release) {
        timers.schedule(() -> {}, 1, TimeUnit.HOURS);
        timers.getQueue().contains(new Object() {
            @Override
            public boolean equals(Object other) {
                held.countDown();
                Patience.await(release);
                return true;
            }

            @Override
            public int hashCode() {
                return 0;
            }
        });
    }

    @Test
    void teamsAreSplitShrunkAndClosed() {
        try (ReactiveRanks ranks = ReactiveRanks.form(3)) {
            List<ReactiveTeam> parts = ranks.all(rank -> ranks.team(rank).split(rank / 2, -rank))
                    .collectList()
                    .block(LIMIT);
            assertThat(parts).extracting(part -> part.team().size()).containsExactly(2, 2, 1);
            assertThat(parts).extracting(part -> part.team().rank()).containsExactly(1, 0, 0);
            Flux.fromIterable(parts).flatMap(ReactiveTeam::close).blockLast(LIMIT);

            ranks.team(2).close().block(LIMIT);
            StepVerifier.create(ranks.team(0).barrier())
                    .expectError(RankFailedException.class)
                    .verify(LIMIT);
            List<ReactiveTeam> survivors = Flux.range(0, 2)
                    .flatMapSequential(rank -> ranks.team(rank).shrink())
                    .collectList()
                    .block(LIMIT);
            StepVerifier.create(Flux.fromIterable(survivors).flatMap(ReactiveTeam::barrier))
                    .expectNextCount(2)
                    .expectComplete()
                    .verify(LIMIT);
            assertThat(survivors.getFirst().team().epoch()).isEqualTo(1);
            Flux.fromIterable(survivors).flatMap(ReactiveTeam::close).blockLast(LIMIT);
        }
    }

    @Test
    void aTeamThatHasNoTakerIsClosed() {
        try (ReactiveRanks ranks = ReactiveRanks.open(2)) {
            ranks.forming(1).subscribe().dispose();
            ReactiveTeam other = ranks.forming(0).block(LIMIT);
            Patience.until("rank 1 has left", () -> other.team().failed().contains(1));
            other.close().block(LIMIT);
        }
    }
}
