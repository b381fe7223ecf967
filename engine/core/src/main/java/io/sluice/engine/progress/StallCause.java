package io.sluice.engine.progress;

/**
 * Why a duty cycle took too long: the thread worked, it waited, or it got no processor, which is no callback's fault.
 * The kernel is asked occasionally and after a long cycle: its counts in between belong to the cycle, except for those
 * of shorter cycles since the last reading. It counts nothing while the thread is parked. On the poller's thread.
 */
final class StallCause {
    private static final long SHORTEST_PERIOD_NANOS = 250_000;
    private static final long LONGEST_PERIOD_NANOS = 50_000_000;
    private static final long MILLISECOND = 1_000_000;

    private final ThreadTimes times;
    private final long period;
    private boolean known;
    private long sampledAt;
    private long ran;
    private long withoutProcessor;

    StallCause(ThreadTimes times, long stallNanos) {
        this.times = times;
        this.period = Math.clamp(stallNanos / 4, SHORTEST_PERIOD_NANOS, LONGEST_PERIOD_NANOS);
    }

    /** Called when the thread begins, or a cycle has ended that was not too long. */
    void cycleEnded(long now) {
        if (now - sampledAt >= period) {
            sample(now);
        }
    }

    void sample(long now) {
        sampledAt = now;
        known = times.read();
        if (known) {
            ran = times.ranNanos();
            withoutProcessor = times.withoutProcessorNanos();
        }
    }

    /** Returns, for a long cycle that has just ended, the cause in words. */
    String of(long took, long now) {
        boolean comparable = known;
        long ranBefore = ran;
        long withoutBefore = withoutProcessor;
        sample(now);
        if (!comparable || !known) {
            return "a callback blocks or works too long (move the work to another thread), or the machine has no"
                    + " processor to spare";
        }
        long without = Math.clamp(withoutProcessor - withoutBefore, 0, took);
        long worked = Math.clamp(ran - ranBefore, 0, took - without);
        long waited = took - without - worked;
        String spent = "its thread had no processor for " + without / MILLISECOND + " ms of " + took / MILLISECOND
                + ", ran for " + worked / MILLISECOND + " ms and waited for " + waited / MILLISECOND + " ms: ";
        if (without >= worked && without >= waited) {
            return spent + "the machine, or the limit of the container, has no processor to spare";
        }
        return spent
                + (worked >= waited
                        ? "a callback works too long (move the work to another thread), or code was loaded for its"
                                + " first use"
                        : "a callback blocks (move the work to another thread), or the JVM stopped its threads"
                                + " (see -Xlog:safepoint)");
    }
}
