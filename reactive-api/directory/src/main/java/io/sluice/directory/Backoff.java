package io.sluice.directory;

import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;

/**
 * Exponential backoff: each pause is twice the one before, up to a maximum, and shortened at random by up to a half.
 */
final class Backoff {
    private static final int MOST_DOUBLINGS = 30;

    private final long firstNanos;
    private final long maxNanos;

    Backoff(Duration first, Duration max) {
        maxNanos = max.toNanos();
        firstNanos = Math.min(first.toNanos(), maxNanos);
    }

    /** The pause after a number of failures in a row, at least one. */
    Duration after(int failures) {
        long whole = firstNanos << Math.min(failures - 1, MOST_DOUBLINGS);
        if (whole <= 0 || whole >> Math.min(failures - 1, MOST_DOUBLINGS) != firstNanos || whole > maxNanos) {
            whole = maxNanos;
        }
        return Duration.ofNanos(whole - ThreadLocalRandom.current().nextLong(whole / 2 + 1));
    }
}
