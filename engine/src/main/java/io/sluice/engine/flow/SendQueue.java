package io.sluice.engine.flow;

import io.sluice.engine.EngineOptions;
import io.sluice.engine.RegionClosedException;
import io.sluice.engine.SluiceException;
import io.sluice.engine.transport.Capabilities;
import io.sluice.engine.transport.CompletionStatus;
import io.sluice.engine.transport.Endpoint;
import io.sluice.engine.transport.EventLoop;
import io.sluice.engine.transport.WorkRequest;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The send queue of a connection: the transfers that wait for their turn, the credits that they take, the chunks that they are
 * cut into, and what the endpoint has of them. On the poller's thread.
 */
@SuppressWarnings("ReferenceEquality") // an operation is its own identity
final class SendQueue {
    private static final int BATCH = 64;

    private final EventLoop loop;
    private final FlowFigures figures;
    private final TransferEnds ends;
    private final CreditWaiter waiter;
    private final EngineWindow engineWindow;
    private final ConnectionWindow window;
    private final Chunker chunker;
    private final Endpoint endpoint;
    private final WriteGroups groups;
    private final boolean canCarrySignals;
    private final int transport;
    private final WaitingTransfers waiting;
    private final ArrayDeque<Chunk> freeChunks = new ArrayDeque<>();
    private final ArrayDeque<ElementOperation> freeOperations = new ArrayDeque<>();
    private final List<Chunk> chunks = new ArrayList<>();
    private final WorkRequest[] batch = new WorkRequest[BATCH];
    private int batchFrom;
    private int batchTo;
    private boolean awaitingOperation;
    private boolean awaitingBytes;
    private boolean operationsExhausted;
    private boolean bytesExhausted;
    private boolean pumping;
    private boolean pumpAgain;

    SendQueue(
            EventLoop loop,
            FlowFigures figures,
            TransferEnds ends,
            CreditWaiter waiter,
            EngineOptions options,
            EngineWindow engineWindow,
            Capabilities capabilities,
            int transport,
            Endpoint endpoint,
            WriteGroups groups) {
        this.loop = loop;
        this.figures = figures;
        this.ends = ends;
        this.waiter = waiter;
        this.engineWindow = engineWindow;
        this.window = new ConnectionWindow(options.windowOperations(), options.windowBytes(), engineWindow);
        this.chunker = new Chunker(
                Math.min(options.windowBytes(), options.engineWindowBytes()), capabilities.largestMessage());
        this.transport = transport;
        this.endpoint = endpoint;
        this.groups = groups;
        this.canCarrySignals = capabilities.writeWithSignal();
        this.waiting = new WaitingTransfers(options.priorityAging());
    }

    /** The credits. */
    ConnectionWindow window() {
        return window;
    }

    /** How large the chunks are. */
    Chunker chunker() {
        return chunker;
    }

    boolean hasWaiting() {
        return !waiting.isEmpty();
    }

    /** A transfer waits for its turn behind those of its priority. */
    void append(DataTransfer transfer) {
        waiting.append(transfer);
    }

    /** A transfer that could not go on before takes the place that its submission gives it. */
    void insert(DataTransfer transfer) {
        waiting.insert(transfer);
    }

    void remove(DataTransfer transfer) {
        waiting.remove(transfer);
    }

    /** The credits of the engine are waited for no more. */
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
        // its turn would hold the others up for nothing
        if (!operationsExhausted) {
            leaveOperations();
        }
        if (!bytesExhausted) {
            leaveBytes();
        }
    }

    private void fillAndPost() {
        if (!post()) {
            return;
        }
        DataTransfer transfer;
        while ((transfer = waiting.next()) != null) {
            if (addChunk(transfer)) {
                waiting.tookTurn();
            } else {
                // the credit it lacks may be held by one that it has overtaken half-way
                DataTransfer begun = transfer.current() == null ? waiting.nextBegun() : null;
                if (begun == null || !addChunk(begun)) {
                    break;
                }
            }
            if (batchTo == BATCH && !post()) {
                return;
            }
        }
        post();
    }

    /** Adds the next chunk of a transfer to the batch; false if a credit is lacking. */
    private boolean addChunk(DataTransfer transfer) {
        ElementOperation operation = transfer.current();
        int element = transfer.nextElement();
        long position = transfer.position();
        long length = transfer.length(element);
        PageTransfer pages = transfer instanceof PageTransfer paged ? paged : null;
        long bytes = pages == null
                ? Math.min(length - position, chunker.chunk(length))
                : pages.chunk(element, position, endpoint);
        boolean hasBytes = false;
        if (operation == null) {
            hasBytes = acquireBoth(bytes);
            if (!hasBytes && !acquireOperation()) {
                return false;
            }
            ElementOperation pooled = freeOperations.pollFirst();
            operation = pooled == null ? new ElementOperation() : pooled;
            operation.begin(transfer, element);
            transfer.beginElement(operation);
        }
        if (!hasBytes && !acquireBytes(bytes)) {
            return false;
        }
        LeasedMemory memory = transfer.local(element);
        if (memory != null && !memory.acquire()) {
            window.releaseBytes(bytes);
            operation.fail(new RegionClosedException("the local region is closed, or its memory was freed"));
            finishPosting(transfer, operation);
            return true;
        }
        Chunk pooled = freeChunks.pollFirst();
        Chunk chunk = pooled == null ? newChunk() : pooled;
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
                    transport,
                    pages == null ? transfer.localOffset(element) + position : pages.localAt(element, position),
                    bytes,
                    transfer.remote(element),
                    pages == null ? transfer.remoteOffset(element) + position : pages.remoteAt(element, position));
            if (pages != null) {
                pages.describe(chunk, element);
            } else if (canCarrySignals
                    && bytes == length
                    && transfer instanceof SignallingTransfer signalling
                    && signalling.canCarry(groups)) {
                signalling.carry(chunk);
            }
        }
        chunk.waitFor(transfer.startOnDevice());
        chunk.first(position == 0);
        operation.chunkPosted();
        batch[batchTo++] = chunk;
        transfer.advance(bytes);
        if (transfer.position() == length) {
            finishPosting(transfer, operation);
        }
        return true;
    }

    private Chunk newChunk() {
        Chunk chunk = new Chunk();
        chunks.add(chunk);
        return chunk;
    }

    /** What a new element takes for its first chunk, in one go where nobody waits; else one after the other, by turns. */
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
            // one may have come back between the refusal and this
            grant = window.tryAcquireOperation(waiter);
        }
        operationsExhausted = grant == ConnectionWindow.Grant.ENGINE_EXHAUSTED;
        if (!operationsExhausted) {
            // one credit a turn: who wants more queues again
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

    /** Offers the batch; false if the endpoint left some of it. */
    private boolean post() {
        while (batchFrom < batchTo) {
            // before: what completes inside the call has been posted
            offer();
            int accepted = endpoint.post(batch, batchFrom, batchTo - batchFrom);
            batchFrom += accepted;
            figures.countPosted(accepted);
            if (accepted == 0) {
                return false;
            }
        }
        batchFrom = 0;
        batchTo = 0;
        return true;
    }

    /** What completes from here on does so now: one look at the clock for all. */
    private void offer() {
        loop.beginBatch();
        long at = loop.batchTime();
        for (int i = batchFrom; i < batchTo; i++) {
            ((Chunk) batch[i]).offered(at);
        }
    }

    private void finishPosting(DataTransfer transfer, ElementOperation operation) {
        transfer.finishPosting();
        operation.allPosted();
        if (transfer.isFullyPosted() || transfer.isBlocked()) {
            waiting.remove(transfer);
        }
        if (operation.isDone()) {
            finish(operation, 0);
        }
    }

    /** A work request has ended. */
    void completed(WorkRequest request, CompletionStatus status) {
        Chunk chunk = (Chunk) request;
        long bytes = chunk.length();
        WorkRequest.Operation kind = chunk.operation();
        long fetched = chunk.fetched();
        ElementOperation operation = chunk.retire();
        freeChunks.addFirst(chunk);
        operation.chunkDone();
        DataTransfer transfer = operation.transfer();
        if (status == CompletionStatus.SUCCESS) {
            operation.reachedPeer();
            if (kind.isFetching()) {
                transfer.fetched(fetched);
            }
        } else {
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

    /** An element has ended; gives its credit back, with those of its last chunk. */
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
        operation.retire();
        freeOperations.addFirst(operation);
        window.release(1, bytes);
        transfer.operationDone();
        ends.elementDone(transfer, element, error, postedAt);
    }

    /** Nothing more of this element will be posted. */
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

    /** After the endpoint was closed: ends what it never took. */
    void endOffered() {
        while (batchFrom < batchTo) {
            WorkRequest request = batch[batchFrom];
            batchFrom++;
            completed(request, CompletionStatus.FLUSHED_UNSENT);
        }
        batchFrom = 0;
        batchTo = 0;
    }

    /** After that: cuts off what waits half posted; gives the next that is at the start of an element, to be ended, or null. */
    @Nullable
    DataTransfer nextNotBegun() {
        DataTransfer transfer;
        while ((transfer = waiting.next()) != null) {
            ElementOperation begun = transfer.current();
            if (begun == null) {
                return transfer;
            }
            begun.cutOff();
            finishPosting(transfer, begun);
        }
        return null;
    }
}
