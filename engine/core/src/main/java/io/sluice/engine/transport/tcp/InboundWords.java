package io.sluice.engine.transport.tcp;

import io.sluice.engine.ProtocolException;
import io.sluice.engine.transport.CompletionStatus;
import io.sluice.engine.transport.EndpointContext;
import io.sluice.engine.transport.ExportedRegion;
import io.sluice.engine.transport.FaultCheckedCopy;
import io.sluice.engine.transport.WorkRequest;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.jspecify.annotations.Nullable;

/** Executes the puts, signals and atomic operations of a lane's peer. Confined to the connection's loop. */
final class InboundWords {
    private final EndpointContext context;
    private final LoopScratch scratch;
    private final boolean summed;
    private long fetched;

    InboundWords(EndpointContext context, LoopScratch scratch, boolean summed) {
        this.context = context;
        this.scratch = scratch;
        this.summed = summed;
    }

    /**
     * Executes the operation of a frame. A put must be for host memory.
     *
     * @throws ProtocolException if the operation has no words of this length
     */
    CompletionStatus execute(int operation, MemorySegment header, long at, long length) {
        return execute(operation, header, at, length, context.exportedRegion(FrameHeader.handle(header, at)));
    }

    /** As {@link #execute(int, MemorySegment, long, long)}, for a region that was looked up, or null if there is none. */
    CompletionStatus execute(
            int operation, MemorySegment header, long at, long length, @Nullable ExportedRegion region) {
        if (length < 1
                || length > WorkRequest.WORD_BYTES
                || (operation != FrameHeader.PUT && length < WorkRequest.WORD_BYTES)) {
            throw new ProtocolException("the peer sent a word of " + length + " bytes");
        }
        if (!isIntact(header, at)) {
            return CompletionStatus.INTEGRITY;
        }
        WorkRequest.Opcode what = switch (operation) {
            case FrameHeader.PUT -> WorkRequest.Opcode.PUT;
            case FrameHeader.FETCH_ADD -> WorkRequest.Opcode.FETCH_ADD;
            case FrameHeader.COMPARE_AND_SWAP -> WorkRequest.Opcode.COMPARE_AND_SWAP;
            default -> WorkRequest.Opcode.SIGNAL;
        };
        CompletionStatus outcome = AccessCheck.acquire(region, what, header, at, length);
        if (region == null || outcome != CompletionStatus.SUCCESS) {
            return outcome;
        }
        try {
            long offset = FrameHeader.offset(header, at);
            long operand = FrameHeader.operand(header, at);
            if (region.memory().isHost()) {
                FaultCheckedCopy.require(region.memory().segment(), offset, length);
            }
            switch (what) {
                case PUT -> PutValue.store(region.memory().segment(), offset, operand, (int) length);
                case COMPARE_AND_SWAP ->
                    fetched = region.compareAndSwap(offset, FrameHeader.expected(header, at), operand);
                default -> fetched = region.fetchAdd(offset, operand);
            }
            context.served(what, length);
            return CompletionStatus.SUCCESS;
        } catch (IllegalStateException | InternalError gone) {
            // the arena was closed, the mapped file was truncated, or a device has failed
            return CompletionStatus.REMOTE_MEMORY_FAULT;
        } finally {
            region.release();
        }
    }

    /** The previous value of the word that the last operation changed. */
    long fetched() {
        return fetched;
    }

    /** Whether the checksum of a header's operands matches; true on a connection without checksums. */
    boolean isIntact(MemorySegment header, long at) {
        return !summed || FrameHeader.operandSum(header, at, scratch.sum()) == FrameHeader.payloadSum(header, at);
    }

    /**
     * Makes the value of a put the last bytes of its frame, as if it were the payload that follows.
     *
     * @param end where the frame ends
     */
    static void makePayload(MemorySegment frame, long end, long value, long length) {
        for (int i = 0; i < length; i++) {
            frame.set(ValueLayout.JAVA_BYTE, end - length + i, (byte) (value >>> (Byte.SIZE * i)));
        }
    }
}
