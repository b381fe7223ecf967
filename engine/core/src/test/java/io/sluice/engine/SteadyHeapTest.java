package io.sluice.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.testkit.Patience;
import io.sluice.testkit.PatientOptions;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A full window of small transfers, one after the other, keeps nothing. */
class SteadyHeapTest {
    private static final int BYTES = 4096;
    private static final int WINDOW = 256;
    // A leak of a word for each transfer is more than this.
    private static final long TOLERANCE = 4 << 20;

    /** Keeps the window full until it is stopped. */
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

        void awaitTransfers(long number) {
            Patience.until(
                    number + " transfers were started",
                    Patience.longBound(),
                    () -> transfers.get() >= number || failures.get() > 0);
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

    private static void assertSteady(int first, int more) {
        EngineOptions options = PatientOptions.builder()
                .transports(List.of("tcp"))
                .windowOperations(WINDOW)
                .lanes(2)
                .build();
        try (TransferEngine target = TransferEngine.open(options);
                TransferEngine initiator = TransferEngine.open(options)) {
            Connection connection = Patience.await(initiator.connect(target.address()));
            MemoryRegion served = target.allocate((long) WINDOW * BYTES, RegionOptions.readWrite());
            MemoryRegion local = initiator.allocate((long) WINDOW * BYTES, RegionOptions.local());
            RemoteRegion remote = Patience.await(connection.attach(served.descriptor()));
            Load load = new Load(connection, local, remote);
            for (int i = 0; i < WINDOW; i++) {
                load.next(load.transfers.getAndIncrement());
            }
            load.awaitTransfers(first);
            long early = LiveHeap.bytes();
            long between = load.transfers.get();
            load.awaitTransfers(between + more);
            long late = LiveHeap.bytes();
            load.stopping = true;
            Patience.await(load.ended);
            assertThat(load.failures).hasValue(0);
            assertThat(late - early)
                    .as("growth of the heap from %d bytes over %d transfers", early, load.transfers.get() - between)
                    .isLessThan(TOLERANCE);
            Patience.until(
                    "the credits are back",
                    () -> initiator.metrics().window().operations() == 0
                            && initiator.metrics().window().bytes() == 0);
        }
    }

    @Test
    void heapDoesNotGrowWithinSeconds() {
        assertSteady(100_000, 600_000);
    }

    @Test
    @Tag("soak")
    void heapDoesNotGrowWithinAMinute() {
        assertSteady(3_000_000, 10_000_000);
    }
}
