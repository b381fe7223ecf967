package io.sluice.collectives;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sluice.engine.MemoryRegion;
import io.sluice.testkit.Patience;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Collectives of engines of this process: every element of every rank, over poisoned targets. */
class CollectivesTest {
    private static final CollectiveOptions DEFAULTS = CollectiveOptions.defaults();
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED;
    private static final int POISON = 0x5A5A5A5A;
    // not where a page or cache line begins
    private static final long OFFSET = 12;

    private static int number(int rank, long place) {
        return (int) ((rank + 1) * 1_000_003L + place * 31);
    }

    private static int sum(int size, long place) {
        int sum = 0;
        for (int rank = 0; rank < size; rank++) {
            sum += number(rank, place);
        }
        return sum;
    }

    private interface Numbers {
        int at(int rank, long place);
    }

    /** A buffer of each rank, with some poison around it. */
    private static final class Buffers {
        private final List<MemoryRegion> regions = new ArrayList<>();
        private final long count;

        Buffers(Ranks ranks, long count, Numbers numbers) {
            this.count = count;
            for (int rank = 0; rank < ranks.size(); rank++) {
                MemoryRegion region = ranks.region(rank, count * 4 + 2 * OFFSET);
                int[] all = around(rank, numbers);
                MemorySegment.copy(all, 0, region.segment(), INT, 0, all.length);
                regions.add(region);
            }
        }

        static Buffers poisoned(Ranks ranks, long count) {
            return new Buffers(ranks, count, (rank, place) -> POISON);
        }

        MemoryRegion at(int rank) {
            return regions.get(rank);
        }

        /** The numbers of a rank, with poison around them. */
        private int[] around(int rank, Numbers numbers) {
            int[] all = new int[(int) (count + 2 * OFFSET / 4)];
            Arrays.fill(all, POISON);
            for (int i = 0; i < count; i++) {
                all[(int) OFFSET / 4 + i] = numbers.at(rank, i);
            }
            return all;
        }

        void assertAre(String what, Numbers numbers) {
            for (int rank = 0; rank < regions.size(); rank++) {
                int[] expected = around(rank, numbers);
                int[] found = regions.get(rank).segment().toArray(INT);
                int first = Arrays.mismatch(expected, found);
                if (first >= 0) {
                    assertThat(found[first])
                            .as("%s: element %d of %d on rank %d", what, first - OFFSET / 4, count, rank)
                            .isEqualTo(expected[first]);
                }
            }
        }
    }

    private static long[] counts(int size) {
        return new long[] {0, 1, size - 1, size + 1, 4, 256, 65_537};
    }

    @ParameterizedTest
    @CsvSource({"shm, 1", "shm, 3", "tcp, 2", "tcp, 3", "shm, 4"})
    void everyCollectiveGivesEveryRankItsElements(String transport, int size) {
        try (Ranks ranks = Ranks.form(transport, size)) {
            for (long count : counts(size)) {
                allReduce(ranks, count);
                blocks(ranks, Math.min(count, 20_000));
                rooted(ranks, Math.min(count, 20_000), size - 1);
                ranks.call((rank, team, callback) -> team.barrier(DEFAULTS, callback));
            }
        }
    }

    @Tag("soak")
    @ParameterizedTest
    @CsvSource({"shm, 2", "tcp, 5"})
    void everyCollectiveGivesMoreRanksTheirElements(String transport, int size) {
        everyCollectiveGivesEveryRankItsElements(transport, size);
    }

    private static void allReduce(Ranks ranks, long count) {
        int size = ranks.size();
        for (Algorithm algorithm : AlgorithmTable.possible(CollectiveKind.ALL_REDUCE)) {
            CollectiveOptions options = DEFAULTS.withAlgorithm(algorithm);
            Buffers source = new Buffers(ranks, count, CollectivesTest::number);
            Buffers target = Buffers.poisoned(ranks, count);
            ranks.call((rank, team, callback) -> team.allReduce(
                    source.at(rank),
                    OFFSET,
                    target.at(rank),
                    OFFSET,
                    count,
                    ElementType.INT32,
                    ReduceOperation.SUM,
                    options,
                    callback));
            target.assertAre(algorithm.toString(), (rank, place) -> sum(size, place));
            source.assertAre("source of " + algorithm, CollectivesTest::number);
            ranks.call((rank, team, callback) -> team.allReduce(
                    source.at(rank),
                    OFFSET,
                    source.at(rank),
                    OFFSET,
                    count,
                    ElementType.INT32,
                    ReduceOperation.AVERAGE,
                    options,
                    callback));
            source.assertAre(algorithm + " in place", (rank, place) -> sum(size, place) / size);
        }
    }

    private static void blocks(Ranks ranks, long count) {
        int size = ranks.size();
        Buffers whole = new Buffers(ranks, count * size, CollectivesTest::number);
        Buffers block = Buffers.poisoned(ranks, count);
        ranks.call((rank, team, callback) -> team.reduceScatter(
                whole.at(rank),
                OFFSET,
                block.at(rank),
                OFFSET,
                count,
                ElementType.INT32,
                ReduceOperation.SUM,
                DEFAULTS,
                callback));
        block.assertAre("reduce-scatter", (rank, place) -> sum(size, rank * count + place));
        Buffers gathered = Buffers.poisoned(ranks, count * size);
        ranks.call((rank, team, callback) -> team.allGather(
                block.at(rank), OFFSET, gathered.at(rank), OFFSET, count, ElementType.INT32, DEFAULTS, callback));
        gathered.assertAre("all-gather", (rank, place) -> sum(size, place));
        ranks.call((rank, team, callback) -> team.reduceScatter(
                whole.at(rank),
                OFFSET,
                whole.at(rank),
                OFFSET + rank * count * 4,
                count,
                ElementType.INT32,
                ReduceOperation.SUM,
                DEFAULTS,
                callback));
        ranks.call((rank, team, callback) -> team.allGather(
                whole.at(rank),
                OFFSET + rank * count * 4,
                whole.at(rank),
                OFFSET,
                count,
                ElementType.INT32,
                DEFAULTS,
                callback));
        whole.assertAre("in place", (rank, place) -> sum(size, place));
        Buffers sent = new Buffers(ranks, count * size, CollectivesTest::number);
        Buffers received = Buffers.poisoned(ranks, count * size);
        long block1 = Math.max(1, count);
        Numbers exchanged = (rank, place) -> number((int) (place / block1), rank * count + place % block1);
        ranks.call((rank, team, callback) -> team.allToAll(
                sent.at(rank), OFFSET, received.at(rank), OFFSET, count, ElementType.INT32, DEFAULTS, callback));
        received.assertAre("all-to-all", exchanged);
        ranks.call((rank, team, callback) -> team.allToAll(
                sent.at(rank), OFFSET, sent.at(rank), OFFSET, count, ElementType.INT32, DEFAULTS, callback));
        sent.assertAre("all-to-all in place", exchanged);
    }

    private static void rooted(Ranks ranks, long count, int root) {
        int size = ranks.size();
        Buffers broadcast = new Buffers(ranks, count, CollectivesTest::number);
        ranks.call((rank, team, callback) ->
                team.broadcast(broadcast.at(rank), OFFSET, count, ElementType.INT32, root, DEFAULTS, callback));
        broadcast.assertAre("broadcast", (rank, place) -> number(root, place));
        Buffers source = new Buffers(ranks, count, CollectivesTest::number);
        Buffers target = Buffers.poisoned(ranks, count);
        ranks.call((rank, team, callback) -> team.reduce(
                source.at(rank),
                OFFSET,
                target.at(rank),
                OFFSET,
                count,
                ElementType.INT32,
                ReduceOperation.SUM,
                root,
                DEFAULTS,
                callback));
        target.assertAre("reduce", (rank, place) -> rank == root ? sum(size, place) : POISON);
        Buffers gathered = Buffers.poisoned(ranks, count * size);
        ranks.call((rank, team, callback) -> team.gather(
                source.at(rank),
                OFFSET,
                gathered.at(rank),
                OFFSET,
                count,
                ElementType.INT32,
                root,
                DEFAULTS,
                callback));
        long block = Math.max(1, count);
        gathered.assertAre(
                "gather", (rank, place) -> rank == root ? number((int) (place / block), place % block) : POISON);
        Buffers scattered = Buffers.poisoned(ranks, count);
        ranks.call((rank, team, callback) -> team.scatter(
                gathered.at(rank),
                OFFSET,
                scattered.at(rank),
                OFFSET,
                count,
                ElementType.INT32,
                root,
                DEFAULTS,
                callback));
        scattered.assertAre("scatter", CollectivesTest::number);
    }

    @ParameterizedTest
    @ValueSource(strings = {"shm", "tcp"})
    void blocksMayHaveDifferentLengths(String transport) {
        try (Ranks ranks = Ranks.form(transport, 3)) {
            long[] counts = {5, 0, 40_000};
            long[] starts = {0, 5, 5};
            long total = 40_005;
            Buffers source = new Buffers(ranks, total, CollectivesTest::number);
            Buffers gathered = Buffers.poisoned(ranks, total);
            ranks.call((rank, team, callback) -> team.allGatherV(
                    source.at(rank), OFFSET, gathered.at(rank), OFFSET, counts, ElementType.INT32, DEFAULTS, callback));
            Numbers blocks = (rank, place) -> place < 5 ? number(0, place) : number(2, place - 5);
            gathered.assertAre("all-gather", blocks);
            Buffers atRoot = Buffers.poisoned(ranks, total);
            ranks.call((rank, team, callback) -> team.gatherV(
                    source.at(rank),
                    OFFSET,
                    atRoot.at(rank),
                    OFFSET,
                    counts,
                    ElementType.INT32,
                    1,
                    DEFAULTS,
                    callback));
            atRoot.assertAre("gather", (rank, place) -> rank == 1 ? blocks.at(rank, place) : POISON);
            Buffers scattered = Buffers.poisoned(ranks, total);
            ranks.call((rank, team, callback) -> team.scatterV(
                    atRoot.at(rank),
                    OFFSET,
                    scattered.at(rank),
                    OFFSET,
                    counts,
                    ElementType.INT32,
                    1,
                    DEFAULTS,
                    callback));
            scattered.assertAre("scatter", (rank, place) -> place < counts[rank] ? number(rank, place) : POISON);
            Buffers reduced = Buffers.poisoned(ranks, total);
            ranks.call((rank, team, callback) -> team.reduceScatterV(
                    source.at(rank),
                    OFFSET,
                    reduced.at(rank),
                    OFFSET,
                    counts,
                    ElementType.INT32,
                    ReduceOperation.SUM,
                    DEFAULTS,
                    callback));
            reduced.assertAre(
                    "reduce-scatter", (rank, place) -> place < counts[rank] ? sum(3, starts[rank] + place) : POISON);
            // rank r sends r + 1, 2 (r + 1) and 3 (r + 1) elements
            Buffers received = Buffers.poisoned(ranks, 18);
            ranks.call((rank, team, callback) -> {
                long[] out = {rank + 1, 2L * (rank + 1), 3L * (rank + 1)};
                long[] in = {rank + 1, 2L * (rank + 1), 3L * (rank + 1)};
                team.allToAllV(
                        source.at(rank),
                        OFFSET,
                        out,
                        received.at(rank),
                        OFFSET,
                        in,
                        ElementType.INT32,
                        DEFAULTS,
                        callback);
            });
            received.assertAre("all-to-all", (rank, place) -> {
                int unit = rank + 1;
                if (place >= 6L * unit) {
                    return POISON;
                }
                int from = place < unit ? 0 : place < 3L * unit ? 1 : 2;
                long first = from == 0 ? 0 : from == 1 ? unit : 3L * unit;
                long before = rank == 0 ? 0 : rank == 1 ? from + 1 : 3L * (from + 1);
                return number(from, before + place - first);
            });
        }
    }

    @ParameterizedTest
    @CsvSource({"shm, 3", "tcp, 2"})
    void aThousandMixedCollectivesAreUnderWay(String transport, int size) {
        int all = 1_000;
        try (Ranks ranks = Ranks.form(transport, size)) {
            List<CompletableFuture<Void>> ended = new ArrayList<>();
            List<Runnable> checks = new ArrayList<>();
            for (int i = 0; i < all; i++) {
                int number = i;
                long count = i % 50 == 0 ? 30_000 : i % 37;
                switch (i % 4) {
                    case 0 -> {
                        Buffers buffer = new Buffers(ranks, count, (rank, place) -> number(rank, place + number));
                        ended.add(ranks.start((rank, team, callback) -> team.allReduce(
                                buffer.at(rank),
                                OFFSET,
                                buffer.at(rank),
                                OFFSET,
                                count,
                                ElementType.INT32,
                                ReduceOperation.SUM,
                                DEFAULTS,
                                callback)));
                        checks.add(() ->
                                buffer.assertAre("all-reduce " + number, (rank, place) -> sum(size, place + number)));
                    }
                    case 1 -> {
                        int root = i % size;
                        Buffers buffer = new Buffers(ranks, count, (rank, place) -> number(rank, place + number));
                        ended.add(ranks.start((rank, team, callback) -> team.broadcast(
                                buffer.at(rank), OFFSET, count, ElementType.INT32, root, DEFAULTS, callback)));
                        checks.add(() ->
                                buffer.assertAre("broadcast " + number, (rank, place) -> number(root, place + number)));
                    }
                    case 2 -> ended.add(ranks.start((rank, team, callback) -> team.barrier(DEFAULTS, callback)));
                    default -> {
                        Buffers block = new Buffers(ranks, count, (rank, place) -> number(rank, place + number));
                        Buffers buffer = Buffers.poisoned(ranks, count * size);
                        long length = Math.max(1, count);
                        ended.add(ranks.start((rank, team, callback) -> team.allGather(
                                block.at(rank),
                                OFFSET,
                                buffer.at(rank),
                                OFFSET,
                                count,
                                ElementType.INT32,
                                DEFAULTS,
                                callback)));
                        checks.add(() -> buffer.assertAre(
                                "all-gather " + number,
                                (rank, place) -> number((int) (place / length), place % length + number)));
                    }
                }
            }
            ended.forEach(Patience::await);
            checks.forEach(Runnable::run);
        }
    }

    @Test
    void argumentsAreChecked() {
        try (Ranks ranks = Ranks.form("shm", 1)) {
            Team team = ranks.team(0);
            MemoryRegion region = ranks.region(0, 64);
            assertThatThrownBy(() -> team.allReduce(
                            region,
                            0,
                            region,
                            4,
                            8,
                            ElementType.INT32,
                            ReduceOperation.SUM,
                            DEFAULTS,
                            (called, error) -> {}))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("overlap");
            assertThatThrownBy(
                            () -> team.broadcast(region, 0, 17, ElementType.INT32, 0, DEFAULTS, (called, error) -> {}))
                    .isInstanceOf(IndexOutOfBoundsException.class);
            assertThatThrownBy(
                            () -> team.broadcast(region, 0, 1, ElementType.INT32, 1, DEFAULTS, (called, error) -> {}))
                    .isInstanceOf(IndexOutOfBoundsException.class);
            assertThatThrownBy(() -> team.barrier(DEFAULTS.withAlgorithm(Algorithm.RING), (called, error) -> {}))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("barrier");
        }
    }
}
