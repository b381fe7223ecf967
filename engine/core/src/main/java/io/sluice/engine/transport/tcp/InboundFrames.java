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
 * Reads frames from a lane. Receives small frames together into the loop's staging memory and copies them; receives the
 * rest of a larger payload directly into its region. Reads and drops refused payloads, so that the stream stays in
 * step.
 */
final class InboundFrames {
    private static final int RECEIVES_A_CALL = 16;
    // below this length a copy is cheaper than a system call
    private static final long DIRECT_BYTES = 16 * 1024;

    private final EndpointContext context;
    private final LoopScratch scratch;
    private final MemorySegment staging;
    private final int descriptor;
    private final @Nullable SecureStream stream;
    private final Sink sink;
    // checksum of the incoming payload; null on a connection without checksums
    private final @Nullable MemoryChecksum payloadSum;
    private final int sumsBytes;
    private final InboundWords words;

    // the received part of an incomplete header
    private final MemorySegment held =
            Arena.ofAuto().allocate(FrameHeader.LONGEST_BYTES + FrameHeader.SUMS_BYTES, Long.BYTES);
    private int heldBytes;

    // the frame whose payload is being received
    private Payload payload = Payload.NONE;
    private long payloadLength;
    private long payloadRemaining;
    private MemorySegment target = MemorySegment.NULL;
    private long targetOffset;
    private boolean dropping;
    private int announcedSum;
    private @Nullable ExportedRegion lease;
    private CompletionStatus status = CompletionStatus.SUCCESS;

    // set while the payload goes to or comes from pages
    private final IncomingTable table = new IncomingTable();
    private final PagedPayload pages = new PagedPayload();
    private boolean paged;
    private int directEntries;

    // a write has arrived whose signal must be the next frame
    private boolean signalDue;

    private enum Payload {
        NONE,
        WRITE,
        WRITE_BEFORE_SIGNAL,
        READ_DATA
    }

    /** The result of {@link #receive()}. */
    enum Received {
        PROGRESS,
        NOTHING,
        END_OF_STREAM
    }

    /** Handles the frames of a lane. */
    interface Sink {
        /** Bytes have arrived; their frames follow. */
        void received(long bytes);

        /** The peer's next write (with its signal, if any), put or signal has been executed or refused. */
        void writeHandled(CompletionStatus status);

        /**
         * The peer reads from a leased region; the sink ends the lease once the answer has left. If this throws, the
         * caller ends it.
         */
        void readAsked(ExportedRegion region, long offset, long length);

        /** As {@link #readAsked}, for pages that lie within the region. The sink copies the table. */
        void pagesAsked(ExportedRegion region, IncomingTable table);

        /** An atomic operation of the peer has been executed. */
        void fetched(long word);

        /** A read or atomic operation of the peer is refused. */
        void readRefused(CompletionStatus status);

        /** The peer has handled this many writes since the lane began, the last one with this status. */
        void writesAcknowledged(long count, CompletionStatus last);

        /** Returns the oldest unanswered read or atomic operation. */
        WorkRequest readAnswered();

        /** The read returned by {@link #readAnswered} is complete. */
        void readDone(CompletionStatus status);

        /** Whether a callback closed the lane. */
        boolean isClosed();

        /** Whether to stop reading because the peer has too many requests outstanding. */
        boolean hasEnough();
    }

    InboundFrames(EndpointContext context, LoopScratch scratch, int descriptor, Sink sink) {
        this(context, scratch, descriptor, null, sink);
    }

    /** As the other constructor, but receives through the stream unless it is null. */
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
        this.words = new InboundWords(context, scratch, summed);
    }

    boolean isInsideFrame() {
        return payload != Payload.NONE || heldBytes > 0 || signalDue || table.isIncoming();
    }

    /** Receives what the socket holds, up to a fair share. */
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
            // a stream returns at most what it holds, and the descriptor may not become readable for the rest
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
            // receive what follows the table directly into the pages
            return table.remaining();
        }
        return (long) LoopScratch.STAGING_BYTES - heldBytes;
    }

    private long askDirect() {
        // up to the next header only: if another large payload follows, it should not pass through staging memory
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

    /** The received length of the payload. */
    private long position() {
        return payloadLength - payloadRemaining;
    }

    /** Parses the frames in a range of staging memory. */
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

    /** Adds directly received bytes to the checksum while they are in the processor's caches. */
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
            throw new ProtocolException("the peer sent bytes on a lane that are not a frame");
        }
        int operation = FrameHeader.operation(staging, at);
        if (payloadSum != null) {
            // the checksum of a header with a table covers both, and is checked when the table is complete
            if (!FrameHeader.hasTable(operation) && !FrameHeader.isIntact(staging, at, scratch.sum())) {
                // no field can be trusted, so the next frame cannot be found either
                throw new ProtocolException("the header of a frame was changed in transit");
            }
            announcedSum = FrameHeader.payloadSum(staging, at);
            payloadSum.reset();
        }
        if (signalDue != (operation == FrameHeader.SIGNAL_OF_WRITE)) {
            throw new ProtocolException("the peer sent a write without its signal right behind it");
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
            case FrameHeader.PUT, FrameHeader.SIGNAL ->
                sink.writeHandled(words.execute(operation, staging, at, length));
            case FrameHeader.SIGNAL_OF_WRITE -> {
                signalDue = false;
                sink.writeHandled(
                        status == CompletionStatus.SUCCESS ? words.execute(operation, staging, at, length) : status);
            }
            case FrameHeader.FETCH_ADD, FrameHeader.COMPARE_AND_SWAP -> {
                CompletionStatus outcome = words.execute(operation, staging, at, length);
                if (outcome == CompletionStatus.SUCCESS) {
                    sink.fetched(words.fetched());
                } else {
                    sink.readRefused(outcome);
                }
            }
            case FrameHeader.FETCHED -> {
                WorkRequest request = sink.readAnswered();
                if (!request.operation().isFetching()) {
                    throw new ProtocolException("the peer answered a read with a word");
                }
                request.fetched(FrameHeader.operand(staging, at));
                sink.readDone(words.isIntact(staging, at) ? CompletionStatus.SUCCESS : CompletionStatus.INTEGRITY);
            }
            default -> throw new ProtocolException("the peer sent a frame of unknown operation " + operation);
        }
    }

    // ---- payloads ----

    /** The page table is complete: checks every page before a byte of any is stored. */
    private void tableCame() {
        if (payloadSum != null && !table.isIntact(scratch.sum())) {
            throw new ProtocolException("the header of a frame, or its table of pages, was changed in transit");
        }
        table.toNativeOrder();
        MemorySegment header = table.header();
        ExportedRegion region = context.exposed(FrameHeader.handle(header, 0));
        CompletionStatus outcome = AccessCheck.acquire(
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

    /** A payload of a write begins; drops it if the write was refused. */
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
        begins(kind, length, region, AccessCheck.acquire(region, WorkRequest.Opcode.WRITE, staging, at, length));
        if (region != null && !dropping) {
            target = region.memory().segment();
            targetOffset = FrameHeader.offset(staging, at);
        }
    }

    private void read(long at, long length) {
        ExportedRegion region = context.exposed(FrameHeader.handle(staging, at));
        CompletionStatus answer = AccessCheck.acquire(region, WorkRequest.Opcode.READ, staging, at, length);
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
            throw new ProtocolException("the peer answered a read of " + request.length() + " bytes with " + length);
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

    /** The memory is gone: drops the rest of the payload. */
    private void memoryFault() {
        dropping = true;
        status = payload == Payload.READ_DATA
                ? CompletionStatus.LOCAL_MEMORY_FAULT
                : CompletionStatus.REMOTE_MEMORY_FAULT;
        endLease();
    }

    /** Drops the rest of a payload whose region is closing. */
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
