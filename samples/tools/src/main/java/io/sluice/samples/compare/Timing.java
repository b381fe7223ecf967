package io.sluice.samples.compare;

import java.time.Duration;

/**
 * How often and how long to measure.
 *
 * @param rounds in each of which everything is measured once
 */
public record Timing(int rounds, Duration duration, Duration warmup) {
    /** The approximate time to start and end the processes of a measurement. */
    private static final Duration OVERHEAD = Duration.ofSeconds(4);

    /** A JVM starts within this on a machine that is busy with other things. */
    private static final Duration PATIENCE = Duration.ofSeconds(30);

    private static final int SLOWER = 5;

    /** Returns the approximate time of so many measurements in all rounds. */
    Duration expected(int measurements) {
        return duration.plus(warmup).plus(OVERHEAD).multipliedBy((long) measurements * rounds);
    }

    /** After this a process that has not ended hangs. */
    Duration bound() {
        return duration.plus(warmup).multipliedBy(SLOWER).plus(PATIENCE);
    }
}
