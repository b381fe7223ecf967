package io.sluice.samples.bench;

import java.time.Duration;

/** Decides, for all ranks, how many operations the next block has, and which blocks count. */
final class BlockLengths {
    /** Blocks are long enough that what is between them takes little, and short enough to end in time. */
    private static final long BLOCK_NANOS = 30_000_000;

    /** The least number of operations of a block counts only where they take no longer. */
    private static final long LONGEST_NANOS = 300_000_000;

    /** Checks take time besides the measured one, but not without bound. */
    private static final int MOST_TIMES = 5;

    private final Duration warmup;
    private final Duration duration;
    private final long least;
    private final long most;
    private final WarmupEnd warmupEnd;
    private final long start = System.nanoTime();
    private long measuringStart;
    private boolean measuring;
    private long warmedNanos;
    private long measuredNanos;
    private long lengthBefore = 1;

    /**
     * The first block has one operation.
     *
     * @param least operations of a block, unless they take long
     * @param most operations of a block
     */
    BlockLengths(Duration warmup, Duration duration, long least, long most) {
        this.warmup = warmup;
        this.duration = duration;
        this.least = least;
        this.most = most;
        warmupEnd = new WarmupEnd(warmup);
    }

    /**
     * The length of the next block: 0 for none, negative for the first that counts.
     *
     * @param blockNanos what the block before has taken
     */
    long next(long blockNanos) {
        long each = Math.max(1, blockNanos / lengthBefore);
        long shortest = each <= LONGEST_NANOS / least ? least : 1;
        long length = Math.clamp(BLOCK_NANOS / each, shortest, most);
        lengthBefore = length;
        long now = System.nanoTime();
        if (!measuring) {
            warmedNanos += blockNanos;
            boolean over = (now - start) / MOST_TIMES >= warmup.toNanos();
            if (warmupEnd.isReached(warmedNanos) || (warmedNanos > 0 && over)) {
                measuringStart = now;
                measuring = true;
                return -length;
            }
            return length;
        }
        measuredNanos += blockNanos;
        boolean enough = measuredNanos >= duration.toNanos();
        return enough || (now - measuringStart) / MOST_TIMES >= duration.toNanos() ? 0 : length;
    }
}
