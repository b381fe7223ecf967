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

    /** Something goes out that changes the peer's memory. */
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
        // what an earlier one waits for is not proven yet either
        boolean written = writtenSinceVisible || underWay > 0;
        writtenSinceVisible = false;
        return written;
    }

    /** A read after the writes on this queue pair returns when they are in the peer's memory. */
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

    /** Its read was lost with the queue pair, and is to be posted before all others. */
    void putBack(VisibilityRequest request) {
        due.addFirst(request);
    }

    /** The read has returned. */
    void arrived(VisibilityRequest request) {
        underWay--;
        request.arrived();
    }

    /** The lane goes down: the reads that were to come have nothing to come after any more. */
    void letGo() {
        VisibilityRequest request;
        while ((request = due.pollFirst()) != null) {
            arrived(request);
        }
    }

    /** The lane is closed: none of them returns. */
    void clear() {
        due.clear();
    }
}
