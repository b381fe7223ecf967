package io.sluice.directory;

import java.time.Duration;

/**
 * The times of a {@link Directory}. Immutable.
 *
 * @param leaseTime how long an entry outlives an engine that dies; the engine renews it three times as often, and at
 *     least every 3 s, so that it is soon back in a store that has lost it. At least 1 s, and stores may round it up to whole
 *     seconds. Default 10 s
 * @param requestTimeout how long one request to the store may take; above it the operation fails with
 *     {@link DirectoryUnavailableException}. A connection to the store that is silent for as long is replaced: so it adds to
 *     the time in which a directory is back after its store or its network, which is five seconds by default. Default 2 s
 * @param reconcileInterval how often a watch reads everything again, for what no message told. It bounds how late a watch
 *     notices that the store is gone, and with stores that do not report expired leases how late it notices those.
 *     Default 2 s
 * @param maxBackoff the longest pause between two attempts to reach a store that does not answer; pauses grow from a tenth
 *     of a second, and each is shortened at random by up to a half. Default 1 s
 */
public record DirectoryOptions(
        Duration leaseTime, Duration requestTimeout, Duration reconcileInterval, Duration maxBackoff) {
    private static final Duration SHORTEST_LEASE = Duration.ofSeconds(1);

    /** Checks the ranges. */
    public DirectoryOptions {
        if (leaseTime.compareTo(SHORTEST_LEASE) < 0) {
            throw new IllegalArgumentException("leaseTime is at least " + SHORTEST_LEASE + ", not " + leaseTime);
        }
        requirePositive(requestTimeout, "requestTimeout");
        requirePositive(reconcileInterval, "reconcileInterval");
        requirePositive(maxBackoff, "maxBackoff");
    }

    private static void requirePositive(Duration duration, String what) {
        if (duration.isNegative() || duration.isZero()) {
            throw new IllegalArgumentException(what + " must be positive, not " + duration);
        }
    }

    /**
     * The defaults.
     *
     * @return as documented above
     */
    public static DirectoryOptions defaults() {
        return new DirectoryOptions(
                Duration.ofSeconds(10), Duration.ofSeconds(2), Duration.ofSeconds(2), Duration.ofSeconds(1));
    }

    /**
     * The same with another time to live.
     *
     * @param time at least 1 s
     * @return new options
     */
    public DirectoryOptions withLeaseTime(Duration time) {
        return new DirectoryOptions(time, requestTimeout, reconcileInterval, maxBackoff);
    }

    /**
     * The same with another bound for requests.
     *
     * @param time positive
     * @return new options
     */
    public DirectoryOptions withRequestTimeout(Duration time) {
        return new DirectoryOptions(leaseTime, time, reconcileInterval, maxBackoff);
    }

    /**
     * The same with another interval between two complete readings.
     *
     * @param time positive
     * @return new options
     */
    public DirectoryOptions withReconcileInterval(Duration time) {
        return new DirectoryOptions(leaseTime, requestTimeout, time, maxBackoff);
    }

    /**
     * The same with another longest pause.
     *
     * @param time positive
     * @return new options
     */
    public DirectoryOptions withMaxBackoff(Duration time) {
        return new DirectoryOptions(leaseTime, requestTimeout, reconcileInterval, time);
    }
}
