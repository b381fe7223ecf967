package io.sluice.collectives;

import static io.sluice.testkit.Patience.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.sluice.engine.MemoryRegion;
import io.sluice.engine.SluiceException;
import io.sluice.testkit.Patience;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Threads besides the loop reduce: the same bits as without them, and nothing is left of them. */
class HelperThreadsTest {
    private static final String TEAM = "helped";
    private static final int COUNT = 300_001;
    private static final int MOST_RANKS = 4;

    private static Ranks form(String transport, int size, int helpers) {
        // one rank has none: that is its own affair
        return Ranks.form(
                transport,
                size,
                options -> options.name(TEAM).helperThreads(options.rank() == 1 ? 0 : helpers),
                engine -> {});
    }

    /** The elements of each rank, which take long to find. */
    private static final List<MemorySegment> ELEMENTS =
            IntStream.range(0, MOST_RANKS).mapToObj(HelperThreadsTest::elements).toList();

    private static MemorySegment elements(int rank) {
        Random random = new Random(rank);
        float[] elements = new float[COUNT];
        for (int i = 0; i < COUNT; i++) {
            elements[i] = (float) random.nextGaussian();
        }
        return MemorySegment.ofArray(elements);
    }

    private static List<MemoryRegion> random(Ranks ranks) {
        return ranks.each(rank -> {
            MemoryRegion region = ranks.region(rank, COUNT * 4L);
            MemorySegment.copy(ELEMENTS.get(rank), 0, region.segment(), 0, COUNT * 4L);
            return region;
        });
    }

    private static Ranks.CallOnRank allReduce(
            List<MemoryRegion> source, List<MemoryRegion> target, ReduceOperation by, Algorithm algorithm) {
        return (rank, team, callback) -> team.allReduce(
                source.get(rank),
                0,
                target.get(rank),
                0,
                COUNT,
                ElementType.FLOAT32,
                by,
                CollectiveOptions.defaults().withAlgorithm(algorithm),
                callback);
    }

    @ParameterizedTest
    @Tag("soak")
    @CsvSource({"tcp, 2, 1", "shm, 4, 2"})
    void theResultOfOtherTeamsHasTheSameBitsAsWithoutThem(String transport, int size, int helpers) {
        theResultHasTheSameBitsAsWithoutThem(transport, size, helpers);
    }

    @ParameterizedTest
    @CsvSource({"tcp, 3, 3", "shm, 2, 2"})
    void theResultHasTheSameBitsAsWithoutThem(String transport, int size, int helpers) {
        List<Set<Long>> sums = new ArrayList<>();
        for (int threads : new int[] {0, helpers}) {
            try (Ranks ranks = form(transport, size, threads)) {
                int place = 0;
                for (Algorithm algorithm :
                        List.of(Algorithm.RING, Algorithm.RECURSIVE_DOUBLING, Algorithm.RABENSEIFNER, Algorithm.FLAT)) {
                    for (ReduceOperation operation : List.of(ReduceOperation.SUM, ReduceOperation.AVERAGE)) {
                        List<MemoryRegion> source = random(ranks);
                        List<MemoryRegion> target = ranks.each(rank -> ranks.region(rank, COUNT * 4L));
                        if (sums.size() == place) {
                            sums.add(new HashSet<>());
                        }
                        Set<Long> found = sums.get(place++);
                        ranks.call(allReduce(source, target, operation, algorithm));
                        target.forEach(region -> found.add(region.checksum(0, COUNT * 4L)));
                        ranks.call(allReduce(source, source, operation, algorithm));
                        source.forEach(region -> found.add(region.checksum(0, COUNT * 4L)));
                        source.forEach(region -> await(region.close()));
                        target.forEach(region -> await(region.close()));
                    }
                }
            }
        }
        assertThat(sums).allSatisfy(found -> assertThat(found).hasSize(1));
    }

    private static List<String> threads() {
        return Thread.getAllStackTraces().keySet().stream()
                .map(Thread::getName)
                .filter(name -> name.startsWith("sluice-team-" + TEAM + "-helper-"))
                .toList();
    }

    @Test
    void theThreadsEndWithTheTeam() {
        try (Ranks ranks = form("tcp", 3, 2)) {
            assertThat(threads()).hasSizeGreaterThanOrEqualTo(4);
            ranks.closeTeams();
            Patience.until("the threads end", () -> threads().isEmpty());
        }
    }

    /** A team that is revoked, or whose engine is closed, while helpers reduce: every call ends, and nothing stores any more. */
    @ParameterizedTest
    @Tag("soak")
    @ValueSource(booleans = false)
    void aTeamThatIsRevokedEndsWhatHelpersDo(boolean closesEngine) {
        aTeamThatFailsEndsWhatHelpersDo(closesEngine);
    }

    @ParameterizedTest
    @ValueSource(booleans = true)
    void aTeamThatFailsEndsWhatHelpersDo(boolean closesEngine) {
        for (int round = 0; round < 5; round++) {
            try (Ranks ranks = form("tcp", 3, 2)) {
                List<MemoryRegion> source = random(ranks);
                List<MemoryRegion> targets = new ArrayList<>();
                List<CompletableFuture<Void>> running = new ArrayList<>();
                for (int i = 0; i < 20; i++) {
                    List<MemoryRegion> target = ranks.each(rank -> ranks.region(rank, COUNT * 4L));
                    targets.add(target.get(2));
                    running.addAll(ranks.startEach(allReduce(source, target, ReduceOperation.SUM, Algorithm.RING)));
                }
                await(running.get(round));
                await(
                        closesEngine
                                ? ranks.engine(0).closeAsync()
                                : ranks.team(0).revoke());
                for (CompletableFuture<Void> each : running) {
                    Throwable error = catchThrowable(() -> await(each));
                    if (error != null) {
                        assertThat(error.getCause() == null ? error : error.getCause())
                                .isInstanceOf(SluiceException.class);
                    }
                }
                MemorySegment canaries =
                        MemorySegment.ofArray(new byte[COUNT * 4]).fill((byte) 7);
                targets.forEach(target -> target.segment().copyFrom(canaries));
                ranks.closeTeams();
                targets.forEach(target ->
                        assertThat(target.segment().mismatch(canaries)).isEqualTo(-1));
            }
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {-1, TeamOptions.MOST_HELPER_THREADS + 1})
    void aNumberThatIsNoneIsRefused(int count) {
        assertThatThrownBy(() -> TeamOptions.rank(0).helperThreads(count))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining(Integer.toString(count));
    }
}
