package io.sluice.collectives;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sluice.engine.MemoryRegion;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Each algorithm of each kind, by name, between engines of this process. */
class AlgorithmsTest {
    private static final CollectiveOptions DEFAULTS = CollectiveOptions.defaults();
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG;
    private static final long POISON = 0x5A5A_5A5A_5A5A_5A5AL;

    private final Queue<Algorithm> reported = new ConcurrentLinkedQueue<>();

    private interface Numbers {
        long at(int rank, long place);
    }

    private interface Called {
        Collective call(int rank, Team team, CollectiveCallback callback);
    }

    private static long number(int rank, long place) {
        return (rank + 1) * 1_000_003L + place * 31;
    }

    private static long sum(int size, long place) {
        long sum = 0;
        for (int rank = 0; rank < size; rank++) {
            sum += number(rank, place);
        }
        return sum;
    }

    private static List<MemoryRegion> buffers(Ranks ranks, long count, Numbers numbers) {
        return ranks.each(rank -> {
            MemoryRegion region = ranks.region(rank, count * Long.BYTES);
            for (long i = 0; i < count; i++) {
                region.segment().setAtIndex(LONG, i, numbers.at(rank, i));
            }
            return region;
        });
    }

    private static void assertAre(String what, List<MemoryRegion> buffers, long count, Numbers expected) {
        for (int rank = 0; rank < buffers.size(); rank++) {
            MemorySegment memory = buffers.get(rank).segment();
            for (long i = 0; i < count; i++) {
                long found = memory.getAtIndex(LONG, i);
                if (found != expected.at(rank, i)) {
                    assertThat(found)
                            .as("%s: element %d of %d on rank %d of %d", what, i, count, rank, buffers.size())
                            .isEqualTo(expected.at(rank, i));
                }
            }
        }
    }

    private void call(Ranks ranks, Algorithm algorithm, Called called) {
        reported.clear();
        ranks.call((rank, team, callback) -> called.call(rank, team, (collective, error) -> {
            reported.add(collective.algorithm());
            callback.ended(collective, error);
        }));
        assertThat(Set.copyOf(reported)).containsExactly(algorithm);
    }

    private static List<Algorithm> algorithms(CollectiveKind kind, int ranks) {
        return AlgorithmTable.possible(kind).stream()
                // MappedCollectivesTest is about that
                .filter(each -> each != Algorithm.MAPPED)
                .filter(each -> kind != CollectiveKind.ALL_GATHER
                        || each != Algorithm.RECURSIVE_DOUBLING
                        || Integer.bitCount(ranks) == 1)
                .toList();
    }

    @ParameterizedTest
    @Tag("soak")
    @CsvSource("tcp, 2")
    void eachAlgorithmGivesEachOfTwoRanksItsElements(String transport, int size) {
        eachAlgorithmGivesEveryRankItsElements(transport, size);
    }

    @ParameterizedTest
    @CsvSource({"tcp, 3", "shm, 4"})
    void eachAlgorithmGivesEveryRankItsElements(String transport, int size) {
        try (Ranks ranks = Ranks.form(transport, size)) {
            // with small messages, with some of each size, and with several a block
            for (long count : new long[] {0, 1, 1_001, 50_001}) {
                allReduces(ranks, count);
                reduceScatters(ranks, count);
                allGathers(ranks, count);
                broadcasts(ranks, count);
                allToAlls(ranks, count);
            }
        }
    }

    @Test
    @Tag("soak")
    void eachAlgorithmGivesThreeRanksOverShmTheirElements() {
        eachAlgorithmGivesEveryRankItsElements("shm", 3);
    }

    private void allReduces(Ranks ranks, long count) {
        for (Algorithm algorithm : algorithms(CollectiveKind.ALL_REDUCE, ranks.size())) {
            List<MemoryRegion> buffer = buffers(ranks, count, AlgorithmsTest::number);
            List<MemoryRegion> target = buffers(ranks, count, (rank, place) -> POISON);
            for (List<MemoryRegion> to : List.of(target, buffer)) {
                call(
                        ranks,
                        algorithm,
                        (rank, team, callback) -> team.allReduce(
                                buffer.get(rank),
                                0,
                                to.get(rank),
                                0,
                                count,
                                ElementType.INT64,
                                ReduceOperation.SUM,
                                DEFAULTS.withAlgorithm(algorithm),
                                callback));
                assertAre(algorithm.toString(), to, count, (rank, place) -> sum(ranks.size(), place));
            }
        }
    }

    private void reduceScatters(Ranks ranks, long count) {
        int size = ranks.size();
        for (Algorithm algorithm : algorithms(CollectiveKind.REDUCE_SCATTER, size)) {
            List<MemoryRegion> source = buffers(ranks, count * size, AlgorithmsTest::number);
            List<MemoryRegion> target = buffers(ranks, count, (rank, place) -> POISON);
            call(
                    ranks,
                    algorithm,
                    (rank, team, callback) -> team.reduceScatter(
                            source.get(rank),
                            0,
                            target.get(rank),
                            0,
                            count,
                            ElementType.INT64,
                            ReduceOperation.SUM,
                            DEFAULTS.withAlgorithm(algorithm),
                            callback));
            assertAre(algorithm.toString(), target, count, (rank, place) -> sum(size, rank * count + place));
        }
    }

    private void allGathers(Ranks ranks, long count) {
        int size = ranks.size();
        long block = Math.max(1, count);
        for (Algorithm algorithm : algorithms(CollectiveKind.ALL_GATHER, size)) {
            List<MemoryRegion> source = buffers(ranks, count, AlgorithmsTest::number);
            List<MemoryRegion> target = buffers(ranks, count * size, (rank, place) -> POISON);
            call(
                    ranks,
                    algorithm,
                    (rank, team, callback) -> team.allGather(
                            source.get(rank),
                            0,
                            target.get(rank),
                            0,
                            count,
                            ElementType.INT64,
                            DEFAULTS.withAlgorithm(algorithm),
                            callback));
            assertAre(
                    algorithm.toString(),
                    target,
                    count * size,
                    (rank, place) -> number((int) (place / block), place % block));
        }
    }

    private void broadcasts(Ranks ranks, long count) {
        for (Algorithm algorithm : algorithms(CollectiveKind.BROADCAST, ranks.size())) {
            for (int root : new int[] {0, ranks.size() - 1}) {
                List<MemoryRegion> buffer = buffers(ranks, count, AlgorithmsTest::number);
                call(
                        ranks,
                        algorithm,
                        (rank, team, callback) -> team.broadcast(
                                buffer.get(rank),
                                0,
                                count,
                                ElementType.INT64,
                                root,
                                DEFAULTS.withAlgorithm(algorithm),
                                callback));
                assertAre(algorithm.toString(), buffer, count, (rank, place) -> number(root, place));
            }
        }
    }

    private void allToAlls(Ranks ranks, long count) {
        int size = ranks.size();
        long block = Math.max(1, count);
        for (Algorithm algorithm : algorithms(CollectiveKind.ALL_TO_ALL, size)) {
            List<MemoryRegion> source = buffers(ranks, count * size, AlgorithmsTest::number);
            List<MemoryRegion> target = buffers(ranks, count * size, (rank, place) -> POISON);
            for (List<MemoryRegion> to : List.of(target, source)) {
                call(
                        ranks,
                        algorithm,
                        (rank, team, callback) -> team.allToAll(
                                source.get(rank),
                                0,
                                to.get(rank),
                                0,
                                count,
                                ElementType.INT64,
                                DEFAULTS.withAlgorithm(algorithm),
                                callback));
                assertAre(
                        algorithm.toString(),
                        to,
                        count * size,
                        (rank, place) -> number((int) (place / block), rank * count + place % block));
            }
        }
    }

    @ParameterizedTest
    @CsvSource({"shm, flat", "tcp, rabenseifner"})
    void aRuleMayCountForOneTransport(String transport, String algorithm) {
        AlgorithmTable table = AlgorithmTable.parse("""
                all-reduce shm * * flat
                all-reduce tcp * * rabenseifner
                all-reduce * * ring
                """);
        try (Ranks ranks = Ranks.form(transport, 3, options -> options.algorithms(table), engine -> {})) {
            List<MemoryRegion> buffer = buffers(ranks, 10, AlgorithmsTest::number);
            call(
                    ranks,
                    Algorithm.parse(algorithm),
                    (rank, team, callback) -> team.allReduce(
                            buffer.get(rank),
                            0,
                            buffer.get(rank),
                            0,
                            10,
                            ElementType.INT64,
                            ReduceOperation.SUM,
                            DEFAULTS,
                            callback));
        }
    }

    @Test
    void blocksOfDifferentLengthsAreSentPairwise() {
        try (Ranks ranks = Ranks.form("shm", 3)) {
            long most = 20_000;
            List<MemoryRegion> source = buffers(ranks, 3 * most, AlgorithmsTest::number);
            List<MemoryRegion> target = buffers(ranks, 3 * most, (rank, place) -> POISON);
            // rank r sends r × most elements in all, to the next rank
            call(ranks, Algorithm.PAIRWISE, (rank, team, callback) -> {
                long[] sent = new long[3];
                long[] received = new long[3];
                sent[(rank + 1) % 3] = rank * most;
                received[(rank + 2) % 3] = (rank + 2) % 3 * most;
                return team.allToAllV(
                        source.get(rank),
                        0,
                        sent,
                        target.get(rank),
                        0,
                        received,
                        ElementType.INT64,
                        DEFAULTS,
                        callback);
            });
            assertAre(
                    "all-to-all",
                    target,
                    3 * most,
                    (rank, place) -> place < (rank + 2) % 3 * most ? number((rank + 2) % 3, place) : POISON);
            assertThatThrownBy(() -> ranks.team(0)
                            .allToAllV(
                                    source.getFirst(),
                                    0,
                                    new long[3],
                                    target.getFirst(),
                                    0,
                                    new long[3],
                                    ElementType.INT64,
                                    DEFAULTS.withAlgorithm(Algorithm.BRUCK),
                                    (called, error) -> {}))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("one length");
            assertThatThrownBy(() -> ranks.team(0)
                            .allGather(
                                    source.getFirst(),
                                    0,
                                    target.getFirst(),
                                    0,
                                    1,
                                    ElementType.INT64,
                                    DEFAULTS.withAlgorithm(Algorithm.RECURSIVE_DOUBLING),
                                    (called, error) -> {}))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("power of two");
        }
    }
}
