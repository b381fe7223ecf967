package io.sluice.cuda;

import io.sluice.engine.transport.CompletionStatus;
import io.sluice.engine.transport.WorkRequest;
import io.sluice.jni.CudaStream;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;

/**
 * A stream, and what it has been given and has not done, in order. Each record has the next number; the GPU stores the number of what
 * it has done last in one word of pinned memory. On the loop's thread.
 */
final class StreamLane {
    /** How many requests it may have. */
    static final int MOST_REQUESTS = 2048;

    /**
     * How many records it may have under way. Each is one or two operations of the driver's, which makes a thread wait that gives a
     * stream about 1,000.
     */
    static final int MOST_RECORDS = 256;

    /** In place of a page table: there is none. */
    static final int NO_TABLE = -1;

    /** In place of a page table: the bytes alone, and another GPU has to be given the request's signal when they are there. */
    static final int SIGNAL_FOLLOWS = -2;

    /** Whose requests it has. */
    interface Owner {
        /** A request has been carried out, or never will be. */
        void finished(WorkRequest request, CompletionStatus status);

        /** Another GPU has to be given the signal of a request whose bytes are in place. */
        void signalDue(WorkRequest request);

        /** A part of a copy has been carried out, or never will be. */
        void partDone(PartedCopy copy, CompletionStatus status);

        /** The driver has not taken something of a request, which ends later. */
        void refused(WorkRequest request);
    }

    private static final VarHandle WORD = ValueLayout.JAVA_LONG.varHandle();
    private static final int MASK = MOST_REQUESTS - 1;

    private final long stream;
    private final MemorySegment pinned;
    private final long wordOffset;
    private final long wordAddress;
    private final PageTables tables;
    private final WorkCounters counters;
    private final @Nullable WorkRequest[] requests = new @Nullable WorkRequest[MOST_REQUESTS];
    private final @Nullable Owner[] owners = new @Nullable Owner[MOST_REQUESTS];
    private final long[] sequences = new long[MOST_REQUESTS];
    private final long[] postedAt = new long[MOST_REQUESTS];
    private final int[] slots = new int[MOST_REQUESTS];
    // of how many records each is the end, counted from the first
    private final long[] records = new long[MOST_REQUESTS];
    private final long[] lengths = new long[MOST_REQUESTS];
    private final @Nullable PartedCopy[] parts = new @Nullable PartedCopy[MOST_REQUESTS];
    // why a request has failed that something was carried out of
    private final @Nullable CompletionStatus[] failures = new @Nullable CompletionStatus[MOST_REQUESTS];
    private int head;
    private int tail;
    private long sequence;
    private long madeRecords;
    private long doneRecords;
    private long bytes;
    private boolean broken;
    private long refusedNumber;
    private @Nullable CompletionStatus refusedStatus;
    // its wait was refused
    private long stoppedNumber;
    // the event that it was given last to wait for
    private long event;
    private int keepers;

    StreamLane(long stream, PinnedMemory memory, long wordOffset, PageTables tables, WorkCounters counters) {
        this.stream = stream;
        this.pinned = memory.segment();
        this.wordOffset = wordOffset;
        this.wordAddress = memory.deviceAddress() + wordOffset;
        this.tables = tables;
        this.counters = counters;
    }

    WorkCounters counters() {
        return counters;
    }

    long stream() {
        return stream;
    }

    long wordAddress() {
        return wordAddress;
    }

    /** The number of the record that is made next. */
    long nextSequence() {
        return ++sequence;
    }

    /** How many requests it takes now, of one record each. */
    int room() {
        return recordRoom() == 0 ? 0 : MOST_REQUESTS - (tail - head);
    }

    /** How many records it takes now; a request is added behind its last. */
    int recordRoom() {
        // a request's wait and its completion may have been more than there was room for
        return broken || tail - head == MOST_REQUESTS
                ? 0
                : (int) Math.max(0, MOST_RECORDS - (madeRecords - doneRecords));
    }

    /** Another record of what is added next is made. */
    void recordMade() {
        madeRecords++;
    }

    boolean isBusy() {
        return head != tail;
    }

    long bytes() {
        return bytes;
    }

    /** When the oldest was posted; only if it is busy. */
    long oldest() {
        return postedAt[head & MASK];
    }

    /** Where the next request's own 8 bytes of pinned memory are, from the lane's word on: they are its until it is done. */
    long cell() {
        return cell(tail & MASK);
    }

    private long cell(int at) {
        return wordOffset + Long.BYTES * (8L + at);
    }

    /**
     * A request is carried out by the records with a number.
     *
     * @param slot the page table that it gives back, or one of the negative constants
     */
    void add(WorkRequest request, Owner owner, long number, int slot, long now) {
        add(request, owner, number, slot, now, request.length(), null);
    }

    /** The records with a number carry out a part of a copy, of so many bytes. */
    void addPart(PartedCopy copy, Owner owner, long number, long now, long length) {
        add(copy.request(), owner, number, NO_TABLE, now, length, copy);
    }

    private void add(
            WorkRequest request, Owner owner, long number, int slot, long now, long length, @Nullable PartedCopy part) {
        int at = tail++ & MASK;
        requests[at] = request;
        owners[at] = owner;
        sequences[at] = number;
        postedAt[at] = now;
        slots[at] = slot;
        records[at] = madeRecords;
        lengths[at] = length;
        parts[at] = part;
        failures[at] = number == refusedNumber ? refusedStatus : null;
        bytes += length;
    }

    /** It waits for an event from here on. */
    void waits(long handle) {
        event = handle;
    }

    /** Whether it waits for an event, or has done so and not ended what is behind it. */
    boolean isBehind(long handle) {
        return !isFree() && event == handle;
    }

    /** More of what it has done will follow, behind the same event: it takes no other until {@link #letGo}. */
    void keep() {
        keepers++;
    }

    void letGo() {
        keepers--;
    }

    /** Whether it may be given another event to wait for. */
    boolean isFree() {
        return !isBusy() && keepers == 0;
    }

    /** Whether the driver has not taken a record with a number. */
    boolean isRefused(long number) {
        return number == refusedNumber;
    }

    /** Nothing of a number may be carried out any more. */
    void stop(long number) {
        stoppedNumber = number;
    }

    boolean isStopped(long number) {
        return number == stoppedNumber;
    }

    /** Whether what it was given last, and has not done, is another owner's. */
    boolean isOfAnother(Owner owner) {
        return isBusy() && !owner.equals(owners[tail - 1 & MASK]);
    }

    /** How long an owner's oldest request has been here until now, in nanoseconds; 0 if it has none. */
    long waited(long now, Owner owner) {
        for (int i = head; i != tail; i++) {
            if (owner.equals(owners[i & MASK])) {
                return now - postedAt[i & MASK];
            }
        }
        return 0;
    }

    /** Whether something is done that was not completed yet. */
    boolean hasDone() {
        return head != tail && sequences[head & MASK] <= reached();
    }

    private long reached() {
        return (long) WORD.getAcquire(pinned, wordOffset);
    }

    /** Completes what is done; how many that were. */
    int reap(long now) {
        if (head == tail) {
            return 0;
        }
        long reached = reached();
        int done = 0;
        while (head != tail) {
            int at = head & MASK;
            if (sequences[at] > reached) {
                break;
            }
            head++;
            done++;
            counters.done(now - postedAt[at]);
            CompletionStatus failure = failures[at];
            complete(at, failure == null ? CompletionStatus.SUCCESS : failure);
        }
        return done;
    }

    /** The driver has not taken a record with a number: its requests have failed once the GPU is through with the others of it. */
    void refused(long number, CompletionStatus status) {
        for (int i = head; i != tail; i++) {
            WorkRequest request = requests[i & MASK];
            Owner owner = owners[i & MASK];
            if (sequences[i & MASK] == number && request != null && owner != null) {
                failures[i & MASK] = status;
                owner.refused(request);
            }
        }
        // of a request of many records, that is still being made
        refusedNumber = number;
        refusedStatus = status;
    }

    /** Its word is not to be relied on any more: it takes nothing new, and what it has ends once {@link #query} says so. */
    void breakDown() {
        broken = true;
    }

    boolean isBroken() {
        return broken;
    }

    /** The GPU does nothing of it any more. */
    void abandon() {
        while (head != tail) {
            complete(head++ & MASK, CompletionStatus.FLUSHED);
        }
    }

    private void complete(int at, CompletionStatus status) {
        WorkRequest request = requests[at];
        Owner owner = owners[at];
        PartedCopy part = parts[at];
        doneRecords = records[at];
        if (request == null || owner == null) {
            return;
        }
        requests[at] = null;
        owners[at] = null;
        parts[at] = null;
        if (slots[at] >= 0) {
            tables.giveBack(slots[at]);
        }
        bytes -= lengths[at];
        if (part != null) {
            owner.partDone(part, status);
            return;
        }
        if (slots[at] == SIGNAL_FOLLOWS && status == CompletionStatus.SUCCESS) {
            owner.signalDue(request);
            return;
        }
        if (request.operation().isFetching() && status == CompletionStatus.SUCCESS) {
            request.fetched(pinned.get(ValueLayout.JAVA_LONG, cell(at)));
        }
        owner.finished(request, status);
    }

    /**
     * Whether the GPU may still write to what it was given. The word decides if it can, as the driver notices a little later that a
     * stream is done; of a stream that was never used the driver alone knows.
     */
    boolean isAtWork() {
        boolean mayBe = sequence == 0 || (isBusy() && sequences[tail - 1 & MASK] > reached());
        return mayBe && query() == CudaStream.NOT_READY;
    }

    /** 0 if all is done, {@link CudaStream#NOT_READY}, or the error that its work has failed with. */
    int query() {
        return CudaStream.query(stream);
    }
}
