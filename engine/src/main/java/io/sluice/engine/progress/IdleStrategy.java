package io.sluice.engine.progress;

/**
 * What a poller does when a duty cycle found no work: first it spins, as an answer on the same machine or rack is
 * microseconds away, then it lets others run, then it parks in the kernel, so that an idle engine costs no core.
 */
final class IdleStrategy {
    // to yield costs as much as to look for work
    private static final int SPINS_A_YIELD = 32;

    private final long spinNanos;
    private final long yieldNanos;
    private final boolean alone;
    private long idleSince;
    private boolean idle;
    private int spins;

    IdleStrategy(long spinNanos, long yieldNanos) {
        this(spinNanos, yieldNanos, Runtime.getRuntime().availableProcessors());
    }

    IdleStrategy(long spinNanos, long yieldNanos, int processors) {
        this.spinNanos = spinNanos;
        this.yieldNanos = yieldNanos;
        this.alone = processors == 1;
    }

    void worked() {
        idle = false;
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
            letOthersRun();
            return false;
        }
        return true;
    }

    private void spin() {
        // on the only processor nobody else of this process can bring work while this one spins
        if (alone && ++spins % SPINS_A_YIELD == 0) {
            letOthersRun();
        } else {
            Thread.onSpinWait();
        }
    }

    @SuppressWarnings("ThreadPriorityCheck") // yielding is a courtesy here; nothing depends on it
    private static void letOthersRun() {
        Thread.yield();
    }
}
