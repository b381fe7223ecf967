package io.sluice.samples.compare;

import io.sluice.samples.bench.BenchOperation;
import io.sluice.samples.report.ByteSize;
import java.util.List;
import java.util.Map;

/**
 * Acknowledged one-sided puts or gets of a plain C program over a socket, each frame in one system call.
 *
 * @param operation a write for puts, a read for gets
 * @param size in bytes
 * @param inflight in flight
 */
record BaselineTransfers(BenchOperation operation, long size, int inflight) implements Measurement {

    @Override
    public Program program() {
        return Program.CEILING;
    }

    @Override
    public String label() {
        return "C " + mode() + " of " + ByteSize.format(size) + ", " + inflight + " in flight";
    }

    private String mode() {
        return operation.isRead() ? "get" : "put";
    }

    @Override
    public Figures run(BenchEnvironment workbench) throws MeasurementFailedException {
        String ceiling = workbench.ceiling();
        Timing timing = workbench.timing();
        String output = workbench.runPair(
                label(),
                Map.of(),
                port -> List.of(ceiling, "target", Integer.toString(port)),
                port -> List.of(
                        ceiling,
                        mode(),
                        Integer.toString(port),
                        Long.toString(size),
                        Integer.toString(inflight),
                        Long.toString(timing.warmup().toMillis()),
                        Long.toString(timing.duration().toMillis())));
        return Figures.ofRate(BaselineOutput.of(output).operationsPerSecond(), size);
    }
}
