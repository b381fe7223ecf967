package io.sluice.engine.transport.verbs;

import io.sluice.engine.TransportMetrics.PathState;

/**
 * The state that the parts of a lane share, and that other lanes see when they carry its messages. Confined to the
 * loop, except for {@link #path()}.
 */
final class LaneState {
    /** The phases of a lane from its first connection to its end. */
    enum Phase {
        /** Not connected yet. */
        NEW,
        OPEN,
        /** The queue pair is in the error state and its work is being flushed. */
        BREAKING,
        /** The queue pair is gone; the peer has not reported the same yet. */
        FENCED,
        /** Both sides have fenced, but the port is down and there is no other path: the port may come back. */
        WAITING,
        /** The next queue pair is connected on this side. */
        CONNECTED,
        /** Both sides are connected; a read verifies the path. */
        PROBING,
        /** Out of use. */
        DOWN,
        CLOSED
    }

    private final int index;
    private final Runnable flushLater;
    private final PendingReplies owed = new PendingReplies();
    // read by other threads
    private volatile Phase phase = Phase.NEW;
    private boolean flushScheduled;
    private int entrusted;

    /**
     * The state of a new lane.
     *
     * @param flushLater schedules the lane to add its messages to the batch at the end of the duty cycle
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

    /** Whether it is out of use, for now or for good. */
    boolean isDown() {
        Phase now = phase;
        return now == Phase.DOWN || now == Phase.CLOSED;
    }

    /** May be called by any thread. */
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

    /** The answers that this lane owes the peer, on any lane that carries them. */
    PendingReplies owed() {
        return owed;
    }

    /** Reports answered requests again, because the message with their count did not arrive. */
    void tellAgain() {
        owed.tellAgain();
        scheduleFlush();
    }

    /** Another lane carries a message of this one. */
    void entrusted() {
        entrusted++;
    }

    /** A message of this lane has arrived, carried by another lane. */
    void entrustedDone() {
        entrusted--;
    }

    /** Whether other lanes carry messages of this one. */
    boolean hasEntrusted() {
        return entrusted > 0;
    }
}
