package io.sluice.collectives;

import static io.sluice.testkit.Patience.await;
import static io.sluice.testkit.Patience.failure;
import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.engine.ConnectOptions;
import io.sluice.engine.Connection;
import io.sluice.engine.ConnectionLostException;
import io.sluice.engine.LoopGroup;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.TransferEngine;
import io.sluice.testkit.Patience;
import io.sluice.testkit.PatientOptions;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A pair of ranks has one connection, whichever of them forms the team first; and it ends with the first that leaves. */
class TeamConnectionsTest {
    private static final CollectiveOptions DEFAULTS = CollectiveOptions.defaults();

    private static Ranks.CallOnRank barrier() {
        return (rank, team, callback) -> team.barrier(DEFAULTS, callback);
    }

    private static void awaitConnections(Ranks ranks, int each) {
        // those of the rendezvous end soon
        Patience.until(
                "each rank has " + each + " connections",
                () -> ranks.each(rank -> ranks.engine(rank).connections().size()).stream()
                        .allMatch(size -> size == each));
    }

    @ParameterizedTest
    @ValueSource(strings = {"tcp", "shm"})
    void eachPairOfRanksHasOne(String transport) {
        try (Ranks ranks = Ranks.form(transport, 4)) {
            ranks.call(barrier());
            awaitConnections(ranks, 3);
            assertThat(ranks.engine(0).connections())
                    .extracting(Connection::group)
                    .doesNotContainNull()
                    .containsOnly(
                            ranks.engine(3).connections().iterator().next().group());
        }
    }

    @Test
    void teamsOfTheSameEnginesHaveTheirOwn() {
        try (Ranks ranks = Ranks.form("tcp", 2)) {
            // both form at once, and ranks come in another order
            List<CompletableFuture<Team>> forming = new ArrayList<>();
            for (String name : List.of("one", "other")) {
                forming.addAll(ranks.formTeams(options -> options.name(name)));
            }
            List<Team> teams = forming.stream().map(Patience::await).toList();
            awaitConnections(ranks, 3);
            List<CompletableFuture<Void>> closed =
                    teams.subList(0, 2).stream().map(Team::closeAsync).toList();
            closed.forEach(Patience::await);
            awaitConnections(ranks, 2);
            List<CompletableFuture<Void>> ended =
                    teams.subList(2, 4).stream().map(TeamConnectionsTest::meet).toList();
            ended.forEach(Patience::await);
            ranks.call(barrier());
            teams.subList(2, 4).stream().map(Team::closeAsync).toList().forEach(Patience::await);
        }
    }

    private static CompletableFuture<Void> meet(Team team) {
        CompletableFuture<Void> ended = new CompletableFuture<>();
        team.barrier(DEFAULTS, (called, error) -> {
            if (error == null) {
                ended.complete(null);
            } else {
                ended.completeExceptionally(error);
            }
        });
        return ended;
    }

    @Test
    void ranksThatShareAnEngineOpenTheirOwn() {
        try (TransferEngine engine = TransferEngine.open(
                PatientOptions.builder().transports(List.of("tcp")).build())) {
            List<CompletableFuture<Team>> forming = IntStream.range(0, 3)
                    .mapToObj(rank -> Team.form(
                            engine,
                            TeamOptions.rank(rank)
                                    .of(3)
                                    .rendezvous(engine.address())
                                    .timeout(Patience.BOUND)
                                    .formTimeout(Patience.BOUND)))
                    .toList();
            List<Team> teams = forming.stream().map(Patience::await).toList();
            List<CompletableFuture<Void>> ended =
                    teams.stream().map(TeamConnectionsTest::meet).toList();
            ended.forEach(Patience::await);
            teams.stream().map(Team::closeAsync).toList().forEach(Patience::await);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"tcp", "shm"})
    void whatARankThatHasLeftMustReceiveFails(String transport) {
        try (Ranks ranks = Ranks.form(transport, 2)) {
            ranks.call(barrier());
            await(ranks.team(1).closeAsync());
            awaitConnections(ranks, 0);
            MemoryRegion buffer = ranks.region(0, 4);
            CompletableFuture<Void> sent = ranks.on(
                    0,
                    (rank, team, callback) -> team.broadcast(buffer, 0, 1, ElementType.INT32, 0, DEFAULTS, callback));
            assertThat(failure(sent, RankFailedException.class).ranks()).containsExactly(1);
        }
    }

    private static TransferEngine overTcp() {
        return TransferEngine.open(
                PatientOptions.builder().transports(List.of("tcp")).build());
    }

    /** The other rank publishes its part, and does nothing else. */
    private static CompletableFuture<List<byte[]>> withPartOf(TransferEngine other, TransferEngine engine, byte[] own) {
        byte[] address = other.address().toBytes();
        int at = own.length - engine.address().toBytes().length;
        byte[] theirs = Arrays.copyOf(own, at + address.length);
        System.arraycopy(address, 0, theirs, at, address.length);
        return CompletableFuture.completedFuture(List.of(own, theirs));
    }

    @Test
    void aRankThatIsLostOnceItHasConnectedIsNotWaitedFor() {
        try (TransferEngine engine = overTcp();
                TransferEngine other = overTcp()) {
            CompletableFuture<LoopGroup> group = new CompletableFuture<>();
            Rendezvous alone = (ignored, team, rank, size, bytes, timeout) -> {
                group.complete(new LoopGroup(ByteBuffer.wrap(bytes).getLong()));
                return withPartOf(other, engine, bytes);
            };
            CompletableFuture<Team> forming = Team.form(
                    engine, TeamOptions.rank(0).of(2).rendezvous(alone).formTimeout(Patience.longBound()));
            ConnectOptions options = ConnectOptions.defaults().inGroup(await(group));
            // some may end before the rank awaits them
            Patience.until("the team is given up", () -> {
                await(await(other.connect(engine.address(), options)).close());
                return forming.isDone();
            });
            failure(forming, ConnectionLostException.class);
            Patience.until("all regions are closed", () -> engine.regions().isEmpty());
        }
    }

    @Test
    void aRankThatNoneConnectsToIsNotWaitedForForEver() {
        try (TransferEngine engine = overTcp();
                TransferEngine other = overTcp()) {
            Rendezvous alone = (ignored, team, rank, size, bytes, timeout) -> withPartOf(other, engine, bytes);
            CompletableFuture<Team> forming = Team.form(
                    engine,
                    TeamOptions.rank(0).of(2).rendezvous(alone).formTimeout(Patience.scaled(Duration.ofMillis(100))));
            failure(forming, CollectiveTimeoutException.class);
            Patience.until("all regions are closed", () -> engine.regions().isEmpty());
        }
    }
}
