package io.sluice.engine.progress;

/**
 * The reaction of a poller to a duty cycle without work: first it spins, as an answer from the same machine or rack
 * takes microseconds, then it yields, then it parks in the kernel, so that an idle engine costs no core.
 */
final class IdleStrategy {
    // yielding costs as much as looking for work
    private static final int SPINS_A_YIELD = 32;

    private final long spinNanos;
    private final long yieldNanos;
    private final boolean alone;
    private final Runnable letOthersRun;
    private long idleSince;
    private boolean idle;
    private int spins;

    IdleStrategy(long spinNanos, long yieldNanos) {
        this(spinNanos, yieldNanos, Runtime.getRuntime().availableProcessors(), IdleStrategy::yieldThread);
    }

    IdleStrategy(long spinNanos, long yieldNanos, int processors, Runnable letOthersRun) {
        this.spinNanos = spinNanos;
        this.yieldNanos = yieldNanos;
        this.alone = processors == 1;
        this.letOthersRun = letOthersRun;
    }

    void worked() {
        idle = false;
    }

    /**
     * Called when another thread got work: on the only processor it cannot begin while this one spins, so the poller
     * yields at the next cycle without work.
     */
    void handedOver() {
        spins = SPINS_A_YIELD - 1;
    }

    /** Whether the first duty cycle without work is the time to park. */
    boolean parksAtOnce() {
        return spinNanos + yieldNanos == 0;
    }

    /** Spins or yields once; returns true when it is time to park instead. */
    boolean idle(long now) {
        if (!idle) {
            idle = true;
            idleSince = now;
        }
        long waited = now - idleSince;
        if (waited < spinNanos) {
            spin();
            return false;
        }
        if (waited < spinNanos + yieldNanos) {
            letOthersRun.run();
            return false;
        }
        return true;
    }

    private void spin() {
        // on the only processor no other thread of this process can bring work while this one spins
        if (alone && ++spins >= SPINS_A_YIELD) {
            spins = 0;
            letOthersRun.run();
        } else {
            Thread.onSpinWait();
        }
    }

    @SuppressWarnings("ThreadPriorityCheck") // yielding is a courtesy here; nothing depends on it
    private static void yieldThread() {
        Thread.yield();
    }
}
