package io.sluice.engine.transport.tcp;

import io.sluice.engine.Integrity;
import io.sluice.engine.ProtocolException;
import io.sluice.engine.transport.CompletionStatus;
import io.sluice.engine.transport.EndpointContext;
import io.sluice.engine.transport.ExportedRegion;
import io.sluice.engine.transport.FaultCheckedCopy;
import io.sluice.engine.transport.MemoryChecksum;
import io.sluice.engine.transport.SecureStream;
import io.sluice.engine.transport.WorkRequest;
import io.sluice.jni.Errno;
import io.sluice.jni.Sockets;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * Reads frames from a lane. Small frames are received together into the loop's staging memory and copied; the rest of a
 * larger payload is received directly into its region. Refused payloads are read and dropped, so that the stream stays
 * in step.
 */
final class InboundFrames {
    private static final int RECEIVES_A_CALL = 16;
    // below this a copy costs less than a system call of its own
    private static final long DIRECT_BYTES = 16 * 1024;

    private final EndpointContext context;
    private final LoopScratch scratch;
    private final MemorySegment staging;
    private final int descriptor;
    private final @Nullable SecureStream stream;
    private final Sink sink;
    // of the payload that is coming in; null: the connection has no checksums
    private final @Nullable MemoryChecksum payloadSum;
    private final int sumsBytes;

    // a header of which only a part has come
    private final MemorySegment held =
            Arena.ofAuto().allocate(FrameHeader.LONGEST_BYTES + FrameHeader.SUMS_BYTES, Long.BYTES);
    private int heldBytes;

    // the frame whose payload is coming in
    private Payload payload = Payload.NONE;
    private long payloadLength;
    private long payloadRemaining;
    private MemorySegment target = MemorySegment.NULL;
    private long targetOffset;
    private boolean dropping;
    private int announcedSum;
    private @Nullable ExportedRegion lease;
    private CompletionStatus status = CompletionStatus.SUCCESS;

    // of a payload that lies in pages
    private final IncomingTable table = new IncomingTable();
    private final PagedPayload pages = new PagedPayload();
    private boolean paged;
    private int directEntries;

    // a write has come whose signal must come next
    private boolean signalDue;
    private long fetched;

    private enum Payload {
        NONE,
        WRITE,
        WRITE_BEFORE_SIGNAL,
        READ_DATA
    }

    /** The result of a call of {@link #receive()}. */
    enum Received {
        PROGRESS,
        NOTHING,
        END_OF_STREAM
    }

    /** The handler of the frames. */
    interface Sink {
        /** Bytes have arrived, whose frames follow. */
        void received(long bytes);

        /** The peer's next write (with the signal it carries), put or signal has taken effect, or was refused. */
        void writeHandled(CompletionStatus status);

        /** The peer reads; the region is leased until the answer has left. If this throws, the lease is the caller's to end. */
        void readAsked(ExportedRegion region, long offset, long length);

        /** As {@link #readAsked}, of pages, all within the region. The table is to be copied. */
        void pagesAsked(ExportedRegion region, IncomingTable table);

        /** The peer's atomic operation was executed. */
        void fetched(long word);

        /** The peer's read or atomic operation is refused. */
        void readRefused(CompletionStatus status);

        /** The peer has handled as many writes as this running count, the last of them with this status. */
        void writesAcknowledged(long count, CompletionStatus last);

        /** The oldest read or atomic operation that is not answered. */
        WorkRequest readAnswered();

        /** The read is done. */
        void readDone(CompletionStatus status);

        /** Whether the lane was closed by what a callback did. */
        boolean isClosed();

        /** Whether the peer asks for so much that it should not be heard for now. */
        boolean hasEnough();
    }

    InboundFrames(EndpointContext context, LoopScratch scratch, int descriptor, Sink sink) {
        this(context, scratch, descriptor, null, sink);
    }

    /** As the other constructor; receives through the stream if there is one. */
    InboundFrames(
            EndpointContext context, LoopScratch scratch, int descriptor, @Nullable SecureStream stream, Sink sink) {
        this.stream = stream;
        this.context = context;
        this.scratch = scratch;
        this.staging = scratch.staging();
        this.descriptor = descriptor;
        this.sink = sink;
        boolean summed = context.integrity() == Integrity.CRC32C;
        this.payloadSum = summed ? scratch.newSum() : null;
        this.sumsBytes = summed ? FrameHeader.SUMS_BYTES : 0;
    }

    boolean isInsideFrame() {
        return payload != Payload.NONE || heldBytes > 0 || signalDue || table.isIncoming();
    }

    /** Receives what is there, up to a fair share. */
    Received receive() throws SocketFailedException {
        Received result = Received.NOTHING;
        for (int i = 0; i < RECEIVES_A_CALL && !sink.isClosed() && !sink.hasEnough(); i++) {
            boolean direct = stream == null && payload != Payload.NONE && !dropping && payloadRemaining >= DIRECT_BYTES;
            long asked = direct ? askDirect() : askStaged();
            long received = direct
                    ? Sockets.receiveVector(descriptor, scratch.vectorAddress(), directEntries)
                    : receiveStaged(asked);
            if (received == -Errno.EAGAIN) {
                return result;
            }
            if (received == -Errno.EFAULT && direct) {
                memoryFault();
                continue;
            }
            if (received < 0) {
                throw new SocketFailedException("receiving failed: " + Errno.message((int) -received));
            }
            if (received == 0) {
                return Received.END_OF_STREAM;
            }
            result = Received.PROGRESS;
            sink.received(received);
            if (direct) {
                long placed = Math.min(received, payloadRemaining);
                sumPlaced(placed);
                targetOffset += placed;
                payloadRemaining -= placed;
                parse(0, received - placed);
            } else {
                if (heldBytes > 0) {
                    MemorySegment.copy(held, 0, staging, 0, heldBytes);
                }
                long available = heldBytes + received;
                heldBytes = 0;
                parse(0, available);
            }
            // a stream gives at most what it has, and would not be heard of again
            if (received < asked && stream == null) {
                return result;
            }
        }
        return result;
    }

    private long receiveStaged(long asked) throws SocketFailedException {
        SecureStream secure = stream;
        if (secure == null) {
            return Sockets.receive(descriptor, staging.address() + heldBytes, asked);
        }
        try {
            return secure.receive(scratch.stagingBytes(heldBytes, heldBytes + (int) asked));
        } catch (IOException e) {
            throw new SocketFailedException("receiving failed: " + e.getMessage());
        }
    }

    private long askStaged() {
        if (stream == null && table.isIncoming() && table.isWrite() && table.bytes() >= DIRECT_BYTES) {
            // what follows it is to be received straight into its pages
            return table.remaining();
        }
        return (long) LoopScratch.STAGING_BYTES - heldBytes;
    }

    private long askDirect() {
        // no more than the next header: another such payload is likely, and should not go through the staging memory
        long tail = (long) FrameHeader.BYTES + sumsBytes;
        if (paged) {
            directEntries = pages.describe(scratch, 0, LoopScratch.VECTOR_ENTRIES - 1, position(), payloadRemaining);
            if (pages.described() < payloadRemaining) {
                return pages.described();
            }
        } else {
            scratch.vectorEntry(0, target.address() + targetOffset, payloadRemaining);
            directEntries = 1;
        }
        scratch.vectorEntry(directEntries++, staging.address(), tail);
        return payloadRemaining + tail;
    }

    /** How much of the payload has come. */
    private long position() {
        return payloadLength - payloadRemaining;
    }

    /** Takes in staging memory from one place to another. */
    private void parse(long from, long to) {
        long at = from;
        while (true) {
            if (table.isIncoming()) {
                at += table.take(staging, at, to - at);
                if (table.isIncoming()) {
                    return;
                }
                tableCame();
                if (sink.isClosed()) {
                    return;
                }
            }
            if (payload != Payload.NONE) {
                long part = Math.min(payloadRemaining, to - at);
                copy(at, part);
                at += part;
                if (payloadRemaining > 0) {
                    return;
                }
                payloadEnds();
                if (sink.isClosed()) {
                    return;
                }
            }
            int header = sumsBytes
                    + (to - at < FrameHeader.BYTES
                            ? FrameHeader.BYTES
                            : FrameHeader.bytes(FrameHeader.operation(staging, at)));
            if (to - at < header) {
                heldBytes = (int) (to - at);
                MemorySegment.copy(staging, at, held, 0, heldBytes);
                return;
            }
            frame(at);
            at += header;
            if (sink.isClosed()) {
                return;
            }
        }
    }

    private void copy(long at, long part) {
        if (!dropping && part > 0) {
            try {
                if (paged) {
                    pages.copyIn(staging, at, position(), part);
                } else {
                    FaultCheckedCopy.copy(staging, at, target, targetOffset, part);
                }
                if (payloadSum != null) {
                    payloadSum.update(staging, at, part);
                }
            } catch (IllegalStateException | InternalError gone) {
                // the arena was closed, or the mapped file was truncated
                memoryFault();
            }
            targetOffset += part;
        }
        payloadRemaining -= part;
    }

    /** Sums a payload received straight into its region, while it is still in the processor's caches. */
    private void sumPlaced(long placed) {
        if (payloadSum != null) {
            try {
                if (paged) {
                    pages.sum(payloadSum, position(), placed);
                } else {
                    payloadSum.update(target, targetOffset, placed);
                }
            } catch (IllegalStateException | InternalError gone) {
                // the arena was closed, or the mapped file was truncated
                memoryFault();
            }
        }
    }

    private void frame(long at) {
        if (!FrameHeader.isWellFormed(staging, at)) {
            throw new ProtocolException("a lane received bytes that are not a frame");
        }
        int operation = FrameHeader.operation(staging, at);
        if (payloadSum != null) {
            // of a header with a table the sum is over both
            if (!FrameHeader.hasTable(operation) && !FrameHeader.isIntact(staging, at, scratch.sum())) {
                // nothing in it can be trusted, nor where the next frame begins
                throw new ProtocolException("the header of a frame was changed in transit");
            }
            announcedSum = FrameHeader.payloadSum(staging, at);
            payloadSum.reset();
        }
        if (signalDue != (operation == FrameHeader.SIGNAL_OF_WRITE)) {
            throw new ProtocolException("a write and its signal are not next to each other");
        }
        long length = FrameHeader.length(staging, at);
        switch (operation) {
            case FrameHeader.WRITE -> write(at, length, Payload.WRITE);
            case FrameHeader.WRITE_BEFORE_SIGNAL -> write(at, length, Payload.WRITE_BEFORE_SIGNAL);
            case FrameHeader.READ -> read(at, length);
            case FrameHeader.WRITE_PAGES, FrameHeader.READ_PAGES ->
                table.begin(staging, at, FrameHeader.BYTES + sumsBytes);
            case FrameHeader.READ_DATA -> readData(length);
            case FrameHeader.REFUSED -> {
                sink.readAnswered();
                sink.readDone(CompletionStatus.refusal(FrameHeader.status(staging, at)));
            }
            case FrameHeader.ACK -> sink.writesAcknowledged(FrameHeader.handle(staging, at), CompletionStatus.SUCCESS);
            case FrameHeader.NACK ->
                sink.writesAcknowledged(
                        FrameHeader.handle(staging, at), CompletionStatus.refusal(FrameHeader.status(staging, at)));
            case FrameHeader.PUT, FrameHeader.SIGNAL -> sink.writeHandled(word(operation, at, length));
            case FrameHeader.SIGNAL_OF_WRITE -> {
                signalDue = false;
                sink.writeHandled(status == CompletionStatus.SUCCESS ? word(operation, at, length) : status);
            }
            case FrameHeader.FETCH_ADD, FrameHeader.COMPARE_AND_SWAP -> {
                CompletionStatus outcome = word(operation, at, length);
                if (outcome == CompletionStatus.SUCCESS) {
                    sink.fetched(fetched);
                } else {
                    sink.readRefused(outcome);
                }
            }
            case FrameHeader.FETCHED -> {
                WorkRequest request = sink.readAnswered();
                if (!request.operation().isFetching()) {
                    throw new ProtocolException("the peer answers a read with a word");
                }
                request.fetched(FrameHeader.operand(staging, at));
                sink.readDone(operandsAreIntact(at) ? CompletionStatus.SUCCESS : CompletionStatus.INTEGRITY);
            }
            default -> throw new ProtocolException("a frame of unknown operation " + operation);
        }
    }

    // ---- words ----

    private CompletionStatus word(int operation, long at, long length) {
        if (length < 1
                || length > WorkRequest.WORD_BYTES
                || (operation != FrameHeader.PUT && length < WorkRequest.WORD_BYTES)) {
            throw new ProtocolException("a word of " + length + " bytes");
        }
        if (!operandsAreIntact(at)) {
            return CompletionStatus.INTEGRITY;
        }
        WorkRequest.Opcode what = switch (operation) {
            case FrameHeader.PUT -> WorkRequest.Opcode.PUT;
            case FrameHeader.FETCH_ADD -> WorkRequest.Opcode.FETCH_ADD;
            case FrameHeader.COMPARE_AND_SWAP -> WorkRequest.Opcode.COMPARE_AND_SWAP;
            default -> WorkRequest.Opcode.SIGNAL;
        };
        ExportedRegion region = context.exposed(FrameHeader.handle(staging, at));
        CompletionStatus outcome = acquire(region, what, at, length);
        if (region == null || outcome != CompletionStatus.SUCCESS) {
            return outcome;
        }
        try {
            long offset = FrameHeader.offset(staging, at);
            long operand = FrameHeader.operand(staging, at);
            FaultCheckedCopy.require(region.memory().segment(), offset, length);
            switch (what) {
                case PUT -> PutValue.store(region.memory().segment(), offset, operand, (int) length);
                case COMPARE_AND_SWAP ->
                    fetched = region.compareAndSwap(offset, FrameHeader.expected(staging, at), operand);
                default -> fetched = region.fetchAdd(offset, operand);
            }
            context.served(what, length);
            return CompletionStatus.SUCCESS;
        } catch (IllegalStateException | InternalError gone) {
            // the arena was closed, or the mapped file was truncated
            return CompletionStatus.REMOTE_MEMORY_FAULT;
        } finally {
            region.release();
        }
    }

    private boolean operandsAreIntact(long at) {
        return payloadSum == null || FrameHeader.operandSum(staging, at, scratch.sum()) == announcedSum;
    }

    private CompletionStatus acquire(
            @Nullable ExportedRegion region, WorkRequest.Opcode operation, long at, long length) {
        return acquire(
                region,
                operation,
                FrameHeader.key(staging, at),
                FrameHeader.epoch(staging, at),
                FrameHeader.offset(staging, at),
                length);
    }

    private static CompletionStatus acquire(
            @Nullable ExportedRegion region,
            WorkRequest.Opcode operation,
            long key,
            long epoch,
            long offset,
            long length) {
        if (region == null) {
            return CompletionStatus.UNKNOWN_REGION;
        }
        // the bytes of a frame go through this processor
        if (!region.memory().isHost()) {
            return CompletionStatus.UNSUPPORTED;
        }
        return region.acquire(operation, key, epoch, offset, length);
    }

    // ---- payloads ----

    /** The table of a frame of pages has come in full: every page is checked before a byte of any lands. */
    private void tableCame() {
        if (payloadSum != null && !table.isIntact(scratch.sum())) {
            throw new ProtocolException("the header of a frame, or its table of pages, was changed in transit");
        }
        table.toNativeOrder();
        MemorySegment header = table.header();
        ExportedRegion region = context.exposed(FrameHeader.handle(header, 0));
        CompletionStatus outcome = acquire(
                region,
                table.isWrite() ? WorkRequest.Opcode.WRITE : WorkRequest.Opcode.READ,
                FrameHeader.key(header, 0),
                FrameHeader.epoch(header, 0),
                table.firstOffset(),
                table.pageBytes());
        if (region != null
                && outcome == CompletionStatus.SUCCESS
                && !table.fits(region.memory().length())) {
            region.release();
            outcome = CompletionStatus.OUT_OF_BOUNDS;
        }
        if (table.isWrite()) {
            begins(Payload.WRITE, table.bytes(), region, outcome);
            paged = !dropping;
            if (region != null && paged) {
                pages.ofTarget(region.memory().segment(), table);
            }
        } else if (region != null && outcome == CompletionStatus.SUCCESS) {
            try {
                sink.pagesAsked(region, table);
            } catch (RuntimeException | Error e) {
                region.release();
                throw e;
            }
        } else {
            sink.readRefused(outcome);
        }
    }

    /** The payload of a write begins, which is dropped if it is refused. */
    private void begins(Payload kind, long length, @Nullable ExportedRegion region, CompletionStatus outcome) {
        status = outcome;
        payload = kind;
        payloadLength = length;
        payloadRemaining = length;
        dropping = outcome != CompletionStatus.SUCCESS;
        lease = dropping ? null : region;
    }

    private void write(long at, long length, Payload kind) {
        ExportedRegion region = context.exposed(FrameHeader.handle(staging, at));
        begins(kind, length, region, acquire(region, WorkRequest.Opcode.WRITE, at, length));
        if (region != null && !dropping) {
            target = region.memory().segment();
            targetOffset = FrameHeader.offset(staging, at);
        }
    }

    private void read(long at, long length) {
        ExportedRegion region = context.exposed(FrameHeader.handle(staging, at));
        CompletionStatus answer = acquire(region, WorkRequest.Opcode.READ, at, length);
        if (region != null && answer == CompletionStatus.SUCCESS) {
            try {
                sink.readAsked(region, FrameHeader.offset(staging, at), length);
            } catch (RuntimeException | Error e) {
                region.release();
                throw e;
            }
        } else {
            sink.readRefused(answer);
        }
    }

    private void readData(long length) {
        WorkRequest request = sink.readAnswered();
        if (request.operation() != WorkRequest.Opcode.READ || length != request.length()) {
            throw new ProtocolException("the peer answers a read of " + request.length() + " bytes with " + length);
        }
        payload = Payload.READ_DATA;
        status = CompletionStatus.SUCCESS;
        payloadLength = length;
        payloadRemaining = length;
        if (request.hasPages()) {
            pages.ofAnswer(request);
            paged = true;
        } else {
            target = request.local().segment();
        }
        dropping = false;
        targetOffset = request.localOffset();
    }

    private void payloadEnds() {
        Payload ended = payload;
        payload = Payload.NONE;
        if (payloadSum != null && !dropping && payloadSum.value() != announcedSum) {
            status = CompletionStatus.INTEGRITY;
        }
        target = MemorySegment.NULL;
        dropPages();
        if (ended == Payload.READ_DATA) {
            sink.readDone(status);
            return;
        }
        endLease();
        if (status == CompletionStatus.SUCCESS) {
            context.served(WorkRequest.Opcode.WRITE, payloadLength);
        }
        if (ended == Payload.WRITE_BEFORE_SIGNAL) {
            signalDue = true;
        } else {
            sink.writeHandled(status);
        }
    }

    /** The memory has gone: the rest of the payload is dropped. */
    private void memoryFault() {
        dropping = true;
        status = payload == Payload.READ_DATA
                ? CompletionStatus.LOCAL_MEMORY_FAULT
                : CompletionStatus.REMOTE_MEMORY_FAULT;
        endLease();
    }

    /** The rest of a payload for a region that is closing is dropped. */
    void regionClosing() {
        ExportedRegion region = lease;
        if (region != null && !region.isOpen()) {
            dropping = true;
            status = CompletionStatus.UNKNOWN_REGION;
            endLease();
        }
    }

    boolean holdsClosedLease() {
        return lease != null && !lease.isOpen();
    }

    private void endLease() {
        ExportedRegion region = lease;
        if (region != null) {
            lease = null;
            region.release();
        }
    }

    private void dropPages() {
        if (paged) {
            paged = false;
            pages.clear();
        }
    }

    void close() {
        payload = Payload.NONE;
        target = MemorySegment.NULL;
        table.drop();
        dropPages();
        endLease();
    }
}
