package io.sluice.collectives;

import static io.sluice.testkit.Patience.failure;
import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RegionOptions;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Gathers, scatters and exchanges of blocks, of one length and of many, whose ranks read each other's memory. */
class MappedBlocksTest {
    private static final CollectiveOptions MAPPED = CollectiveOptions.defaults().withAlgorithm(Algorithm.MAPPED);
    private static final CollectiveOptions DEFAULTS = CollectiveOptions.defaults();
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED;
    private static final int POISON = 0x5A5A5A5A;
    private static final long OFFSET = 12;
    private static final int[] COUNTS = {1, 5, 3_001, 70_003};

    private final Collection<Algorithm> algorithms = new ConcurrentLinkedQueue<>();

    /** What a rank sends to another one, at a place of the block. */
    private static int number(int from, int to, long place) {
        return (int) ((from + 1) * 1_000_003L + (to + 1) * 7_919L + place * 31);
    }

    /** Of blocks of many lengths, also none. */
    private static int count(int from, int to, int most) {
        return (from + 2 * to) % 3 * most / 2;
    }

    private static long[] counts(Ranks ranks, int most) {
        long[] counts = new long[ranks.size()];
        Arrays.setAll(counts, rank -> count(rank, 0, most));
        return counts;
    }

    private static long start(long[] counts, int block) {
        return Arrays.stream(counts, 0, block).sum();
    }

    private static MemoryRegion region(Ranks ranks, int rank, long count) {
        MemoryRegion region = ranks.engine(rank).allocate(4 * count + 2 * OFFSET, RegionOptions.readOnly());
        region.segment().fill((byte) POISON);
        return region;
    }

    private static void put(MemoryRegion region, long start, long count, int from, int to) {
        for (long i = 0; i < count; i++) {
            region.segment().set(INT, OFFSET + 4 * (start + i), number(from, to, i));
        }
    }

    private static void assertHolds(MemoryRegion region, long start, long count, int from, int to) {
        for (long i = 0; i < count; i++) {
            if (region.segment().get(INT, OFFSET + 4 * (start + i)) != number(from, to, i)) {
                assertThat(region.segment().get(INT, OFFSET + 4 * (start + i)))
                        .as("element %d of %d of rank %d at rank %d", i, count, from, to)
                        .isEqualTo(number(from, to, i));
            }
        }
    }

    private static void assertPoisonAround(MemoryRegion region, long count) {
        assertThat(region.segment().get(INT, OFFSET - 4)).isEqualTo(POISON);
        assertThat(region.segment().get(INT, OFFSET + 4 * count)).isEqualTo(POISON);
    }

    private void call(Ranks ranks, Ranks.CallOnRank collective) {
        ranks.call((rank, team, callback) -> collective.call(rank, team, (called, error) -> {
            algorithms.add(called.algorithm());
            callback.ended(called, error);
        }));
    }

    @ParameterizedTest
    @ValueSource(ints = {2, 3, 5})
    void theRootGathersTheBlocksOfAllRanks(int size) {
        try (Ranks ranks = Ranks.form("shm", size)) {
            for (int most : COUNTS) {
                for (boolean inPlace : new boolean[] {false, true}) {
                    gather(ranks, most, size - 1, inPlace);
                }
            }
            assertThat(algorithms).containsOnly(Algorithm.MAPPED);
        }
    }

    private void gather(Ranks ranks, int most, int root, boolean inPlace) {
        long[] counts = counts(ranks, 2 * most);
        long total = start(counts, counts.length);
        MemoryRegion target = region(ranks, root, total);
        List<MemoryRegion> sources =
                ranks.each(rank -> inPlace && rank == root ? target : region(ranks, rank, counts[rank]));
        ranks.each(rank -> {
            put(sources.get(rank), inPlace && rank == root ? start(counts, rank) : 0, counts[rank], rank, root);
            return rank;
        });
        call(
                ranks,
                (rank, team, callback) -> team.gatherV(
                        sources.get(rank),
                        inPlace && rank == root ? OFFSET + 4 * start(counts, rank) : OFFSET,
                        rank == root ? target : sources.get(rank),
                        OFFSET,
                        counts,
                        ElementType.INT32,
                        root,
                        MAPPED,
                        callback));
        for (int rank = 0; rank < ranks.size(); rank++) {
            assertHolds(target, start(counts, rank), counts[rank], rank, root);
        }
        assertPoisonAround(target, total);
    }

    @ParameterizedTest
    @ValueSource(ints = {2, 3, 5})
    void eachRankGetsItsBlockOfTheRoot(int size) {
        try (Ranks ranks = Ranks.form("shm", size)) {
            for (int most : COUNTS) {
                for (boolean inPlace : new boolean[] {false, true}) {
                    scatter(ranks, most, size / 2, inPlace);
                }
            }
            assertThat(algorithms).containsOnly(Algorithm.MAPPED);
        }
    }

    private void scatter(Ranks ranks, int most, int root, boolean inPlace) {
        long[] counts = counts(ranks, 2 * most);
        MemoryRegion source = region(ranks, root, start(counts, counts.length));
        for (int rank = 0; rank < ranks.size(); rank++) {
            put(source, start(counts, rank), counts[rank], root, rank);
        }
        List<MemoryRegion> targets =
                ranks.each(rank -> inPlace && rank == root ? source : region(ranks, rank, counts[rank]));
        call(
                ranks,
                (rank, team, callback) -> team.scatterV(
                        rank == root ? source : targets.get(rank),
                        OFFSET,
                        targets.get(rank),
                        inPlace && rank == root ? OFFSET + 4 * start(counts, rank) : OFFSET,
                        counts,
                        ElementType.INT32,
                        root,
                        MAPPED,
                        callback));
        for (int rank = 0; rank < ranks.size(); rank++) {
            boolean within = inPlace && rank == root;
            assertHolds(targets.get(rank), within ? start(counts, rank) : 0, counts[rank], root, rank);
            if (!within) {
                assertPoisonAround(targets.get(rank), counts[rank]);
            }
        }
    }

    @ParameterizedTest
    @CsvSource({"2, true", "3, true", "5, true", "3, false"})
    void blocksOfAllLengthsGoToTheirRanks(int size, boolean asked) {
        try (Ranks ranks = Ranks.form("shm", size)) {
            for (int most : COUNTS) {
                exchange(ranks, 2 * most, asked ? MAPPED : DEFAULTS);
            }
            assertThat(algorithms).containsOnly(Algorithm.MAPPED);
        }
    }

    private void exchange(Ranks ranks, int most, CollectiveOptions options) {
        int size = ranks.size();
        long[][] sent = new long[size][size];
        long[][] received = new long[size][size];
        for (int from = 0; from < size; from++) {
            for (int to = 0; to < size; to++) {
                sent[from][to] = count(from, to, most);
                received[to][from] = sent[from][to];
            }
        }
        List<MemoryRegion> sources = ranks.each(rank -> region(ranks, rank, start(sent[rank], size)));
        List<MemoryRegion> targets = ranks.each(rank -> region(ranks, rank, start(received[rank], size)));
        for (int from = 0; from < size; from++) {
            for (int to = 0; to < size; to++) {
                put(sources.get(from), start(sent[from], to), sent[from][to], from, to);
            }
        }
        call(
                ranks,
                (rank, team, callback) -> team.allToAllV(
                        sources.get(rank),
                        OFFSET,
                        sent[rank],
                        targets.get(rank),
                        OFFSET,
                        received[rank],
                        ElementType.INT32,
                        options,
                        callback));
        for (int to = 0; to < size; to++) {
            for (int from = 0; from < size; from++) {
                assertHolds(targets.get(to), start(received[to], from), sent[from][to], from, to);
            }
            assertPoisonAround(targets.get(to), start(received[to], size));
        }
    }

    @Test
    void aRankThatExpectsAnotherLengthIsAMismatch() {
        try (Ranks ranks = Ranks.form("shm", 2)) {
            List<MemoryRegion> sources = ranks.each(rank -> region(ranks, rank, 20_000));
            List<MemoryRegion> targets = ranks.each(rank -> region(ranks, rank, 20_000));
            List<CompletableFuture<Void>> all = ranks.startEach((rank, team, callback) -> team.allToAllV(
                    sources.get(rank),
                    OFFSET,
                    new long[] {5_000, 5_000},
                    targets.get(rank),
                    OFFSET,
                    rank == 0 ? new long[] {5_000, 6_000} : new long[] {5_000, 5_000},
                    ElementType.INT32,
                    DEFAULTS,
                    callback));
            all.forEach(each -> failure(each, CollectiveMismatchException.class));
        }
    }

    @Test
    void whatPeersMayNotReadGoesAnotherWay() {
        int count = 40_000;
        try (Ranks ranks = Ranks.form("shm", 3)) {
            List<MemoryRegion> sources = ranks.each(
                    rank -> rank == 1 ? ranks.region(1, 4 * count + 2 * OFFSET) : region(ranks, rank, count));
            MemoryRegion target = region(ranks, 0, 3 * count);
            ranks.each(rank -> {
                put(sources.get(rank), 0, count, rank, 0);
                return rank;
            });
            call(
                    ranks,
                    (rank, team, callback) -> team.gather(
                            sources.get(rank),
                            OFFSET,
                            rank == 0 ? target : sources.get(rank),
                            OFFSET,
                            count,
                            ElementType.INT32,
                            0,
                            DEFAULTS,
                            callback));
            for (int rank = 0; rank < 3; rank++) {
                assertHolds(target, (long) rank * count, count, rank, 0);
            }
            assertThat(algorithms).containsOnly(Algorithm.DIRECT);
        }
    }
}
