package io.sluice.samples.bench;

/**
 * Where the elements of one connection lie: ranges of one size, one after the other, in the memory that they come from and
 * in the memory that they go to.
 *
 * <p>With verification a round of transfers ends before its bytes are compared, and each element goes to a range of its
 * own, so that none hides another one's damage.
 *
 * @param size of a range
 * @param sources ranges that elements come from
 * @param targets ranges that elements go to
 * @param roundTransfers transfers until the bytes are compared; {@link Long#MAX_VALUE} if they are not
 * @param local ranges on this side
 * @param remote ranges on the serving side
 */
record Layout(long size, int sources, int targets, long roundTransfers, int local, int remote) {
    /** What a round of small elements moves. */
    private static final long ROUND_BYTES = 64L << 20;

    private static final int ROUND_ELEMENTS = 1 << 16;

    /** What ranges of their own take at most, if there need not be as many; what comes then uses the first again. */
    private static final long MOST_TARGET_BYTES = 1L << 30;

    static Layout of(BenchPlan plan, long size) {
        int iov = plan.iov();
        int atATime = Math.multiplyExact(plan.transfersAtATime(), iov);
        if (plan.operation() == BenchOperation.NOTIFY) {
            // What was sent is told by a checksum, and a range on the serving side is never used.
            return new Layout(size, 1, 1, Long.MAX_VALUE, 1, 1);
        }
        if (plan.operation().isAddition()) {
            int words = plan.buffers() == Buffers.SINGLE ? 1 : atATime;
            return new Layout(size, words, words, plan.verify() ? ROUND_ELEMENTS : Long.MAX_VALUE, 1, words);
        }
        int sources = plan.buffers() == Buffers.SINGLE ? 1 : distinct(plan, size, atATime);
        int targets = sources;
        long round = Long.MAX_VALUE;
        if (plan.verify()) {
            long elements = Math.max(atATime, Math.min(ROUND_ELEMENTS, ROUND_BYTES / size));
            round = Math.ceilDiv(elements, iov);
            targets = (int) Math.min(round * iov, Math.max(1, MOST_TARGET_BYTES / size));
            sources = plan.buffers() == Buffers.SINGLE ? 1 : targets;
        }
        boolean read = plan.operation().isRead();
        return new Layout(size, sources, targets, round, read ? targets : sources, read ? sources : targets);
    }

    /**
     * One for each element, those that wait for the window included. Where that would take too much memory, elements that
     * follow each other still have their own, more than are in flight at once.
     */
    private static int distinct(BenchPlan plan, long size, int atATime) {
        return (int) Math.min(atATime, Math.max(2L * plan.inflight(), MOST_TARGET_BYTES / size));
    }

    /** The number of different transfers: what comes then uses the ranges of the first again. */
    int transfers(int iov) {
        return Math.max(1, Math.ceilDiv(targets, iov));
    }

    long localBytes() {
        return Math.multiplyExact(size, (long) local);
    }

    long remoteBytes() {
        return Math.multiplyExact(size, (long) remote);
    }

    long sourceBytes() {
        return Math.multiplyExact(size, (long) sources);
    }

    long targetBytes() {
        return Math.multiplyExact(size, (long) targets);
    }

    /** How much of the targets so many transfers have reached. */
    long targetBytes(long transfers, int iov) {
        return size * Math.min(targets, transfers * iov);
    }

    long localOffset(int element) {
        return size * (element % local);
    }

    long remoteOffset(int element) {
        return size * (element % remote);
    }

    /** Where an element comes from, among the sources. */
    long sourceOffset(int element) {
        return size * (element % sources);
    }
}
