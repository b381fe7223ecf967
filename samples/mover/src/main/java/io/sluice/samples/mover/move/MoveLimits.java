package io.sluice.samples.mover.move;

/**
 * How much a mover takes on. Immutable.
 *
 * @param running moves that run at a time
 * @param waiting moves that wait for one of those to end; more are refused
 * @param kept moves that have ended and can still be asked about; the oldest are forgotten
 * @param blocks the most blocks of one move
 */
public record MoveLimits(int running, int waiting, int kept, int blocks) {

    /** Checks the ranges. */
    public MoveLimits {
        if (running < 1 || waiting < 0 || kept < 1 || blocks < 1) {
            throw new IllegalArgumentException("limits are positive, not " + running + " running, " + waiting
                    + " waiting, " + kept + " kept moves of " + blocks + " blocks");
        }
    }

    /** 4 running, 64 waiting, 256 kept, 4,096 blocks. */
    public static MoveLimits defaults() {
        return new MoveLimits(4, 64, 256, 4096);
    }
}
