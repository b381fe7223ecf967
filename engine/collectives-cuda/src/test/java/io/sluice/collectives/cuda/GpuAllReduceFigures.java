package io.sluice.collectives.cuda;

import io.sluice.collectives.ElementType;
import io.sluice.collectives.ReduceOperation;
import io.sluice.cuda.GpuTimer;
import io.sluice.engine.MemoryKind;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RegionOptions;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.Collections;
import java.util.function.LongSupplier;

/**
 * How long an all-reduce of float32 takes in several ways, one process a rank: {@code RANK RANKS FILE}, where rank 0 puts its address into
 * the file. The property {@code sizes} is a list of bytes, {@code ways} of options: the bytes up to which vectors are pushed, those up to
 * which messages are exchanged, and the most blocks, as {@code 2097152:1048576:128}; {@code repeats} is how often each is measured. Other
 * kernels are measured by a folder with their {@code META-INF/sluice/collectives.ptx} before all else in the class path; {@code name}
 * says which.
 *
 * <p>Times are medians on rank 0, in microseconds: of the device, of one among others that follow each other, one by one and as graphs of
 * 20; and of the host, from a start until the thread sees the end. Every element is compared with what it must be.
 */
final class GpuAllReduceFigures {
    private static final int REPEATS = Integer.getInteger("repeats", 30);
    private static final String NAME = System.getProperty("name", "as committed");
    private static final int LAUNCHES = 100;
    private static final int OF_GRAPH = 20;
    private static final int GRAPHS = 5;
    private static final byte POISON = (byte) 0xA5;
    private static final ValueLayout.OfFloat FLOAT = ValueLayout.JAVA_FLOAT;

    private final FigureTeam team;
    private final MemoryRegion in;
    private final MemoryRegion out;
    private final GpuRanks.GpuBytes outBytes;
    private final byte[] poison;

    private GpuAllReduceFigures(FigureTeam team, int most) {
        this.team = team;
        RegionOptions kind = RegionOptions.readWrite().on(MemoryKind.CUDA, team.gpu());
        in = team.engine().allocate(most, kind);
        out = team.engine().allocate(most, kind);
        outBytes = new GpuRanks.GpuBytes(team.engine(), out);
        poison = new byte[most];
        Arrays.fill(poison, POISON);
        byte[] elements = new byte[most];
        MemorySegment to = MemorySegment.ofArray(elements);
        for (int i = 0; i < most / Float.BYTES; i++) {
            to.set(
                    ValueLayout.JAVA_FLOAT_UNALIGNED,
                    (long) i * Float.BYTES,
                    element(team.team().rank(), i));
        }
        new GpuRanks.GpuBytes(team.engine(), in).put(elements);
    }

    /** A number whose sums are exact. */
    private static float element(int rank, int index) {
        return (index * 7 + rank * 131) % 4093 - 2000;
    }

    private void check(int bytes) {
        MemorySegment found = MemorySegment.ofArray(outBytes.get(bytes));
        int ranks = team.team().size();
        for (int i = 0; i < bytes / Float.BYTES; i++) {
            float sum = 0;
            for (int rank = 0; rank < ranks; rank++) {
                sum += element(rank, i);
            }
            float value = found.get(ValueLayout.JAVA_FLOAT_UNALIGNED, (long) i * Float.BYTES);
            if (value != sum) {
                throw new AssertionError("element " + i + " is " + value + ", not " + sum);
            }
        }
    }

    private static double median(double[] values) {
        Arrays.sort(values);
        return values[values.length / 2];
    }

    private static void await(GpuTeam gpus, long number) {
        while (gpus.stream().reached() < number) {
            Thread.onSpinWait();
        }
    }

    /** Of the device, for each start. */
    private static double device(GpuTeam gpus, GpuTimer timer, int starts, LongSupplier start) {
        GpuCollective barrier = gpus.barrier();
        double[] micros = new double[REPEATS];
        // the first ones load what the driver has not loaded
        for (int repeat = -2; repeat < REPEATS; repeat++) {
            barrier.startUnnumbered();
            timer.begin();
            for (int i = 0; i < starts; i++) {
                start.getAsLong();
            }
            await(gpus, timer.end());
            if (repeat >= 0) {
                micros[repeat] = timer.nanos() / 1e3 / starts;
            }
        }
        return median(micros);
    }

    private static double roundTrip(GpuTeam gpus, GpuCollective sum) {
        double[] micros = new double[10 * REPEATS];
        for (int i = 0; i < micros.length; i++) {
            long begin = System.nanoTime();
            await(gpus, sum.start());
            micros[i] = (System.nanoTime() - begin) / 1e3;
        }
        return median(micros);
    }

    private void run(GpuTeamOptions options, int[] sizes) {
        GpuTeam gpus = GpuTeam.form(team.team(), team.gpu(), options).join();
        TeamRegion from = gpus.share(in).join();
        TeamRegion to = gpus.share(out).join();
        try (GpuTimer timer = gpus.stream().timer()) {
            for (int bytes : sizes) {
                GpuCollective sum = gpus.allReduce(
                        from, 0, to, 0, bytes / FLOAT.byteSize(), ElementType.FLOAT32, ReduceOperation.SUM);
                outBytes.put(poison);
                double alone = device(gpus, timer, LAUNCHES, sum::startUnnumbered);
                check(bytes);
                outBytes.put(poison);
                double roundTrip = roundTrip(gpus, sum);
                check(bytes);
                outBytes.put(poison);
                try (GpuCollectiveGraph graph = gpus.graph(Collections.nCopies(OF_GRAPH, sum))) {
                    double together = device(gpus, timer, GRAPHS, graph::startUnnumbered) / OF_GRAPH;
                    check(bytes);
                    team.say(
                            "%-12s %8d B  pushes to %8d B  messages to %8d B  %3d blocks  %-8s  device %7.2f us  graph %7.2f  round trip %7.2f",
                            NAME,
                            bytes,
                            options.pushBytes(),
                            options.exchangeBytes(),
                            options.blocks(),
                            sum.algorithm().label(),
                            alone,
                            together,
                            roundTrip);
                }
            }
        }
        from.closeAsync().join();
        to.closeAsync().join();
        gpus.closeAsync().join();
    }

    public static void main(String[] arguments) throws Exception {
        int[] sizes = Arrays.stream(
                        System.getProperty("sizes", "65536,131072,262144,524288,1048576,2097152,4194304,8388608")
                                .split(","))
                .mapToInt(Integer::parseInt)
                .toArray();
        // messages, pushes, and straight from memory to memory as far as they can; then the defaults
        String[] ways = System.getProperty(
                        "ways", "0:1048576:256,8388608:8:32,8388608:8:64,8388608:8:128,0:8:128,4194304:1048576:256")
                .split(",");
        try (FigureTeam team = FigureTeam.of(arguments)) {
            GpuAllReduceFigures figures =
                    new GpuAllReduceFigures(team, Arrays.stream(sizes).max().orElseThrow());
            for (String way : ways) {
                String[] parts = way.split(":");
                figures.run(
                        GpuTeamOptions.defaults()
                                .withPushBytes(Long.parseLong(parts[0]))
                                .withExchangeBytes(Long.parseLong(parts[1]))
                                .withBlocks(Integer.parseInt(parts[2])),
                        sizes);
            }
        }
    }
}
