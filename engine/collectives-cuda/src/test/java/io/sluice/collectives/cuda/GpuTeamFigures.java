package io.sluice.collectives.cuda;

import io.sluice.collectives.ElementType;
import io.sluice.collectives.ReduceOperation;
import io.sluice.engine.MemoryKind;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.SignalWait;
import java.util.Arrays;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;

/**
 * How long collectives of the machine's GPUs take, one process a rank: {@code RANK RANKS FILE [EXCHANGE-BYTES]}, where rank 0 puts its
 * address into the file. Each line has the time of launches that follow each other, and the median of those that are waited for, by a
 * thread that looks and by the loop's callback.
 */
final class GpuTeamFigures {
    private static final long MOST_BYTES = 1L << 30;
    // a stream takes 256, and a broadcast may be two
    private static final int LAUNCHES = 120;

    private final GpuTeam gpus;
    private final TeamRegion in;
    private final TeamRegion out;
    private final AtomicReference<CompletableFuture<Void>> end = new AtomicReference<>();
    private final SignalWait wait;

    private GpuTeamFigures(GpuTeam gpus, TeamRegion in, TeamRegion out) {
        this.gpus = gpus;
        this.in = in;
        this.out = out;
        this.wait = gpus.onReached((armed, number, error) -> {
            if (error == null) {
                end.get().complete(null);
            } else {
                end.get().completeExceptionally(error);
            }
        });
    }

    private void await(long number) {
        CompletableFuture<Void> next = new CompletableFuture<>();
        end.set(next);
        wait.arm(number);
        next.join();
    }

    private void meet() {
        await(gpus.barrier().start());
    }

    @SuppressWarnings("SystemOut")
    private void measure(String name, long bytes, double moved, GpuCollective collective) {
        int launches = bytes <= 4 << 20 ? LAUNCHES : bytes <= 64 << 20 ? 40 : 10;
        for (int i = 0; i < 20; i++) {
            await(collective.start());
        }
        double best = Double.MAX_VALUE;
        for (int round = 0; round < 3; round++) {
            meet();
            long begin = System.nanoTime();
            long last = 0;
            for (int i = 1; i < launches; i++) {
                collective.startUnnumbered();
            }
            last = collective.start();
            while (gpus.stream().reached() < last) {
                Thread.onSpinWait();
            }
            best = Math.min(best, (System.nanoTime() - begin) / 1e3 / launches);
        }
        meet();
        double[] looked = new double[launches];
        for (int i = 0; i < launches; i++) {
            long begin = System.nanoTime();
            long number = collective.start();
            while (gpus.stream().reached() < number) {
                Thread.onSpinWait();
            }
            looked[i] = (System.nanoTime() - begin) / 1e3;
        }
        meet();
        double[] called = new double[launches];
        for (int i = 0; i < launches; i++) {
            long begin = System.nanoTime();
            await(collective.start());
            called[i] = (System.nanoTime() - begin) / 1e3;
        }
        Arrays.sort(looked);
        Arrays.sort(called);
        if (gpus.team().rank() == 0) {
            System.out.printf(
                    "%-14s %-8s %11d B  back to back %8.2f us  %7.1f GB/s  looked %8.2f us  called %8.2f us%n",
                    name,
                    collective.algorithm().label(),
                    bytes,
                    best,
                    moved / best / 1e3,
                    looked[launches / 2],
                    called[launches / 2]);
        }
    }

    private void run() {
        int n = gpus.team().size();
        long most = Long.getLong("most", MOST_BYTES);
        for (long bytes : new long[] {
            8,
            1024,
            16 << 10,
            64 << 10,
            256 << 10,
            512 << 10,
            1 << 20,
            2 << 20,
            4 << 20,
            16 << 20,
            64 << 20,
            256 << 20,
            MOST_BYTES
        }) {
            if (bytes > most) {
                break;
            }
            long part = bytes / n / 4 * 4;
            double moved = bytes * 2.0 * (n - 1) / n;
            measure(
                    "all-reduce",
                    bytes,
                    moved,
                    gpus.allReduce(in, 0, out, 0, bytes / 4, ElementType.FLOAT32, ReduceOperation.SUM));
            measure(
                    "all-reduce16",
                    bytes,
                    moved,
                    gpus.allReduce(in, 0, out, 0, bytes / 2, ElementType.BFLOAT16, ReduceOperation.SUM));
            measure(
                    "reduce-scatter",
                    bytes,
                    moved / 2,
                    gpus.reduceScatter(in, 0, out, 0, part / 4, ElementType.FLOAT32, ReduceOperation.SUM));
            measure("all-gather", bytes, moved / 2, gpus.allGather(in, 0, out, 0, part));
            measure("all-to-all", bytes, moved / 2, gpus.allToAll(in, 0, out, 0, part));
            measure("broadcast", bytes, bytes, gpus.broadcast(in, 0, out, 0, bytes, 0));
        }
        measure("barrier", 0, 0, gpus.barrier());
    }

    public static void main(String[] arguments) throws Exception {
        GpuTeamOptions options = GpuTeamOptions.defaults();
        if (arguments.length > 3) {
            options = options.withExchangeBytes(Long.parseLong(arguments[3]));
        }
        try (FigureTeam of = FigureTeam.of(arguments)) {
            long begin = System.nanoTime();
            GpuTeam gpus = GpuTeam.form(of.team(), of.gpu(), options).join();
            of.say("formed in %.2f s", (System.nanoTime() - begin) / 1e9);
            RegionOptions kind = RegionOptions.readWrite().on(MemoryKind.CUDA, of.gpu());
            TeamRegion in = gpus.share(of.engine().allocate(MOST_BYTES, kind)).join();
            TeamRegion out = gpus.share(of.engine().allocate(MOST_BYTES, kind)).join();
            new GpuTeamFigures(gpus, in, out).run();
            gpus.closeAsync().join();
        }
    }
}
