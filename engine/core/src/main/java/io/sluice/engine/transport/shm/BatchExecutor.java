package io.sluice.engine.transport.shm;

import io.sluice.engine.transport.CompletionStatus;
import io.sluice.engine.transport.EndpointContext;
import io.sluice.engine.transport.WireCounter;
import io.sluice.engine.transport.WorkRequest;
import org.jspecify.annotations.Nullable;

/**
 * Executes batches of posted requests through the peer's mapped memory or by cross-memory attach, up to a byte budget
 * in each turn of the loop. On the loop's thread.
 */
final class BatchExecutor {
    // After this many bytes the loop serves its other connections. Coming back, the code and data of copies must be
    // loaded into the caches again, a cost that must stay small in comparison.
    private static final long BYTES_A_TURN = 16 << 20;
    // a copy of this length takes microseconds: requests behind it complete at a later time
    private static final long BYTES_A_BATCH = 16 * 1024;

    private final EndpointContext context;
    private final Runnable peerEnded;

    private @Nullable CrossMemory crossMemory;
    private long bytesLeft = BYTES_A_TURN;
    private long bytesOfBatch;
    private boolean owesPostable;
    private boolean changedWords;
    private boolean closed;

    /**
     * Works without cross-memory attach until {@link #crossMemory} provides it.
     *
     * @param peerEnded runs on the loop when the peer's process turns out to have ended
     */
    BatchExecutor(EndpointContext context, Runnable peerEnded) {
        this.context = context;
        this.peerEnded = peerEnded;
    }

    /** Takes ownership of the access to the peer's memory. */
    void crossMemory(@Nullable CrossMemory memory) {
        crossMemory = memory;
    }

    boolean hasCrossMemory() {
        return crossMemory != null;
    }

    /** Begins a turn; returns whether requests were refused in the previous one. */
    boolean beginTurn() {
        bytesLeft = BYTES_A_TURN;
        boolean owed = owesPostable;
        owesPostable = false;
        return owed;
    }

    /** Whether refused requests wait that the next turn can take. */
    boolean isTurnAwaited() {
        return owesPostable;
    }

    /** Whether words of the peer have changed since the last call. */
    boolean takeChangedWords() {
        boolean changed = changedWords;
        changedWords = false;
        return changed;
    }

    /** As {@link io.sluice.engine.transport.Endpoint#post}. */
    int post(WorkRequest[] batch, int from, int count) {
        int done = 0;
        while (done < count && !closed) {
            int at = from + done;
            int accepted = switch (wayOf(batch[at])) {
                case MAPPED -> postMapped(batch, at, run(batch, at, count - done));
                case CROSS_MEMORY -> postCrossMemory(batch, at, run(batch, at, count - done));
            };
            if (accepted == 0) {
                break;
            }
            done += accepted;
        }
        return done;
    }

    private static RegionKeys.Way wayOf(WorkRequest request) {
        return ((ShmRemoteKey) request.remote()).keys().way();
    }

    /** How many of the next requests take the same way and have the same operation. */
    private static int run(WorkRequest[] batch, int from, int count) {
        RegionKeys.Way way = wayOf(batch[from]);
        WorkRequest.Opcode operation = batch[from].operation();
        int length = 1;
        while (length < count && wayOf(batch[from + length]) == way && batch[from + length].operation() == operation) {
            length++;
        }
        return length;
    }

    private boolean isTurnOver() {
        if (bytesLeft > 0) {
            return false;
        }
        owesPostable = true;
        return true;
    }

    /**
     * Executes several requests before completing any: a large copy evicts the code and data of completions from the
     * caches, which would be loaded again after each one.
     */
    private int postMapped(WorkRequest[] batch, int from, int run) {
        if (isTurnOver()) {
            return 0;
        }
        int end = from + run;
        int next = from;
        CompletionStatus status = CompletionStatus.SUCCESS;
        while (next < end && bytesLeft > 0 && status == CompletionStatus.SUCCESS) {
            WorkRequest first = batch[next];
            int count = MappedMemory.inOnePiece(batch, next, end - next, bytesLeft);
            WorkRequest last = batch[next + count - 1];
            long bytes = last.remoteOffset() - first.remoteOffset() + last.length();
            status = MappedMemory.execute(first, bytes);
            if (status != CompletionStatus.SUCCESS && count > 1) {
                // each request has its own status
                count = 1;
                bytes = first.length();
                status = MappedMemory.execute(first, bytes);
            }
            changedWords |= first.operation().isAtomic() || first.hasSignal();
            bytesLeft -= bytes;
            next += count;
        }
        int succeeded = status == CompletionStatus.SUCCESS ? next : next - 1;
        for (int i = from; i < next; i++) {
            copied(batch[i], i < succeeded ? CompletionStatus.SUCCESS : status);
        }
        for (int i = from; i < succeeded; i++) {
            context.completed(batch[i], CompletionStatus.SUCCESS);
        }
        if (status != CompletionStatus.SUCCESS) {
            context.completed(batch[succeeded], status);
        }
        return next - from;
    }

    /** Counts copied bytes; a fetched word counts as both received and sent. */
    private void copied(WorkRequest request, CompletionStatus status) {
        long bytes = request.length();
        if (status == CompletionStatus.SUCCESS) {
            WorkRequest.Opcode operation = request.operation();
            if (operation.changesRemote()) {
                context.count(WireCounter.SENT, bytes + (request.hasSignal() ? WorkRequest.WORD_BYTES : 0));
            }
            if (operation.bringsBack()) {
                context.count(WireCounter.RECEIVED, bytes);
            }
        }
        bytesOfBatch += bytes;
        if (bytesOfBatch >= BYTES_A_BATCH) {
            bytesOfBatch = 0;
            context.loop().beginBatch();
        }
    }

    private int postCrossMemory(WorkRequest[] batch, int from, int run) {
        if (isTurnOver()) {
            return 0;
        }
        if (((ShmRemoteKey) batch[from].remote()).hasEnded()) {
            context.completed(batch[from], CompletionStatus.UNKNOWN_REGION);
            return 1;
        }
        int count = 0;
        while (count < run
                && count < CrossMemory.mostRequests()
                && bytesLeft > 0
                && !((ShmRemoteKey) batch[from + count].remote()).hasEnded()) {
            bytesLeft -= batch[from + count].length();
            count++;
        }
        CrossMemory memory = crossMemory;
        int succeeded = memory == null ? CrossMemory.PROCESS_ENDED : memory.execute(batch, from, count);
        for (int i = 0; i < succeeded; i++) {
            copied(batch[from + i], CompletionStatus.SUCCESS);
        }
        for (int i = 0; i < succeeded; i++) {
            context.completed(batch[from + i], CompletionStatus.SUCCESS);
        }
        if (succeeded > 0) {
            return succeeded;
        }
        if (succeeded == CrossMemory.PROCESS_ENDED) {
            // the connection ends, and the request with it
            context.loop().execute(peerEnded);
            return 0;
        }
        context.completed(batch[from], CrossMemory.whyFailed(batch[from]));
        return 1;
    }

    void close() {
        closed = true;
        CrossMemory memory = crossMemory;
        if (memory != null) {
            crossMemory = null;
            memory.close();
        }
    }
}
