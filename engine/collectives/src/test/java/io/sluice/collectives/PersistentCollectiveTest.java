package io.sluice.collectives;

import static io.sluice.testkit.Patience.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.management.ThreadMXBean;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.SluiceException;
import java.lang.foreign.ValueLayout;
import java.lang.management.ManagementFactory;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A collective that is planned once runs again and again, and allocates nothing for it. */
class PersistentCollectiveTest {
    private static final CollectiveOptions DEFAULTS = CollectiveOptions.defaults();
    // of runs, each shorter than the time between heartbeats, which allocate
    private static final int MOST_WINDOWS = 300;
    private static final int RUNS = 50;
    // what the virtual machine may do on the thread meanwhile; far less than a byte a run
    private static final long MOST_BYTES = RUNS / 2;

    /** The ranks stop after the same run, once each has had a window without allocation. */
    private static final class LastWindow {
        private final AtomicInteger missing;
        private volatile int last = MOST_WINDOWS;

        LastWindow(int size) {
            missing = new AtomicInteger(size);
        }

        void found(int window) {
            if (missing.decrementAndGet() == 0) {
                // no rank is more than a run ahead of another
                last = Math.min(MOST_WINDOWS, window + 2);
            }
        }
    }

    /** Starts the next run in the callback of the last, and measures what the loop's thread allocates. */
    private static final class Runs implements CollectiveCallback {
        private final LastWindow end;
        private final ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        private final CompletableFuture<Void> done = new CompletableFuture<>();
        private long before;
        private int runs;
        private int windows;
        private long leastAllocated = Long.MAX_VALUE;

        Runs(LastWindow end) {
            this.end = end;
        }

        @Override
        public void ended(Collective collective, @Nullable SluiceException error) {
            if (error != null) {
                done.completeExceptionally(error);
                return;
            }
            if (++runs == RUNS) {
                runs = 0;
                long allocated = threads.getCurrentThreadAllocatedBytes();
                if (++windows > 1) {
                    boolean wasMore = leastAllocated >= MOST_BYTES;
                    leastAllocated = Math.min(leastAllocated, allocated - before);
                    if (wasMore && leastAllocated < MOST_BYTES) {
                        end.found(windows);
                    }
                }
                before = threads.getCurrentThreadAllocatedBytes();
                if (windows >= end.last) {
                    done.complete(null);
                    return;
                }
            }
            ((PersistentCollective) collective).start(this);
        }
    }

    @ParameterizedTest
    @CsvSource({
        "shm, 2, 2, AUTO",
        "shm, 3, 2, AUTO",
        "tcp, 2, 2, AUTO",
        "tcp, 2, 12000, AUTO",
        "shm, 2, 20000, MAPPED",
        "shm, 3, 2, MAPPED"
    })
    void startingAllocatesNothing(String transport, int size, int count, Algorithm algorithm) {
        try (Ranks ranks = Ranks.form(transport, size)) {
            List<MemoryRegion> buffers =
                    ranks.each(rank -> ranks.engine(rank).allocate(4L * count, RegionOptions.readOnly()));
            int regions = ranks.engine(0).regions().size();
            LastWindow end = new LastWindow(size);
            List<Runs> all = ranks.each(rank -> new Runs(end));
            List<PersistentCollective> prepared = ranks.each(rank -> ranks.team(rank)
                    .prepare()
                    .allReduce(
                            buffers.get(rank),
                            0,
                            buffers.get(rank),
                            0,
                            count,
                            ElementType.INT32,
                            ReduceOperation.MAX,
                            DEFAULTS.withAlgorithm(algorithm),
                            all.get(rank)));
            prepared.forEach(PersistentCollective::start);
            all.forEach(runs -> await(runs.done));
            assertThat(ranks.engine(0).regions()).hasSizeLessThanOrEqualTo(regions);
            for (Runs runs : all) {
                assertThat(runs.leastAllocated).as("bytes for %d runs", RUNS).isLessThan(MOST_BYTES);
            }
            prepared.forEach(PersistentCollective::close);
        }
    }

    @Test
    void aRunSeesWhatTheBufferHoldsNow() {
        try (Ranks ranks = Ranks.form("shm", 3)) {
            List<MemoryRegion> buffers = ranks.each(rank -> ranks.region(rank, 8));
            List<PersistentCollective> prepared = ranks.each(rank -> ranks.team(rank)
                    .prepare()
                    .reduce(
                            buffers.get(rank),
                            0,
                            buffers.get(rank),
                            4,
                            1,
                            ElementType.INT32,
                            ReduceOperation.SUM,
                            0,
                            DEFAULTS,
                            (called, error) -> {}));
            for (int run = 0; run < 100; run++) {
                int number = run;
                ranks.each(rank -> {
                    buffers.get(rank).segment().set(ValueLayout.JAVA_INT, 0, number * (rank + 1));
                    return rank;
                });
                ranks.call((rank, team, callback) -> prepared.get(rank).start(callback));
                assertThat(buffers.getFirst().segment().get(ValueLayout.JAVA_INT, 4))
                        .isEqualTo(6 * number);
            }
            prepared.forEach(PersistentCollective::close);
            assertThatThrownBy(() -> prepared.getFirst().start()).isInstanceOf(IllegalStateException.class);
        }
    }

    @Test
    void aRunMustEndBeforeTheNext() {
        try (Ranks ranks = Ranks.form("shm", 2)) {
            PersistentCollective first = ranks.team(0).prepare().barrier(DEFAULTS, (called, error) -> {});
            first.start();
            assertThat(first.isTerminated()).isFalse();
            assertThatThrownBy(first::start)
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("has not ended");
        }
    }
}
