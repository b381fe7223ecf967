package io.sluice.samples.compare;

import io.sluice.samples.report.ByteSize;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * Copies by {@code memcpy} in a plain C program.
 *
 * @param size of a copy, in bytes
 * @param span the memory that copies go through, one after the other, in bytes
 * @param memory what is copied from and to
 */
record BaselineMemoryCopy(long size, long span, Memory memory) implements Measurement {

    /** Kinds of memory. */
    enum Memory {
        /** Of one process alone. */
        PRIVATE("memcpy"),
        /** Two files in memory, mapped as those that processes share. */
        SHARED("shared-memcpy");

        private final String mode;

        Memory(String mode) {
            this.mode = mode;
        }
    }

    @Override
    public Program program() {
        return Program.CEILING;
    }

    @Override
    public String label() {
        return "memcpy of " + ByteSize.format(size) + " within " + ByteSize.format(span) + " of "
                + memory.name().toLowerCase(Locale.ROOT) + " memory";
    }

    @Override
    public Figures run(BenchEnvironment workbench) throws MeasurementFailedException {
        Timing timing = workbench.timing();
        String output = workbench.runAlone(
                label(),
                Map.of(),
                List.of(
                        workbench.ceiling(),
                        memory.mode,
                        Long.toString(size),
                        Long.toString(span),
                        Long.toString(timing.warmup().toMillis()),
                        Long.toString(timing.duration().toMillis())));
        return Figures.ofRate(BaselineOutput.of(output).operationsPerSecond(), size);
    }
}
