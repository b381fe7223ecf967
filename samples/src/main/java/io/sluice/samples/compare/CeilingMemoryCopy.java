package io.sluice.samples.compare;

import io.sluice.samples.report.ByteSize;
import java.util.List;
import java.util.Map;

/**
 * Copies by {@code memcpy} in a plain C program.
 *
 * @param size of a copy, in bytes
 * @param span the memory that copies go through, one after the other, in bytes
 */
record CeilingMemoryCopy(long size, long span) implements Measurement {

    @Override
    public Program program() {
        return Program.CEILING;
    }

    @Override
    public String label() {
        return "memcpy of " + ByteSize.format(size) + " within " + ByteSize.format(span);
    }

    @Override
    public Figures run(Workbench workbench) throws MeasurementFailedException {
        Timing timing = workbench.timing();
        String output = workbench.runAlone(
                label(),
                Map.of(),
                List.of(
                        workbench.ceiling(),
                        "memcpy",
                        Long.toString(size),
                        Long.toString(span),
                        Long.toString(timing.warmup().toMillis()),
                        Long.toString(timing.duration().toMillis())));
        return Figures.ofRate(CeilingOutput.of(output).operationsPerSecond(), size);
    }
}
