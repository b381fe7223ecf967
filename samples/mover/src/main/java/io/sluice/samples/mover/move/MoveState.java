package io.sluice.samples.mover.move;

/** Where a move is. */
public enum MoveState {
    /** It waits for others to end. */
    WAITING,
    /** Its blocks are being moved. */
    RUNNING,
    /** It was cancelled, and what was posted by then has not drained yet: it still holds credits and slots. */
    CANCELLING,
    /** All its blocks are there. */
    DONE,
    /** It has ended with a problem; some of its blocks may be there. */
    FAILED,
    /** It was cancelled, and nothing of it can touch memory any more. */
    CANCELLED;

    /** Whether nothing will change any more. */
    public boolean isEnd() {
        return this == DONE || this == FAILED || this == CANCELLED;
    }
}
