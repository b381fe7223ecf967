package io.sluice.comm.rounds;

import java.util.concurrent.locks.LockSupport;

/** Waits of a thread that looks again and again. */
public final class Pause {
    private static final int SPINS = 50;
    private static final long LONGEST_NANOS = 100_000;
    private static final long FIRST_NANOS = 5_000;

    private int looks;

    /** Creates one: the first waits are short. */
    public Pause() {}

    /** Waits a little, longer each time. */
    public void again() {
        looks++;
        if (looks < SPINS) {
            Thread.onSpinWait();
        } else {
            nanos(Math.min(LONGEST_NANOS, FIRST_NANOS * (looks - SPINS + 1)));
        }
    }

    /**
     * Waits about as long.
     *
     * @param nanos nanoseconds
     */
    public static void nanos(long nanos) {
        LockSupport.parkNanos(nanos);
    }
}
