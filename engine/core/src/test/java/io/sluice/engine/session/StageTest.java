package io.sluice.engine.session;

import static io.sluice.testkit.Patience.await;
import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import io.sluice.engine.Connection;
import io.sluice.engine.EngineLoop;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RemoteRegion;
import io.sluice.engine.RemoteSignal;
import io.sluice.engine.SignalUpdate;
import io.sluice.engine.SignalWait;
import io.sluice.engine.SluiceException;
import io.sluice.engine.TransferOptions;
import io.sluice.testkit.Patience;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.management.ManagementFactory;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A stage above the engine: it adds up on the loop what a peer writes, woken by the signals that come with it. */
class StageTest {
    // the first of them warms up
    private static final int WINDOWS = 1 + 5;
    // few, so that most signals find the stage waiting
    private static final int IN_FLIGHT = 16;
    // what the virtual machine may do on the thread meanwhile; far less than a byte a signal
    private static final long MOST_BYTES = 32 << 10;

    /** The stage. All of it but the end is the loop's. */
    private static final class Sum {
        private final ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        private final MemorySegment numbers;
        private final EngineLoop loop;
        private final int window;
        private final int all;
        private final CompletableFuture<Void> done = new CompletableFuture<>();
        private int taken;
        private long sum;
        private int elsewhere;
        private int callbacks;
        private long allocatedBefore;
        // in the window in which the virtual machine compiled least on this thread
        private long leastAllocated = Long.MAX_VALUE;

        Sum(MemoryRegion region, EngineLoop loop, int window) {
            this.numbers = region.segment();
            this.loop = loop;
            this.window = window;
            this.all = WINDOWS * window;
        }

        void reached(SignalWait wait, long value, @Nullable SluiceException error) {
            if (error != null || value > all) {
                done.completeExceptionally(error == null ? new AssertionError("too many: " + value) : error);
                return;
            }
            callbacks++;
            elsewhere += loop.inLoop() ? 0 : 1;
            while (taken < value) {
                sum += numbers.getAtIndex(ValueLayout.JAVA_LONG, taken);
                if (++taken % window == 0) {
                    long allocated = threads.getCurrentThreadAllocatedBytes();
                    if (taken > window) {
                        leastAllocated = Math.min(leastAllocated, allocated - allocatedBefore);
                    }
                    allocatedBefore = allocated;
                }
            }
            if (taken == all) {
                wait.close();
                done.complete(null);
            } else {
                wait.arm(value + 1);
            }
        }
    }

    private static void writeAll(
            int writes,
            Connection connection,
            MemoryRegion local,
            RemoteRegion remote,
            SignalUpdate arrived,
            Semaphore inFlight)
            throws InterruptedException {
        for (int i = 0; i < writes; i++) {
            if (!inFlight.tryAcquire(Patience.BOUND.toNanos(), TimeUnit.NANOSECONDS)) {
                throw new AssertionError("write " + i + " has to wait too long");
            }
            connection.writeWithSignal(
                    local,
                    i * 8L,
                    remote,
                    i * 8L,
                    8,
                    arrived,
                    TransferOptions.defaults(),
                    (transfer, error) -> inFlight.release());
        }
    }

    @ParameterizedTest
    @Tag("soak")
    @ValueSource(strings = "shm")
    void signalsMoveThroughAStageInSharedMemoryWithoutAllocation(String transport) throws Exception {
        signalsMoveThroughAStageWithoutAllocation(transport);
    }

    @ParameterizedTest
    @ValueSource(strings = "tcp")
    void signalsMoveThroughAStageWithoutAllocation(String transport) throws Exception {
        move(transport, 40_000);
    }

    @ParameterizedTest
    @Tag("soak")
    @ValueSource(strings = {"tcp", "shm"})
    void aMillionSignalsMoveThroughAStageWithoutAllocation(String transport) throws Exception {
        move(transport, 200_000);
    }

    private static void move(String transport, int window) throws Exception {
        int all = WINDOWS * window;
        try (LinkedEngines engines = new LinkedEngines(
                initiator -> initiator.transports(List.of(transport)),
                target -> target.transports(List.of(transport)))) {
            MemoryRegion local = engines.local(all * 8L);
            MemoryRegion served = engines.served(all * 8L + 8);
            long expected = 0;
            for (int i = 0; i < all; i++) {
                long number = i * 0x9E3779B97F4A7C15L;
                local.segment().setAtIndex(ValueLayout.JAVA_LONG, i, number);
                expected += number;
            }
            RemoteRegion remote = engines.attach(served);
            EngineLoop loop = engines.accepted().loop();
            Sum sum = new Sum(served, loop, window);
            served.signal(all * 8L).onAtLeast(1, loop, sum::reached);
            writeAll(
                    all,
                    engines.connection(),
                    local,
                    remote,
                    new RemoteSignal(remote, all * 8L).weak(),
                    new Semaphore(IN_FLIGHT));
            await(sum.done);
            assertThat(sum.sum).isEqualTo(expected);
            assertThat(sum.elsewhere).isZero();
            assertThat(sum.leastAllocated)
                    .as("bytes for %d signals; %d callbacks for all", window, sum.callbacks)
                    .isLessThan(MOST_BYTES);
        }
    }
}
