package io.sluice.reactor.recovery;

import java.time.Duration;

/**
 * When a circuit breaker stops attempts to reach a failing peer, and for how long. Immutable.
 *
 * @param failures the number of failures within the window that opens the circuit, or 0 for never. Default 20
 * @param window how long a failure counts. Default 60 s
 * @param openTime how long the circuit stays open before one attempt is made. Default 5 s
 * @param probeTime how long the connection of that attempt must last to close the circuit. Default 5 s
 */
public record CircuitBreakerOptions(int failures, Duration window, Duration openTime, Duration probeTime) {
    private static final CircuitBreakerOptions DEFAULTS =
            new CircuitBreakerOptions(20, Duration.ofSeconds(60), Duration.ofSeconds(5), Duration.ofSeconds(5));

    private static final int MOST_FAILURES = 65_536;

    /** Checks the ranges. */
    public CircuitBreakerOptions {
        if (failures < 0 || failures > MOST_FAILURES) {
            throw new IllegalArgumentException("failures is 0 to " + MOST_FAILURES + ", not " + failures);
        }
        if (!isPositive(window) || !isPositive(openTime) || probeTime.isNegative()) {
            throw new IllegalArgumentException(
                    "a window of " + window + ", open for " + openTime + ", tried for " + probeTime);
        }
    }

    /**
     * Returns the defaults.
     *
     * @return the defaults documented above
     */
    public static CircuitBreakerOptions defaults() {
        return DEFAULTS;
    }

    /**
     * Returns options of a circuit that never opens.
     *
     * @return options without a circuit breaker
     */
    public static CircuitBreakerOptions never() {
        return new CircuitBreakerOptions(0, DEFAULTS.window, DEFAULTS.openTime, DEFAULTS.probeTime);
    }

    private static boolean isPositive(Duration time) {
        return !time.isNegative() && !time.isZero();
    }
}
