package io.sluice.collectives;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sluice.engine.MemoryRegion;
import io.sluice.testkit.Patience;
import java.util.List;
import java.util.OptionalInt;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** What a team counts. */
class TeamMetricsTest {
    private static final CollectiveOptions DEFAULTS = CollectiveOptions.defaults();
    private static final ElementType INT = ElementType.INT32;
    private static final int COUNT = 1024;
    private static final long BYTES = 4L * COUNT;

    private static CollectiveMetrics only(TeamMetrics metrics, CollectiveKind kind) {
        List<CollectiveMetrics> found = metrics.collectives().stream()
                .filter(each -> each.kind() == kind)
                .toList();
        assertThat(found).as("%s", kind).hasSize(1);
        return found.getFirst();
    }

    @Test
    void bytesAreCountedAsBenchmarksDo() {
        int size = 4;
        try (Ranks ranks = Ranks.form("shm", size)) {
            List<MemoryRegion> wide = ranks.each(rank -> ranks.region(rank, size * BYTES));
            List<MemoryRegion> other = ranks.each(rank -> ranks.region(rank, size * BYTES));
            ranks.call((rank, team, callback) -> team.allReduce(
                    wide.get(rank),
                    0,
                    other.get(rank),
                    0,
                    COUNT,
                    INT,
                    ReduceOperation.SUM,
                    DEFAULTS.withAlgorithm(Algorithm.RING),
                    callback));
            ranks.call((rank, team, callback) -> team.reduceScatter(
                    wide.get(rank), 0, other.get(rank), 0, COUNT, INT, ReduceOperation.SUM, DEFAULTS, callback));
            ranks.call((rank, team, callback) ->
                    team.allGather(wide.get(rank), 0, other.get(rank), 0, COUNT, INT, DEFAULTS, callback));
            ranks.call((rank, team, callback) -> team.broadcast(wide.get(rank), 0, COUNT, INT, 1, DEFAULTS, callback));
            ranks.call((rank, team, callback) ->
                    team.gather(wide.get(rank), 0, other.get(rank), 0, COUNT, INT, 1, DEFAULTS, callback));
            ranks.call((rank, team, callback) ->
                    team.scatter(wide.get(rank), 0, other.get(rank), 0, COUNT, INT, 1, DEFAULTS, callback));
            ranks.call((rank, team, callback) ->
                    team.allToAll(wide.get(rank), 0, other.get(rank), 0, COUNT, INT, DEFAULTS, callback));
            ranks.call((rank, team, callback) -> team.barrier(DEFAULTS, callback));
            for (int rank = 0; rank < size; rank++) {
                TeamMetrics metrics = ranks.team(rank).metrics();
                assertThat(metrics.team()).isEqualTo("team");
                assertThat(metrics.rank()).isEqualTo(rank);
                assertThat(metrics.ranksAlive()).isEqualTo(size);
                counted(metrics, CollectiveKind.ALL_REDUCE, BYTES, BYTES * 3 / 2);
                counted(metrics, CollectiveKind.REDUCE_SCATTER, 4 * BYTES, 3 * BYTES);
                counted(metrics, CollectiveKind.ALL_GATHER, 4 * BYTES, 3 * BYTES);
                counted(metrics, CollectiveKind.BROADCAST, BYTES, BYTES);
                counted(metrics, CollectiveKind.GATHER, 4 * BYTES, 3 * BYTES);
                counted(metrics, CollectiveKind.SCATTER, 4 * BYTES, 3 * BYTES);
                counted(metrics, CollectiveKind.ALL_TO_ALL, 4 * BYTES, 3 * BYTES);
                counted(metrics, CollectiveKind.BARRIER, 0, 0);
            }
        }
    }

    private static void counted(TeamMetrics metrics, CollectiveKind kind, long bytes, long busBytes) {
        CollectiveMetrics figures = only(metrics, kind);
        assertThat(figures.succeeded()).isEqualTo(1);
        assertThat(figures.failed()).isZero();
        assertThat(figures.bytes()).as("%s", kind).isEqualTo(bytes);
        assertThat(figures.busBytes()).as("%s", kind).isEqualTo(busBytes);
        assertThat(figures.duration().count()).isEqualTo(1);
        assertThat(figures.duration().sumNanos())
                .isEqualTo(figures.queuedNanos() + figures.waitingNanos() + figures.movingNanos());
        assertThat(List.of(figures.queuedNanos(), figures.waitingNanos(), figures.movingNanos()))
                .as("%s", kind)
                .allSatisfy(nanos -> assertThat(nanos).isNotNegative());
    }

    @Test
    void theRankThatComesLateIsTheSlowest() {
        try (Ranks ranks = Ranks.form("shm", 2)) {
            Team prompt = ranks.team(0);
            CompletableFuture<Void> barrier = ranks.on(0, (rank, team, callback) -> team.barrier(DEFAULTS, callback));
            // what is called later has come through, so the barrier waits
            MemoryRegion from = ranks.region(0, 4);
            MemoryRegion to = ranks.region(1, 4);
            CompletableFuture<Void> sent =
                    ranks.on(0, (rank, team, callback) -> team.send(from, 0, 1, INT, 1, 0, DEFAULTS, callback));
            Patience.await(
                    ranks.on(1, (rank, team, callback) -> team.receive(to, 0, 1, INT, 0, 0, DEFAULTS, callback)));
            Patience.await(sent);
            Patience.await(ranks.on(1, (rank, team, callback) -> team.barrier(DEFAULTS, callback)));
            Patience.await(barrier);

            assertThat(prompt.metrics().slowest()).isEqualTo(OptionalInt.of(1));
            assertThat(prompt.metrics().waitedNanos(1)).isPositive();
            assertThat(prompt.metrics().waitedNanos(0)).isZero();
            assertThat(prompt.metrics().lastArrivals(1)).isEqualTo(1);
            assertThat(only(prompt.metrics(), CollectiveKind.BARRIER).waitingNanos())
                    .isEqualTo(prompt.metrics().waitedNanos(1));
            assertThat(only(prompt.metrics(), CollectiveKind.SEND).bytes()).isEqualTo(4);
            assertThat(only(ranks.team(1).metrics(), CollectiveKind.RECEIVE).busBytes())
                    .isEqualTo(4);
        }
    }

    @Test
    void failuresAndRunsOfPreparedOnesAreCounted() {
        try (Ranks ranks = Ranks.form("shm", 2)) {
            List<PersistentCollective> prepared =
                    ranks.each(rank -> ranks.team(rank).prepare().barrier(DEFAULTS, (collective, error) -> {}));
            for (int i = 0; i < 10; i++) {
                ranks.call((rank, team, callback) -> prepared.get(rank).start(callback));
            }
            CompletableFuture<Void> pending = ranks.on(0, (rank, team, callback) -> team.barrier(DEFAULTS, callback));
            Patience.await(ranks.team(1).revoke());
            assertThatThrownBy(() -> Patience.await(pending)).isInstanceOf(TeamRevokedException.class);

            CollectiveMetrics barriers = only(ranks.team(0).metrics(), CollectiveKind.BARRIER);
            assertThat(barriers.succeeded()).isEqualTo(10);
            assertThat(barriers.failed()).isEqualTo(1);
            assertThat(barriers.duration().count()).isEqualTo(10);
        }
    }
}
