package io.sluice.directory;

import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;

/** Pauses between attempts: each twice as long as the one before, up to a longest, and shortened at random by up to a half. */
final class Backoff {
    private static final int MOST_DOUBLINGS = 30;

    private final long firstNanos;
    private final long maxNanos;

    Backoff(Duration first, Duration max) {
        maxNanos = max.toNanos();
        firstNanos = Math.min(first.toNanos(), maxNanos);
    }

    /** The pause after so many failures in a row, at least one. */
    Duration after(int failures) {
        long whole = firstNanos << Math.min(failures - 1, MOST_DOUBLINGS);
        if (whole <= 0 || whole >> Math.min(failures - 1, MOST_DOUBLINGS) != firstNanos || whole > maxNanos) {
            whole = maxNanos;
        }
        return Duration.ofNanos(whole - ThreadLocalRandom.current().nextLong(whole / 2 + 1));
    }
}
