package io.sluice.samples.compare;

import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Measures everything once in each round, so that changes of the machine affect all alike.
 */
final class InterleavedRounds {
    private final BenchEnvironment workbench;
    private final RoundsProgress progress;
    private final Map<Measurement, Series> series = new LinkedHashMap<>();
    private boolean brokenOff;

    InterleavedRounds(
            Collection<? extends Measurement> measurements, BenchEnvironment workbench, RoundsProgress progress) {
        this.workbench = workbench;
        this.progress = progress;
        measurements.forEach(measurement -> series.put(measurement, new Series()));
    }

    /** Measures until the program is to end. */
    void run() {
        int rounds = workbench.timing().rounds();
        long began = System.nanoTime();
        try {
            for (int round = 1; round <= rounds; round++) {
                progress.beginRound(round, rounds, Duration.ofNanos(System.nanoTime() - began));
                for (Map.Entry<Measurement, Series> entry : series.entrySet()) {
                    if (!entry.getValue().isGivenUp()) {
                        progress.measuring(round, rounds, entry.getKey().label());
                        measure(entry.getKey(), entry.getValue());
                    }
                }
            }
        } catch (BrokenOffException e) {
            brokenOff = true;
        }
        progress.end();
    }

    private void measure(Measurement measurement, Series values) {
        try {
            values.add(measurement.run(workbench).checked());
        } catch (MeasurementFailedException | UncheckedIOException e) {
            String why = String.valueOf(e.getMessage());
            values.addFailure(why);
            progress.failed(why);
        }
    }

    Series of(Measurement measurement) {
        return series.getOrDefault(measurement, new Series());
    }

    boolean isBrokenOff() {
        return brokenOff;
    }
}
