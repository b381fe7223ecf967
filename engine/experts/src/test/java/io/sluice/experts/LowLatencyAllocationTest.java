package io.sluice.experts;

import static io.sluice.testkit.Patience.await;
import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Dispatches and combines of a warm loop allocate nothing. */
class LowLatencyAllocationTest {
    private static final int ROUNDS = 100;
    private static final int MOST_WINDOWS = 300;
    // a byte a round would be more than the measurement itself takes
    private static final long MOST_BYTES = 64;

    /** The ranks stop after the same round, once each has had a window without allocation. */
    private static final class LastWindow {
        private final AtomicInteger missing;
        private volatile int last = MOST_WINDOWS;

        LastWindow(int size) {
            missing = new AtomicInteger(size);
        }

        void found(int window) {
            if (missing.decrementAndGet() == 0) {
                // no rank is more than two rounds ahead of another
                last = Math.min(MOST_WINDOWS, window + 2);
            }
        }
    }

    /** Measures the loop's thread, on which it is asked. */
    private static final class Windows implements BooleanSupplier {
        private final LastWindow end;
        private final ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        private final long[] helpers;
        private long before;
        private long helpersBefore;
        private int rounds;
        private int windows;
        private long leastAllocated = Long.MAX_VALUE;

        Windows(LastWindow end, long[] helpers) {
            this.end = end;
            this.helpers = helpers;
        }

        private long allocatedByHelpers() {
            long allocated = 0;
            for (long helper : helpers) {
                allocated += threads.getThreadAllocatedBytes(helper);
            }
            return allocated;
        }

        @Override
        public boolean getAsBoolean() {
            if (++rounds < ROUNDS) {
                return true;
            }
            rounds = 0;
            long allocated = threads.getCurrentThreadAllocatedBytes() - before;
            long helpersNow = allocatedByHelpers();
            if (++windows > 1) {
                boolean wasMore = leastAllocated >= MOST_BYTES;
                leastAllocated = Math.min(leastAllocated, allocated + helpersNow - helpersBefore);
                if (wasMore && leastAllocated < MOST_BYTES) {
                    end.found(windows);
                }
            }
            helpersBefore = helpersNow;
            before = threads.getCurrentThreadAllocatedBytes();
            return windows < end.last;
        }
    }

    @ParameterizedTest
    @CsvSource({
        "shm, 2, BF16, BF16, 0",
        "shm, 3, FP8, LOGFMT, 0",
        "tcp, 2, BF16, BF16, 0",
        "tcp, 2, FP8_ROUNDED, LOGFMT, 0",
        "shm, 2, FP8, BF16, 1"
    })
    void callsAllocateNothing(
            String transport, int size, DispatchFormat format, CombineFormat combineFormat, int helpers) {
        ExpertOptions options = ExpertOptions.experts(4 * size)
                // helpers leave what is small to the loop
                .hidden(helpers == 0 ? 512 : 16_384)
                .maxTokensPerRank(8)
                .topK(4)
                .helperThreads(helpers);
        int[] tokens = new int[size];
        for (int rank = 0; rank < size; rank++) {
            tokens[rank] = 8 - rank;
        }
        ExpertHelperThreadsTest.awaitNone();
        try (ExpertRanks ranks = ExpertRanks.form(transport, size, options)) {
            TokenData data = new TokenData(ranks, options, tokens, TokenData.Choice.MASKED, 1);
            LastWindow end = new LastWindow(size);
            long[] helping = ExpertHelperThreadsTest.threads()
                    .mapToLong(Thread::threadId)
                    .toArray();
            assertThat(helping).hasSize(helpers * size);
            List<Windows> all = ranks.each(rank -> new Windows(end, helping));
            List<CompletableFuture<Void>> running = new ArrayList<>();
            for (int rank = 0; rank < size; rank++) {
                running.add(new RepeatedCalls(
                                ranks.buffer(rank),
                                data.x[rank],
                                data.topkIdx[rank],
                                data.weights[rank],
                                data.out[rank],
                                tokens[rank],
                                DispatchOptions.defaults().withFormat(format),
                                CombineOptions.defaults().withFormat(combineFormat),
                                all.get(rank))
                        .start());
            }
            running.forEach(each -> await(each));
            for (Windows windows : all) {
                assertThat(windows.leastAllocated)
                        .as("bytes for %d rounds", ROUNDS)
                        .isLessThan(MOST_BYTES);
            }
        }
    }
}
