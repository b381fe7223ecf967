package io.sluice.cuda;

import io.sluice.engine.Connection;
import io.sluice.engine.EngineAddress;
import io.sluice.engine.EngineOptions;
import io.sluice.engine.MemoryKind;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RegionDescriptor;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.RemoteRegion;
import io.sluice.engine.TransferEngine;
import io.sluice.testkit.Patience;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * Latency and rate while the GPU that copies is free, and while a kernel of the user's fills it: by kernels with all blocks, with 16,
 * and by copy engines. It prints a table in Markdown; each figure is the median, and behind it the 99th percentile.
 */
final class BusyFigures {
    private static final int FEW_BLOCKS = 16;
    private static final long MOST_BUSY_BYTES = 1L << 30;

    private final EngineAddress peer;
    private final RegionDescriptor served;
    private final long windowBytes;
    private final long warmupNanos;
    private final long durationNanos;

    BusyFigures(String address, RegionDescriptor served, long warmupNanos, long durationNanos) {
        this.peer = EngineAddress.parse(address);
        this.served = served;
        this.windowBytes = served.length();
        this.warmupNanos = warmupNanos;
        this.durationNanos = durationNanos;
    }

    @SuppressWarnings("SystemOut")
    void print() throws Exception {
        System.out.println("| path | GPU | write of 8 B | 256 × 4 KiB, alone | 2,048 × 16 KiB, 4 in flight | 64 MiB,"
                + " 4 in flight | the user's kernels |");
        System.out.println("|---|---|---|---|---|---|---|");
        print("kernel, all blocks", CudaOptions.builder().build());
        print("kernel, 16 blocks", CudaOptions.builder().blocks(FEW_BLOCKS).build());
        print("copy engines", CudaOptions.builder().copyEngines(true).build());
    }

    private void print(String path, CudaOptions options) throws Exception {
        TransferEngine engine = TransferEngine.open(EngineOptions.builder()
                .transports(List.of("shm", "tcp", "cuda"))
                .environment(System.getenv())
                .transport(options)
                .build());
        try {
            RegionOptions onGpu = RegionOptions.local().on(MemoryKind.CUDA, SoftGpu.id(0));
            MemoryRegion local = engine.allocate(windowBytes, onGpu);
            MemoryRegion summed = engine.allocate(Math.min(windowBytes, MOST_BUSY_BYTES), onGpu);
            Connection connection = Patience.await(engine.connect(peer));
            RemoteRegion remote = Patience.await(connection.attach(served));
            print(path, connection, local, remote, null, 0);
            double undisturbed;
            try (BusyGpu alone = new BusyGpu(0, summed.memory().address(), summed.length())) {
                Thread.sleep((warmupNanos + durationNanos) / 1_000_000);
                undisturbed = alone.rate();
            }
            print(path, connection, local, remote, summed, undisturbed);
        } finally {
            Patience.await(engine.closeAsync());
        }
    }

    private static String rounded(double value) {
        return String.format(Locale.ROOT, "%.1f", value);
    }

    @SuppressWarnings("SystemOut")
    private void print(
            String path,
            Connection connection,
            MemoryRegion local,
            RemoteRegion remote,
            @Nullable MemoryRegion summed,
            double undisturbed)
            throws Exception {
        long large = Math.min(64L << 20, windowBytes / 4);
        BusyGpu busy = summed == null ? null : new BusyGpu(0, summed.memory().address(), summed.length());
        try {
            RepeatedTransfers.Result word = run(
                    1,
                    (slot, end) -> connection.prepared().write(local, 0, remote, 0, 8, RepeatedTransfers.OPTIONS, end));
            RepeatedTransfers.Result list = run(1, pages(connection, local, remote, 256, 4096));
            int pages = (int) Math.min(2048, windowBytes / (2 * 16_384));
            RepeatedTransfers.Result lists = run(4, pages(connection, local, remote, pages, 16_384));
            RepeatedTransfers.Result copies = run(
                    4,
                    (slot, end) -> connection
                            .prepared()
                            .write(local, slot * large, remote, slot * large, large, RepeatedTransfers.OPTIONS, end));
            System.out.printf(
                    Locale.ROOT,
                    "| %s | %s | %s | %s | %.1f GB/s | %.1f GB/s | %s |%n",
                    path,
                    busy == null ? "free" : "busy",
                    times(word),
                    times(list),
                    lists.perSecond() * pages * 16_384 / 1e9,
                    copies.perSecond() * large / 1e9,
                    busy == null ? "" : rounded(busy.rate()) + " of " + rounded(undisturbed) + " a second");
        } finally {
            if (busy != null) {
                busy.close();
            }
        }
    }

    private RepeatedTransfers.Result run(int inFlight, RepeatedTransfers.Form form) throws Exception {
        return new RepeatedTransfers(form, inFlight).run(warmupNanos, durationNanos);
    }

    private static RepeatedTransfers.Form pages(
            Connection connection, MemoryRegion local, RemoteRegion remote, int count, int pageBytes) {
        int[] locals = GpuFigures.scattered(count, 1);
        int[] remotes = GpuFigures.scattered(count, 2);
        return (slot, end) -> connection
                .prepared()
                .writePages(local, locals, remote, remotes, pageBytes, RepeatedTransfers.OPTIONS, end);
    }

    private static String times(RepeatedTransfers.Result result) {
        return String.format(Locale.ROOT, "%.1f µs, %.1f", result.micros(0.5), result.micros(0.99));
    }
}
