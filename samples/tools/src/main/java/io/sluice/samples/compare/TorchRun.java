package io.sluice.samples.compare;

import io.sluice.samples.report.ByteSize;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Send and receive of PyTorch between two GPUs, each with a process of its own, by a script in this package's resources.
 *
 * @param bytes that an operation moves
 * @param inflight operations in flight
 */
record TorchRun(long bytes, int inflight) implements Measurement {
    private static final TorchScript SCRIPT = new TorchScript("torch_pair.py");

    @Override
    public Program program() {
        return Program.TORCH;
    }

    @Override
    public String label() {
        return "PyTorch of " + ByteSize.format(bytes) + ", " + inflight + " in flight";
    }

    @Override
    public Figures run(BenchEnvironment environment) throws MeasurementFailedException {
        BaselineRun.BaselineOutput output = BaselineRun.BaselineOutput.of(environment
                .unpinned()
                .runAlone(
                        label(),
                        Map.of(),
                        SCRIPT.command(
                                environment,
                                List.of(
                                        Long.toString(bytes),
                                        Integer.toString(inflight),
                                        Long.toString(
                                                environment.timing().warmup().toMillis()),
                                        Long.toString(
                                                environment.timing().duration().toMillis())))));
        Figures rate = Figures.ofRate(output.operationsPerSecond(), bytes);
        return inflight == 1 ? rate.with(Quantity.MEDIAN_MICROSECONDS, output.medianMicros()) : rate;
    }

    /** Why nothing can be measured here, or {@code null} if it can. */
    static @Nullable String unavailable(BenchEnvironment environment) {
        try {
            environment.runAlone("torch", Map.of(), SCRIPT.command(environment, List.of("8", "1", "0", "1")));
            return null;
        } catch (MeasurementFailedException e) {
            return "not available: " + e.getMessage();
        }
    }
}
