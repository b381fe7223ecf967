package io.sluice.cuda;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import io.sluice.engine.Connection;
import io.sluice.engine.MemoryKind;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.PageCallback;
import io.sluice.engine.PreparedTransfer;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.RemoteRegion;
import io.sluice.engine.RemoteSignal;
import io.sluice.engine.SluiceException;
import io.sluice.engine.Transfer;
import io.sluice.engine.TransferCallback;
import io.sluice.engine.TransferEngine;
import io.sluice.engine.TransferOperations;
import io.sluice.engine.TransferOptions;
import io.sluice.testkit.Patience;
import io.sluice.testkit.PatientOptions;
import java.lang.management.ManagementFactory;
import java.util.BitSet;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Prepared transfers of GPU memory allocate nothing on the heap, from one start to the next in the callback of the last. */
class SteadyTransfersTest {
    private static final int BYTES = 1 << 20;
    private static final int IN_FLIGHT = 4;
    private static final int PAGES = 64;
    private static final int PAGE_BYTES = 512;
    private static final int RUNS = 100;
    private static final int MOST_WINDOWS = 400;
    // what the virtual machine may do on the thread meanwhile; far less than a byte a run
    private static final long MOST_BYTES = RUNS / 2;
    private static final int HOST = -1;

    private TransferEngine initiator;
    private TransferEngine target;
    private Connection connection;

    @BeforeEach
    void load() {
        SoftGpu.load();
    }

    @AfterEach
    void close() {
        Patience.await(initiator.closeAsync());
        Patience.await(target.closeAsync());
    }

    private void open(boolean copyEngines) {
        initiator = engine(copyEngines);
        target = engine(copyEngines);
        connection = Patience.await(initiator.connect(target.address()));
    }

    private static TransferEngine engine(boolean copyEngines) {
        return TransferEngine.open(PatientOptions.builder()
                .transports(List.of("shm", "tcp", "cuda"))
                .transport(CudaOptions.builder().copyEngines(copyEngines).build())
                .build());
    }

    private static MemoryRegion region(TransferEngine engine, int place) {
        RegionOptions options = RegionOptions.readWrite();
        return engine.allocate(BYTES, place == HOST ? options : options.on(MemoryKind.CUDA, SoftGpu.id(place)));
    }

    /** Measures on the poller's thread, window by window, until one is without allocation. */
    private static final class Runs {
        private final ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        private final CompletableFuture<Void> done = new CompletableFuture<>();
        private long least = Long.MAX_VALUE;
        private long before;
        private int runs;
        private int windows;
        private int ended;
        private boolean isOver;

        void end(@Nullable PreparedTransfer next, @Nullable SluiceException error) {
            if (error != null || next == null) {
                done.completeExceptionally(error == null ? new AssertionError("it has not begun") : error);
                return;
            }
            if (++runs == RUNS) {
                runs = 0;
                long allocated = threads.getCurrentThreadAllocatedBytes() - before;
                // the first has no beginning
                if (++windows > 1) {
                    least = Math.min(least, allocated);
                }
                isOver = least < MOST_BYTES || windows == MOST_WINDOWS;
                before = threads.getCurrentThreadAllocatedBytes();
            }
            if (!isOver) {
                next.start();
            } else if (++ended == IN_FLIGHT) {
                done.complete(null);
            }
        }
    }

    /** One of those in flight. */
    private static final class Slot implements TransferCallback, PageCallback {
        private final Runs runs;
        private @Nullable PreparedTransfer transfer;

        Slot(Runs runs) {
            this.runs = runs;
        }

        @Override
        public void terminated(Transfer ended, @Nullable SluiceException error) {
            runs.end(transfer, error);
        }

        @Override
        public void terminated(Transfer ended, BitSet failed, @Nullable SluiceException error) {
            runs.end(transfer, error);
        }
    }

    private PreparedTransfer prepare(String form, int at, MemoryRegion local, RemoteRegion remote, Slot slot) {
        TransferOperations<PreparedTransfer> prepared = connection.prepared();
        TransferOptions options = TransferOptions.defaults();
        int part = BYTES / IN_FLIGHT;
        int first = at * (part / PAGE_BYTES);
        // none adjoins the next
        int[] pages = IntStream.range(0, PAGES).map(page -> first + 2 * page).toArray();
        int[] reversed = IntStream.range(0, PAGES)
                .map(page -> first + 2 * (PAGES - 1 - page))
                .toArray();
        return switch (form) {
            case "word" -> prepared.write(local, 8L * at, remote, 8L * at, 8, options, slot);
            case "write" -> prepared.write(local, (long) at * part, remote, (long) at * part, part, options, slot);
            case "read" -> prepared.read(local, (long) at * part, remote, (long) at * part, part, options, slot);
            case "pages" -> prepared.writePages(local, pages, remote, reversed, PAGE_BYTES, options, slot);
            case "pages read" -> prepared.readPages(local, reversed, remote, pages, PAGE_BYTES, options, slot);
            case "signal" ->
                prepared.writeWithSignal(
                        local,
                        64L * at,
                        remote,
                        64L * at,
                        32,
                        new RemoteSignal(remote, 64L * at + 32).weak(),
                        options,
                        slot);
            default -> throw new IllegalArgumentException(form);
        };
    }

    @ParameterizedTest
    @CsvSource({
        "word, 0, 1, false",
        "write, 0, 1, false",
        "write, 0, 0, true",
        "read, 0, 1, false",
        "pages, 0, 1, false",
        "pages, 0, 1, true",
        "pages read, 0, 1, false",
        "signal, 0, 1, false",
        "write, -1, 1, false",
        "read, -1, 0, false",
        "pages, -1, 1, false"
    })
    void a_run_allocates_nothing(String form, int here, int there, boolean copyEngines) {
        open(copyEngines);
        MemoryRegion local = region(initiator, here);
        RemoteRegion remote =
                Patience.await(connection.attach(region(target, there).descriptor()));
        assertThat(remote.path(here == HOST ? MemoryKind.HOST : MemoryKind.CUDA).transport())
                .isEqualTo("cuda");
        Runs runs = new Runs();
        List<Slot> slots =
                IntStream.range(0, IN_FLIGHT).mapToObj(at -> new Slot(runs)).toList();
        for (int at = 0; at < IN_FLIGHT; at++) {
            slots.get(at).transfer = prepare(form, at, local, remote, slots.get(at));
        }
        connection
                .loop()
                .execute(() -> slots.forEach(slot -> {
                    if (slot.transfer != null) {
                        slot.transfer.start();
                    }
                }));
        Patience.await(runs.done);
        assertThat(runs.least).as("bytes for %d runs", RUNS).isLessThan(MOST_BYTES);
    }
}
