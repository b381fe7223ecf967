package io.sluice.engine.flow;

import io.sluice.engine.SluiceException;
import org.jspecify.annotations.Nullable;

/**
 * An element in flight: it holds an operation credit from its first chunk to its last completion, but for the time in which a
 * path without room has it give that back. Pooled by its flow.
 */
final class ElementOperation {
    // in the pool
    @Nullable
    ElementOperation nextFree;

    private @Nullable DataTransfer transfer;
    private int index;
    private int outstanding;
    private long postedAt;
    private boolean posted;
    private boolean reachedPeer;
    private boolean cutOff;
    private int credits;
    private @Nullable SluiceException error;

    void begin(DataTransfer owner, int element) {
        transfer = owner;
        index = element;
        outstanding = 0;
        posted = false;
        reachedPeer = false;
        cutOff = false;
        credits = 1;
        error = null;
    }

    DataTransfer transfer() {
        DataTransfer owner = transfer;
        if (owner == null) {
            throw new IllegalStateException("the operation is not in use");
        }
        return owner;
    }

    int index() {
        return index;
    }

    /** The operation credits that it holds: one, or none while its first chunk waits without. */
    int credits() {
        return credits;
    }

    /** It has been given its credit again. */
    void credited() {
        credits = 1;
    }

    /** Its credit, or 0 if it holds none. */
    int takeCredit() {
        int taken = credits;
        credits = 0;
        return taken;
    }

    /** Its first chunk is offered to the endpoint; it may be offered again, if it was not taken. */
    void posted(long at) {
        postedAt = at;
        transfer().elementPosted(index, at);
    }

    long postedAt() {
        return postedAt;
    }

    void chunkPosted() {
        outstanding++;
    }

    void chunkDone() {
        outstanding--;
    }

    /** Says that no further chunk will be posted. */
    void allPosted() {
        posted = true;
    }

    /** Says that a chunk has, or may have, taken effect at the peer. */
    void reachedPeer() {
        reachedPeer = true;
    }

    boolean hasReachedPeer() {
        return reachedPeer;
    }

    /** Says that the end of the connection has cut it off. */
    void cutOff() {
        cutOff = true;
    }

    boolean isCutOff() {
        return cutOff;
    }

    /** Keeps the first error; nothing more of this element is worth posting. */
    void fail(SluiceException first) {
        if (error == null) {
            error = first;
        }
    }

    @Nullable
    SluiceException error() {
        return error;
    }

    boolean isDone() {
        return posted && outstanding == 0;
    }

    void retire() {
        transfer = null;
        error = null;
    }
}
