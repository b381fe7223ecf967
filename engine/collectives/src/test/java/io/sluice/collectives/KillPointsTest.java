package io.sluice.collectives;

import static io.sluice.testkit.Patience.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sluice.engine.EngineAddress;
import io.sluice.engine.SluiceException;
import io.sluice.engine.TransferEngine;
import io.sluice.testkit.FuzzSeed;
import io.sluice.testkit.OpenDescriptors;
import io.sluice.testkit.Patience;
import io.sluice.testkit.PatientOptions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A rank's process is killed or frozen at one of many points: the survivors get its number, go on as a smaller team, whose
 * results are right, and keep nothing. {@code sluice.test.seed} says at which points in the short run.
 */
class KillPointsTest {
    private static final int FEWEST_RANKS = 2;
    private static final int MOST_RANKS = 5;
    private static final int POINTS = 20;
    // it has no divisor in common with the number of kinds that go round
    private static final int ENDED_BETWEEN_POINTS = 8;
    private static final long MOST_NANOS_LATER = 1_000_000;
    private static final int KILLS = 6;
    private static final int SOAK_ROUNDS = 500;
    private static final int SOAK_SHARES = 20;
    private static final Duration LIVENESS = Patience.scaled(Duration.ofSeconds(1));

    private final FuzzSeed seed = FuzzSeed.of("KillPointsTest");
    private final Random random = seed.random();

    /** Which rank of how many is killed, and after how many collectives. */
    private record Kill(String transport, int size, int victim, int point) {
        int endedBefore() {
            return point * ENDED_BETWEEN_POINTS;
        }
    }

    /** Engines that survive. */
    private static final class Survivors implements AutoCloseable {
        private final List<TransferEngine> engines = new ArrayList<>();
        private int teams;

        Survivors(String transport, Duration liveness) {
            for (int i = 0; i < MOST_RANKS - 1; i++) {
                engines.add(TransferEngine.open(PatientOptions.builder()
                        .transports(List.of(transport))
                        .livenessTimeout(liveness)
                        .pollers(1)
                        .build()));
            }
        }

        /** Forms a team of some of them and a process. */
        List<Team> form(int size, int other, RankProcess process) {
            EngineAddress rankZero =
                    other == 0 ? process.address() : engines.getFirst().address();
            String name = "team-" + teams++;
            process.form(name, other, size, rankZero);
            List<CompletableFuture<Team>> forming = new ArrayList<>();
            for (int i = 0; i < size - 1; i++) {
                forming.add(Team.form(
                        engines.get(i),
                        TeamOptions.rank(i < other ? i : i + 1)
                                .of(size)
                                .name(name)
                                .rendezvous(rankZero)
                                .timeout(Patience.longBound())
                                .formTimeout(Patience.longBound())));
            }
            return forming.stream()
                    .map(team -> await(team, Patience.longBound()))
                    .toList();
        }

        List<MixedCalls> call(List<Team> formed, long most) {
            return IntStream.range(0, formed.size())
                    .mapToObj(i -> new MixedCalls(engines.get(i), formed.get(i), most).start())
                    .toList();
        }

        /** All calls that were under way have named the lost rank, and so does the next one. */
        void assertEnded(List<Team> formed, List<MixedCalls> calls, int lost) {
            for (MixedCalls each : calls) {
                List<SluiceException> errors = await(each.done());
                assertThat(errors).isNotEmpty().allSatisfy(error -> {
                    assertThat(error).isInstanceOf(RankFailedException.class);
                    assertThat(((RankFailedException) error).ranks()).containsExactly(lost);
                });
            }
            for (Team team : formed) {
                assertThat(team.failed()).containsExactly(lost);
                assertThatThrownBy(() -> team.barrier(CollectiveOptions.defaults(), (called, error) -> {}))
                        .isInstanceOf(RankFailedException.class);
            }
            calls.forEach(MixedCalls::close);
        }

        void assertSmallerTeamIsRight(List<Team> formed, long seed) {
            List<CompletableFuture<Team>> shrinking =
                    formed.stream().map(Team::shrink).toList();
            List<Team> smaller = shrinking.stream().map(Patience::await).toList();
            assertThat(smaller).allSatisfy(team -> assertThat(team.size()).isEqualTo(formed.size()));
            Ranks ranks = Ranks.of(engines.subList(0, formed.size()), smaller);
            for (Cross.Called called :
                    List.of(Cross.Called.ALL_REDUCE, Cross.Called.REDUCE_SCATTER, Cross.Called.ALL_GATHER_V)) {
                CrossRun.runAndCheck(
                        ranks,
                        new Cross(
                                called,
                                formed.size(),
                                10_000,
                                ElementType.FLOAT32,
                                called.reduces() ? ReduceOperation.SUM : null,
                                false,
                                Algorithm.AUTO,
                                false,
                                true,
                                64,
                                0,
                                seed));
            }
            ranks.closeTeams();
        }

        void assertNothingIsLeft() {
            for (TransferEngine engine : engines) {
                Patience.until(
                        "no connection is left", () -> engine.connections().isEmpty());
                Patience.until("no region is left", () -> engine.regions().isEmpty());
            }
        }

        @Override
        public void close() {
            engines.stream().map(TransferEngine::closeAsync).toList().forEach(Patience::await);
        }
    }

    private void kill(Kill kill, Survivors survivors, RankProcess process) {
        try {
            List<Team> teams = survivors.form(kill.size, kill.victim, process);
            List<MixedCalls> calls = survivors.call(teams, Long.MAX_VALUE);
            Patience.until(
                    "so many collectives have ended",
                    () -> calls.stream().allMatch(each -> each.ended() >= kill.endedBefore()));
            LockSupport.parkNanos(random.nextLong(MOST_NANOS_LATER));
            process.kill();
            survivors.assertEnded(teams, calls, kill.victim);
            survivors.assertSmallerTeamIsRight(teams, random.nextInt(Integer.MAX_VALUE));
            survivors.assertNothingIsLeft();
        } catch (AssertionError e) {
            throw new AssertionError(kill + ": " + e.getMessage(), e);
        } catch (RuntimeException e) {
            throw new AssertionError(kill + ": " + e, e);
        }
    }

    /** All of one transport; each process starts while the one before is used. */
    private void killAll(List<Kill> kills) {
        try (Survivors survivors = new Survivors(kills.getFirst().transport, Patience.longBound())) {
            int descriptors = -1;
            RankProcess next = RankProcess.start(kills.getFirst().transport);
            try {
                for (int i = 0; i < kills.size(); i++) {
                    try (RankProcess process = next) {
                        next = RankProcess.start(kills.getFirst().transport);
                        kill(kills.get(i), survivors, process);
                    }
                    if (i == 0) {
                        descriptors = OpenDescriptors.count();
                    }
                }
            } finally {
                next.close();
            }
            OpenDescriptors.assertSettleAt(descriptors);
        }
    }

    private static List<Kill> all(String transport) {
        List<Kill> all = new ArrayList<>();
        for (int size = FEWEST_RANKS; size <= MOST_RANKS; size++) {
            for (int victim = 0; victim < size; victim++) {
                for (int point = 0; point < POINTS; point++) {
                    all.add(new Kill(transport, size, victim, point));
                }
            }
        }
        return all;
    }

    /** Some points, of different ranks as far as there are. */
    @ParameterizedTest
    @ValueSource(strings = {"shm", "tcp"})
    void someKilledRanks(String transport) {
        List<Kill> shuffled = all(transport);
        Collections.shuffle(shuffled, random);
        List<Kill> chosen = new ArrayList<>();
        for (Kill kill : shuffled) {
            boolean known = chosen.stream().anyMatch(each -> each.size == kill.size && each.victim == kill.victim);
            if (!known && chosen.size() < KILLS / 2) {
                chosen.add(kill);
            }
        }
        killAll(chosen);
    }

    /** At every point, one rank of one size of team in each test. */
    static Stream<Arguments> everyRank() {
        return Stream.of("shm", "tcp")
                .flatMap(transport -> IntStream.rangeClosed(FEWEST_RANKS, MOST_RANKS)
                        .boxed()
                        .flatMap(size ->
                                IntStream.range(0, size).mapToObj(victim -> Arguments.of(transport, size, victim))));
    }

    @Tag("soak")
    @ParameterizedTest
    @MethodSource("everyRank")
    void everyKilledRank(String transport, int size, int victim) {
        random.setSeed(seed.random(size * MOST_RANKS + victim).nextLong());
        killAll(all(transport).stream()
                .filter(kill -> kill.size == size && kill.victim == victim)
                .toList());
    }

    static Stream<Arguments> shares() {
        return Stream.of("shm", "tcp")
                .flatMap(
                        transport -> IntStream.range(0, SOAK_SHARES).mapToObj(share -> Arguments.of(transport, share)));
    }

    @Tag("soak")
    @ParameterizedTest
    @MethodSource("shares")
    void manyKilledRanks(String transport, int share) {
        List<Kill> every = all(transport);
        random.setSeed(seed.random(share).nextLong());
        killAll(IntStream.range(0, SOAK_ROUNDS / SOAK_SHARES)
                .mapToObj(i -> every.get(random.nextInt(every.size())))
                .toList());
    }

    @ParameterizedTest
    @Tag("soak")
    @ValueSource(strings = "tcp")
    void aFrozenRankEndsOnTheOthersAndAtLastItselfOverTheNetwork(String transport) {
        aFrozenRankEndsOnTheOthersAndAtLastItself(transport);
    }

    @ParameterizedTest
    @ValueSource(strings = "shm")
    void aFrozenRankEndsOnTheOthersAndAtLastItself(String transport) {
        int size = 3;
        int victim = random.nextInt(size);
        try (Survivors survivors = new Survivors(transport, LIVENESS);
                RankProcess process = RankProcess.start(transport)) {
            List<Team> teams = survivors.form(size, victim, process);
            process.answer("formed");
            List<MixedCalls> calls = survivors.call(teams, Long.MAX_VALUE);
            Patience.until(
                    "some collectives have ended",
                    () -> calls.stream().allMatch(each -> each.ended() >= ENDED_BETWEEN_POINTS));
            process.freeze();
            long frozen = System.nanoTime();
            survivors.assertEnded(teams, calls, victim);
            System.out.println("KillPointsTest " + transport + ": all had ended "
                    + TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - frozen)
                    + " ms after the rank was frozen, with a liveness time-out of " + LIVENESS.toMillis() + " ms");
            survivors.assertSmallerTeamIsRight(teams, random.nextInt(Integer.MAX_VALUE));
            survivors.assertNothingIsLeft();
            process.thaw();
            assertThat(process.answer("ended")).matches("(RankFailedException|TeamRevokedException) of .*");
        }
    }

    @Test
    void aRankComesBackIntoANewTeam() {
        int size = 3;
        int victim = random.nextInt(size);
        int most = 50;
        try (Survivors survivors = new Survivors("shm", Patience.longBound());
                RankProcess killed = RankProcess.start("shm");
                RankProcess back = RankProcess.start("shm")) {
            kill(new Kill("shm", size, victim, 1), survivors, killed);
            List<Team> teams = survivors.form(size, victim, back);
            List<MixedCalls> calls = survivors.call(teams, most);
            calls.forEach(each -> assertThat(await(each.done())).isEmpty());
            assertThat(calls).extracting(MixedCalls::ended).containsOnly(most);
            teams.stream().map(Team::closeAsync).toList().forEach(Patience::await);
            back.answer("formed");
            assertThat(back.answer("ended")).startsWith("RankFailedException");
            calls.forEach(MixedCalls::close);
            survivors.assertNothingIsLeft();
        }
    }
}
