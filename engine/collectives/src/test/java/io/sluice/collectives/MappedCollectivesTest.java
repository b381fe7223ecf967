package io.sluice.collectives;

import static io.sluice.testkit.Patience.await;
import static io.sluice.testkit.Patience.failure;
import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.SluiceException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Collectives whose ranks read each other's memory: every element of every rank, over poisoned targets. */
class MappedCollectivesTest {
    private static final CollectiveOptions MAPPED = CollectiveOptions.defaults().withAlgorithm(Algorithm.MAPPED);
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED;
    private static final int POISON = 0x5A5A5A5A;
    // not where a page or cache line begins
    private static final long OFFSET = 12;
    private static final int[] COUNTS = {1, 3, 5, 65_537, 200_001};

    private final Collection<Algorithm> algorithms = new ConcurrentLinkedQueue<>();

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

    /** Buffers that peers may read. */
    private static List<MemoryRegion> buffers(Ranks ranks, long count, Numbers numbers) {
        return ranks.each(rank -> {
            MemoryRegion region = ranks.engine(rank).allocate(4 * count + 2 * OFFSET, RegionOptions.readOnly());
            region.segment().fill((byte) POISON);
            for (long i = 0; i < count; i++) {
                region.segment().set(INT, OFFSET + 4 * i, numbers.at(rank, i));
            }
            return region;
        });
    }

    private static List<MemoryRegion> poisoned(Ranks ranks, long count) {
        return buffers(ranks, count, (rank, place) -> POISON);
    }

    private static void assertAre(String what, List<MemoryRegion> regions, long count, Numbers numbers) {
        for (int rank = 0; rank < regions.size(); rank++) {
            MemorySegment found = regions.get(rank).segment();
            for (long i = -1; i <= count; i++) {
                int expected = i < 0 || i == count ? POISON : numbers.at(rank, i);
                if (found.get(INT, OFFSET + 4 * i) != expected) {
                    assertThat(found.get(INT, OFFSET + 4 * i))
                            .as("%s: element %d of %d on rank %d", what, i, count, rank)
                            .isEqualTo(expected);
                }
            }
        }
    }

    /** A call on each rank that notes the algorithm. */
    private void call(Ranks ranks, Ranks.CallOnRank collective) {
        ranks.call((rank, team, callback) -> collective.call(rank, team, (called, error) -> {
            algorithms.add(called.algorithm());
            callback.ended(called, error);
        }));
    }

    private void allReduce(Ranks ranks, List<MemoryRegion> source, List<MemoryRegion> target, long count) {
        call(
                ranks,
                (rank, team, callback) -> team.allReduce(
                        source.get(rank),
                        OFFSET,
                        target.get(rank),
                        OFFSET,
                        count,
                        ElementType.INT32,
                        ReduceOperation.SUM,
                        MAPPED,
                        callback));
    }

    @ParameterizedTest
    @Tag("soak")
    @ValueSource(ints = {2, 5})
    void everyKindGivesEveryRankOfOtherTeamsItsElements(int size) {
        everyKindGivesEveryRankItsElements(size);
    }

    @ParameterizedTest
    @ValueSource(ints = 3)
    void everyKindGivesEveryRankItsElements(int size) {
        try (Ranks ranks = Ranks.form("shm", size)) {
            for (int count : COUNTS) {
                reductions(ranks, count);
                blocks(ranks, Math.min(count, 70_001));
                rooted(ranks, count, size - 1);
            }
            assertThat(algorithms).containsOnly(Algorithm.MAPPED);
        }
    }

    private void reductions(Ranks ranks, long count) {
        int size = ranks.size();
        List<MemoryRegion> source = buffers(ranks, count, MappedCollectivesTest::number);
        List<MemoryRegion> target = poisoned(ranks, count);
        allReduce(ranks, source, target, count);
        assertAre("all-reduce", target, count, (rank, place) -> sum(size, place));
        assertAre("source of all-reduce", source, count, MappedCollectivesTest::number);
        // in place on one rank, and not on the others
        List<MemoryRegion> mixed = ranks.each(rank -> rank == 0 ? source.get(0) : target.get(rank));
        allReduce(ranks, source, mixed, count);
        assertAre("all-reduce in place on one rank", mixed, count, (rank, place) -> sum(size, place));
        List<MemoryRegion> own = buffers(ranks, count, MappedCollectivesTest::number);
        allReduce(ranks, own, own, count);
        assertAre("all-reduce in place", own, count, (rank, place) -> sum(size, place));
    }

    private void blocks(Ranks ranks, long count) {
        int size = ranks.size();
        List<MemoryRegion> whole = buffers(ranks, count * size, MappedCollectivesTest::number);
        List<MemoryRegion> block = poisoned(ranks, count);
        call(
                ranks,
                (rank, team, callback) -> team.reduceScatter(
                        whole.get(rank),
                        OFFSET,
                        block.get(rank),
                        OFFSET,
                        count,
                        ElementType.INT32,
                        ReduceOperation.SUM,
                        MAPPED,
                        callback));
        assertAre("reduce-scatter", block, count, (rank, place) -> sum(size, rank * count + place));
        List<MemoryRegion> gathered = poisoned(ranks, count * size);
        call(
                ranks,
                (rank, team, callback) -> team.allGather(
                        block.get(rank),
                        OFFSET,
                        gathered.get(rank),
                        OFFSET,
                        count,
                        ElementType.INT32,
                        MAPPED,
                        callback));
        assertAre("all-gather", gathered, count * size, (rank, place) -> sum(size, place));
        call(
                ranks,
                (rank, team, callback) -> team.reduceScatter(
                        whole.get(rank),
                        OFFSET,
                        whole.get(rank),
                        OFFSET + rank * count * 4,
                        count,
                        ElementType.INT32,
                        ReduceOperation.AVERAGE,
                        MAPPED,
                        callback));
        call(
                ranks,
                (rank, team, callback) -> team.allGather(
                        whole.get(rank),
                        OFFSET + rank * count * 4,
                        whole.get(rank),
                        OFFSET,
                        count,
                        ElementType.INT32,
                        MAPPED,
                        callback));
        assertAre("both in place", whole, count * size, (rank, place) -> sum(size, place) / size);
        List<MemoryRegion> sent = buffers(ranks, count * size, MappedCollectivesTest::number);
        List<MemoryRegion> received = poisoned(ranks, count * size);
        call(
                ranks,
                (rank, team, callback) -> team.allToAll(
                        sent.get(rank),
                        OFFSET,
                        received.get(rank),
                        OFFSET,
                        count,
                        ElementType.INT32,
                        MAPPED,
                        callback));
        assertAre(
                "all-to-all",
                received,
                count * size,
                (rank, place) -> number((int) (place / count), rank * count + place % count));
    }

    private void rooted(Ranks ranks, long count, int root) {
        int size = ranks.size();
        List<MemoryRegion> source = buffers(ranks, count, MappedCollectivesTest::number);
        List<MemoryRegion> target = poisoned(ranks, count);
        call(
                ranks,
                (rank, team, callback) -> team.reduce(
                        source.get(rank),
                        OFFSET,
                        target.get(rank),
                        OFFSET,
                        count,
                        ElementType.INT32,
                        ReduceOperation.SUM,
                        root,
                        MAPPED,
                        callback));
        assertAre("reduce", target, count, (rank, place) -> rank == root ? sum(size, place) : POISON);
        call(
                ranks,
                (rank, team, callback) ->
                        team.broadcast(target.get(rank), OFFSET, count, ElementType.INT32, root, MAPPED, callback));
        assertAre("broadcast", target, count, (rank, place) -> sum(size, place));
    }

    @ParameterizedTest
    @EnumSource(ElementType.class)
    void allRanksGetTheSameBitsInEveryRun(ElementType type) {
        long count = 100_003;
        try (Ranks ranks = Ranks.form("shm", 3)) {
            List<MemoryRegion> source = poisoned(ranks, count * 2);
            List<MemoryRegion> target = poisoned(ranks, count * 2);
            ranks.each(rank -> {
                byte[] random = new byte[(int) count * type.bytes()];
                new Random(rank).nextBytes(random);
                MemorySegment.copy(random, 0, source.get(rank).segment(), ValueLayout.JAVA_BYTE, 0, random.length);
                return rank;
            });
            for (ReduceOperation operation : ReduceOperation.values()) {
                Set<Long> sums = new HashSet<>();
                for (int run = 0; run < 2; run++) {
                    call(
                            ranks,
                            (rank, team, callback) -> team.allReduce(
                                    source.get(rank),
                                    0,
                                    target.get(rank),
                                    0,
                                    count,
                                    type,
                                    operation,
                                    MAPPED,
                                    callback));
                    target.forEach(region -> sums.add(region.checksum(0, count * type.bytes())));
                }
                assertThat(sums).as("%s of %s", operation, type).hasSize(1);
            }
            assertThat(algorithms).containsOnly(Algorithm.MAPPED);
        }
    }

    @Test
    void aRegionThatOneRankDoesNotGiveSendsAllAnotherWay() {
        int count = 70_001;
        try (Ranks ranks = Ranks.form("shm", 3)) {
            List<MemoryRegion> source = buffers(ranks, count, MappedCollectivesTest::number);
            List<MemoryRegion> target = new ArrayList<>(poisoned(ranks, count));
            MemoryRegion notGiven = ranks.engine(1).allocate(4L * count + 2 * OFFSET, RegionOptions.local());
            notGiven.segment().fill((byte) POISON);
            target.set(1, notGiven);
            allReduce(ranks, source, target, count);
            assertAre("all-reduce", target, count, (rank, place) -> sum(3, place));
            assertThat(algorithms)
                    .containsOnly(
                            AlgorithmTable.defaults().chooseUnmapped(CollectiveKind.ALL_REDUCE, "shm", 3, 4L * count));
            algorithms.clear();
            allReduce(ranks, source, source, count);
            assertAre("all-reduce", source, count, (rank, place) -> sum(3, place));
            assertThat(algorithms).containsOnly(Algorithm.MAPPED);
        }
    }

    @Test
    void registeredMemoryOfOneRankSendsAllAnotherWayEachTime() {
        int count = 70_001;
        try (Ranks ranks = Ranks.form("shm", 2);
                Arena arena = Arena.ofShared()) {
            List<MemoryRegion> source = new ArrayList<>(buffers(ranks, count, MappedCollectivesTest::number));
            MemorySegment own = arena.allocate(4L * count + 2 * OFFSET, 64);
            own.copyFrom(source.get(1).segment());
            MemoryRegion registered = ranks.engine(1).register(own, RegionOptions.readOnly());
            source.set(1, registered);
            for (int run = 0; run < 3; run++) {
                List<MemoryRegion> target = poisoned(ranks, count);
                allReduce(ranks, source, target, count);
                assertAre("all-reduce", target, count, (rank, place) -> sum(2, place));
            }
            assertThat(algorithms).doesNotContain(Algorithm.MAPPED);
            await(registered.close());
        }
    }

    @ParameterizedTest
    @CsvSource({"tcp, 2", "tcp, 3"})
    void withoutMappedMemoryAllGoAnotherWay(String transport, int size) {
        int count = 10_001;
        try (Ranks ranks = Ranks.form(transport, size)) {
            List<MemoryRegion> source = buffers(ranks, count, MappedCollectivesTest::number);
            allReduce(ranks, source, source, count);
            assertAre("all-reduce", source, count, (rank, place) -> sum(size, place));
            assertThat(algorithms).doesNotContain(Algorithm.MAPPED);
        }
    }

    @Test
    void anAllToAllInPlaceOnOneRankSendsAllAnotherWay() {
        int count = 5_000;
        try (Ranks ranks = Ranks.form("shm", 3)) {
            List<MemoryRegion> sent = buffers(ranks, count * 3L, MappedCollectivesTest::number);
            List<MemoryRegion> received = poisoned(ranks, count * 3L);
            List<MemoryRegion> mixed = ranks.each(rank -> rank == 1 ? sent.get(1) : received.get(rank));
            call(
                    ranks,
                    (rank, team, callback) -> team.allToAll(
                            sent.get(rank),
                            OFFSET,
                            mixed.get(rank),
                            OFFSET,
                            count,
                            ElementType.INT32,
                            MAPPED,
                            callback));
            assertAre(
                    "all-to-all",
                    mixed,
                    count * 3L,
                    (rank, place) -> number((int) (place / count), rank * count + place % count));
            assertThat(algorithms).containsOnly(Algorithm.DIRECT);
        }
    }

    @Test
    void moreRegionsAreUsedThanAreKnownAtOnce() {
        int count = 1_000;
        try (Ranks ranks = Ranks.form("shm", 2)) {
            for (int i = 0; i < 100; i++) {
                List<MemoryRegion> source = buffers(ranks, count, MappedCollectivesTest::number);
                List<MemoryRegion> target = poisoned(ranks, count);
                allReduce(ranks, source, target, count);
                assertAre("all-reduce " + i, target, count, (rank, place) -> sum(2, place));
                if (i % 2 == 0) {
                    source.forEach(region -> await(region.close()));
                    target.forEach(region -> await(region.close()));
                }
            }
            assertThat(algorithms).containsOnly(Algorithm.MAPPED);
        }
    }

    @Test
    void manyAreInFlight() {
        int count = 6_000;
        try (Ranks ranks = Ranks.form("shm", 3)) {
            List<List<MemoryRegion>> targets = new ArrayList<>();
            List<CompletableFuture<Void>> running = new ArrayList<>();
            List<MemoryRegion> source = buffers(ranks, count, MappedCollectivesTest::number);
            for (int i = 0; i < 60; i++) {
                targets.add(poisoned(ranks, count));
            }
            for (int i = 0; i < 60; i++) {
                List<MemoryRegion> target = targets.get(i);
                running.add(ranks.start((rank, team, callback) -> team.allReduce(
                        source.get(rank),
                        OFFSET,
                        target.get(rank),
                        OFFSET,
                        count,
                        ElementType.INT32,
                        ReduceOperation.SUM,
                        MAPPED,
                        callback)));
                running.add(
                        ranks.start((rank, team, callback) -> team.barrier(CollectiveOptions.defaults(), callback)));
            }
            running.forEach(each -> await(each));
            targets.forEach(target -> assertAre("all-reduce", target, count, (rank, place) -> sum(3, place)));
        }
    }

    @Test
    void aPersistentOneSeesWhatTheBufferHoldsNow() {
        int count = 40_000;
        try (Ranks ranks = Ranks.form("shm", 2)) {
            List<MemoryRegion> source = buffers(ranks, count, MappedCollectivesTest::number);
            List<MemoryRegion> target = poisoned(ranks, count);
            List<PersistentCollective> prepared = ranks.each(rank -> ranks.team(rank)
                    .prepare()
                    .allReduce(
                            source.get(rank),
                            OFFSET,
                            target.get(rank),
                            OFFSET,
                            count,
                            ElementType.INT32,
                            ReduceOperation.SUM,
                            MAPPED,
                            (called, error) -> {}));
            for (int run = 0; run < 100; run++) {
                int added = run;
                ranks.each(rank -> {
                    for (int i = 0; i < count; i++) {
                        source.get(rank).segment().set(INT, OFFSET + 4L * i, number(rank, i) + added);
                    }
                    return rank;
                });
                call(ranks, (rank, team, callback) -> prepared.get(rank).start(callback));
                assertAre("run " + run, target, count, (rank, place) -> sum(2, place) + 2 * added);
            }
            assertThat(algorithms).containsOnly(Algorithm.MAPPED);
            prepared.forEach(PersistentCollective::close);
        }
    }

    @Test
    void ranksThatCallDifferentCountsAllGetAnError() {
        try (Ranks ranks = Ranks.form("shm", 3)) {
            List<MemoryRegion> source = buffers(ranks, 50_000, MappedCollectivesTest::number);
            List<CompletableFuture<Void>> all = ranks.startEach((rank, team, callback) -> team.allReduce(
                    source.get(rank),
                    OFFSET,
                    source.get(rank),
                    OFFSET,
                    rank == 1 ? 40_000 : 50_000,
                    ElementType.INT32,
                    ReduceOperation.SUM,
                    MAPPED,
                    callback));
            all.forEach(each -> failure(each, CollectiveMismatchException.class));
        }
    }

    @Test
    void aRegionThatIsClosedEndsTheCollectiveWithAnError() {
        int count = 50_000;
        try (Ranks ranks = Ranks.form("shm", 2)) {
            List<MemoryRegion> source = buffers(ranks, count, MappedCollectivesTest::number);
            List<PersistentCollective> prepared = ranks.each(rank -> ranks.team(rank)
                    .prepare()
                    .allReduce(
                            source.get(rank),
                            OFFSET,
                            source.get(rank),
                            OFFSET,
                            count,
                            ElementType.INT32,
                            ReduceOperation.MAX,
                            MAPPED,
                            (called, error) -> {}));
            ranks.call((rank, team, callback) -> prepared.get(rank).start(callback));
            await(source.get(1).close());
            List<CompletableFuture<Void>> all =
                    ranks.startEach((rank, team, callback) -> prepared.get(rank).start(callback));
            all.forEach(each -> failure(each, SluiceException.class));
        }
    }
}
