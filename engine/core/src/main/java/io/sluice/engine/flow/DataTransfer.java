package io.sluice.engine.flow;

import io.sluice.engine.PreparedTransfer;
import io.sluice.engine.SluiceException;
import io.sluice.engine.TransferOptions;
import io.sluice.engine.transport.RemoteKey;
import io.sluice.engine.transport.WorkRequest;
import org.jspecify.annotations.Nullable;

/** A transfer that is posted as work requests: one element or many, and its progress. */
abstract class DataTransfer extends FlowTransfer implements PreparedTransfer {
    // of the list of waiting transfers
    @Nullable
    DataTransfer previous;

    @Nullable
    DataTransfer next;

    boolean waiting;
    // the path of its next element; a byte fits a gap of the object
    byte waitingPath;
    long due;

    private int nextElement;
    private long position;
    private @Nullable ElementOperation current;
    private int liveOperations;
    private @Nullable WriteGroup group;

    DataTransfer(OwningFlow flow, TransferOptions options) {
        super(flow, options);
    }

    abstract int elements();

    abstract WorkRequest.Opcode operation(int element);

    abstract long length(int element);

    /** Takes the lease of an element's local memory, or null if it needs none. */
    abstract @Nullable LeasedMemory local(int element);

    abstract long localOffset(int element);

    abstract RemoteKey remote(int element);

    abstract long remoteOffset(int element);

    @Override
    int path() {
        return remote(0).path();
    }

    /** Whether all elements go over the path of the first. */
    boolean isOfOnePath() {
        return true;
    }

    /** Returns the operand of an element without local memory. */
    long operand(int element) {
        return 0;
    }

    /** Returns the expected value of a compare-and-swap. */
    long expected(int element) {
        return 0;
    }

    /** Called with the value that a fetching element returned. */
    void fetched(long word) {}

    /**
     * Called when an element has ended by itself.
     *
     * @param postedAt when its first chunk was posted, if one was
     * @return true if the transfer ends as well
     */
    abstract boolean elementEnded(int element, @Nullable SluiceException error, long postedAt);

    /** Returns the error of the terminal signal when every element has ended by itself. */
    abstract @Nullable SluiceException outcome();

    /** Returns how many bytes the calling thread would move if it executed the transfer itself. */
    long callerThreadBytes() {
        return Long.MAX_VALUE;
    }

    /** Called when the calling thread has executed all elements; the terminal signal follows. */
    void elementsCarriedOut() {}

    /** Called when the calling thread has moved all bytes. */
    void carriedOut(long nanos) {
        posted(nanos);
    }

    /** How long that took. */
    long carriedOutNanos() {
        return postedAt();
    }

    /** Returns the error if the connection ends with no element partly posted. */
    SluiceException neverFinished(ConnectionEnd why) {
        return why.error();
    }

    /** Whether an element that has ended by itself has changed the target's memory, and the transfer goes on. */
    boolean hasTakenEffect() {
        return false;
    }

    /** Whether it changes the target's memory, so that what follows waits for it. */
    boolean changesRemote() {
        return operation(0).changesRemote();
    }

    // ---- any thread ----

    @Override
    public void start() {
        if (!hold()) {
            throw new IllegalStateException(
                    isRunning()
                            ? "the transfer is running; wait for its terminal signal"
                            : "chunks of the last run may still touch memory; wait for quiesced()");
        }
        flow().submitHeld(this);
    }

    @Override
    public PreparedTransfer retarget(long localOffset, long remoteOffset, long length) {
        throw new UnsupportedOperationException("only a single read or write without a signal can be retargeted");
    }

    @Override
    public PreparedTransfer retargetPages(int[] localPages, int[] remotePages) {
        throw new UnsupportedOperationException("only a transfer of pages can be given other pages");
    }

    @Override
    public PreparedTransfer retargetPages(long[] localOffsets, long[] remoteOffsets) {
        throw new UnsupportedOperationException("only a transfer of pages can be given other pages");
    }

    @Override
    void reset() {
        super.reset();
        nextElement = 0;
        position = 0;
    }

    // ---- the poller ----

    /** Called when the first chunk of an element is offered to the endpoint. */
    void elementPosted(int element, long at) {
        if (element == 0) {
            posted(at);
        }
    }

    @Override
    boolean isQuiet() {
        return liveOperations == 0;
    }

    /** Whether the next element has to wait for more than its turn. */
    boolean isBlocked() {
        return false;
    }

    boolean isFullyPosted() {
        return nextElement == elements();
    }

    int nextElement() {
        return nextElement;
    }

    /** Bytes of the current element that have been posted. */
    long position() {
        return position;
    }

    /** The element being posted, or null between two. */
    @Nullable
    ElementOperation current() {
        return current;
    }

    void beginElement(ElementOperation element) {
        current = element;
        position = 0;
        liveOperations++;
    }

    void advance(long bytes) {
        position += bytes;
    }

    /** Moves to the next element; nothing more of the current one is posted. */
    void finishPosting() {
        current = null;
        position = 0;
        nextElement++;
    }

    /** Called when the transfer has ended: returns the element being posted, if any, which the caller must finish. */
    @Nullable
    ElementOperation leaveElement() {
        ElementOperation left = current;
        current = null;
        return left;
    }

    /** The next element is not to be posted. */
    void skipElement() {
        nextElement++;
    }

    void operationDone() {
        liveOperations--;
    }

    // ---- what follows it ----

    /** Enters the open group of transfers that change the target's memory. That can release no follower of a group. */
    void enter(WriteGroups groups) {
        group = groups.enter();
    }

    @Nullable
    WriteGroup group() {
        return group;
    }

    /** Leaves its group and returns it; null if it is in none. */
    @Nullable
    WriteGroup takeGroup() {
        WriteGroup mine = group;
        group = null;
        return mine;
    }
}
