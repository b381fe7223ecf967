package io.sluice.engine.transport.shm;

import io.sluice.engine.transport.CompletionStatus;
import io.sluice.engine.transport.EndpointContext;
import io.sluice.engine.transport.WireCounter;
import io.sluice.engine.transport.WorkRequest;
import org.jspecify.annotations.Nullable;

/**
 * Carries out batches of posted requests by the peer's mapped memory or by cross-memory attach, up to a number of bytes in
 * each turn of the loop. On the loop's thread.
 */
final class BatchExecutor {
    // after so many bytes the loop serves its other connections; then the code and data of copies have to be loaded
    // into the
    // caches again, a cost that must stay small in comparison
    private static final long BYTES_A_TURN = 16 << 20;
    // takes some microseconds to copy: requests behind it complete at a later time
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
     * Without cross-memory attach until {@link #crossMemory} gives it.
     *
     * @param peerEnded runs on the loop when the peer's process is found to have ended
     */
    BatchExecutor(EndpointContext context, Runnable peerEnded) {
        this.context = context;
        this.peerEnded = peerEnded;
    }

    /** Takes over the peer's memory, and closes it in the end. */
    void crossMemory(@Nullable CrossMemory memory) {
        crossMemory = memory;
    }

    boolean hasCrossMemory() {
        return crossMemory != null;
    }

    /** Begins a turn; returns whether requests were refused in the last one. */
    boolean beginTurn() {
        bytesLeft = BYTES_A_TURN;
        boolean owed = owesPostable;
        owesPostable = false;
        return owed;
    }

    /** Whether requests were refused that the next turn can take. */
    boolean isTurnAwaited() {
        return owesPostable;
    }

    /** Whether words of the peer were changed since the last call. */
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

    /** How many of the next requests go the same way and are of the same operation. */
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
     * Carries out several requests, and completes them only then: a large copy evicts the code and data of completions from
     * the caches, which would be loaded again after each.
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
                // each has a status of its own
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

    /** Counts copied bytes; a fetched word is received as well as sent. */
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
            // the connection ends, and with it the request
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
