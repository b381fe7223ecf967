package io.sluice.engine.flow;

import org.jspecify.annotations.Nullable;

/**
 * The transfers that change the target's memory between two operations that must follow them: notifications, {@code
 * STRONG} signals, flushes. A follower may be posted once its group and all earlier ones are empty. This gives the
 * promised order on any transport, however its lanes reorder.
 */
final class WriteGroup {
    private int outstanding;
    private boolean closed;
    private @Nullable Follower follower;
    private boolean visibilityAsked;
    private boolean visible;
    private int use;

    /** An operation that follows a group. */
    interface Follower {
        /** Called when the group and all earlier ones are empty. */
        void reached();

        /** Whether the writes must be visible first, and not only completed. */
        default boolean needsVisibility() {
            return true;
        }
    }

    void enter() {
        outstanding++;
    }

    void leave() {
        outstanding--;
    }

    int outstanding() {
        return outstanding;
    }

    void closeWith(Follower next) {
        closed = true;
        follower = next;
    }

    /** Called when the follower has ended early. */
    void dropFollower() {
        follower = null;
    }

    boolean isPassed() {
        return closed && outstanding == 0;
    }

    @Nullable
    Follower follower() {
        return follower;
    }

    /** Whether its visibility has not been requested yet; marks it as requested. */
    boolean askForVisibility() {
        boolean first = !visibilityAsked;
        visibilityAsked = true;
        return first;
    }

    /** Returns how often it was taken from the pool: a result for an earlier use is ignored. */
    int use() {
        return use;
    }

    void becameVisible(int inUse) {
        visible |= inUse == use;
    }

    boolean isVisible() {
        return visible;
    }

    /** Resets the group for the pool. */
    void reopen() {
        visibilityAsked = false;
        visible = false;
        use++;
        closed = false;
        follower = null;
    }
}
