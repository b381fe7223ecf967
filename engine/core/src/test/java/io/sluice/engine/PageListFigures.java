package io.sluice.engine;

import com.sun.management.ThreadMXBean;
import io.sluice.jni.MemoryCopy;
import io.sluice.testkit.Patience;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Prints the cost of lists of pages, compared with lists of elements of the same pages and with copies in C, as medians of seven
 * turns, and the goals that there are for them: a program, for {@code ./sluice jmh --pages} on a quiet machine. Its arguments are
 * names of transports; tcp and shm without any. It ends with status 1 if a goal is missed.
 */
final class PageListFigures {
    private static final int TURNS = 7;
    private static final int ALLOCATION_TURNS = 2;
    private static final int ALLOCATION_RUNS = 20;
    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    private static final TransferOptions OPTIONS = TransferOptions.defaults();

    private static final double MOST_NANOS_A_PAGE = 10;
    // what the virtual machine may do on any thread meanwhile; the least object takes 16 bytes
    private static final double MOST_BYTES_A_RUN = 1;
    private static int missed;

    private PageListFigures() {}

    public static void main(String[] names) {
        for (String transport : names.length == 0 ? new String[] {"tcp", "shm"} : names) {
            measure(transport, 4096, 4096, 60);
            measure(transport, 256, 1024, 2000);
        }
        say(missed == 0 ? "all goals are reached" : missed + " goals are missed");
        System.exit(missed == 0 ? 0 : 1);
    }

    /** How many times as fast as elements; 0 if there is no goal. */
    private static double leastRatio(String transport, int pages) {
        if (!transport.equals("tcp")) {
            return 0;
        }
        return pages == 4096 ? 1.3 : 1.25;
    }

    private static String atLeast(double goal, double value) {
        return goal == 0 ? "" : verdict(" (goal: at least ", goal, value >= goal);
    }

    private static String below(double goal, double value) {
        return verdict(" (goal: below ", goal, value < goal);
    }

    private static String verdict(String text, double goal, boolean isReached) {
        missed += isReached ? 0 : 1;
        return text + goal + (isReached ? ", reached)" : ", MISSED)");
    }

    /** Starts one run from the end of the other, as no other thread has to wake up then. */
    private static final class Chain implements VectoredTransferCallback, PageCallback {
        private final CompletableFuture<Void> done = new CompletableFuture<>();
        private final Supplier<PreparedTransfer> next;
        private final int measured;
        private int left;
        private long allocatedBefore;
        private long allocated;

        /** Of the last runs it measures what they allocate on all threads: making a transfer once is not a part of a run. */
        Chain(int runs, int measured, Supplier<PreparedTransfer> next) {
            this.left = runs;
            this.measured = measured;
            this.next = next;
        }

        void run() {
            next.get().start();
            Patience.await(done);
        }

        private long allocatedBytes() {
            return measured == 0 ? 0 : THREADS.getTotalThreadAllocatedBytes();
        }

        @Override
        public void element(int index, @Nullable SluiceException error) {}

        @Override
        public void terminated(Transfer transfer, @Nullable SluiceException error) {
            if (error != null) {
                done.completeExceptionally(error);
                return;
            }
            left--;
            if (left == measured) {
                allocatedBefore = allocatedBytes();
            }
            if (left == 0) {
                allocated = allocatedBytes() - allocatedBefore;
                done.complete(null);
            } else {
                next.get().start();
            }
        }

        @Override
        public void terminated(Transfer transfer, BitSet failed, @Nullable SluiceException error) {
            terminated(transfer, error);
        }
    }

    /** Gives the transfers of a chain, with the callback that it is given. */
    private interface Making {
        PreparedTransfer make(Chain callback);
    }

    /** Runs transfers one after the other. */
    private static final class Runs {
        private final boolean fresh;
        private final Making making;

        Runs(boolean fresh, Making making) {
            this.fresh = fresh;
            this.making = making;
        }

        /** Nanoseconds a run. */
        double once(int runs) {
            Chain chain = chain(runs, 0);
            long begin = System.nanoTime();
            chain.run();
            return (double) (System.nanoTime() - begin) / runs;
        }

        /** Bytes that so many runs allocate, after others that are not measured. */
        long allocated(int warmUp, int runs) {
            Chain chain = chain(warmUp + runs, runs);
            chain.run();
            return chain.allocated;
        }

        private Chain chain(int runs, int measured) {
            AtomicReference<Supplier<PreparedTransfer>> next = new AtomicReference<>();
            Chain chain = new Chain(runs, measured, () -> next.get().get());
            if (fresh) {
                next.set(() -> making.make(chain));
            } else {
                PreparedTransfer prepared = making.make(chain);
                next.set(() -> prepared);
            }
            return chain;
        }
    }

    private static void measure(String transport, int pages, int pageBytes, int runs) {
        EngineOptions options = EngineOptions.builder()
                .transports(List.of(transport))
                .listen("127.0.0.1", 0)
                // a heartbeat allocates, and comes with the time, not with a run
                .livenessTimeout(Duration.ofHours(1))
                .build();
        TransferEngine initiator = TransferEngine.open(options);
        TransferEngine target = TransferEngine.open(options);
        try {
            Connection connection = Patience.await(initiator.connect(target.address()));
            MemoryRegion local = initiator.allocate((long) pages * pageBytes, RegionOptions.local());
            MemoryRegion served = target.allocate(local.length(), RegionOptions.readWrite());
            RemoteRegion remote = Patience.await(connection.attach(served.descriptor()));
            Random random = new Random(7);
            int[] from = shuffled(random, pages);
            int[] to = shuffled(random, pages);
            List<TransferElement> elements = new ArrayList<>();
            for (int i = 0; i < pages; i++) {
                elements.add(new TransferElement(
                        local, (long) from[i] * pageBytes, remote, (long) to[i] * pageBytes, pageBytes));
            }
            TransferOperations<PreparedTransfer> prepared = connection.prepared();
            String name = transport + ", " + pages + " x " + pageBytes + " bytes: ";
            for (boolean write : new boolean[] {true, false}) {
                Making list = chain -> write
                        ? prepared.writeVectored(elements, OPTIONS, chain)
                        : prepared.readVectored(elements, OPTIONS, chain);
                Making table = chain -> write
                        ? prepared.writePages(local, from, remote, to, pageBytes, OPTIONS, chain)
                        : prepared.readPages(local, from, remote, to, pageBytes, OPTIONS, chain);
                String kind = name + (write ? "write" : "read");
                double goal = leastRatio(transport, pages);
                compare(kind + ", prepared", goal, runs, pages, new Runs(false, list), new Runs(false, table));
                compare(kind + ", new", goal, runs, pages, new Runs(true, list), new Runs(true, table));
                allocation(kind, runs, new Runs(false, table));
                boolean byCopying = transport.equals("shm") && pages == 4096;
                copies(kind, byCopying ? 0.9 : 0, runs, pages, pageBytes, from, to, new Runs(false, table));
            }
            PreparedTransfer aimed =
                    prepared.writePages(local, from, remote, to, pageBytes, OPTIONS, (transfer, failed, error) -> {});
            double nanos = median(runs, () -> aimed.retargetPages(from, to)) / pages;
            say(name + "retargetPages %.2f ns a page%s", nanos, below(MOST_NANOS_A_PAGE, nanos));
        } finally {
            Patience.await(initiator.closeAsync());
            Patience.await(target.closeAsync());
        }
    }

    /** Compared with the same copies in C, in one call. */
    private static void copies(
            String name, double goal, int runs, int pages, int pageBytes, int[] from, int[] to, Runs table) {
        try (Arena arena = Arena.ofShared()) {
            long bytes = (long) pages * pageBytes;
            MemorySegment source = arena.allocate(bytes, 4096);
            MemorySegment sink = arena.allocate(bytes, 4096);
            MemorySegment fromOffsets = offsets(arena, from, pageBytes);
            MemorySegment toOffsets = offsets(arena, to, pageBytes);
            double[] inC = new double[TURNS];
            double[] byEngine = new double[TURNS];
            for (int turn = -1; turn < TURNS; turn++) {
                double c = once(
                        runs, () -> MemoryCopy.copyPages(sink, toOffsets, source, fromOffsets, 0, pages, pageBytes));
                double engine = table.once(runs);
                if (turn >= 0) {
                    inC[turn] = c;
                    byEngine[turn] = engine;
                }
            }
            double c = median(inC);
            double engine = median(byEngine);
            say(
                    name + ": pages %.1f us, copies in C %.1f us: %.2f of their speed%s, %.2f ns a page more",
                    engine / 1000,
                    c / 1000,
                    c / engine,
                    atLeast(goal, c / engine),
                    (engine - c) / pages);
        }
    }

    private static MemorySegment offsets(Arena arena, int[] pages, int pageBytes) {
        MemorySegment offsets = arena.allocate(ValueLayout.JAVA_LONG, pages.length);
        for (int i = 0; i < pages.length; i++) {
            offsets.setAtIndex(ValueLayout.JAVA_LONG, i, (long) pages[i] * pageBytes);
        }
        return offsets;
    }

    private static void compare(String name, double goal, int runs, int pages, Runs list, Runs table) {
        double[] lists = new double[TURNS];
        double[] tables = new double[TURNS];
        for (int turn = -2; turn < TURNS; turn++) {
            double ofList = list.once(runs);
            double ofTable = table.once(runs);
            if (turn >= 0) {
                lists[turn] = ofList;
                tables[turn] = ofTable;
            }
        }
        double ofLists = median(lists);
        double ofTables = median(tables);
        say(
                name + ": elements %.1f us, pages %.1f us (%.1f ns a page): %.2f times as fast%s",
                ofLists / 1000,
                ofTables / 1000,
                ofTables / pages,
                ofLists / ofTables,
                atLeast(goal, ofLists / ofTables));
    }

    private static void allocation(String name, int runs, Runs table) {
        int measured = ALLOCATION_RUNS * runs;
        long least = Long.MAX_VALUE;
        for (int turn = 0; turn < ALLOCATION_TURNS; turn++) {
            least = Math.min(least, table.allocated(runs, measured));
        }
        double bytes = (double) least / measured;
        say(
                name + ": %.2f bytes allocated a run, in the best of the turns of %d runs%s",
                bytes,
                measured,
                below(MOST_BYTES_A_RUN, bytes));
    }

    private static double median(int runs, Runnable run) {
        double[] nanos = new double[TURNS];
        for (int turn = -1; turn < TURNS; turn++) {
            double each = once(runs, run);
            if (turn >= 0) {
                nanos[turn] = each;
            }
        }
        return median(nanos);
    }

    private static double once(int runs, Runnable run) {
        long begin = System.nanoTime();
        for (int i = 0; i < runs; i++) {
            run.run();
        }
        return (double) (System.nanoTime() - begin) / runs;
    }

    private static double median(double[] values) {
        double[] sorted = values.clone();
        Arrays.sort(sorted);
        return sorted[sorted.length / 2];
    }

    private static int[] shuffled(Random random, int count) {
        int[] numbers = new int[count];
        for (int i = 0; i < count; i++) {
            int other = random.nextInt(i + 1);
            numbers[i] = numbers[other];
            numbers[other] = i;
        }
        return numbers;
    }

    private static void say(String format, Object... values) {
        System.out.println(String.format(Locale.ROOT, format, values));
    }
}
