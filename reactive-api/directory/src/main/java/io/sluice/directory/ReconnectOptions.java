package io.sluice.directory;

import java.time.Duration;

/**
 * How {@link NamedConnections} tries again. Immutable.
 *
 * @param minBackoff the pause after the first failure; each further one in a row is twice as long, and each is shortened at
 *     random by up to a half, so that many peers do not come back at one instant. Default 100 ms
 * @param maxBackoff the longest pause. A connection that lasts as long counts as a success. Default 5 s
 * @param maxFailures after how many failures in a row to give up, or 0 for never; attempts that fail and connections that do
 *     not last count alike, and another run of the engine begins anew. Default 0
 */
public record ReconnectOptions(Duration minBackoff, Duration maxBackoff, int maxFailures) {
    /** Checks the ranges. */
    public ReconnectOptions {
        if (minBackoff.isNegative() || minBackoff.isZero() || maxBackoff.compareTo(minBackoff) < 0) {
            throw new IllegalArgumentException("pauses from " + minBackoff + " to " + maxBackoff);
        }
        if (maxFailures < 0) {
            throw new IllegalArgumentException("a number of failures is not " + maxFailures);
        }
    }

    /**
     * The defaults.
     *
     * @return as documented above
     */
    public static ReconnectOptions defaults() {
        return new ReconnectOptions(Duration.ofMillis(100), Duration.ofSeconds(5), 0);
    }
}
