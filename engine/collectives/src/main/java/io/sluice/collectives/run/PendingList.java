package io.sluice.collectives.run;

import org.jspecify.annotations.Nullable;

/**
 * All that has not ended, in the order of the calls, with the earliest time to look at it: a deadline, or soon, as long as
 * there is something. All of it is the loop's.
 */
final class PendingList {
    private static final long LOOK_NANOS = 200_000_000;

    private @Nullable Pending oldest;
    private @Nullable Pending newest;
    private boolean timed;
    private boolean looking;
    private long nextDeadline;

    @Nullable
    Pending oldest() {
        return oldest;
    }

    void add(Pending added) {
        added.older = newest;
        added.newer = null;
        Pending before = newest;
        if (before == null) {
            oldest = added;
        } else {
            before.newer = added;
        }
        newest = added;
    }

    void remove(Pending ended) {
        Pending before = ended.older;
        Pending after = ended.newer;
        if (before == null) {
            oldest = after;
        } else {
            before.newer = after;
        }
        if (after == null) {
            newest = before;
        } else {
            after.older = before;
        }
        ended.older = null;
        ended.newer = null;
    }

    /** Takes note of a deadline; returns true if there is a time to look that is earlier than before. */
    boolean isEarliest(long deadline) {
        boolean earlier = isEarlier(deadline);
        if (!looking) {
            looking = true;
            earlier |= isEarlier(System.nanoTime() + LOOK_NANOS);
        }
        return earlier;
    }

    private boolean isEarlier(long deadline) {
        if (timed && deadline - nextDeadline >= 0) {
            return false;
        }
        timed = true;
        nextDeadline = deadline;
        return true;
    }

    boolean isTime(long now) {
        return timed && now - nextDeadline >= 0;
    }

    /** Looks at all deadlines, as those of what has ended meanwhile do not count; returns one that has passed. */
    @Nullable
    Pending expired(long now) {
        timed = false;
        for (Pending each = oldest; each != null; each = each.newer) {
            if (each.deadline - now <= 0) {
                return each;
            }
            isEarlier(each.deadline);
        }
        looking = oldest != null;
        if (looking) {
            isEarlier(now + LOOK_NANOS);
        }
        return null;
    }

    /** Whether there is a deadline to wait for. */
    boolean isTimed() {
        return timed;
    }

    long nextDeadline() {
        return nextDeadline;
    }
}
