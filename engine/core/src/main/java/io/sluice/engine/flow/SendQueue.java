package io.sluice.engine.flow;

import io.sluice.engine.EngineOptions;
import io.sluice.engine.MemoryKind;
import io.sluice.engine.RegionClosedException;
import io.sluice.engine.SluiceException;
import io.sluice.engine.StreamCompletion;
import io.sluice.engine.StreamEvent;
import io.sluice.engine.transport.CompletionStatus;
import io.sluice.engine.transport.EventLoop;
import io.sluice.engine.transport.WorkRequest;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The send queue of a connection: the waiting transfers, their credits, their chunks, and the requests that endpoints
 * hold. On the poller's thread.
 */
@SuppressWarnings("ReferenceEquality") // an operation is its own identity
final class SendQueue {
    private final EventLoop loop;
    private final TransferEnds ends;
    private final CreditWaiter waiter;
    private final EngineWindow engineWindow;
    private final ConnectionWindow window;
    private final PathQueue[] paths;
    private final WriteGroups groups;
    private final WaitingTransfers waiting;
    private final List<Chunk> chunks = new ArrayList<>();
    // pools: each leads to the next
    private @Nullable Chunk freeChunk;
    private @Nullable ElementOperation freeOperation;
    private boolean awaitingOperation;
    private boolean awaitingBytes;
    private boolean operationsExhausted;
    private boolean bytesExhausted;
    // paths that did not accept all requests at the last offer, a bit each
    private int stalled;
    // whether chunks wait without credits; and the one whose path may have room, so that others must not overtake it
    private boolean someBare;
    private @Nullable Chunk lacking;
    private boolean pumping;
    private boolean pumpAgain;

    SendQueue(
            EventLoop loop,
            TransferEnds ends,
            CreditWaiter waiter,
            EngineOptions options,
            EngineWindow engineWindow,
            List<FlowPath> paths,
            WriteGroups groups) {
        this.loop = loop;
        this.ends = ends;
        this.waiter = waiter;
        this.engineWindow = engineWindow;
        this.window = new ConnectionWindow(options.windowOperations(), options.windowBytes(), engineWindow);
        this.paths = new PathQueue[paths.size()];
        long windowBytes = Math.min(options.windowBytes(), options.engineWindowBytes());
        Arrays.setAll(this.paths, i -> new PathQueue(i, paths.get(i), windowBytes));
        this.groups = groups;
        this.waiting = new WaitingTransfers(options.priorityAging(), paths.size());
    }

    /** The credits. */
    ConnectionWindow window() {
        return window;
    }

    /** How large the chunks are. */
    Chunker chunker(int path, MemoryKind kind) {
        return paths[path].chunker(kind);
    }

    /** Whether something waits for its turn, or for credits. */
    boolean hasWaiting() {
        return someBare || !waiting.isEmpty();
    }

    /** The endpoint of a path has room again. */
    void postable(int path) {
        paths[path].hasRoom();
        pump();
    }

    /** Appends a transfer to those of its priority. */
    void append(DataTransfer transfer) {
        waiting.append(transfer, pathOf(transfer));
    }

    /** Inserts a transfer that was blocked, in the order of submission. */
    void insert(DataTransfer transfer) {
        waiting.insert(transfer, pathOf(transfer));
    }

    void remove(DataTransfer transfer) {
        waiting.remove(transfer);
    }

    /** Stops waiting for credits of the engine. */
    void leaveEngineQueues() {
        leaveOperations();
        leaveBytes();
    }

    private void leaveOperations() {
        if (awaitingOperation) {
            awaitingOperation = false;
            engineWindow.leaveOperations(waiter);
        }
    }

    private void leaveBytes() {
        if (awaitingBytes) {
            awaitingBytes = false;
            engineWindow.leaveBytes(waiter);
        }
    }

    /** Posts what credits and endpoint allow. */
    void pump() {
        if (pumping) {
            pumpAgain = true;
            return;
        }
        pumping = true;
        try {
            do {
                pumpAgain = false;
                operationsExhausted = false;
                bytesExhausted = false;
                fillAndPost();
            } while (pumpAgain);
        } finally {
            pumping = false;
        }
        // otherwise it would delay the others for nothing
        if (!operationsExhausted) {
            leaveOperations();
        }
        if (!bytesExhausted) {
            leaveBytes();
        }
    }

    private void fillAndPost() {
        boolean some = postAll();
        Chunk lacks = lacking;
        if (!some || (lacks != null && lacks.element().credits() != 0)) {
            // nothing has room, or what would be added took the bytes that one with room waits for
            return;
        }
        DataTransfer transfer;
        // only those that hold the operation credit which one with room may wait for go before it
        while ((transfer = lacks == null ? waiting.next(stalled) : waiting.nextBegun(stalled)) != null) {
            PathQueue path = paths[transfer.waitingPath];
            if (addChunk(transfer, path) || (giveBack() && addChunk(transfer, path))) {
                waiting.tookTurn();
            } else {
                // a partly posted transfer that it has overtaken may hold the credit that it needs
                DataTransfer begun = transfer.current() == null ? waiting.nextBegun(stalled) : null;
                if (begun == null) {
                    break;
                }
                path = paths[begun.waitingPath];
                if (!addChunk(begun, path)) {
                    break;
                }
            }
            if (path.isFull()) {
                post(path);
            }
        }
        for (PathQueue path : paths) {
            if ((stalled & 1 << path.index()) == 0) {
                post(path);
            }
        }
    }

    /** Offers the remaining requests again; returns false if no endpoint has room. */
    private boolean postAll() {
        boolean some = false;
        stalled = 0;
        someBare = false;
        lacking = null;
        for (PathQueue path : paths) {
            some |= path.isEmpty() || post(path);
        }
        return some;
    }

    /** Offers what a path's endpoint is to have; false if some is left, and what goes over that path has to wait. */
    private boolean post(PathQueue path) {
        boolean wasRefused = path.isRefused();
        while (path.post(loop)) {
            Chunk bare = path.bare();
            if (bare == null) {
                return true;
            }
            // without room it would only take credits, and its connection's place in the queue for them, from others
            if (path.isRefused() || waitsForLacking(bare) || (!acquire(bare) && !(giveBack() && acquire(bare)))) {
                lacking = path.isRefused() || lacking != null ? lacking : bare;
                break;
            }
            // with all that follow it and find credits, so that they are one batch
            do {
                path.credited();
                bare = path.bare();
            } while (bare != null && acquire(bare));
        }
        stalled |= 1 << path.index();
        someBare |= path.bare() != null;
        // the refused requests may hold credits that others were passed over for
        pumpAgain |= !wasRefused && path.isRefused() && paths.length > 1 && hasWaiting();
        return false;
    }

    /** Whether a chunk without credits must not take those that an earlier path with room lacks. */
    private boolean waitsForLacking(Chunk bare) {
        Chunk lacks = lacking;
        return lacks != null
                && (lacks.element().credits() != 0 || bare.element().credits() == 0);
    }

    /**
     * Returns the credits of requests refused on paths without room, so that others can proceed; false if they hold
     * none.
     */
    private boolean giveBack() {
        boolean some = false;
        for (PathQueue path : paths) {
            if (path.isRefused() && path.giveBack(window)) {
                some = true;
                someBare = true;
            }
        }
        return some;
    }

    /** Takes again what a chunk has given back; false if a credit is lacking. */
    private boolean acquire(Chunk chunk) {
        long bytes = chunk.length();
        ElementOperation operation = chunk.element();
        boolean hasBytes = false;
        if (operation.credits() == 0) {
            hasBytes = acquireBoth(bytes);
            if (!hasBytes && !acquireOperation()) {
                return false;
            }
            operation.credited();
        }
        if (!hasBytes && !acquireBytes(bytes)) {
            return false;
        }
        chunk.credited();
        return true;
    }

    private static int pathOf(DataTransfer transfer) {
        return transfer.remote(transfer.nextElement()).path();
    }

    /** Adds the next chunk of a transfer to its path's queue, which has room; returns false if a credit is lacking. */
    private boolean addChunk(DataTransfer transfer, PathQueue path) {
        ElementOperation operation = transfer.current();
        int element = transfer.nextElement();
        long position = transfer.position();
        long length = transfer.length(element);
        LeasedMemory memory = transfer.local(element);
        long bytes = chunkBytes(transfer, path, memory, element, position, length);
        // before credits and leases are taken: the heap may be full
        Chunk chunk = freeChunk == null ? newChunk() : freeChunk;
        boolean hasBytes = false;
        if (operation == null) {
            ElementOperation free = freeOperation == null ? newOperation() : freeOperation;
            hasBytes = acquireBoth(bytes);
            if (!hasBytes && !acquireOperation()) {
                return false;
            }
            freeOperation = free.nextFree;
            operation = free;
            operation.begin(transfer, element);
            transfer.beginElement(operation);
        }
        if (!hasBytes && !acquireBytes(bytes)) {
            return false;
        }
        if (memory != null && !memory.acquire()) {
            window.releaseBytes(bytes);
            transfer.completeOnHost();
            operation.fail(new RegionClosedException("the local region is closed, or its memory was freed"));
            finishPosting(transfer, operation);
            return true;
        }
        freeChunk = chunk.nextFree;
        describe(chunk, operation, transfer, path, memory, element, position, bytes, length);
        operation.chunkPosted();
        path.add(chunk);
        transfer.advance(bytes);
        if (transfer.position() == length) {
            finishPosting(transfer, operation);
        }
        return true;
    }

    private static long chunkBytes(
            DataTransfer transfer,
            PathQueue path,
            @Nullable LeasedMemory memory,
            int element,
            long position,
            long length) {
        if (transfer instanceof PageTransfer pages) {
            return pages.chunk(element, position, path);
        }
        return path.chunk(memory, position, length);
    }

    /** Makes a chunk a piece of an element. */
    private void describe(
            Chunk chunk,
            ElementOperation operation,
            DataTransfer transfer,
            PathQueue path,
            @Nullable LeasedMemory memory,
            int element,
            long position,
            long bytes,
            long length) {
        PageTransfer pages = transfer instanceof PageTransfer paged ? paged : null;
        if (memory == null) {
            chunk.prepareWord(
                    operation,
                    transfer.operation(element),
                    transfer.remote(element),
                    transfer.remoteOffset(element),
                    bytes,
                    transfer.operand(element),
                    transfer.expected(element));
        } else {
            chunk.prepare(
                    operation,
                    transfer.operation(element),
                    memory,
                    path.transport(),
                    pages == null ? transfer.localOffset(element) + position : pages.localAt(element, position),
                    bytes,
                    transfer.remote(element),
                    pages == null ? transfer.remoteOffset(element) + position : pages.remoteAt(element, position));
            if (pages != null) {
                pages.describe(chunk, element, position);
            } else if (bytes == length
                    && transfer instanceof SignallingTransfer signalling
                    && path.canCarrySignals()
                    && signalling.canCarry(groups)) {
                signalling.carry(chunk);
            }
        }
        StreamEvent start = transfer.startOnDevice();
        if (start != null) {
            chunk.waitFor(start);
        }
        StreamCompletion completion = transfer.completionOnDevice();
        if (completion != null) {
            chunk.tellOfTheEnd(completion, element == transfer.elements() - 1 && position + bytes == length);
        }
        chunk.first(position == 0);
    }

    private ElementOperation newOperation() {
        ElementOperation operation = new ElementOperation();
        freeOperation = operation;
        return operation;
    }

    private Chunk newChunk() {
        Chunk chunk = new Chunk();
        chunks.add(chunk);
        freeChunk = chunk;
        return chunk;
    }

    /**
     * Acquires both kinds of credits for the first chunk of a new element at once, if no other waits; otherwise they
     * are acquired one after the other, each in its queue.
     */
    private boolean acquireBoth(long bytes) {
        return !awaitingOperation
                && !awaitingBytes
                && window.tryAcquire(waiter, 1, bytes) == ConnectionWindow.Grant.GRANTED;
    }

    private boolean acquireOperation() {
        ConnectionWindow.Grant grant = window.tryAcquireOperation(waiter);
        if (grant == ConnectionWindow.Grant.ENGINE_EXHAUSTED && !awaitingOperation) {
            awaitingOperation = true;
            engineWindow.awaitOperation(waiter);
            // one may have been released between the refusal and this
            grant = window.tryAcquireOperation(waiter);
        }
        operationsExhausted = grant == ConnectionWindow.Grant.ENGINE_EXHAUSTED;
        if (!operationsExhausted) {
            // one credit at a time: a waiter for more queues again
            leaveOperations();
        }
        return grant == ConnectionWindow.Grant.GRANTED;
    }

    private boolean acquireBytes(long bytes) {
        ConnectionWindow.Grant grant = window.tryAcquireBytes(waiter, bytes);
        if (grant == ConnectionWindow.Grant.ENGINE_EXHAUSTED && !awaitingBytes) {
            awaitingBytes = true;
            engineWindow.awaitBytes(waiter);
            grant = window.tryAcquireBytes(waiter, bytes);
        }
        bytesExhausted = grant == ConnectionWindow.Grant.ENGINE_EXHAUSTED;
        if (!bytesExhausted) {
            leaveBytes();
        }
        return grant == ConnectionWindow.Grant.GRANTED;
    }

    private void finishPosting(DataTransfer transfer, ElementOperation operation) {
        transfer.finishPosting();
        operation.allPosted();
        if (transfer.isFullyPosted() || transfer.isBlocked()) {
            waiting.remove(transfer);
        } else if (paths.length > 1) {
            waiting.move(transfer, pathOf(transfer));
        }
        if (operation.isDone()) {
            finish(operation, 0);
        }
    }

    /** A work request has ended. */
    void completed(WorkRequest request, CompletionStatus status) {
        Chunk chunk = (Chunk) request;
        long bytes = chunk.credits();
        WorkRequest.Opcode kind = chunk.operation();
        long fetched = chunk.fetched();
        ElementOperation operation = chunk.retire();
        chunk.nextFree = freeChunk;
        freeChunk = chunk;
        operation.chunkDone();
        DataTransfer transfer = operation.transfer();
        if (status == CompletionStatus.SUCCESS) {
            operation.reachedPeer();
            if (kind.isFetching()) {
                transfer.fetched(fetched);
            }
        } else {
            transfer.completeOnHost();
            switch (status) {
                case FLUSHED -> {
                    operation.reachedPeer();
                    operation.cutOff();
                }
                case FLUSHED_UNSENT -> operation.cutOff();
                case OUTCOME_UNKNOWN -> {
                    operation.reachedPeer();
                    operation.fail(TransferErrors.refused(status, kind));
                }
                default -> operation.fail(TransferErrors.refused(status, kind));
            }
            if (transfer.current() == operation) {
                window.releaseBytes(bytes);
                finishPosting(transfer, operation);
                return;
            }
        }
        if (operation.isDone()) {
            finish(operation, bytes);
        } else {
            window.releaseBytes(bytes);
        }
    }

    /** Ends an element and releases its credit, with those of its last chunk. */
    private void finish(ElementOperation operation, long bytes) {
        DataTransfer transfer = operation.transfer();
        int element = operation.index();
        SluiceException error = operation.error();
        if (error == null && operation.isCutOff()) {
            error = TransferErrors.cutOff(
                    transfer.hasTakenEffect()
                            || (operation.hasReachedPeer()
                                    && transfer.operation(element).changesRemote()),
                    ends.connectionEnd());
        }
        long postedAt = operation.postedAt();
        int operations = operation.credits();
        operation.retire();
        operation.nextFree = freeOperation;
        freeOperation = operation;
        window.release(operations, bytes);
        transfer.operationDone();
        ends.elementDone(transfer, element, error, postedAt);
    }

    /** Abandons an element, of which nothing more will be posted. */
    void abandon(ElementOperation operation) {
        operation.allPosted();
        if (operation.isDone()) {
            finish(operation, 0);
        }
    }

    /** Whether a chunk that is posted holds a lease on this memory. */
    boolean isPostedOn(LeasedMemory memory) {
        return chunks.stream().anyMatch(chunk -> chunk.holds(memory));
    }

    /** Ends the requests that the closed endpoints never accepted. */
    void endOffered() {
        for (PathQueue path : paths) {
            while (path.hasOffered()) {
                completed(path.takeOffered(), CompletionStatus.FLUSHED_UNSENT);
            }
        }
    }

    /**
     * Afterwards cuts off partly posted transfers, and returns the next that is at the start of an element and must be
     * ended, or null.
     */
    @Nullable
    DataTransfer nextNotBegun() {
        DataTransfer transfer;
        while ((transfer = waiting.next(0)) != null) {
            ElementOperation begun = transfer.current();
            if (begun == null) {
                return transfer;
            }
            begun.cutOff();
            finishPosting(transfer, begun);
        }
        return null;
    }

    /** After that: a transfer that has not ended, of which a closed endpoint still has a chunk; or null. */
    @Nullable
    DataTransfer nextHeld() {
        for (Chunk chunk : chunks) {
            DataTransfer transfer = chunk.transfer();
            if (transfer != null && !transfer.hasEnded()) {
                return transfer;
            }
        }
        return null;
    }
}
