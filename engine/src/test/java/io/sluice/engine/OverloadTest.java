package io.sluice.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A hundred times more is wanted than the path to the peer carries, for long. */
class OverloadTest {
    private static final Duration BOUND = Duration.ofSeconds(60);
    private static final long RATE = 16 << 20;
    private static final int CHUNK = 16 << 10;
    private static final int WINDOW = 16;
    private static final int DEMAND = 100 * WINDOW;
    private static final int CONNECTIONS = 24;
    private static final long HEAP_TOLERANCE = 8 << 20;
    private static final long RESIDENT_TOLERANCE = 128 << 20;

    private static final EngineOptions OPTIONS = EngineOptions.builder()
            .transports(List.of("tcp"))
            .windowOperations(WINDOW)
            .windowBytes(WINDOW * CHUNK)
            .priorityAging(Duration.ofMillis(20))
            .livenessTimeout(Duration.ofSeconds(30))
            .build();

    @Test
    void urgentTransfersStayFastAndNothingStarves() throws Exception {
        urgentUnderLoad(Duration.ofSeconds(5));
    }

    @Tag("soak")
    @Test
    void urgentTransfersStayFastForMinutes() throws Exception {
        urgentUnderLoad(Duration.ofMinutes(3));
    }

    @Test
    void eachOfManyConnectionsGoesOn() throws Exception {
        manyConnections(Duration.ofSeconds(4));
    }

    @Tag("soak")
    @Test
    void eachOfManyConnectionsGoesOnForMinutes() throws Exception {
        manyConnections(Duration.ofMinutes(2));
    }

    /** Wants always the same number of writes, and notes how long it ever had to do without the end of one. */
    private static final class Demand implements TransferCallback {
        private final Connection connection;
        private final MemoryRegion local;
        private final RemoteRegion remote;
        private final TransferOptions options;
        private final AtomicInteger running = new AtomicInteger();
        private final AtomicInteger failures = new AtomicInteger();
        private final AtomicLong ended = new AtomicLong();
        private final AtomicLong longestGap = new AtomicLong();
        private volatile long lastEnd = System.nanoTime();
        private volatile boolean stopping;

        Demand(Connection connection, MemoryRegion local, RemoteRegion remote, TransferPriority priority) {
            this.connection = connection;
            this.local = local;
            this.remote = remote;
            this.options = TransferOptions.defaults().withPriority(priority);
        }

        void begin(int transfers) {
            lastEnd = System.nanoTime();
            for (int i = 0; i < transfers; i++) {
                running.incrementAndGet();
                submit();
            }
        }

        private void submit() {
            connection.write(local, 0, remote, 0, CHUNK, options, this);
        }

        @Override
        public void terminated(Transfer transfer, @Nullable SluiceException error) {
            // on the connection's one poller
            long now = System.nanoTime();
            longestGap.accumulateAndGet(now - lastEnd, Math::max);
            lastEnd = now;
            ended.incrementAndGet();
            if (error != null) {
                failures.incrementAndGet();
            }
            if (stopping || error != null) {
                running.decrementAndGet();
            } else {
                submit();
            }
        }

        long longestGapMillis() {
            return Math.max(longestGap.get(), System.nanoTime() - lastEnd) / 1_000_000;
        }

        void stop() {
            stopping = true;
        }

        boolean isOver() {
            return running.get() == 0;
        }
    }

    private void urgentUnderLoad(Duration duration) throws Exception {
        try (TransferEngine target = TransferEngine.open(OPTIONS);
                ThrottlingProxy proxy = new ThrottlingProxy(target.address(), RATE);
                TransferEngine engine = TransferEngine.open(OPTIONS)) {
            Connection connection = engine.connect(proxy.address()).get(BOUND.toSeconds(), TimeUnit.SECONDS);
            MemoryRegion local = engine.allocate(WINDOW * CHUNK, RegionOptions.local());
            RemoteRegion remote = attach(connection, target);
            long unloaded =
                    percentile(latencies(connection, local, remote, WINDOW * CHUNK, Duration.ofSeconds(1)), 0.5);

            Map<TransferPriority, Demand> demands = new EnumMap<>(TransferPriority.class);
            for (TransferPriority priority : List.of(TransferPriority.NORMAL, TransferPriority.LOW)) {
                demands.put(priority, new Demand(connection, local, remote, priority));
            }
            long submitted = System.nanoTime();
            demands.values().forEach(demand -> demand.begin(DEMAND / 2));
            Demand low = demands.get(TransferPriority.LOW);
            await().atMost(BOUND).until(() -> low.ended.get() > DEMAND / 2);
            long queue = System.nanoTime() - submitted;
            long heap = usedHeap();
            long resident = residentBytes();
            List<Long> urgent = latencies(connection, local, remote, CHUNK, duration);
            long heapAfter = usedHeap();
            long residentAfter = residentBytes();
            demands.values().forEach(Demand::stop);

            System.out.printf(
                    "unloaded %d us a window, urgent under load median %d us, p95 %d us, max %d us, a queue's time %d ms,"
                            + " longest gap NORMAL %d ms, LOW %d ms, heap %+d KiB, resident %+d KiB%n",
                    unloaded / 1000,
                    percentile(urgent, 0.5) / 1000,
                    percentile(urgent, 0.95) / 1000,
                    percentile(urgent, 1) / 1000,
                    queue / 1_000_000,
                    demands.get(TransferPriority.NORMAL).longestGapMillis(),
                    low.longestGapMillis(),
                    heapAfter - heap >> 10,
                    residentAfter - resident >> 10);
            // What is posted is before it whatever its priority: a window's time. It is not to wait for the queue.
            assertThat(percentile(urgent, 0.5)).isLessThan(8 * unloaded);
            assertThat(percentile(urgent, 0.95)).isLessThan(Math.max(8 * unloaded, queue / 4));
            demands.forEach((priority, demand) -> {
                assertThat(demand.failures).as("failures of %s", priority).hasValue(0);
                assertThat(demand.longestGapMillis())
                        .as("longest gap of %s", priority)
                        .isLessThan(Math.max(duration.toMillis(), queue / 1_000_000));
            });
            assertThat(heapAfter - heap).as("growth of the heap").isLessThan(HEAP_TOLERANCE);
            assertThat(residentAfter - resident).as("growth of the process").isLessThan(RESIDENT_TOLERANCE);
            assertThat(connection.window().maxOperationsSeen()).isLessThanOrEqualTo(WINDOW);
            await().atMost(BOUND).until(() -> demands.values().stream().allMatch(Demand::isOver));
        }
    }

    private void manyConnections(Duration duration) throws Exception {
        EngineOptions shared =
                OPTIONS.toBuilder().engineWindowOperations(2 * WINDOW).build();
        try (TransferEngine target = TransferEngine.open(OPTIONS);
                ThrottlingProxy proxy = new ThrottlingProxy(target.address(), RATE);
                TransferEngine engine = TransferEngine.open(shared)) {
            MemoryRegion local = engine.allocate(CHUNK, RegionOptions.local());
            List<Demand> demands = new ArrayList<>();
            for (int i = 0; i < CONNECTIONS; i++) {
                Connection connection = engine.connect(proxy.address()).get(BOUND.toSeconds(), TimeUnit.SECONDS);
                TransferPriority priority = TransferPriority.values()[i % 3];
                demands.add(new Demand(connection, local, attach(connection, target), priority));
            }
            demands.forEach(demand -> demand.begin(100 * 2 * WINDOW / CONNECTIONS));
            await().atMost(BOUND).until(() -> demands.stream().allMatch(demand -> demand.ended.get() > 0));
            long heap = usedHeap();
            Thread.sleep(duration);
            long heapAfter = usedHeap();
            List<Long> counts =
                    demands.stream().map(demand -> demand.ended.get()).sorted().toList();
            long longestGap =
                    demands.stream().mapToLong(Demand::longestGapMillis).max().orElseThrow();
            System.out.printf(
                    "%d connections, each ended %d to %d, longest gap %d ms, heap %+d KiB%n",
                    CONNECTIONS, counts.getFirst(), counts.getLast(), longestGap, heapAfter - heap >> 10);
            demands.forEach(Demand::stop);
            assertThat(demands).allSatisfy(demand -> assertThat(demand.failures).hasValue(0));
            assertThat(counts.getFirst()).as("of the slowest").isGreaterThan(counts.getLast() / 4);
            assertThat(longestGap).isLessThan(duration.toMillis());
            assertThat(heapAfter - heap).isLessThan(HEAP_TOLERANCE);
            await().atMost(BOUND).until(() -> demands.stream().allMatch(Demand::isOver));
        }
    }

    /** Who waits until nothing that has ended is posted is not kept waiting by what goes on ending. */
    @Test
    void quiescenceComesUnderSteadyCancels() throws Exception {
        try (TransferEngine target = TransferEngine.open(OPTIONS);
                ThrottlingProxy proxy = new ThrottlingProxy(target.address(), RATE);
                TransferEngine engine = TransferEngine.open(OPTIONS)) {
            Connection connection = engine.connect(proxy.address()).get(BOUND.toSeconds(), TimeUnit.SECONDS);
            MemoryRegion local = engine.allocate(CHUNK, RegionOptions.local());
            RemoteRegion remote = attach(connection, target);
            // One always ends with a chunk posted before the one before it is done.
            CompletableFuture<Void> over = new CompletableFuture<>();
            Thread cancelling = Thread.ofPlatform().daemon().start(() -> {
                while (!over.isDone()) {
                    if (connection.pending() < WINDOW) {
                        connection.write(
                                local,
                                0,
                                remote,
                                0,
                                CHUNK,
                                TransferOptions.defaults().withDeadline(Duration.ofMillis(3)),
                                (transfer, error) -> {});
                    }
                }
            });
            try {
                for (int i = 0; i < 20; i++) {
                    connection.quiesced().get(BOUND.toSeconds(), TimeUnit.SECONDS);
                }
            } finally {
                over.complete(null);
                cancelling.join(BOUND);
            }
        }
    }

    private static RemoteRegion attach(Connection connection, TransferEngine target) throws Exception {
        MemoryRegion region = target.allocate(WINDOW * CHUNK, RegionOptions.readWrite());
        return connection.attach(region.descriptor()).get(BOUND.toSeconds(), TimeUnit.SECONDS);
    }

    /** How long urgent writes take, one at a time. */
    private static List<Long> latencies(
            Connection connection, MemoryRegion local, RemoteRegion remote, int bytes, Duration duration)
            throws Exception {
        TransferOptions urgent = TransferOptions.defaults().withPriority(TransferPriority.HIGH);
        List<Long> nanos = new ArrayList<>();
        long end = System.nanoTime() + duration.toNanos();
        while (System.nanoTime() < end) {
            CompletableFuture<Void> done = new CompletableFuture<>();
            long begun = System.nanoTime();
            connection.write(local, 0, remote, 0, bytes, urgent, (transfer, error) -> {
                if (error == null) {
                    done.complete(null);
                } else {
                    done.completeExceptionally(error);
                }
            });
            done.get(BOUND.toSeconds(), TimeUnit.SECONDS);
            nanos.add(System.nanoTime() - begun);
            Thread.sleep(2);
        }
        return nanos;
    }

    private static long percentile(List<Long> nanos, double share) {
        List<Long> sorted = nanos.stream().sorted().toList();
        return sorted.get((int) Math.min(sorted.size() - 1, Math.floor(sorted.size() * share)));
    }

    private static long usedHeap() {
        long least = Long.MAX_VALUE;
        for (int i = 0; i < 3; i++) {
            ManagementFactory.getMemoryMXBean().gc();
            least = Math.min(
                    least,
                    ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed());
        }
        return least;
    }

    private static long residentBytes() throws IOException {
        return Files.readAllLines(Path.of("/proc/self/status")).stream()
                .filter(line -> line.startsWith("VmRSS:"))
                .mapToLong(line -> Long.parseLong(line.replaceAll("\\D", "")) << 10)
                .findFirst()
                .orElseThrow();
    }
}
