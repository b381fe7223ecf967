package io.sluice.engine.transport.verbs;

import io.sluice.engine.TransportMetrics.PathState;

/**
 * The state that the parts of a lane share, and that other lanes see when they carry its messages. Confined to the
 * loop, but for {@link #path()}.
 */
final class LaneState {
    /** The phase of a lane between its first connection and its end. */
    enum Phase {
        /** The lane has not been connected yet. */
        NEW,
        OPEN,
        /** The queue pair is in the error state, and its work is being flushed. */
        BREAKING,
        /** The queue pair is gone; the peer has not said so of its own yet. */
        FENCED,
        /** Both sides have fenced, but the port is down, and there is no other path: it may come back. */
        WAITING,
        /** The next queue pairs are connected on this side. */
        CONNECTED,
        /** Both sides are connected; a read makes sure that the path works. */
        PROBING,
        /** Out of use. */
        DOWN,
        CLOSED
    }

    private final int index;
    private final Runnable flushLater;
    private final PendingReplies owed = new PendingReplies();
    // other threads look at it
    private volatile Phase phase = Phase.NEW;
    private boolean flushScheduled;
    private int entrusted;

    /**
     * The state of a new lane.
     *
     * @param flushLater lets the lane add what waits to the loop's batch at the end of the duty cycle
     */
    LaneState(int index, Runnable flushLater) {
        this.index = index;
        this.flushLater = flushLater;
    }

    int index() {
        return index;
    }

    Phase phase() {
        return phase;
    }

    void enter(Phase next) {
        phase = next;
    }

    boolean isOpen() {
        return phase == Phase.OPEN;
    }

    /** Whether it is out of use, for now or forever. */
    boolean isDown() {
        Phase now = phase;
        return now == Phase.DOWN || now == Phase.CLOSED;
    }

    /** For any thread. */
    PathState path() {
        return switch (phase) {
            case OPEN -> PathState.UP;
            case DOWN, CLOSED -> PathState.DOWN;
            case NEW, BREAKING, FENCED, WAITING, CONNECTED, PROBING -> PathState.HEALING;
        };
    }

    /** Schedules the posting of waiting messages at the end of the duty cycle. */
    void scheduleFlush() {
        if (!flushScheduled) {
            flushScheduled = true;
            flushLater.run();
        }
    }

    void flushBegins() {
        flushScheduled = false;
    }

    // ---- for those that carry its messages ----

    /** The answers that this lane owes the peer, on any lane they go. */
    PendingReplies owed() {
        return owed;
    }

    /** Reports answered requests again, as the message with their count did not arrive. */
    void tellAgain() {
        owed.tellAgain();
        scheduleFlush();
    }

    /** Another lane carries a message of this one. */
    void entrusted() {
        entrusted++;
    }

    /** A message of this lane has arrived that another has carried. */
    void entrustedDone() {
        entrusted--;
    }

    /** Whether others carry messages of this lane. */
    boolean hasEntrusted() {
        return entrusted > 0;
    }
}
