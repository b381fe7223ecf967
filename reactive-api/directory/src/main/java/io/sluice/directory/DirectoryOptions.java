package io.sluice.directory;

import java.time.Duration;

/**
 * The time-outs and intervals of a {@link Directory}. Immutable.
 *
 * @param leaseTime how long an entry outlives a dead engine. The engine renews it three times as often, and at least
 *     every 3 s, so that it soon reappears in a store that lost it. At least 1 s; stores may round up to whole seconds.
 *     Default 10 s
 * @param requestTimeout the time-out of one request to the store; after it the operation fails with {@link
 *     DirectoryUnavailableException}. A connection to the store that is silent for as long is replaced, so it is a part
 *     of the time in which a directory recovers after its store or network, five seconds by default. Default 2 s
 * @param reconcileInterval how often a watch reads everything again, to find changes that no message reported. It
 *     bounds how late a watch notices that the store is gone, and, with stores that do not report expired leases, how
 *     late it notices those. Default 2 s
 * @param maxBackoff the longest pause between two attempts to reach a store that does not answer; pauses start at 0.1
 *     s, grow, and are shortened at random by up to a half. Default 1 s
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
     * Returns the defaults.
     *
     * @return the options as documented above
     */
    public static DirectoryOptions defaults() {
        return new DirectoryOptions(
                Duration.ofSeconds(10), Duration.ofSeconds(2), Duration.ofSeconds(2), Duration.ofSeconds(1));
    }

    /**
     * Returns a copy with another lease time.
     *
     * @param time at least 1 s
     * @return new options
     */
    public DirectoryOptions withLeaseTime(Duration time) {
        return new DirectoryOptions(time, requestTimeout, reconcileInterval, maxBackoff);
    }

    /**
     * Returns a copy with another request time-out.
     *
     * @param time positive
     * @return new options
     */
    public DirectoryOptions withRequestTimeout(Duration time) {
        return new DirectoryOptions(leaseTime, time, reconcileInterval, maxBackoff);
    }

    /**
     * Returns a copy with another reconcile interval.
     *
     * @param time positive
     * @return new options
     */
    public DirectoryOptions withReconcileInterval(Duration time) {
        return new DirectoryOptions(leaseTime, requestTimeout, time, maxBackoff);
    }

    /**
     * Returns a copy with another longest pause.
     *
     * @param time positive
     * @return new options
     */
    public DirectoryOptions withMaxBackoff(Duration time) {
        return new DirectoryOptions(leaseTime, requestTimeout, reconcileInterval, time);
    }
}
