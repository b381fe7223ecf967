package io.sluice.engine.flow;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The groups of a connection, the oldest first; the last one is open. On the poller's thread. */
@SuppressWarnings("ReferenceEquality") // a group is its own identity
final class WriteGroups {
    private final ArrayDeque<WriteGroup> groups = new ArrayDeque<>();
    private final ArrayDeque<WriteGroup> free = new ArrayDeque<>();
    private WriteGroup open = new WriteGroup();
    private @Nullable Visibility between;
    private boolean releasing;

    /**
     * Creates the groups of a connection.
     *
     * @param between the step between a group and its follower; null if none is needed
     */
    WriteGroups(@Nullable Visibility between) {
        this.between = between;
        groups.addLast(open);
    }

    /** Called when the connection has ended and nothing is made visible any more. */
    void connectionEnded() {
        between = null;
    }

    /** Enters the open group and returns it. */
    WriteGroup enter() {
        open.enter();
        return open;
    }

    void leave(WriteGroup group) {
        group.leave();
        release();
    }

    /** Closes the open group. {@link #release()} must follow. */
    WriteGroup close(WriteGroup.Follower follower) {
        WriteGroup closed = open;
        closed.closeWith(follower);
        WriteGroup pooled = free.pollFirst();
        open = pooled == null ? new WriteGroup() : pooled;
        groups.addLast(open);
        return closed;
    }

    /**
     * Whether nothing is outstanding before this group and only one transfer in it, so that the follower may go with
     * that one.
     */
    boolean isNextAlone(WriteGroup group) {
        return between == null && groups.peekFirst() == group && group.outstanding() == 1;
    }

    /** Releases the followers of empty groups. */
    void release() {
        if (releasing) {
            return;
        }
        releasing = true;
        try {
            WriteGroup first;
            while ((first = groups.peekFirst()) != null && first.isPassed() && isVisible(first)) {
                groups.removeFirst();
                WriteGroup.Follower follower = first.follower();
                first.reopen();
                free.addFirst(first);
                if (follower != null) {
                    follower.reached();
                }
            }
        } finally {
            releasing = false;
        }
    }

    /** Whether the paths allow the follower of a group to go; if not, it is released when they do. */
    private boolean isVisible(WriteGroup group) {
        Visibility needed = between;
        WriteGroup.Follower follower = group.follower();
        if (needed == null || follower == null || !follower.needsVisibility()) {
            return true;
        }
        if (group.askForVisibility()) {
            int use = group.use();
            needed.make(() -> {
                group.becameVisible(use);
                release();
            });
        }
        return between == null || group.isVisible();
    }

    /** Returns the followers that wait for their groups. */
    List<WriteGroup.Follower> followers() {
        List<WriteGroup.Follower> found = new ArrayList<>();
        for (WriteGroup group : groups) {
            WriteGroup.Follower follower = group.follower();
            if (follower != null) {
                found.add(follower);
            }
        }
        return found;
    }
}
