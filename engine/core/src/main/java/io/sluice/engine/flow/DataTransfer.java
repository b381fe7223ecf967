package io.sluice.engine.flow;

import io.sluice.engine.PreparedTransfer;
import io.sluice.engine.SluiceException;
import io.sluice.engine.TransferOptions;
import io.sluice.engine.transport.RemoteKey;
import io.sluice.engine.transport.WorkRequest;
import org.jspecify.annotations.Nullable;

/** A transfer that is posted as work requests: one element or many, and how far it has come. */
abstract class DataTransfer extends FlowTransfer implements PreparedTransfer {
    // of the list of waiting transfers
    @Nullable
    DataTransfer previous;

    @Nullable
    DataTransfer next;

    boolean waiting;
    int waitingIn;
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

    /** What is put, added or swapped in; of an element without local memory. */
    long operand(int element) {
        return 0;
    }

    /** What a compare-and-swap expects. */
    long expected(int element) {
        return 0;
    }

    /** What a fetching element has brought back. */
    void fetched(long word) {}

    /**
     * An element has ended by itself.
     *
     * @param postedAt when its first chunk was, if one was
     * @return true if the transfer ends with it
     */
    abstract boolean elementEnded(int element, @Nullable SluiceException error, long postedAt);

    /** What the terminal signal says when every element has ended by itself. */
    abstract @Nullable SluiceException outcome();

    /** How many bytes the calling thread would move if it carried the transfer out itself. */
    long callerThreadBytes() {
        return Long.MAX_VALUE;
    }

    /** The calling thread has executed all elements, and tells it; the terminal signal follows. */
    void elementsCarriedOut() {}

    /** The calling thread has moved all bytes. */
    void carriedOut(long nanos) {
        posted(nanos);
    }

    /** How long that took. */
    long carriedOutNanos() {
        return postedAt();
    }

    /** The error of what the end of the connection leaves unfinished, with no element half posted. */
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

    /** The first chunk of an element is offered to the endpoint. */
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

    /** Goes to the next element; nothing more of the current one will be posted. */
    void finishPosting() {
        current = null;
        position = 0;
        nextElement++;
    }

    /** The transfer has ended: the element that was being posted, if there is one, is the caller's to finish. */
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

    /** It enters the open group of what changes the target's memory. */
    void enter(WriteGroups groups) {
        group = groups.enter();
    }

    @Nullable
    WriteGroup group() {
        return group;
    }

    /** The group it is in, which it leaves; or null. */
    @Nullable
    WriteGroup takeGroup() {
        WriteGroup mine = group;
        group = null;
        return mine;
    }
}
