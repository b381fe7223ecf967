package io.sluice.engine.transport.verbs;

import java.util.ArrayDeque;

/**
 * Makes the writes of a lane visible: tracks the writes since the last proof, and the reads that prove their arrival.
 */
final class LaneVisibility {
    private final LaneState state;
    private final LaneWatchdog watchdog;
    private final ArrayDeque<VisibilityRequest> due = new ArrayDeque<>();
    private int underWay;
    private boolean writtenSinceNotification;
    private boolean writtenSinceVisible;

    LaneVisibility(LaneState state, LaneWatchdog watchdog) {
        this.state = state;
        this.watchdog = watchdog;
    }

    /** A request that changes the peer's memory is posted. */
    void written() {
        writtenSinceNotification = true;
        writtenSinceVisible = true;
    }

    boolean takeWrittenSinceNotification() {
        boolean written = writtenSinceNotification;
        writtenSinceNotification = false;
        return written;
    }

    boolean takeWrittenSinceVisible() {
        // the writes that an earlier read waits for are not proven either
        boolean written = writtenSinceVisible || underWay > 0;
        writtenSinceVisible = false;
        return written;
    }

    /** A read posted after the writes of this queue pair returns once they are in the peer's memory. */
    void ask(VisibilityRequest request) {
        watchdog.workBegins();
        request.expect();
        underWay++;
        due.addLast(request);
        state.scheduleFlush();
    }

    boolean isDue() {
        return !due.isEmpty();
    }

    /** Takes one whose read can be posted now; there must be one. */
    VisibilityRequest next() {
        return due.removeFirst();
    }

    /** The read was lost with the queue pair and must be posted before all others. */
    void putBack(VisibilityRequest request) {
        due.addFirst(request);
    }

    /** The read has returned. */
    void arrived(VisibilityRequest request) {
        underWay--;
        request.arrived();
    }

    /** The lane goes down: completes the reads not posted yet, as no writes precede them any more. */
    void letGo() {
        VisibilityRequest request;
        while ((request = due.pollFirst()) != null) {
            arrived(request);
        }
    }

    /** The lane is closed: no read will return. */
    void clear() {
        due.clear();
    }
}
