package io.sluice.reactor.recovery;

import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.LongUnaryOperator;

/**
 * Options of reconnecting, and of waiting for a connection meanwhile. Immutable.
 *
 * @param minBackoff the longest pause after the first failure; it doubles with each further failure in a row. Each
 *     pause is random between 0 and that length, so that many peers do not return at once. Default 100 ms
 * @param maxBackoff the upper limit of that length. A connection that lasts as long counts as a success. Default 5 s
 * @param maxFailures the number of failures in a row after which to give up, or 0 for never; failed attempts and
 *     connections that do not last both count. Default 0
 * @param maxWait how long a subscriber waits for a connection. Default 10 s
 * @param maxWaiting how many subscribers may wait at a time, 0 or more. Default 4,096
 * @param circuitBreaker the options of the circuit breaker
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
     * Creates options of connecting; the others have their defaults.
     *
     * @param minBackoff the longest pause after the first failure
     * @param maxBackoff the longest pause after any failure
     * @param maxFailures the number of failures in a row after which to give up, or 0 for never
     */
    public ReconnectOptions(Duration minBackoff, Duration maxBackoff, int maxFailures) {
        this(minBackoff, maxBackoff, maxFailures, DEFAULTS.maxWait, DEFAULTS.maxWaiting, DEFAULTS.circuitBreaker);
    }

    /**
     * Returns the defaults.
     *
     * @return the defaults documented above
     */
    public static ReconnectOptions defaults() {
        return DEFAULTS;
    }

    /**
     * Returns these options with other pauses.
     *
     * @param min the longest pause after the first failure
     * @param max the longest pause after any failure, at least as long
     * @return new options
     */
    public ReconnectOptions withBackoff(Duration min, Duration max) {
        return new ReconnectOptions(min, max, maxFailures, maxWait, maxWaiting, circuitBreaker);
    }

    /**
     * Returns these options with another limit of failures.
     *
     * @param failures the number of failures in a row after which to give up, or 0 for never
     * @return new options
     */
    public ReconnectOptions withMaxFailures(int failures) {
        return new ReconnectOptions(minBackoff, maxBackoff, failures, maxWait, maxWaiting, circuitBreaker);
    }

    /**
     * Returns these options with another time to wait.
     *
     * @param wait how long to wait for a connection; 0 to fail at once while there is none
     * @return new options
     */
    public ReconnectOptions withMaxWait(Duration wait) {
        return new ReconnectOptions(minBackoff, maxBackoff, maxFailures, wait, maxWaiting, circuitBreaker);
    }

    /**
     * Returns these options with another limit of waiting subscribers.
     *
     * @param waiting how many subscribers may wait at a time, 0 or more
     * @return new options
     */
    public ReconnectOptions withMaxWaiting(int waiting) {
        return new ReconnectOptions(minBackoff, maxBackoff, maxFailures, maxWait, waiting, circuitBreaker);
    }

    /**
     * Returns these options with another circuit breaker.
     *
     * @param breaker the options of the circuit breaker
     * @return new options
     */
    public ReconnectOptions withCircuitBreaker(CircuitBreakerOptions breaker) {
        return new ReconnectOptions(minBackoff, maxBackoff, maxFailures, maxWait, maxWaiting, breaker);
    }

    /**
     * Draws a random pause.
     *
     * @param failures the number of failures in a row, at least 1
     * @return 0 to {@code minBackoff} doubled by each failure after the first, at most {@code maxBackoff}
     */
    public Duration pauseAfter(int failures) {
        return pauseAfter(failures, bound -> ThreadLocalRandom.current().nextLong(bound));
    }

    /** Draws a pause with a source of randomness that returns a number below its argument. */
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
