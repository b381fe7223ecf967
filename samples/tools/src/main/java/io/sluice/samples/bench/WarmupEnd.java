package io.sluice.samples.bench;

import java.time.Duration;

/**
 * When a warm-up is over: after the least time, and on until the JVM has compiled what is to be measured, but not for more than
 * a few times as long.
 */
final class WarmupEnd {

    private static final int MOST_WARMUPS = 5;

    private final long leastNanos;
    private final CompilerActivity compiler = new CompilerActivity();

    WarmupEnd(Duration least) {
        leastNanos = least.toNanos();
    }

    /**
     * Whether it is over. To be asked often.
     *
     * @param warmedNanos how long it has taken
     */
    boolean isReached(long warmedNanos) {
        boolean quiet = compiler.isQuiet();
        return warmedNanos >= leastNanos && (quiet || warmedNanos / MOST_WARMUPS >= leastNanos);
    }
}
