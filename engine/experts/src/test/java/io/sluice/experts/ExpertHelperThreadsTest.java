package io.sluice.experts;

import static io.sluice.testkit.Patience.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.sluice.engine.MemoryRegion;
import io.sluice.engine.SluiceException;
import io.sluice.testkit.Patience;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Threads besides the loop quantise, pack and add: the same bits as without them, and nothing is left of them. */
class ExpertHelperThreadsTest {
    private static final int EXPERTS_PER_RANK = 2;
    private static final int TOP_K = 3;
    // so that there are several slices of each kind of work
    private static final int HIDDEN = 8192;
    private static final int TOKENS = 24;
    private static final String NAMES = "sluice-experts-";

    /** The helper threads of this process. */
    static Stream<Thread> threads() {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.getName().startsWith(NAMES));
    }

    /** Waits for those of earlier tests. */
    @BeforeEach
    void noneIsLeft() {
        awaitNone();
    }

    static void awaitNone() {
        Patience.until("no helper thread is left", () -> threads().findAny().isEmpty());
    }

    private static ExpertOptions options(int ranks, int helpers) {
        return ExpertOptions.experts(EXPERTS_PER_RANK * ranks)
                .hidden(HIDDEN)
                .maxTokensPerRank(TOKENS)
                .topK(TOP_K)
                .helperThreads(helpers);
    }

    /** What the runs compare with knows nothing of threads. */
    @ParameterizedTest
    @Tag("soak")
    @CsvSource("shm, 2, 1")
    void resultsOfTwoRanksHaveTheSameBitsAsWithoutThem(String transport, int size, int helpers) {
        resultsHaveTheSameBitsAsWithoutThem(transport, size, helpers);
    }

    @ParameterizedTest
    @CsvSource({"shm, 3, 3", "tcp, 2, 2"})
    void resultsHaveTheSameBitsAsWithoutThem(String transport, int size, int helpers) {
        try (CrossRanks ranks = CrossRanks.form(transport, size)) {
            // one rank has none: that is its own affair
            ranks.createBuffers(rank -> options(size, rank == 1 ? 0 : helpers));
            assertThat(threads()).hasSize(helpers * (size - 1));
            for (ExpertCross.Variant variant : ExpertCross.Variant.values()) {
                ExpertCross.Encoding encoding = ExpertCross.Encoding.values()[variant.ordinal()];
                Workload work = Workload.of(
                        size,
                        EXPERTS_PER_RANK * size,
                        HIDDEN,
                        TOP_K,
                        TOKENS,
                        Workload.Count.ALL_BUT_ONE,
                        Workload.Routing.RANDOM,
                        Workload.Mask.SOME,
                        helpers);
                new LowLatencyRun(ranks, "low latency, " + variant, work, encoding, variant).round();
                new NormalRun(ranks, "normal mode, " + variant, work, encoding, variant).round();
            }
        }
    }

    @Test
    void theThreadsEndWithTheBuffer() {
        try (CrossRanks ranks = CrossRanks.form("shm", 2)) {
            ranks.createBuffers(options(2, 2));
            assertThat(threads()).hasSize(4);
            ranks.closeBuffers();
            awaitNone();
        }
    }

    /**
     * A team that is revoked, or whose engine is closed, while helpers work: calls end, and nothing stores any more.
     */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aBufferThatFailsEndsWhatHelpersDo(boolean closesEngine) {
        for (int round = 0; round < 5; round++) {
            try (ExpertRanks ranks = ExpertRanks.form("shm", 2, options(2, 2))) {
                TokenData data =
                        new TokenData(ranks, options(2, 2), new int[] {TOKENS, TOKENS}, TokenData.Choice.RANDOM, 1);
                List<CompletableFuture<?>> running = new ArrayList<>();
                List<LowLatencyResult> results = ranks
                        .each(rank -> ExpertRanks.<LowLatencyResult>call(callback -> ranks.buffer(rank)
                                .lowLatencyDispatch(
                                        data.x[rank],
                                        0,
                                        data.topkIdx[rank],
                                        0,
                                        TOKENS,
                                        DispatchOptions.defaults(),
                                        callback)))
                        .stream()
                        .map(Patience::await)
                        .toList();
                running.addAll(ranks.each(rank -> ExpertRanks.<MemoryRegion>call(callback -> ranks.buffer(rank)
                        .lowLatencyCombine(
                                results.get(rank),
                                results.get(rank).combineBuffer(),
                                0,
                                data.topkIdx[rank],
                                0,
                                data.weights[rank],
                                0,
                                data.out[rank],
                                0,
                                CombineOptions.defaults(),
                                callback))));
                await(
                        closesEngine
                                ? ranks.engine(0).closeAsync()
                                : ranks.team(0).revoke());
                for (CompletableFuture<?> each : running) {
                    Throwable error = catchThrowable(() -> await(each));
                    if (error != null) {
                        assertThat(error.getCause() instanceof SluiceException typed ? typed : error)
                                .isInstanceOf(SluiceException.class);
                    }
                }
                MemorySegment canaries = MemorySegment.ofArray(new byte[TOKENS * data.rowBytes()])
                        .fill((byte) 7);
                // memory of an engine that is closed is gone
                MemorySegment out = data.out[1].segment();
                out.copyFrom(canaries);
                ranks.closeBuffers();
                assertThat(out.mismatch(canaries)).isEqualTo(-1);
            }
        }
    }

    @Test
    void eachRowIsDoneOnceAndByThemAlone() {
        CountDownLatch done = new CountDownLatch(2);
        AtomicIntegerArray rows = new AtomicIntegerArray(1000);
        HelperThreads.Rows work = (first, count) -> {
            assertThat(Thread.currentThread().getName()).startsWith(NAMES);
            for (int row = first; row < first + count; row++) {
                rows.incrementAndGet(row);
            }
        };
        try (HelperThreads helpers = new HelperThreads("alone", 3, done::countDown)) {
            assertThat(helpers.begin(work, 1000, 7)).isTrue();
            assertThat(helpers.begin(work, 1, 1)).isFalse();
            Patience.until("all is done", helpers::end);
            assertThat(helpers.begin(work, 1000, 1001)).isTrue();
            Patience.until("all is done again", helpers::end);
            await(done);
        }
        for (int row = 0; row < rows.length(); row++) {
            assertThat(rows.get(row)).isEqualTo(2);
        }
    }

    /** A thread that still looks at the last work takes no rows of the next one by its number, nor runs it for them. */
    @Test
    void worksThatFollowAtOnceAndGrowAreEachDoneOnce() {
        int most = 64;
        AtomicIntegerArray done = new AtomicIntegerArray(most);
        int[] current = new int[1];
        try (HelperThreads helpers = new HelperThreads("growing", 2, () -> {})) {
            for (int round = 0; round < 40_000; round++) {
                int number = round;
                int total = 1 + round % most;
                current[0] = number;
                assertThat(helpers.begin(
                                (first, count) -> {
                                    assertThat(current[0]).isEqualTo(number);
                                    for (int row = first; row < first + count; row++) {
                                        done.incrementAndGet(row);
                                    }
                                },
                                total,
                                3))
                        .isTrue();
                while (!helpers.end()) {
                    helpers.take();
                }
                for (int row = 0; row < most; row++) {
                    if (done.getAndSet(row, 0) != (row < total ? 1 : 0)) {
                        throw new AssertionError("row " + row + " of round " + round + " of " + total + " rows");
                    }
                }
            }
        }
    }

    @Test
    void theLoopGetsWhatAThreadThrows() {
        try (HelperThreads helpers = new HelperThreads("failing", 2, () -> {})) {
            helpers.begin(
                    (first, count) -> {
                        throw new IllegalStateException("row " + first);
                    },
                    1,
                    1);
            assertThatThrownBy(() -> Patience.until("it is done", helpers::end))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessage("row 0");
            // and the next work is not touched by it
            helpers.begin((first, count) -> {}, 5, 2);
            Patience.until("it is done", helpers::end);
        }
    }

    @Test
    void workThatIsAbandonedIsNotDoneLater() {
        AtomicIntegerArray rows = new AtomicIntegerArray(1);
        try (HelperThreads helpers = new HelperThreads("abandoned", 2, () -> {})) {
            for (int round = 0; round < 200; round++) {
                helpers.begin((first, count) -> rows.incrementAndGet(0), 100, 1);
                helpers.abandon();
                int now = rows.get(0);
                Thread.onSpinWait();
                assertThat(rows.get(0)).isEqualTo(now);
            }
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {-1, ExpertOptions.MOST_HELPER_THREADS + 1})
    void aNumberThatIsNoneIsRefused(int count) {
        assertThatThrownBy(() -> ExpertOptions.experts(1).helperThreads(count))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining(Integer.toString(count));
    }
}
