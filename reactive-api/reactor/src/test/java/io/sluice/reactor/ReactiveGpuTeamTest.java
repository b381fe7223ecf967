package io.sluice.reactor;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.collectives.CollectiveTimeoutException;
import io.sluice.collectives.ElementType;
import io.sluice.collectives.ReduceOperation;
import io.sluice.collectives.TeamRevokedException;
import io.sluice.collectives.cuda.GpuCollective;
import io.sluice.collectives.cuda.GpuCollectiveGraph;
import io.sluice.collectives.cuda.GpuCollectiveMetrics;
import io.sluice.collectives.cuda.GpuTeamOptions;
import io.sluice.collectives.cuda.TeamRegion;
import io.sluice.engine.SluiceException;
import io.sluice.testkit.Patience;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;
import reactor.test.StepVerifier;

/** GPU teams with Reactor, on the software GPU. */
class ReactiveGpuTeamTest {
    private static final int COUNT = 100;
    private static final GpuTeamOptions OPTIONS =
            GpuTeamOptions.defaults().withTimeout(Patience.BOUND).withBlocks(4);

    private static List<ReactiveGpuTeam> form(ReactiveGpus gpus, GpuTeamOptions options) {
        return gpus.ranks()
                .all(rank -> ReactiveGpuTeam.form(gpus.ranks().team(rank), ReactiveGpus.GPU, options))
                .collectList()
                .block(Patience.BOUND);
    }

    private static List<TeamRegion> share(ReactiveGpus gpus, List<ReactiveGpuTeam> teams) {
        return gpus.ranks()
                .all(rank -> teams.get(rank).share(gpus.region(rank, COUNT * 4, ints -> {
                    for (int i = 0; i < COUNT; i++) {
                        ints.setAtIndex(ValueLayout.JAVA_INT, i, rank + 1);
                    }
                })))
                .collectList()
                .block(Patience.BOUND);
    }

    private static GpuCollective sum(ReactiveGpuTeam team, TeamRegion region) {
        return team.team().allReduce(region, 0, region, 0, COUNT, ElementType.INT32, ReduceOperation.SUM);
    }

    private static void close(List<ReactiveGpuTeam> teams) {
        Flux.fromIterable(teams).flatMap(ReactiveGpuTeam::close).blockLast(Patience.BOUND);
    }

    @Test
    void eachSubscriberRunsACollectiveAndRepeatRunsItAgain() {
        try (ReactiveGpus gpus = new ReactiveGpus()) {
            List<ReactiveGpuTeam> teams = form(gpus, OPTIONS);
            List<TeamRegion> regions = share(gpus, teams);
            List<GpuCollective> sums = List.of(sum(teams.get(0), regions.get(0)), sum(teams.get(1), regions.get(1)));
            List<Mono<GpuCollective>> runs =
                    List.of(teams.get(0).run(sums.get(0)), teams.get(1).run(sums.get(1)));
            assertThat(teams.getFirst().team().metrics().collectives()).isEmpty();
            // 1 + 2, 3 + 3, 6 + 6
            StepVerifier.create(Flux.merge(runs.get(0).repeat(2), runs.get(1).repeat(2)))
                    .expectNextCount(6)
                    .expectComplete()
                    .verify(Patience.BOUND);
            assertThat(gpus.read(1, regions.get(1).local()).getAtIndex(ValueLayout.JAVA_INT, COUNT - 1))
                    .isEqualTo(12);
            // three more, by graphs; signalled elsewhere
            List<GpuCollectiveGraph> graphs = List.of(
                    teams.get(0).team().graph(Collections.nCopies(3, sums.get(0))),
                    teams.get(1).team().graph(Collections.nCopies(3, sums.get(1))));
            Scheduler elsewhere = Schedulers.newSingle("elsewhere");
            StepVerifier.create(gpus.ranks()
                            .all(rank -> teams.get(rank)
                                    .withScheduler(elsewhere)
                                    .run(graphs.get(rank))
                                    .map(ended -> Thread.currentThread().getName())))
                    .assertNext(thread -> assertThat(thread).startsWith("elsewhere"))
                    .assertNext(thread -> assertThat(thread).startsWith("elsewhere"))
                    .expectComplete()
                    .verify(Patience.BOUND);
            elsewhere.dispose();
            assertThat(gpus.read(0, regions.get(0).local()).getAtIndex(ValueLayout.JAVA_INT, 0))
                    .isEqualTo(96);
            close(teams);
            StepVerifier.create(runs.getFirst())
                    .expectError(SluiceException.class)
                    .verify(Patience.BOUND);
        }
    }

    @Test
    void afterACancelTheCollectiveGoesOnAndIsAwaited() {
        try (ReactiveGpus gpus = new ReactiveGpus()) {
            List<ReactiveGpuTeam> teams = form(gpus, OPTIONS);
            Mono<GpuCollective> barrier = teams.get(0).run(teams.get(0).team().barrier());
            StepVerifier.create(teams.get(0).quiesced()).expectComplete().verify(Patience.BOUND);
            Disposable waiting = barrier.subscribe();
            waiting.dispose();
            GpuCollectiveMetrics barriers =
                    teams.get(0).team().metrics().collectives().getFirst();
            assertThat(barriers.inFlight()).isEqualTo(1);
            Mono<Void> quiesced = teams.get(0).quiesced().cache();
            Disposable quieting = quiesced.subscribe();
            assertThat(quieting.isDisposed()).isFalse();
            StepVerifier.create(teams.get(1).run(teams.get(1).team().barrier()))
                    .expectNextCount(1)
                    .expectComplete()
                    .verify(Patience.BOUND);
            StepVerifier.create(quiesced).expectComplete().verify(Patience.BOUND);
            assertThat(barriers.ended()).isEqualTo(1);
            close(teams);
        }
    }

    @Test
    void errorsAreTyped() {
        try (ReactiveGpus gpus = new ReactiveGpus()) {
            List<ReactiveGpuTeam> teams = form(gpus, OPTIONS.withTimeout(Duration.ofMillis(200)));
            GpuCollective alone = teams.get(0).team().barrier();
            StepVerifier.create(teams.get(0).run(alone))
                    .expectError(CollectiveTimeoutException.class)
                    .verify(Patience.BOUND);
            StepVerifier.create(teams.get(0).run(alone))
                    .expectError(CollectiveTimeoutException.class)
                    .verify(Patience.BOUND);
            Patience.until(
                    "the other rank knows", () -> teams.get(1).team().metrics().hasFailed());
            StepVerifier.create(teams.get(1).run(teams.get(1).team().barrier()))
                    .expectError(TeamRevokedException.class)
                    .verify(Patience.BOUND);
            close(teams);
        }
    }
}
