package io.sluice.experts.cuda;

import io.sluice.cuda.GpuInfo;
import io.sluice.engine.MemoryRegion;
import io.sluice.experts.CombineFormat;
import io.sluice.experts.DispatchFormat;
import io.sluice.experts.LowLatencyResult;
import java.util.ArrayList;
import java.util.List;
import java.util.function.LongSupplier;

/**
 * How long low-latency calls take on the machine's GPUs, one process a rank: {@code RANK RANKS FILE}, where rank 0 puts its
 * address into the file. Properties: those of {@link LowLatencyFigureData}, {@code blocks} (a list) and {@code launches}.
 * Times are of the device, of calls that follow each other, the median of ten times as many as are given to it together;
 * rows and sums are compared with what they must be.
 */
final class GpuLowLatencyFigures {
    private static final int LAUNCHES = Integer.getInteger("launches", 40);
    private static final int ROUNDS = 10;

    private final FigureRank rank;
    private final LowLatencyFigureData data;

    private GpuLowLatencyFigures(FigureRank rank) {
        this.rank = rank;
        this.data = new LowLatencyFigureData(rank);
    }

    private static double median(List<Double> values) {
        double[] sorted =
                values.stream().mapToDouble(Double::doubleValue).sorted().toArray();
        return sorted[sorted.length / 2];
    }

    /** Steps of a call that follow each other; the median time of each, and of all together. */
    private double[] measure(GpuExpertBuffer buffer, DeviceClock clock, GpuDispatch numbered, LongSupplier... steps) {
        List<List<Double>> times = new ArrayList<>();
        for (int i = 0; i <= steps.length; i++) {
            times.add(new ArrayList<>());
        }
        // all together first, without marks between them
        for (int round = 0; round < ROUNDS; round++) {
            // all ranks are there when the first mark is passed
            run(steps);
            DeviceClock.Mark begin = clock.mark();
            for (int i = 0; i < LAUNCHES; i++) {
                run(steps);
            }
            DeviceClock.Mark end = clock.mark();
            LowLatencyFigureData.await(buffer, numbered.start());
            times.getLast().add(clock.micros(begin, end) / LAUNCHES);
            clock.clear();
        }
        for (int round = 0; round < ROUNDS; round++) {
            run(steps);
            List<DeviceClock.Mark> marks = new ArrayList<>(List.of(clock.mark()));
            for (int i = 0; i < LAUNCHES; i++) {
                for (LongSupplier step : steps) {
                    step.getAsLong();
                    marks.add(clock.mark());
                }
            }
            LowLatencyFigureData.await(buffer, numbered.start());
            for (int i = 1; i < marks.size(); i++) {
                times.get((i - 1) % steps.length).add(clock.micros(marks.get(i - 1), marks.get(i)));
            }
            clock.clear();
        }
        return times.stream().mapToDouble(GpuLowLatencyFigures::median).toArray();
    }

    private static void run(LongSupplier... steps) {
        for (LongSupplier step : steps) {
            step.getAsLong();
        }
    }

    private void run(int blocks) {
        GpuExpertBuffer buffer = data.buffer(blocks);
        int ordinal = GpuInfo.all().stream().map(GpuInfo::id).toList().indexOf(rank.gpu());
        DeviceClock clock = new DeviceClock(buffer.stream(), ordinal);
        rank.say("%d blocks, times of the %s:", blocks, clock.isOfDevice() ? "device" : "host");
        for (DispatchFormat format : new DispatchFormat[] {DispatchFormat.FP8, DispatchFormat.BF16}) {
            GpuDispatch dispatch = data.dispatch(buffer, format);
            LowLatencyResult result = dispatch.result();
            LowLatencyFigureData.await(buffer, dispatch.start());
            int rows = data.checkRows(result);
            MemoryRegion y = result.combineBuffer();
            data.fillResults(result, y);
            GpuCombine combine = data.combine(buffer, result, y);
            double[] alone = measure(buffer, clock, dispatch, dispatch::startUnnumbered);
            double[] both = measure(buffer, clock, dispatch, dispatch::startUnnumbered, combine::startUnnumbered);
            double[] halves = measure(
                    buffer,
                    clock,
                    dispatch,
                    dispatch::startSendUnnumbered,
                    dispatch::startReceiveUnnumbered,
                    combine::startSendUnnumbered,
                    combine::startReceiveUnnumbered);
            data.checkRows(result);
            data.checkSums();
            rank.say(
                    "  %-5s %5d rows  dispatch %6.1f us (marked %6.1f)  combine %6.1f  both %6.1f  halves %6.1f + %6.1f, %6.1f + %6.1f",
                    format, rows, alone[1], alone[0], both[1], both[2], halves[0], halves[1], halves[2], halves[3]);
            combine.close();
            GpuCombine logFmt = data.combine(buffer, result, y, CombineFormat.LOGFMT);
            double[] encoded = measure(
                    buffer,
                    clock,
                    dispatch,
                    dispatch::startUnnumbered,
                    logFmt::startSendUnnumbered,
                    logFmt::startReceiveUnnumbered);
            data.checkSums(CombineFormat.LOGFMT);
            double[] bothEncoded = measure(buffer, clock, dispatch, dispatch::startUnnumbered, logFmt::startUnnumbered);
            rank.say(
                    "  with LogFMT: combine %6.1f  both %6.1f  halves %6.1f + %6.1f",
                    bothEncoded[1], bothEncoded[2], encoded[1], encoded[2]);
            logFmt.close();
            dispatch.close();
        }
        buffer.closeAsync().join();
    }

    public static void main(String[] arguments) throws Exception {
        try (FigureRank rank = FigureRank.of(arguments)) {
            GpuLowLatencyFigures figures = new GpuLowLatencyFigures(rank);
            for (String blocks : System.getProperty("blocks", "128,64,32,16").split(",")) {
                figures.run(Integer.parseInt(blocks));
            }
        }
    }
}
