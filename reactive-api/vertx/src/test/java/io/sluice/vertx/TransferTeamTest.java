package io.sluice.vertx;

import static io.sluice.vertx.Bounded.await;
import static io.sluice.vertx.Bounded.failure;
import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.collectives.Collective;
import io.sluice.collectives.CollectiveKind;
import io.sluice.collectives.ElementType;
import io.sluice.collectives.RankFailedException;
import io.sluice.collectives.ReduceOperation;
import io.sluice.collectives.TeamOptions;
import io.sluice.collectives.TeamRevokedException;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RegionOptions;
import io.sluice.testkit.Patience;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.BiFunction;
import java.util.function.IntFunction;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Teams whose ranks are clients of one Vert.x. */
@ExtendWith(OwnVertx.class)
class TransferTeamTest {
    private static final ElementType INT = ElementType.INT32;
    private static final ReduceOperation SUM = ReduceOperation.SUM;

    private final List<TransferClient> clients = new ArrayList<>();
    private final List<TransferTeam> teams = new ArrayList<>();

    private void form(Vertx vertx, int size) throws Exception {
        for (int rank = 0; rank < size; rank++) {
            clients.add(TransferClient.create(vertx, listening()));
        }
        for (Future<TransferTeam> forming : all(size, rank -> TransferTeam.form(clients.get(rank), options(rank)))) {
            teams.add(await(forming));
        }
    }

    private static TransferClientOptions listening() {
        return new TransferClientOptions()
                .configureEngine(engine -> Target.patient(engine).transports(List.of("shm")));
    }

    private TeamOptions options(int rank) {
        return TeamOptions.rank(rank)
                .of(clients.size())
                .rendezvous(clients.getFirst().address())
                .timeout(Patience.BOUND)
                .formTimeout(Patience.BOUND);
    }

    private static <T> List<Future<T>> all(int size, IntFunction<Future<T>> onRank) {
        return IntStream.range(0, size).mapToObj(onRank).toList();
    }

    /** Calls a collective on all ranks; returns the first rank's. */
    private <T> T call(IntFunction<Future<T>> onRank) throws Exception {
        List<Future<T>> calls = all(teams.size(), onRank);
        for (Future<T> each : calls) {
            await(each);
        }
        return calls.getFirst().result();
    }

    private MemoryRegion ints(int rank) throws Exception {
        MemoryRegion region = await(clients.get(rank).allocate(64, RegionOptions.local()));
        for (int i = 0; i < 16; i++) {
            region.segment().setAtIndex(ValueLayout.JAVA_INT, i, rank + 1);
        }
        return region;
    }

    private static int first(MemoryRegion region) {
        return region.segment().get(ValueLayout.JAVA_INT, 0);
    }

    @Test
    void everyMethodCallsItsNamesake(Vertx vertx) throws Exception {
        form(vertx, 2);
        long[] counts = {2, 2};
        List<BiFunction<TransferTeam, MemoryRegion[], Future<Collective>>> all = List.of(
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
        MemoryRegion[][] buffers = {{ints(0), ints(0)}, {ints(1), ints(1)}};
        List<CollectiveKind> kinds = new ArrayList<>();
        for (var each : all) {
            kinds.add(call(rank -> each.apply(teams.get(rank), buffers[rank])).kind());
            if (kinds.size() == 1) {
                assertThat(first(buffers[0][1])).isEqualTo(3);
            }
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
        Future<Collective> sent = teams.get(0).send(buffers[0][0], 0, 2, INT, 1, 7);
        await(teams.get(1).receive(buffers[1][0], 0, 2, INT, 0, 7));
        await(sent);
    }

    @Test
    void futuresCompleteOnTheCallersContext(Vertx vertx) throws Exception {
        form(vertx, 2);
        Context context = vertx.getOrCreateContext();
        CompletableFuture<Boolean> same = new CompletableFuture<>();
        context.runOnContext(nothing -> teams.get(0)
                .barrier()
                .onComplete(ended -> same.complete(ended.succeeded() && context.equals(Vertx.currentContext()))));
        await(teams.get(1).barrier());
        assertThat(Patience.await(same)).isTrue();
    }

    @Test
    void aPreparedCollectiveRunsAgainAndAgain(Vertx vertx) throws Exception {
        form(vertx, 2);
        List<MemoryRegion> regions = List.of(ints(0), ints(1));
        List<PreparedCollective> prepared = new ArrayList<>();
        for (int rank = 0; rank < 2; rank++) {
            MemoryRegion region = regions.get(rank);
            prepared.add(teams.get(rank).prepare().allReduce(region, 0, region, 0, 4, INT, SUM));
        }
        for (int i = 0; i < 3; i++) {
            call(rank -> prepared.get(rank).run());
        }
        assertThat(first(regions.getFirst())).isEqualTo(3 * 2 * 2);
        Future<?> running = prepared.get(0).run();
        assertThat(failure(prepared.get(0).run())).isInstanceOf(IllegalStateException.class);
        await(prepared.get(1).run());
        await(running);
        prepared.forEach(PreparedCollective::close);
        assertThat(failure(prepared.get(0).run())).isInstanceOf(IllegalStateException.class);
    }

    @Test
    void errorsAreThoseOfTheEngine(Vertx vertx) throws Exception {
        form(vertx, 2);
        MemoryRegion region = ints(0);
        assertThat(failure(teams.get(0).allReduce(region, 0, region, 0, 1000, INT, SUM)))
                .isInstanceOf(IndexOutOfBoundsException.class);
        Future<Collective> pending = teams.get(0).barrier();
        await(teams.get(1).revoke());
        assertThat(failure(pending)).isInstanceOf(TeamRevokedException.class);
        assertThat(failure(teams.get(1).barrier())).isInstanceOf(TeamRevokedException.class);
    }

    @Test
    void teamsAreSplitShrunkAndClosedWithTheirClient(Vertx vertx) throws Exception {
        form(vertx, 3);
        List<TransferTeam> parts = new ArrayList<>();
        for (Future<TransferTeam> each : all(3, rank -> teams.get(rank).split(rank / 2, rank))) {
            parts.add(await(each));
        }
        assertThat(parts).extracting(part -> part.team().size()).containsExactly(2, 2, 1);
        for (TransferTeam part : parts) {
            await(part.close());
        }
        await(clients.get(2).close());
        assertThat(failure(teams.get(0).barrier())).isInstanceOf(RankFailedException.class);
        List<TransferTeam> survivors = new ArrayList<>();
        for (Future<TransferTeam> each : all(2, rank -> teams.get(rank).shrink())) {
            survivors.add(await(each));
        }
        List<Future<Collective>> barriers = all(2, rank -> survivors.get(rank).barrier());
        assertThat(await(barriers.get(0)).kind()).isEqualTo(CollectiveKind.BARRIER);
        await(barriers.get(1));
    }

    @Test
    void aClientOfASharedEngineClosesItsTeam(Vertx vertx) throws Exception {
        TransferClientOptions shared = listening().setShared(true).setName("with a team");
        TransferClient other = TransferClient.create(vertx, shared);
        clients.add(TransferClient.create(vertx, shared));
        clients.add(TransferClient.create(vertx, listening()));
        for (Future<TransferTeam> forming : all(2, rank -> TransferTeam.form(clients.get(rank), options(rank)))) {
            teams.add(await(forming));
        }
        await(clients.get(0).close());
        assertThat(failure(teams.get(1).barrier())).isInstanceOf(RankFailedException.class);
        assertThat(await(other.allocate(64, RegionOptions.local())).isOpen()).isTrue();
    }
}
