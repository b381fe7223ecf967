package io.sluice.samples.bench;

import java.util.Random;
import org.jspecify.annotations.Nullable;

/**
 * Where the elements of one connection lie: ranges of one size, one after the other or scattered, in the memory that they come
 * from and in the memory that they go to.
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
 * @param isRead whether the sources are on the serving side
 * @param localPlaces where those on this side are, unless they are one after the other
 * @param remotePlaces the same of the serving side
 */
record Layout(
        long size,
        int sources,
        int targets,
        long roundTransfers,
        int local,
        int remote,
        boolean isRead,
        @Nullable Scatter localPlaces,
        @Nullable Scatter remotePlaces) {
    /** The bytes that a round of small elements moves. */
    private static final long ROUND_BYTES = 64L << 20;

    private static final int ROUND_ELEMENTS = 1 << 16;

    /** The most bytes of separate ranges where elements may share them; later elements use the first ranges again. */
    private static final long MOST_TARGET_BYTES = 1L << 30;

    static Layout of(BenchPlan plan, long size) {
        int iov = plan.iov();
        int atATime = Math.multiplyExact(plan.transfersAtATime(), iov);
        if (plan.operation() == BenchOperation.NOTIFY) {
            // A checksum confirms the content, and no range on the serving side is used.
            return dense(size, 1, 1, Long.MAX_VALUE, 1, 1, false);
        }
        if (plan.operation().isAddition()) {
            int words = plan.buffers() == Buffers.SINGLE ? 1 : atATime;
            return dense(size, words, words, plan.verify() ? ROUND_ELEMENTS : Long.MAX_VALUE, 1, words, false);
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
        int local = read ? targets : sources;
        int remote = read ? sources : targets;
        return plan.buffers() != Buffers.SCATTERED
                ? dense(size, sources, targets, round, local, remote, read)
                : new Layout(
                        size,
                        sources,
                        targets,
                        round,
                        local,
                        remote,
                        read,
                        new Scatter(local, 1),
                        new Scatter(remote, 2));
    }

    private static Layout dense(
            long size, int sources, int targets, long roundTransfers, int local, int remote, boolean read) {
        return new Layout(size, sources, targets, roundTransfers, local, remote, read, null, null);
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
        return bytes(local, localPlaces);
    }

    long remoteBytes() {
        return bytes(remote, remotePlaces);
    }

    private long bytes(int ranges, @Nullable Scatter places) {
        return Math.multiplyExact(size, places == null ? ranges : (long) Scatter.SLOTS * ranges);
    }

    /** Of the memory that elements come from. */
    long sourceBytes() {
        return isRead ? remoteBytes() : localBytes();
    }

    /** Of the memory that elements go to. */
    long targetBytes() {
        return isRead ? localBytes() : remoteBytes();
    }

    /** How many different elements so many transfers have moved. */
    long arrived(long transfers, int iov) {
        return Math.min(targets, transfers * iov);
    }

    /** The part of the targets' memory that the first so many elements go to, from its beginning on. */
    long reached(long elements) {
        return isScattered() ? targetBytes() : size * elements;
    }

    private boolean isScattered() {
        return localPlaces != null;
    }

    /** The element that goes to a place in the targets' memory; −1 for none. */
    int targetAt(long offset) {
        Scatter places = isRead ? localPlaces : remotePlaces;
        long slot = offset / size;
        return places == null ? (int) slot : places.range(slot);
    }

    long localOffset(int element) {
        return offset(element % local, localPlaces);
    }

    long remoteOffset(int element) {
        return offset(element % remote, remotePlaces);
    }

    private long offset(int range, @Nullable Scatter places) {
        return size * (places == null ? range : places.slot(range));
    }

    /** Where an element comes from, in the sources' memory. */
    long sourceOffset(int element) {
        return isRead ? remoteOffset(element) : localOffset(element);
    }

    /** Where a side's ranges lie that are scattered: in random order, with a gap of the same size after each. */
    static final class Scatter {
        /** Slots of memory for each range. */
        static final int SLOTS = 2;

        private final int[] slots;
        private final int[] ranges;

        Scatter(int count, long seed) {
            slots = new int[count];
            ranges = new int[count];
            Random random = new Random(seed);
            for (int i = 0; i < count; i++) {
                int j = random.nextInt(i + 1);
                ranges[i] = ranges[j];
                ranges[j] = i;
            }
            for (int i = 0; i < count; i++) {
                slots[ranges[i]] = i;
            }
        }

        /** The slot of a range. */
        long slot(int range) {
            return (long) SLOTS * slots[range];
        }

        /** The range in a slot; −1 if it is a gap. */
        int range(long slot) {
            return slot % SLOTS == 0 ? ranges[(int) (slot / SLOTS)] : -1;
        }
    }
}
