package io.sluice.collectives;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.engine.EngineObserver;
import io.sluice.engine.MemoryRegion;
import io.sluice.testkit.Extent;
import io.sluice.testkit.FuzzSeed;
import io.sluice.testkit.Patience;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Many ranks, many collectives under way, and many runs of one. */
class ManyCollectivesTest {
    private static final int MANY_RANKS = 16;
    private static final int UNDER_WAY = Extent.of(300, 1_000);
    private static final int RUNS = Extent.of(30, 100);
    private static final ElementType[] TYPES = ElementType.values();
    private static final Cross.Called[] CALLED = Cross.Called.values();

    private final Random random = FuzzSeed.of("ManyCollectivesTest").random();

    /** A cross whose numbers all go round, with the elements of few bytes in most. */
    private Cross mixed(int number, int size, long count) {
        Cross.Called called = CALLED[number % CALLED.length];
        // a product of many ranks leaves the range of 16 bits
        ReduceOperation operation = List.of(ReduceOperation.SUM, ReduceOperation.MIN, ReduceOperation.MAX)
                .get(number / CALLED.length % 3);
        return new Cross(
                called,
                size,
                count,
                TYPES[number % TYPES.length],
                called.reduces() ? operation : null,
                number % 4 == 0,
                Algorithm.AUTO,
                false,
                false,
                number % 2 == 0 ? 64 : 77,
                number % size,
                number);
    }

    @ParameterizedTest
    @Tag("soak")
    @ValueSource(strings = "tcp")
    void sixteenRanksInOneProcessOverTheNetwork(String transport) {
        sixteenRanksInOneProcess(transport);
    }

    @ParameterizedTest
    @ValueSource(strings = "shm")
    void sixteenRanksInOneProcess(String transport) {
        try (Ranks ranks = CollectiveCrossesTest.ranks(transport, MANY_RANKS)) {
            for (int i = 0; i < CALLED.length; i++) {
                CrossRun.runAndCheck(ranks, mixed(i, MANY_RANKS, i % 2 == 0 ? MANY_RANKS + 1 : 3_000));
            }
            ranks.call((rank, team, callback) -> team.barrier(CollectiveOptions.defaults(), callback));
        }
    }

    @ParameterizedTest
    @Tag("soak")
    @CsvSource("shm, 3")
    void manyOfAllKindsAreUnderWayOverShm(String transport, int size) {
        manyOfAllKindsAreUnderWay(transport, size);
    }

    @ParameterizedTest
    @Tag("soak")
    @CsvSource("tcp, 3")
    void manyOfAllKindsAreUnderWayOverTheNetwork(String transport, int size) {
        manyOfAllKindsAreUnderWay(transport, size);
    }

    @ParameterizedTest
    @CsvSource("reordering, 2")
    void manyOfAllKindsAreUnderWay(String transport, int size) {
        try (Ranks ranks = CollectiveCrossesTest.ranks(transport, size)) {
            List<CrossRun> runs = new ArrayList<>();
            for (int i = 0; i < UNDER_WAY; i++) {
                long count = i % 97 == 0 ? 20_000 : random.nextInt(64);
                runs.add(new CrossRun(ranks, mixed(i, size, count)));
            }
            List<List<CompletableFuture<Void>>> ended =
                    runs.stream().map(CrossRun::start).toList();
            for (int i = 0; i < UNDER_WAY; i++) {
                Patience.awaitAll(runs.get(i).toString(), ended.get(i));
                runs.get(i).check();
            }
            runs.forEach(CrossRun::close);
        }
    }

    /** The memory that this process has mapped of its own and other engines'. */
    private static long mappings() {
        try (Stream<String> lines = Files.lines(Path.of("/proc/self/maps"))) {
            return lines.filter(line -> line.contains("sluice-")).count();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @ParameterizedTest
    @CsvSource({"shm, 8", "shm, 40000", "tcp, 40000"})
    void aPersistentOneRegistersAndAttachesNothing(String transport, int count) {
        AtomicInteger opened = new AtomicInteger();
        EngineObserver counter = new EngineObserver() {
            @Override
            public void regionOpened(MemoryRegion region, long nanos) {
                opened.incrementAndGet();
            }
        };
        int size = 3;
        try (Ranks ranks = Ranks.form(
                        transport,
                        size,
                        options -> options,
                        engine -> engine.pollers(1)
                                .livenessTimeout(Patience.longBound())
                                .observer(counter));
                CrossRun run = new CrossRun(
                        ranks,
                        new Cross(
                                Cross.Called.ALL_REDUCE,
                                size,
                                count,
                                ElementType.FLOAT32,
                                ReduceOperation.SUM,
                                false,
                                Algorithm.AUTO,
                                true,
                                false,
                                64,
                                0,
                                count))) {
            Patience.awaitAll("the first run", run.start());
            run.check();
            assertThat(opened).hasPositiveValue();
            int openedBefore = opened.get();
            long mappedBefore = mappings();
            for (int i = 0; i < RUNS; i++) {
                Patience.awaitAll("run " + i, run.start());
                run.check();
            }
            assertThat(opened).hasValue(openedBefore);
            assertThat(mappings()).isEqualTo(mappedBefore);
        }
    }
}
