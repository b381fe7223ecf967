package io.sluice.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.testkit.Patience;
import io.sluice.testkit.PatientOptions;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A hundred times more is wanted than the path to the peer carries, for long. */
@Tag("filler")
class OverloadTest {
    private static final long RATE = 32 << 20;
    private static final int CHUNK = 16 << 10;
    private static final int WINDOW = 16;
    private static final int DEMAND = 100 * WINDOW;
    private static final int CONNECTIONS = 24;
    private static final long HEAP_TOLERANCE = 8 << 20;
    private static final long RESIDENT_TOLERANCE = 128 << 20;

    private static final EngineOptions OPTIONS = PatientOptions.builder()
            .transports(List.of("tcp"))
            .windowOperations(WINDOW)
            .windowBytes(WINDOW * CHUNK)
            .priorityAging(Duration.ofMillis(20))
            .livenessTimeout(Patience.BOUND)
            .build();

    @Test
    void urgentTransfersStayFastAndNothingStarves() throws Exception {
        urgentUnderLoad(1);
    }

    @Tag("soak")
    @Test
    void urgentTransfersStayFastForMinutes() throws Exception {
        urgentUnderLoad(200);
    }

    @Test
    void eachOfManyConnectionsGoesOn() throws Exception {
        manyConnections(100);
    }

    @Tag("soak")
    @Test
    void eachOfManyConnectionsGoesOnForMinutes() throws Exception {
        manyConnections(10_000);
    }

    /** Wants always the same number of writes. */
    private static final class Demand implements TransferCallback {
        private final Connection connection;
        private final MemoryRegion local;
        private final RemoteRegion remote;
        private final TransferOptions options;
        private final AtomicInteger running = new AtomicInteger();
        private final AtomicInteger failures = new AtomicInteger();
        private final AtomicLong ended = new AtomicLong();
        private volatile boolean stopping;

        Demand(Connection connection, MemoryRegion local, RemoteRegion remote, TransferPriority priority) {
            this.connection = connection;
            this.local = local;
            this.remote = remote;
            this.options = TransferOptions.defaults().withPriority(priority);
        }

        void begin(int transfers) {
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

        long ended() {
            return ended.get();
        }

        void stop() {
            stopping = true;
        }

        boolean isOver() {
            return running.get() == 0;
        }
    }

    /**
     * Urgent writes, one after the other, and how many of the others' ended during each. All callbacks come on the
     * connection's one poller, so that the counts show the order alone, and not the speed of the machine.
     */
    private static final class Urgent implements TransferCallback {
        private final Connection connection;
        private final MemoryRegion local;
        private final RemoteRegion remote;
        private final List<Demand> others;
        private final TransferOptions options = TransferOptions.defaults().withPriority(TransferPriority.HIGH);
        private final List<Long> endedMeanwhile = Collections.synchronizedList(new ArrayList<>());
        private final CompletableFuture<@Nullable SluiceException> over = new CompletableFuture<>();
        private long before;
        private volatile boolean stopping;

        Urgent(Connection connection, MemoryRegion local, RemoteRegion remote, List<Demand> others) {
            this.connection = connection;
            this.local = local;
            this.remote = remote;
            this.others = others;
        }

        void next() {
            before = endedByOthers();
            connection.write(local, 0, remote, 0, CHUNK, options, this);
        }

        private long endedByOthers() {
            return others.stream().mapToLong(Demand::ended).sum();
        }

        @Override
        public void terminated(Transfer transfer, @Nullable SluiceException error) {
            endedMeanwhile.add(endedByOthers() - before);
            if (stopping || error != null) {
                over.complete(error);
            } else {
                next();
            }
        }

        /** How many of the others' ended during each, in ascending order. */
        List<Long> stop() {
            stopping = true;
            assertThat(Patience.await(over)).isNull();
            return endedMeanwhile.stream().sorted().toList();
        }
    }

    /** For as long as the whole queue takes that many times to pass. */
    private void urgentUnderLoad(int queues) throws Exception {
        try (TransferEngine target = TransferEngine.open(OPTIONS);
                ThrottlingProxy proxy = new ThrottlingProxy(target.address(), RATE);
                TransferEngine engine = TransferEngine.open(OPTIONS)) {
            Connection connection = Patience.await(engine.connect(proxy.address()));
            MemoryRegion local = engine.allocate(WINDOW * CHUNK, RegionOptions.local());
            RemoteRegion remote = attach(connection, target);
            Demand normal = new Demand(connection, local, remote, TransferPriority.NORMAL);
            Demand low = new Demand(connection, local, remote, TransferPriority.LOW);
            List<Demand> demands = List.of(normal, low);
            demands.forEach(demand -> demand.begin(DEMAND / 2));
            awaitMore("low ones pass", demands, DEMAND / 2, Patience.BOUND);

            LiveHeap.touch();
            long heap = LiveHeap.bytes();
            long resident = residentBytes();
            Urgent urgent = new Urgent(connection, local, remote, demands);
            urgent.next();
            awaitMore("nothing starves", demands, (long) queues * DEMAND / 2, Patience.BOUND.multipliedBy(queues));
            List<Long> endedMeanwhile = urgent.stop();
            long heapAfter = LiveHeap.bytes();
            long residentAfter = residentBytes();
            demands.forEach(Demand::stop);

            System.out.printf(
                    "%d urgent ones in a queue of %d; ended during each: median %d, p95 %d, most %d; heap %+d KiB,"
                            + " resident %+d KiB%n",
                    endedMeanwhile.size(),
                    DEMAND,
                    percentile(endedMeanwhile, 0.5),
                    percentile(endedMeanwhile, 0.95),
                    endedMeanwhile.getLast(),
                    heapAfter - heap >> 10,
                    residentAfter - resident >> 10);
            // Before it comes what is posted, of any priority: a window. It must not wait for the queue.
            assertThat(percentile(endedMeanwhile, 0.5)).isLessThan(4 * WINDOW);
            assertThat(percentile(endedMeanwhile, 0.95)).isLessThan(DEMAND / 4);
            assertThat(demands).allSatisfy(demand -> assertThat(demand.failures).hasValue(0));
            assertThat(heapAfter - heap).as("growth of the heap").isLessThan(HEAP_TOLERANCE);
            assertThat(residentAfter - resident).as("growth of the process").isLessThan(RESIDENT_TOLERANCE);
            assertThat(connection.window().maxOperationsSeen()).isLessThanOrEqualTo(WINDOW);
            Patience.until("all have ended", () -> demands.stream().allMatch(Demand::isOver));
        }
    }

    /** Waits until each has ended so many more than now. */
    private static void awaitMore(String what, List<Demand> demands, long more, Duration bound) {
        List<Long> before = demands.stream().map(Demand::ended).toList();
        Patience.until(
                what,
                bound,
                () -> IntStream.range(0, demands.size())
                        .allMatch(i -> demands.get(i).ended() >= before.get(i) + more));
    }

    /** For as long as each of them takes for that many transfers, on average. */
    private void manyConnections(int each) throws Exception {
        EngineOptions shared =
                OPTIONS.toBuilder().engineWindowOperations(2 * WINDOW).build();
        try (TransferEngine target = TransferEngine.open(OPTIONS);
                ThrottlingProxy proxy = new ThrottlingProxy(target.address(), RATE);
                TransferEngine engine = TransferEngine.open(shared)) {
            MemoryRegion local = engine.allocate(CHUNK, RegionOptions.local());
            List<Demand> demands = new ArrayList<>();
            for (int i = 0; i < CONNECTIONS; i++) {
                Connection connection = Patience.await(engine.connect(proxy.address()));
                TransferPriority priority = TransferPriority.values()[i % 3];
                demands.add(new Demand(connection, local, attach(connection, target), priority));
            }
            demands.forEach(demand -> demand.begin(100 * 2 * WINDOW / CONNECTIONS));
            awaitMore("each has begun", demands, 1, Patience.BOUND);
            long heap = LiveHeap.bytes();
            // those that were begun first had the window to themselves for a while, so all count from here
            List<Long> before = demands.stream().map(Demand::ended).toList();
            long all = before.stream().mapToLong(Long::longValue).sum() + (long) each * CONNECTIONS;
            Patience.until(
                    "they go on",
                    Patience.BOUND.multipliedBy(each / 100),
                    () -> demands.stream().mapToLong(Demand::ended).sum() >= all);
            List<Long> counts = IntStream.range(0, CONNECTIONS)
                    .mapToObj(i -> demands.get(i).ended() - before.get(i))
                    .sorted()
                    .toList();
            long heapAfter = LiveHeap.bytes();
            System.out.printf(
                    "%d connections, each ended %d to %d, heap %+d KiB%n",
                    CONNECTIONS, counts.getFirst(), counts.getLast(), heapAfter - heap >> 10);
            awaitMore("none has stopped", demands, 1, Patience.BOUND);
            demands.forEach(Demand::stop);
            assertThat(demands).allSatisfy(demand -> assertThat(demand.failures).hasValue(0));
            assertThat(counts.getFirst()).as("of the slowest").isGreaterThan(counts.getLast() / 4);
            assertThat(heapAfter - heap).isLessThan(HEAP_TOLERANCE);
            Patience.until("all have ended", () -> demands.stream().allMatch(Demand::isOver));
        }
    }

    /** A close that waits until no ended transfer is posted is not delayed by transfers that go on ending. */
    @Test
    void quiescenceComesUnderSteadyCancels() throws Exception {
        try (TransferEngine target = TransferEngine.open(OPTIONS);
                ThrottlingProxy proxy = new ThrottlingProxy(target.address(), RATE);
                TransferEngine engine = TransferEngine.open(OPTIONS)) {
            Connection connection = Patience.await(engine.connect(proxy.address()));
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
                    Patience.await(connection.quiesced());
                }
            } finally {
                over.complete(null);
                Patience.join(cancelling);
            }
        }
    }

    private static RemoteRegion attach(Connection connection, TransferEngine target) {
        MemoryRegion region = target.allocate(WINDOW * CHUNK, RegionOptions.readWrite());
        return Patience.await(connection.attach(region.descriptor()));
    }

    private static long percentile(List<Long> ascending, double share) {
        return ascending.get((int) Math.min(ascending.size() - 1, Math.floor(ascending.size() * share)));
    }

    private static long residentBytes() throws IOException {
        return Files.readAllLines(Path.of("/proc/self/status")).stream()
                .filter(line -> line.startsWith("VmRSS:"))
                .mapToLong(line -> Long.parseLong(line.replaceAll("\\D", "")) << 10)
                .findFirst()
                .orElseThrow();
    }
}
