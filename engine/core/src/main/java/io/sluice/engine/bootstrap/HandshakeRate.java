package io.sluice.engine.bootstrap;

import java.util.concurrent.atomic.AtomicLong;

/** Limits how many handshakes may begin: a number for each second, which may all come at once. Thread-safe. */
final class HandshakeRate {
    private static final long SECOND = 1_000_000_000L;

    private final long interval;
    // when the next one would be due if they came evenly
    private final AtomicLong due;

    HandshakeRate(int perSecond, long now) {
        this.interval = SECOND / perSecond;
        this.due = new AtomicLong(now);
    }

    /** Returns how many may begin now. */
    long free(long now) {
        long ahead = due.get() - now;
        return (SECOND - Math.max(0, ahead)) / interval;
    }

    /** Whether one more may begin; if so, it counts. */
    boolean admits(long now) {
        while (true) {
            long next = due.get();
            long from = next - now > 0 ? next : now;
            if (from + interval - now > SECOND) {
                return false;
            }
            if (due.compareAndSet(next, from + interval)) {
                return true;
            }
        }
    }
}
