package io.sluice.engine.transport.faulty;

import java.util.SplittableRandom;

/** The faults of one side of a connection, in the order of the calls: decided by the seed alone. */
final class Faults {
    private static final int REFUSED_IN = 6;
    private static final int HELD_IN = 4;
    private static final long LONGEST_HOLD_NANOS = 1_500_000;
    // a path that carries very much would take very long if it went on like that
    private static final int OFTEN_UNTIL = 4096;
    private static final int SELDOM = 256;
    private static final int LATEST_BREAK = 300;

    private final SplittableRandom refusals;
    private final SplittableRandom holds;
    private final int breakAt;
    private int batches;
    private int completions;

    Faults(long seed, boolean breaks) {
        SplittableRandom random = new SplittableRandom(seed);
        refusals = random.split();
        holds = random.split();
        breakAt = breaks ? 1 + random.nextInt(LATEST_BREAK) : Integer.MAX_VALUE;
    }

    private static int rarer(int count, int oneIn) {
        return count < OFTEN_UNTIL ? oneIn : oneIn * SELDOM;
    }

    /** How many requests of a batch are accepted. */
    int accepted(int count) {
        return refusals.nextInt(rarer(batches++, REFUSED_IN)) == 0 ? refusals.nextInt(count) : count;
    }

    /** How long a completion is held back; 0 if not. */
    long holdNanos() {
        return holds.nextInt(rarer(completions++, HELD_IN)) == 0 ? 1 + holds.nextLong(LONGEST_HOLD_NANOS) : 0;
    }

    /** Whether the path breaks with this completion. */
    boolean breaksNow() {
        return completions == breakAt;
    }
}
