package io.sluice.engine.progress;

/**
 * What a poller does when a duty cycle found no work: first it spins, as an answer on the same machine or rack is
 * microseconds away, then it lets others run, then it parks in the kernel, so that an idle engine costs no core.
 */
final class IdleStrategy {
    private final long spinNanos;
    private final long yieldNanos;
    private long idleSince;
    private boolean idle;

    IdleStrategy(long spinNanos, long yieldNanos) {
        // with one processor the thread that would bring work cannot run while this one spins
        this.spinNanos = Runtime.getRuntime().availableProcessors() == 1 ? 0 : spinNanos;
        this.yieldNanos = yieldNanos;
    }

    void worked() {
        idle = false;
    }

    /** Spins or yields once; returns true when it is time to park instead. */
    @SuppressWarnings("ThreadPriorityCheck") // yielding is a courtesy here; nothing depends on it
    boolean idle(long now) {
        if (!idle) {
            idle = true;
            idleSince = now;
        }
        long waited = now - idleSince;
        if (waited < spinNanos) {
            Thread.onSpinWait();
            return false;
        }
        if (waited < spinNanos + yieldNanos) {
            Thread.yield();
            return false;
        }
        return true;
    }
}
