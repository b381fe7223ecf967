package io.sluice.collectives;

import static io.sluice.testkit.Patience.await;
import static io.sluice.testkit.Patience.failure;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sluice.engine.MemoryRegion;
import io.sluice.engine.StartEvent;
import io.sluice.engine.StartEventException;
import io.sluice.engine.TransferEngine;
import io.sluice.testkit.OpenDescriptors;
import io.sluice.testkit.Patience;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A collective ends on every rank, typed, however a rank fails; and nothing is left of a team. */
class TeamFailureTest {
    private static final CollectiveOptions DEFAULTS = CollectiveOptions.defaults();

    private static Ranks.CallOnRank allReduce(Ranks ranks, int count) {
        List<MemoryRegion> buffers = ranks.each(rank -> ranks.region(rank, 4L * count));
        return allReduce(buffers, count, ElementType.INT32, ReduceOperation.SUM);
    }

    private static Ranks.CallOnRank allReduce(
            List<MemoryRegion> buffers, int count, ElementType type, ReduceOperation operation) {
        return (rank, team, callback) ->
                team.allReduce(buffers.get(rank), 0, buffers.get(rank), 0, count, type, operation, DEFAULTS, callback);
    }

    private static Ranks.CallOnRank barrier() {
        return (rank, team, callback) -> team.barrier(DEFAULTS, callback);
    }

    @ParameterizedTest
    @CsvSource({"shm, 2", "shm, 4", "tcp, 3"})
    void aLostRankEndsEverythingOnTheOthers(String transport, int size) {
        try (Ranks ranks = Ranks.form(transport, size)) {
            ranks.call(barrier());
            int lost = size - 1;
            List<CompletableFuture<Void>> pending = new ArrayList<>();
            // more than there are channels
            Ranks.CallOnRank collective = allReduce(ranks, 100_000);
            for (int i = 0; i < 10; i++) {
                for (int rank = 0; rank < lost; rank++) {
                    pending.add(ranks.on(rank, collective));
                }
            }
            CompletableFuture<Void> closed = ranks.engine(lost).closeAsync();
            for (CompletableFuture<Void> each : pending) {
                assertThat(failure(each, RankFailedException.class).ranks()).containsExactly(lost);
            }
            for (int rank = 0; rank < lost; rank++) {
                Team team = ranks.team(rank);
                assertThat(team.failed()).containsExactly(lost);
                assertThatThrownBy(() -> team.barrier(DEFAULTS, (called, error) -> {}))
                        .isInstanceOf(RankFailedException.class)
                        .hasMessageContaining("rank " + lost);
            }
            await(closed);
        }
    }

    @Test
    void theSurvivorsGoOnAsASmallerTeam() {
        int before = OpenDescriptors.count();
        try (Ranks ranks = Ranks.form("shm", 4)) {
            List<CompletableFuture<Void>> pending = IntStream.of(0, 2, 3)
                    .mapToObj(rank -> ranks.on(rank, barrier()))
                    .toList();
            await(ranks.engine(1).closeAsync());
            pending.forEach(each -> failure(each, RankFailedException.class));
            List<CompletableFuture<Team>> shrinking = IntStream.of(0, 2, 3)
                    .mapToObj(rank -> ranks.team(rank).shrink())
                    .toList();
            List<Team> teams = shrinking.stream().map(Patience::await).toList();
            List<CompletableFuture<Integer>> sums = new ArrayList<>();
            for (int i = 0; i < teams.size(); i++) {
                Team team = teams.get(i);
                assertThat(team.rank()).isEqualTo(i);
                assertThat(team.size()).isEqualTo(3);
                assertThat(team.epoch()).isEqualTo(1);
                int oldRank = i == 0 ? 0 : i + 1;
                MemoryRegion buffer = ranks.region(oldRank, 4);
                buffer.segment().set(ValueLayout.JAVA_INT, 0, 1 << oldRank);
                CompletableFuture<Integer> sum = new CompletableFuture<>();
                team.allReduce(
                        buffer, 0, buffer, 0, 1, ElementType.INT32, ReduceOperation.SUM, DEFAULTS, (called, error) -> {
                            if (error == null) {
                                sum.complete(buffer.segment().get(ValueLayout.JAVA_INT, 0));
                            } else {
                                sum.completeExceptionally(error);
                            }
                        });
                sums.add(sum);
            }
            sums.forEach(sum -> assertThat(await(sum)).isEqualTo(0b1101));
            teams.forEach(team -> await(team.closeAsync()));
        }
        OpenDescriptors.assertSettleAt(before);
    }

    @ParameterizedTest
    @ValueSource(strings = {"kind", "count", "type", "operation"})
    void differentCallsEndWithAnErrorOnEveryRank(String different) {
        try (Ranks ranks = Ranks.form("shm", 3)) {
            List<MemoryRegion> buffers = ranks.each(rank -> ranks.region(rank, 64));
            List<CompletableFuture<Void>> ended = ranks.startEach((rank, team, callback) -> {
                boolean other = rank == 1;
                switch (different) {
                    case "kind" -> {
                        if (other) {
                            team.barrier(DEFAULTS, callback);
                        } else {
                            allReduce(buffers, 8, ElementType.INT32, ReduceOperation.SUM)
                                    .call(rank, team, callback);
                        }
                    }
                    case "count" ->
                        allReduce(buffers, other ? 7 : 8, ElementType.INT32, ReduceOperation.SUM)
                                .call(rank, team, callback);
                    case "type" ->
                        allReduce(buffers, 8, other ? ElementType.FLOAT32 : ElementType.INT32, ReduceOperation.SUM)
                                .call(rank, team, callback);
                    default ->
                        allReduce(buffers, 8, ElementType.INT32, other ? ReduceOperation.MAX : ReduceOperation.SUM)
                                .call(rank, team, callback);
                }
            });
            ended.forEach(each -> failure(each, CollectiveMismatchException.class));
            for (int rank = 0; rank < ranks.size(); rank++) {
                failure(ranks.on(rank, barrier()), CollectiveMismatchException.class);
            }
        }
    }

    @Test
    void aRankThatDoesNotCallEndsTheOthersByTheirTime() {
        try (Ranks ranks = Ranks.form("shm", 3)) {
            CompletableFuture<Void> impatient = ranks.on(
                    0, (rank, team, callback) -> team.barrier(DEFAULTS.withTimeout(Duration.ofMillis(50)), callback));
            CompletableFuture<Void> patient = ranks.on(1, barrier());
            failure(impatient, CollectiveTimeoutException.class);
            assertThat(failure(patient, TeamRevokedException.class)).hasMessageContaining("rank 0");
            failure(ranks.on(2, barrier()), TeamRevokedException.class);
        }
    }

    @Test
    void aRankRevokesTheTeam() {
        try (Ranks ranks = Ranks.form("tcp", 3)) {
            CompletableFuture<Void> pending = ranks.on(0, barrier());
            await(ranks.team(2).revoke());
            assertThat(failure(pending, TeamRevokedException.class)).hasMessageContaining("rank 2");
            failure(ranks.on(2, barrier()), TeamRevokedException.class);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"shm", "tcp"})
    void aRankThatLeavesEndsWhatNeedsIt(String transport) {
        try (Ranks ranks = Ranks.form(transport, 3)) {
            ranks.call(barrier());
            List<CompletableFuture<Void>> others = List.of(ranks.on(0, barrier()), ranks.on(2, barrier()));
            await(ranks.team(1).closeAsync());
            for (CompletableFuture<Void> other : others) {
                assertThat(failure(other, RankFailedException.class).ranks()).containsExactly(1);
            }
            failure(ranks.on(1, barrier()), TeamClosedException.class);
        }
    }

    @Test
    void aRankThatLeavesEndsItsOwn() {
        try (Ranks ranks = Ranks.form("shm", 2)) {
            CompletableFuture<Void> pending = ranks.on(1, barrier());
            await(ranks.team(1).closeAsync());
            failure(pending, TeamClosedException.class);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"shm", "tcp"})
    void nothingIsLeftOfClosedTeams(String transport) {
        try (Ranks ranks = Ranks.form(transport, 3)) {
            ranks.call(allReduce(ranks, 10));
            int regions = ranks.engine(0).regions().size();
            ranks.closeTeams();
            Patience.until(
                    "connections are closed",
                    () -> ranks.each(rank -> ranks.engine(rank).connections().size())
                            .equals(List.of(0, 0, 0)));
            // the buffer of the collective
            assertThat(regions).isGreaterThan(1);
            Patience.until("the buffer is left", () -> ranks.engine(0).regions().size() == 1);
            int before = OpenDescriptors.count();
            for (int i = 0; i < 3; i++) {
                List<Team> again = ranks.formTeams(options -> options.scratchBytes(1 << 20)).stream()
                        .map(Patience::await)
                        .toList();
                again.forEach(team -> await(team.closeAsync()));
            }
            OpenDescriptors.assertSettleAt(before);
            Patience.until("the buffer is left", () -> ranks.engine(0).regions().size() == 1);
        }
    }

    @Test
    void ranksThatFormATeamDifferentlyGetAnError() {
        try (Ranks ranks = Ranks.form("shm", 2)) {
            ranks.closeTeams();
            List<CompletableFuture<Team>> forming = ranks.formTeams(options ->
                    options.rank() == 0 ? options : options.algorithms(AlgorithmTable.parse("all-reduce * * ring")));
            forming.forEach(each -> failure(each, CollectiveMismatchException.class));
            Patience.until(
                    "all regions are closed", () -> ranks.engine(0).regions().isEmpty());
        }
    }

    @Test
    void aRankThatDoesNotComeIsNotWaitedForForEver() {
        try (TransferEngine engine = TransferEngine.open()) {
            CompletableFuture<Team> forming = Team.form(
                    engine,
                    TeamOptions.rank(0).of(2).rendezvous(engine.address()).formTimeout(Duration.ofMillis(50)));
            failure(forming, CollectiveTimeoutException.class);
            Patience.until("the board is closed", () -> engine.regions().isEmpty());
        }
    }

    @Test
    void aCollectiveStartsAfterItsEvent() {
        try (Ranks ranks = Ranks.form("shm", 2)) {
            CompletableFuture<Void> event = new CompletableFuture<>();
            CompletableFuture<Void> gated = ranks.on(
                    0, (rank, team, callback) -> team.barrier(DEFAULTS.startAfter(StartEvent.of(event)), callback));
            CompletableFuture<Void> other = ranks.on(1, barrier());
            // on another channel
            ranks.call(barrier());
            assertThat(gated).isNotDone();
            assertThat(other).isNotDone();
            event.complete(null);
            await(gated);
            await(other);
            CompletableFuture<Void> never = new CompletableFuture<>();
            CompletableFuture<Void> refused = ranks.on(
                    0, (rank, team, callback) -> team.barrier(DEFAULTS.startAfter(StartEvent.of(never)), callback));
            never.completeExceptionally(new IllegalStateException("it will not happen"));
            failure(refused, StartEventException.class);
            failure(ranks.on(1, barrier()), TeamRevokedException.class);
        }
    }

    @Test
    void aTeamIsDivided() {
        try (Ranks ranks = Ranks.form("shm", 5)) {
            // odd ranks in the opposite order
            List<CompletableFuture<Team>> dividing =
                    ranks.each(rank -> ranks.team(rank).split(rank % 2, rank % 2 == 0 ? rank : -rank));
            List<Team> parts = dividing.stream().map(Patience::await).toList();
            assertThat(parts).extracting(Team::size).containsExactly(3, 2, 3, 2, 3);
            assertThat(parts).extracting(Team::rank).containsExactly(0, 1, 1, 0, 2);
            List<CompletableFuture<Void>> ended = new ArrayList<>();
            for (Team part : parts) {
                CompletableFuture<Void> end = new CompletableFuture<>();
                part.barrier(DEFAULTS, (called, error) -> end.complete(null));
                ended.add(end);
            }
            ended.forEach(Patience::await);
            parts.stream().map(Team::closeAsync).toList().forEach(Patience::await);
            assertThat(ranks.team(0).failed()).isEqualTo(Set.of());
            ranks.call(barrier());
        }
    }
}
