package io.sluice.engine.progress;

import java.lang.management.ManagementFactory;
import java.util.function.LongSupplier;

/**
 * Why a duty cycle took too long: the thread worked, it waited, or it got no processor or loaded classes, which is no
 * callback's fault.
 * The kernel is asked occasionally and after a long cycle: its counts in between belong to the cycle, except for those
 * of shorter cycles since the last reading. It counts nothing while the thread is parked. On the poller's thread.
 */
final class StallCause {
    private static final long SHORTEST_PERIOD_NANOS = 250_000;
    private static final long LONGEST_PERIOD_NANOS = 50_000_000;
    private static final long MILLISECOND = 1_000_000;

    /** As many classes take milliseconds to load. */
    private static final long MANY_CLASSES = 20;

    private final ThreadTimes times;
    private final LongSupplier loadedClasses;
    private final long period;
    private boolean known;
    private long sampledAt;
    private long ran;
    private long withoutProcessor;
    private long classes;

    /**
     * Prepares it.
     *
     * @param times what the kernel counts of the thread
     * @param loadedClasses how many classes the process has loaded until now
     * @param stallNanos the duration from which a cycle is long
     */
    StallCause(ThreadTimes times, LongSupplier loadedClasses, long stallNanos) {
        this.times = times;
        this.loadedClasses = loadedClasses;
        this.period = Math.clamp(stallNanos / 4, SHORTEST_PERIOD_NANOS, LONGEST_PERIOD_NANOS);
    }

    /** How many classes this process has loaded since it began. */
    static LongSupplier loadedClasses() {
        return ManagementFactory.getClassLoadingMXBean()::getTotalLoadedClassCount;
    }

    /** Called when the thread begins, or a cycle has ended that was not too long. */
    void cycleEnded(long now) {
        if (now - sampledAt >= period) {
            sample(now);
        }
    }

    void sample(long now) {
        sampledAt = now;
        classes = loadedClasses.getAsLong();
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
        long classesBefore = classes;
        sample(now);
        long loaded = classes - classesBefore;
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
        if (loaded >= MANY_CLASSES) {
            return spent + "the process loaded " + loaded + " classes, which happens when code runs for the first time";
        }
        return spent
                + (worked >= waited
                        ? "a callback works too long (move the work to another thread)"
                        : "a callback blocks (move the work to another thread), or the JVM stopped its threads"
                                + " (see -Xlog:safepoint)");
    }
}
