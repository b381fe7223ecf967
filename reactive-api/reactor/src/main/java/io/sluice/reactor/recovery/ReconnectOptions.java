package io.sluice.reactor.recovery;

import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.LongUnaryOperator;

/**
 * How a connection is made again, and how long what needs it waits meanwhile. Immutable.
 *
 * @param minBackoff the longest pause after the first failure; it doubles with each further one in a row. Each pause is drawn
 *     at random between nothing and that length, so that many peers do not come back at one instant. Default 100 ms
 * @param maxBackoff what that length grows to at most. A connection that lasts as long counts as a success. Default 5 s
 * @param maxFailures after how many failures in a row to give up, or 0 for never; attempts that fail and connections that do
 *     not last count alike. Default 0
 * @param maxWait how long what is subscribed while the connection is down waits for it. Default 10 s
 * @param maxWaiting how many may wait at a time, 0 or more. Default 4,096
 * @param circuitBreaker when to leave a peer that fails again and again alone
 */
public record ReconnectOptions(
        Duration minBackoff,
        Duration maxBackoff,
        int maxFailures,
        Duration maxWait,
        int maxWaiting,
        CircuitBreakerOptions circuitBreaker) {
    private static final ReconnectOptions DEFAULTS = new ReconnectOptions(
            Duration.ofMillis(100),
            Duration.ofSeconds(5),
            0,
            Duration.ofSeconds(10),
            4096,
            CircuitBreakerOptions.defaults());

    private static final int MOST_DOUBLINGS = 30;

    /** Checks the ranges. */
    public ReconnectOptions {
        Objects.requireNonNull(circuitBreaker, "circuitBreaker");
        if (minBackoff.isNegative() || minBackoff.isZero() || maxBackoff.compareTo(minBackoff) < 0) {
            throw new IllegalArgumentException(
                    "minBackoff is positive and at most maxBackoff, not " + minBackoff + " and " + maxBackoff);
        }
        if (maxFailures < 0) {
            throw new IllegalArgumentException("maxFailures is 0 or more, not " + maxFailures);
        }
        if (maxWait.isNegative()) {
            throw new IllegalArgumentException("maxWait is 0 or more, not " + maxWait);
        }
        if (maxWaiting < 0) {
            throw new IllegalArgumentException("maxWaiting is 0 or more, not " + maxWaiting);
        }
    }

    /**
     * Options of how to connect; all else is as by default.
     *
     * @param minBackoff the longest pause after the first failure
     * @param maxBackoff what it grows to
     * @param maxFailures after how many failures in a row to give up, or 0 for never
     */
    public ReconnectOptions(Duration minBackoff, Duration maxBackoff, int maxFailures) {
        this(minBackoff, maxBackoff, maxFailures, DEFAULTS.maxWait, DEFAULTS.maxWaiting, DEFAULTS.circuitBreaker);
    }

    /**
     * The defaults.
     *
     * @return as documented above
     */
    public static ReconnectOptions defaults() {
        return DEFAULTS;
    }

    /**
     * The same with other pauses.
     *
     * @param min the longest pause after the first failure
     * @param max what it grows to, at least as long
     * @return new options
     */
    public ReconnectOptions withBackoff(Duration min, Duration max) {
        return new ReconnectOptions(min, max, maxFailures, maxWait, maxWaiting, circuitBreaker);
    }

    /**
     * The same with another number of failures.
     *
     * @param failures after how many in a row to give up, or 0 for never
     * @return new options
     */
    public ReconnectOptions withMaxFailures(int failures) {
        return new ReconnectOptions(minBackoff, maxBackoff, failures, maxWait, maxWaiting, circuitBreaker);
    }

    /**
     * The same with another time to wait.
     *
     * @param wait for a connection; 0 to fail at once while there is none
     * @return new options
     */
    public ReconnectOptions withMaxWait(Duration wait) {
        return new ReconnectOptions(minBackoff, maxBackoff, maxFailures, wait, maxWaiting, circuitBreaker);
    }

    /**
     * The same with another bound of those that wait.
     *
     * @param waiting how many may wait at a time, 0 or more
     * @return new options
     */
    public ReconnectOptions withMaxWaiting(int waiting) {
        return new ReconnectOptions(minBackoff, maxBackoff, maxFailures, maxWait, waiting, circuitBreaker);
    }

    /**
     * The same with another circuit breaker.
     *
     * @param breaker its options
     * @return new options
     */
    public ReconnectOptions withCircuitBreaker(CircuitBreakerOptions breaker) {
        return new ReconnectOptions(minBackoff, maxBackoff, maxFailures, maxWait, maxWaiting, breaker);
    }

    /**
     * Draws a pause.
     *
     * @param failures how many there were in a row, at least 1
     * @return from nothing to {@code minBackoff} doubled by each failure but the first, at most {@code maxBackoff}
     */
    public Duration pauseAfter(int failures) {
        return pauseAfter(failures, bound -> ThreadLocalRandom.current().nextLong(bound));
    }

    /** Draws a pause with a source of randomness that gives a number below its argument. */
    Duration pauseAfter(int failures, LongUnaryOperator random) {
        if (failures < 1) {
            throw new IllegalArgumentException("failures is 1 or more, not " + failures);
        }
        long most = maxBackoff.toNanos();
        int doublings = Math.min(failures - 1, MOST_DOUBLINGS);
        long first = minBackoff.toNanos();
        long longest = first > most >> doublings ? most : first << doublings;
        return Duration.ofNanos(random.applyAsLong(longest + 1));
    }
}
