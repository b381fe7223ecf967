package io.sluice.samples.compare;

import io.sluice.samples.report.ByteSize;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A measurement of GPUs by the plain C program: between two GPUs, each with a process of its own, or between memory of the
 * host and a GPU.
 *
 * @param label names it in messages
 * @param program what it takes
 * @param operands the mode and what comes before the times
 * @param bytes that an operation moves
 * @param inflight operations in flight
 */
record GpuRun(String label, Program program, List<String> operands, long bytes, int inflight) implements Measurement {

    private static final String KERNELS = "/META-INF/sluice/kernels.ptx";
    private static final String KERNEL_FILE = "kernels.ptx";
    private static final String NCCL = "nccl";
    /** As many blocks as four in each multiprocessor of the largest GPU that it was measured on. */
    private static final int BLOCKS = 528;

    /** Between two meetings of the processes. */
    private static final int COPIES_BOTH_WAYS = 8;

    /** How scattered pages are copied. */
    enum Way {
        /** By a call for each page. */
        COPIES,
        /** By one call for all. */
        BATCH,
        /** By Sluice's kernel. */
        KERNEL;

        private String mode() {
            return "pages-" + name().toLowerCase(Locale.ROOT);
        }
    }

    /** One copy to another GPU. */
    static GpuRun copy(long size, int inflight) {
        return single("copy", Program.GPU_PAIR, "C copy to another GPU", size, inflight);
    }

    /** One copy from pinned memory of the host to a GPU. */
    static GpuRun toDevice(long size, int inflight) {
        return single("to-device", Program.GPU, "C copy to a GPU", size, inflight);
    }

    /** The other way. */
    static GpuRun fromDevice(long size, int inflight) {
        return single("from-device", Program.GPU, "C copy from a GPU", size, inflight);
    }

    /** Copies by two GPUs to each other at the same time. */
    static GpuRun bothWays(long size) {
        return single("both-ways", Program.GPU_PAIR, "C copies of two GPUs to each other", size, COPIES_BOTH_WAYS);
    }

    /** NCCL's send and receive between two GPUs. */
    static GpuRun nccl(long size, int inflight) {
        return single(NCCL, Program.NCCL, "NCCL", size, inflight);
    }

    private static GpuRun single(String mode, Program program, String what, long size, int inflight) {
        String label = what + " of " + ByteSize.format(size) + ", " + inflight + " in flight";
        return new GpuRun(
                label, program, List.of(mode, Long.toString(size), Integer.toString(inflight)), size, inflight);
    }

    /** Scattered pages to another GPU. */
    static GpuRun pages(Way way, long pageBytes, int pages, int inflight) {
        List<String> operands = new ArrayList<>(List.of(way.mode()));
        if (way == Way.KERNEL) {
            operands.addAll(List.of(KERNEL_FILE, Integer.toString(BLOCKS)));
        }
        operands.addAll(List.of(Long.toString(pageBytes), Integer.toString(pages), Integer.toString(inflight)));
        String label =
                "C " + way.mode() + ", " + pages + " of " + ByteSize.format(pageBytes) + ", " + inflight + " in flight";
        return new GpuRun(label, Program.GPU_PAIR, operands, pages * pageBytes, inflight);
    }

    @Override
    public Figures run(BenchEnvironment environment) throws MeasurementFailedException {
        BaselineRun.BaselineOutput output = BaselineRun.BaselineOutput.of(environment
                .unpinned()
                .runAlone(
                        label,
                        Map.of(),
                        command(
                                environment,
                                operands,
                                environment.timing().warmup().toMillis(),
                                environment.timing().duration().toMillis())));
        Figures rate = Figures.ofRate(output.operationsPerSecond(), bytes);
        return inflight == 1 ? rate.with(Quantity.MEDIAN_MICROSECONDS, output.medianMicros()) : rate;
    }

    private static List<String> command(BenchEnvironment environment, List<String> operands, long warmup, long duration)
            throws MeasurementFailedException {
        List<String> command = new ArrayList<>(List.of(environment.program(CProgram.GPU)));
        for (String operand : operands) {
            command.add(operand.equals(KERNEL_FILE) ? kernels(environment) : operand);
        }
        command.addAll(List.of(Long.toString(warmup), Long.toString(duration)));
        return command;
    }

    private static String kernels(BenchEnvironment environment) throws MeasurementFailedException {
        Path file = environment.folder().resolve(KERNEL_FILE);
        try (InputStream in = GpuRun.class.getResourceAsStream(KERNELS)) {
            if (in == null) {
                throw new MeasurementFailedException("this program lacks its resource " + KERNELS);
            }
            if (Files.notExists(file)) {
                Files.copy(in, file);
            }
        } catch (IOException e) {
            throw new MeasurementFailedException(file + " cannot be written: " + e.getMessage());
        }
        return file.toString();
    }

    /** Why nothing of a program can be measured here, or {@code null} if it can, or the program is about no GPU. */
    static @Nullable String unavailable(Program program, BenchEnvironment environment) {
        String mode = switch (program) {
            case GPU -> "to-device";
            case GPU_PAIR -> "copy";
            case NCCL -> NCCL;
            default -> null;
        };
        if (mode == null) {
            return null;
        }
        try {
            environment.runAlone(mode, Map.of(), command(environment, List.of(mode, "8", "1"), 0, 1));
            return null;
        } catch (MeasurementFailedException e) {
            return "not available: " + e.getMessage();
        }
    }
}
