package io.sluice.engine.flow;

import org.jspecify.annotations.Nullable;

/**
 * What changes the target's memory between two things that come after all of it: notifications, {@code STRONG} signals,
 * flushes. What follows a group may leave once the group and all before it are empty: that gives the order that is promised
 * on any transport, under any reordering of the lanes.
 */
final class WriteGroup {
    private int outstanding;
    private boolean closed;
    private @Nullable Follower follower;
    private boolean visibilityAsked;
    private boolean visible;
    private int use;

    /** What comes after a group. */
    interface Follower {
        /** The group and all before it are empty. */
        void reached();

        /** Whether they have to be visible before, and not only to have completed. */
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

    /** What follows has ended before its time. */
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

    /** How often it was taken from the pool: an answer to an earlier use means nothing. */
    int use() {
        return use;
    }

    void becameVisible(int inUse) {
        visible |= inUse == use;
    }

    boolean isVisible() {
        return visible;
    }

    /** Makes it fit for the pool. */
    void reopen() {
        visibilityAsked = false;
        visible = false;
        use++;
        closed = false;
        follower = null;
    }
}
