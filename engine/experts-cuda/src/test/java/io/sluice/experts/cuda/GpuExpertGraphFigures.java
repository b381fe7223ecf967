package io.sluice.experts.cuda;

import io.sluice.cuda.GpuTimer;
import io.sluice.engine.MemoryRegion;
import io.sluice.experts.DispatchFormat;
import io.sluice.experts.LowLatencyResult;
import java.util.Arrays;

/**
 * How long rounds of a low-latency dispatch and combine take as one CUDA graph, next to the same that are started one by one, one process
 * a rank: {@code RANK RANKS FILE}, where rank 0 puts its address into the file. Properties: those of {@link LowLatencyFigureData}, {@code
 * formats}, {@code blocks} and {@code rounds} (lists), and {@code repeats}.
 *
 * <p>Times are medians for each round, on rank 0: of the device, between the driver's events before the first round and behind the last;
 * of the thread that starts them, until all are given to the stream; and from there to when the thread sees that the last has ended.
 * Before each measurement a round brings the ranks together. Rows and sums are compared with what they must be.
 */
final class GpuExpertGraphFigures {
    private static final int REPEATS = Integer.getInteger("repeats", 50);
    private static final double MICRO = 1e3;

    private final FigureRank rank;
    private final LowLatencyFigureData data;

    private GpuExpertGraphFigures(FigureRank rank) {
        this.rank = rank;
        this.data = new LowLatencyFigureData(rank);
    }

    /** Medians for each round, in microseconds. */
    private record Times(double device, double starting, double seen) {
        static Times of(double[][] samples, int rounds) {
            double[] medians = new double[samples.length];
            for (int i = 0; i < samples.length; i++) {
                Arrays.sort(samples[i]);
                medians[i] = samples[i][samples[i].length / 2] / MICRO / rounds;
            }
            return new Times(medians[0], medians[1], medians[2]);
        }
    }

    private Times measure(GpuExpertBuffer buffer, int rounds, Runnable together, Runnable start) {
        double[][] samples = new double[3][REPEATS];
        try (GpuTimer timer = buffer.stream().timer()) {
            // the first ones load what the driver has not loaded
            for (int repeat = -2; repeat < REPEATS; repeat++) {
                // until all ranks have come so far
                together.run();
                timer.begin();
                long begin = System.nanoTime();
                start.run();
                long started = System.nanoTime();
                long number = timer.end();
                while (buffer.stream().reached() < number) {
                    Thread.onSpinWait();
                }
                long seen = System.nanoTime();
                if (repeat >= 0) {
                    samples[0][repeat] = timer.nanos();
                    samples[1][repeat] = started - begin;
                    samples[2][repeat] = seen - begin;
                }
            }
        }
        return Times.of(samples, rounds);
    }

    private void run(DispatchFormat format, int blocks, String[] lengths) {
        GpuExpertBuffer buffer = data.buffer(blocks);
        GpuDispatch dispatch = data.dispatch(buffer, format);
        LowLatencyResult result = dispatch.result();
        LowLatencyFigureData.await(buffer, dispatch.start());
        int rows = data.checkRows(result);
        MemoryRegion y = result.combineBuffer();
        data.fillResults(result, y);
        GpuCombine combine = data.combine(buffer, result, y);
        Runnable round = () -> {
            dispatch.startUnnumbered();
            combine.startUnnumbered();
        };
        rank.say("%s, %d blocks, %d rows, medians of %d:", format, blocks, rows, REPEATS);
        for (String length : lengths) {
            int rounds = Integer.parseInt(length);
            data.poison(result);
            Times alone = measure(buffer, rounds, round, () -> {
                for (int i = 0; i < rounds; i++) {
                    round.run();
                }
            });
            check(result);
            GpuExpertGraph.Builder builder = buffer.graph();
            for (int i = 0; i < rounds; i++) {
                builder.call(dispatch).call(combine);
            }
            try (GpuExpertGraph graph = builder.build()) {
                data.poison(result);
                Times together = measure(buffer, rounds, round, graph::startUnnumbered);
                check(result);
                say(rounds, "one by one", alone);
                say(rounds, "as a graph", together);
            }
        }
        combine.close();
        dispatch.close();
        buffer.closeAsync().join();
    }

    private void check(LowLatencyResult result) {
        data.checkRows(result);
        data.checkSums();
    }

    private void say(int rounds, String how, Times times) {
        rank.say(
                "  %3d rounds %s  device %7.2f us a round  starting %6.2f  until seen %7.2f",
                rounds, how, times.device(), times.starting(), times.seen());
    }

    public static void main(String[] arguments) throws Exception {
        try (FigureRank rank = FigureRank.of(arguments)) {
            GpuExpertGraphFigures figures = new GpuExpertGraphFigures(rank);
            String[] rounds = System.getProperty("rounds", "20,5,1").split(",");
            for (String format : System.getProperty("formats", "FP8").split(",")) {
                for (String blocks : System.getProperty("blocks", "128").split(",")) {
                    figures.run(DispatchFormat.valueOf(format), Integer.parseInt(blocks), rounds);
                }
            }
        }
    }
}
