package io.sluice.samples.compare;

import io.sluice.samples.report.ByteSize;
import java.util.List;
import java.util.Map;

/**
 * Writes of a plain C program into another process's memory, by a loop over {@code process_vm_writev}.
 *
 * @param size in bytes
 */
record BaselineCrossMemoryWrite(long size) implements Measurement {

    @Override
    public Program program() {
        return Program.CEILING;
    }

    @Override
    public String label() {
        return "C process_vm_writev of " + ByteSize.format(size);
    }

    @Override
    public Figures run(BenchEnvironment workbench) throws MeasurementFailedException {
        Timing timing = workbench.timing();
        String output = workbench.runAlone(
                label(),
                Map.of(),
                List.of(
                        workbench.ceiling(),
                        "process-vm-writev",
                        Long.toString(size),
                        Long.toString(timing.warmup().toMillis()),
                        Long.toString(timing.duration().toMillis())));
        return Figures.ofRate(BaselineOutput.of(output).operationsPerSecond(), size);
    }
}
