package io.sluice.engine;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.management.ManagementFactory;
import java.lang.management.MemoryMXBean;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A full window of small transfers, one after the other, keeps nothing. */
class SteadyHeapTest {
    private static final int BYTES = 4096;
    private static final int WINDOW = 256;
    // A leak of a word for each transfer would be more than this within seconds.
    private static final long TOLERANCE = 4 << 20;

    /** Keeps the window full until it is told to stop. */
    private static final class Load implements TransferCallback {
        private final Connection connection;
        private final MemoryRegion local;
        private final RemoteRegion remote;
        private final CountDownLatch ended = new CountDownLatch(WINDOW);
        private final AtomicLong transfers = new AtomicLong();
        private final AtomicInteger failures = new AtomicInteger();
        private volatile boolean stopping;

        Load(Connection connection, MemoryRegion local, RemoteRegion remote) {
            this.connection = connection;
            this.local = local;
            this.remote = remote;
        }

        private void next(long number) {
            long offset = number % WINDOW * BYTES;
            if (number % 2 == 0) {
                connection.write(local, offset, remote, offset, BYTES, TransferOptions.defaults(), this);
            } else {
                connection.read(local, offset, remote, offset, BYTES, TransferOptions.defaults(), this);
            }
        }

        @Override
        public void terminated(Transfer transfer, @Nullable SluiceException error) {
            if (error != null) {
                failures.incrementAndGet();
            }
            if (stopping || error != null) {
                ended.countDown();
            } else {
                next(transfers.getAndIncrement());
            }
        }
    }

    private static long usedAfterCollection() {
        MemoryMXBean memory = ManagementFactory.getMemoryMXBean();
        // What is in flight at the moment differs from one collection to the next.
        long least = Long.MAX_VALUE;
        for (int i = 0; i < 3; i++) {
            System.gc();
            least = Math.min(least, memory.getHeapMemoryUsage().getUsed());
        }
        return least;
    }

    private static void assertSteady(Duration first, Duration second) throws Exception {
        EngineOptions options = EngineOptions.builder()
                .transports(List.of("tcp"))
                .windowOperations(WINDOW)
                .lanes(2)
                .build();
        try (TransferEngine target = TransferEngine.open(options);
                TransferEngine initiator = TransferEngine.open(options)) {
            Connection connection = Patience.get(initiator.connect(target.address()));
            MemoryRegion served = target.allocate((long) WINDOW * BYTES, RegionOptions.readWrite());
            MemoryRegion local = initiator.allocate((long) WINDOW * BYTES, RegionOptions.local());
            RemoteRegion remote = Patience.get(connection.attach(served.descriptor()));
            Load load = new Load(connection, local, remote);
            for (int i = 0; i < WINDOW; i++) {
                load.next(load.transfers.getAndIncrement());
            }
            Patience.pause(first);
            long early = usedAfterCollection();
            long between = load.transfers.get();
            Patience.pause(second.minus(first));
            long late = usedAfterCollection();
            assertThat(load.transfers.get()).as("it was under load").isGreaterThan(between);
            load.stopping = true;
            assertThat(load.ended.await(Patience.BOUND.toSeconds(), TimeUnit.SECONDS))
                    .isTrue();
            assertThat(load.failures).hasValue(0);
            assertThat(late - early)
                    .as("growth of the heap from %d bytes over %d transfers", early, load.transfers.get() - between)
                    .isLessThan(TOLERANCE);
            assertThat(initiator.metrics().window().operations()).isZero();
            assertThat(initiator.metrics().window().bytes()).isZero();
        }
    }

    @Test
    void heapDoesNotGrowWithinSeconds() throws Exception {
        assertSteady(Duration.ofSeconds(2), Duration.ofSeconds(5));
    }

    @Test
    @Tag("soak")
    void heapDoesNotGrowWithinAMinute() throws Exception {
        assertSteady(Duration.ofSeconds(15), Duration.ofSeconds(60));
    }
}
