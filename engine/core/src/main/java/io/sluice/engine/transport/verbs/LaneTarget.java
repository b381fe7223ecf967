package io.sluice.engine.transport.verbs;

import io.sluice.engine.ProtocolException;
import io.sluice.engine.transport.CompletionStatus;
import io.sluice.engine.transport.EndpointContext;
import io.sluice.engine.transport.ExportedRegion;
import io.sluice.engine.transport.FaultCheckedCopy;
import io.sluice.engine.transport.WorkRequest;
import java.lang.foreign.MemorySegment;

/** Executes what the peer requests by messages: signals, and atomic operations of this host's processors. */
final class LaneTarget {
    /** The lane on which a request arrived. */
    interface Asker {
        /** A request has succeeded; a count reports it to the peer. */
        void handled();

        /**
         * A request has an answer that a count cannot express.
         *
         * @throws ProtocolException if too many answers wait
         */
        void handled(CompletionStatus status, long value);
    }

    private static final int HANDLE = 0;
    private static final int KEY = 1;
    private static final int EPOCH = 2;
    private static final int OFFSET = 3;
    private static final int OPERAND = 4;
    private static final int EXPECTED = 5;

    private final EndpointContext context;
    private final ArrivedWrites writes;

    LaneTarget(EndpointContext context, ArrivedWrites writes) {
        this.context = context;
        this.writes = writes;
    }

    /** Executes a request that arrived by SEND; the lane sends its answer. */
    void execute(Asker asker, int type, MemorySegment buffer, long at) {
        WorkRequest.Opcode operation = switch (type) {
            case VerbsMessage.SIGNAL -> WorkRequest.Opcode.SIGNAL;
            case VerbsMessage.FETCH_ADD -> WorkRequest.Opcode.FETCH_ADD;
            default -> WorkRequest.Opcode.COMPARE_AND_SWAP;
        };
        execute(
                asker,
                operation,
                VerbsMessage.word(buffer, at, HANDLE),
                VerbsMessage.word(buffer, at, KEY),
                VerbsMessage.word(buffer, at, EPOCH),
                VerbsMessage.word(buffer, at, OFFSET),
                VerbsMessage.word(buffer, at, OPERAND),
                type == VerbsMessage.COMPARE_AND_SWAP ? VerbsMessage.word(buffer, at, EXPECTED) : 0);
    }

    /** Executes the signal of a write that has arrived. */
    void signal(Asker asker, PeerSignalTable signals, int number) {
        execute(
                asker,
                WorkRequest.Opcode.SIGNAL,
                signals.handle(number),
                signals.key(number),
                signals.epoch(number),
                signals.offset(number),
                signals.addend(number),
                0);
    }

    private void execute(
            Asker asker,
            WorkRequest.Opcode operation,
            long handle,
            long key,
            long epoch,
            long offset,
            long operand,
            long expected) {
        writes.flush();
        ExportedRegion region = context.exportedRegion(handle);
        CompletionStatus status = region == null
                ? CompletionStatus.UNKNOWN_REGION
                : region.acquire(operation, key, epoch, offset, WorkRequest.WORD_BYTES);
        if (region == null || status != CompletionStatus.SUCCESS) {
            context.refused();
            asker.handled(status, 0);
            return;
        }
        long before = 0;
        try {
            if (region.memory().isHost()) {
                FaultCheckedCopy.require(region.memory().segment(), offset, WorkRequest.WORD_BYTES);
            }
            before = operation == WorkRequest.Opcode.COMPARE_AND_SWAP
                    ? region.compareAndSwap(offset, expected, operand)
                    : region.fetchAdd(offset, operand);
        } catch (IllegalStateException | InternalError gone) {
            // the arena was closed, or the mapped file was truncated
            status = CompletionStatus.REMOTE_MEMORY_FAULT;
        } finally {
            region.release();
        }
        if (status == CompletionStatus.SUCCESS) {
            context.served(operation, WorkRequest.WORD_BYTES);
        }
        if (operation == WorkRequest.Opcode.SIGNAL && status == CompletionStatus.SUCCESS) {
            asker.handled();
        } else {
            asker.handled(status, before);
        }
    }

    /** An adapter has changed a word that may have waiters. */
    void wake(MemorySegment buffer, long at) {
        writes.flush();
        ExportedRegion region = context.exportedRegion(VerbsMessage.word(buffer, at, HANDLE));
        long offset = VerbsMessage.word(buffer, at, OFFSET);
        if (region == null
                || !region.memory().isHost()
                || offset < 0
                || offset > region.memory().length() - WorkRequest.WORD_BYTES) {
            return;
        }
        // a closing region has no waiters any more
        CompletionStatus status = region.acquire(
                WorkRequest.Opcode.PUT,
                VerbsMessage.word(buffer, at, KEY),
                VerbsMessage.word(buffer, at, EPOCH),
                offset,
                WorkRequest.WORD_BYTES);
        if (status == CompletionStatus.SUCCESS) {
            try {
                FaultCheckedCopy.require(region.memory().segment(), offset, WorkRequest.WORD_BYTES);
                region.changed(offset);
            } catch (IllegalStateException | InternalError gone) {
                // the word is missing, so its value cannot be awaited
            } finally {
                region.release();
            }
        }
    }
}
