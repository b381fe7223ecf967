package io.sluice.engine.transport.tcp;

import io.sluice.engine.Integrity;
import io.sluice.engine.ProtocolException;
import io.sluice.engine.transport.CompletionStatus;
import io.sluice.engine.transport.EndpointContext;
import io.sluice.engine.transport.ExportedRegion;
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
    private final int sumsBytes;
    private final InboundWords words;

    // the received part of an incomplete header
    private final MemorySegment held =
            Arena.ofAuto().allocate(FrameHeader.LONGEST_BYTES + FrameHeader.SUMS_BYTES, Long.BYTES);
    private int heldBytes;

    private final IncomingPayload payload;
    private int announcedSum;
    private final IncomingTable table = new IncomingTable();

    // a write has arrived whose signal must be the next frame
    private boolean signalDue;
    // large payloads came last, so that of what is received into the staging memory most would be copied
    private boolean bulk;
    // bytes of a put that became its payload, to be parsed again
    private long putBytes;

    // the bytes behind a payload that a device is still copying
    private MemorySegment rest = MemorySegment.NULL;
    private int restBytes;

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

    /**
     * Creates a reader.
     *
     * @param stream the stream to receive through; null for the socket itself
     * @param staged takes payloads for memory of a device
     */
    InboundFrames(
            EndpointContext context,
            LoopScratch scratch,
            int descriptor,
            @Nullable SecureStream stream,
            StagedReceives staged,
            Sink sink) {
        this.stream = stream;
        this.context = context;
        this.scratch = scratch;
        this.staging = scratch.staging();
        this.descriptor = descriptor;
        this.sink = sink;
        boolean summed = context.integrity() == Integrity.CRC32C;
        this.payload = new IncomingPayload(scratch, summed, staged);
        this.sumsBytes = summed ? FrameHeader.SUMS_BYTES : 0;
        this.words = new InboundWords(context, scratch, summed);
    }

    boolean isInsideFrame() {
        return payload.isIncoming() || heldBytes > 0 || signalDue || table.isIncoming();
    }

    /** Receives what the socket holds, up to a fair share. */
    Received receive() throws SocketFailedException {
        Received result = Received.NOTHING;
        for (int i = 0; i < RECEIVES_A_CALL && !sink.isClosed() && !sink.hasEnough(); i++) {
            if (payload.isOfDevice()) {
                if (payload.awaitsDevice()) {
                    return result;
                }
                if (isHeldUp()) {
                    parseRest();
                    result = Received.PROGRESS;
                    continue;
                }
            }
            boolean direct = stream == null && payload.takesDirectly(DIRECT_BYTES);
            // no more than up to the next payload: it is likely to be as large, and should not go through the staging
            // memory
            long asked = direct ? payload.askDirect(bytesBehind()) : askStaged();
            long received = direct
                    ? Sockets.receiveVector(descriptor, scratch.vectorAddress(), payload.directEntries())
                    : receiveStaged(asked);
            if (received == -Errno.EAGAIN) {
                return result;
            }
            if (received == -Errno.EFAULT && direct) {
                payload.memoryFault();
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
                long placed = Math.min(received, payload.remaining());
                payload.placed(placed);
                bulk = true;
                parse(0, received - placed);
            } else {
                if (heldBytes > 0) {
                    MemorySegment.copy(held, 0, staging, 0, heldBytes);
                }
                long available = heldBytes + received;
                heldBytes = 0;
                parse(0, available);
                bulk &= received < asked || payload.takesDirectly(DIRECT_BYTES);
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
            // receive the bytes after the table directly into the pages
            return table.remaining();
        }
        return (payload.isStaged() || bulk ? DIRECT_BYTES : LoopScratch.STAGING_BYTES) - heldBytes;
    }

    /** How many bytes there are from the end of a payload to the next one, if the next frame has one. */
    private long bytesBehind() {
        long signal = payload.isBeforeSignal() ? FrameHeader.LONGEST_BYTES + sumsBytes : 0;
        return signal + FrameHeader.BYTES + sumsBytes;
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
            if (payload.isIncoming()) {
                at += payload.copy(staging, at, Math.min(payload.remaining(), to - at));
                if (payload.remaining() > 0 || payload.awaitsDevice()) {
                    keepRest(at, to);
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
            at += header - putBytes;
            putBytes = 0;
            if (sink.isClosed()) {
                return;
            }
        }
    }

    private void keepRest(long from, long to) {
        if (from < to) {
            if (rest.byteSize() == 0) {
                // the first payload for a device may have come with much behind it, all others with less
                rest = Arena.ofAuto().allocate(LoopScratch.STAGING_BYTES, Long.BYTES);
            }
            restBytes = (int) (to - from);
            MemorySegment.copy(staging, from, rest, 0, restBytes);
        }
    }

    private void parseRest() {
        int bytes = restBytes;
        restBytes = 0;
        MemorySegment.copy(rest, 0, staging, 0, bytes);
        parse(0, bytes);
    }

    /** Whether received bytes wait, or have waited, for a device: {@link #receive} goes on with them. */
    boolean isHeldUp() {
        return restBytes > 0 || (payload.isIncoming() && payload.remaining() == 0);
    }

    /** Whether nothing is received before a device has copied bytes. */
    boolean awaitsDevice() {
        return payload.awaitsDevice();
    }

    /** A device has copied something. */
    void deviceProgressed() {
        payload.deviceProgressed();
    }

    private void frame(long at) {
        if (!FrameHeader.isWellFormed(staging, at)) {
            throw new ProtocolException("the peer sent bytes on a lane that are not a frame");
        }
        int operation = FrameHeader.operation(staging, at);
        if (sumsBytes > 0) {
            // the checksum of a header with a table covers both, and is checked when the table is complete
            if (!FrameHeader.hasTable(operation) && !FrameHeader.isIntact(staging, at, scratch.sum())) {
                // no field can be trusted, so the next frame cannot be found either
                throw new ProtocolException("the header of a frame was changed in transit");
            }
            announcedSum = FrameHeader.payloadSum(staging, at);
            payload.resetSum();
        }
        if (signalDue != (operation == FrameHeader.SIGNAL_OF_WRITE)) {
            throw new ProtocolException("the peer sent a write without its signal right behind it");
        }
        long length = FrameHeader.length(staging, at);
        switch (operation) {
            case FrameHeader.WRITE -> write(at, length, IncomingPayload.Kind.WRITE);
            case FrameHeader.WRITE_BEFORE_SIGNAL -> write(at, length, IncomingPayload.Kind.WRITE_BEFORE_SIGNAL);
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
            case FrameHeader.PUT -> put(at, length);
            case FrameHeader.SIGNAL -> sink.writeHandled(words.execute(operation, staging, at, length));
            case FrameHeader.SIGNAL_OF_WRITE -> {
                signalDue = false;
                CompletionStatus written = payload.status();
                sink.writeHandled(
                        written == CompletionStatus.SUCCESS ? words.execute(operation, staging, at, length) : written);
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

    /** A put. For memory of a device its value becomes a payload, at the end of the frame. */
    private void put(long at, long length) {
        ExportedRegion region = context.exportedRegion(FrameHeader.handle(staging, at));
        if (region == null || region.memory().isHost() || length < 1 || length > WorkRequest.WORD_BYTES) {
            sink.writeHandled(words.execute(FrameHeader.PUT, staging, at, length, region));
            return;
        }
        CompletionStatus outcome = words.isIntact(staging, at)
                ? AccessCheck.acquire(region, WorkRequest.Opcode.PUT, staging, at, length)
                : CompletionStatus.INTEGRITY;
        if (outcome != CompletionStatus.SUCCESS) {
            sink.writeHandled(outcome);
            return;
        }
        payload.beginWrite(IncomingPayload.Kind.PUT, length, region, outcome);
        payload.goesTo(region.memory(), region.registration(), FrameHeader.offset(staging, at));
        long end = at + FrameHeader.LONGEST_BYTES + sumsBytes;
        InboundWords.makePayload(staging, end, FrameHeader.operand(staging, at), length);
        putBytes = length;
        if (sumsBytes > 0) {
            // the checksum of the operands has been checked
            MemoryChecksum own = scratch.sum();
            own.reset();
            own.update(staging, end - length, length);
            announcedSum = own.value();
        }
    }

    // ---- payloads ----

    /** The page table is complete: checks every page before a byte of any is stored. */
    private void tableCame() {
        if (sumsBytes > 0 && !table.isIntact(scratch.sum())) {
            throw new ProtocolException("the header of a frame, or its table of pages, was changed in transit");
        }
        table.toNativeOrder();
        MemorySegment header = table.header();
        ExportedRegion region = context.exportedRegion(FrameHeader.handle(header, 0));
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
            payload.beginWrite(IncomingPayload.Kind.WRITE, table.bytes(), region, outcome);
            if (region != null && outcome == CompletionStatus.SUCCESS) {
                payload.goesToPages(region.memory(), region.registration(), table);
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

    private void write(long at, long length, IncomingPayload.Kind kind) {
        ExportedRegion region = context.exportedRegion(FrameHeader.handle(staging, at));
        CompletionStatus outcome = AccessCheck.acquire(region, WorkRequest.Opcode.WRITE, staging, at, length);
        payload.beginWrite(kind, length, region, outcome);
        if (region != null && outcome == CompletionStatus.SUCCESS) {
            payload.goesTo(region.memory(), region.registration(), FrameHeader.offset(staging, at));
        }
    }

    private void read(long at, long length) {
        ExportedRegion region = context.exportedRegion(FrameHeader.handle(staging, at));
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
        payload.beginAnswer(request, length);
    }

    private void payloadEnds() {
        IncomingPayload.Kind ended = payload.end(announcedSum);
        CompletionStatus status = payload.status();
        if (ended == IncomingPayload.Kind.READ_DATA) {
            sink.readDone(status);
            return;
        }
        payload.endLease();
        if (status == CompletionStatus.SUCCESS) {
            boolean put = ended == IncomingPayload.Kind.PUT;
            context.served(put ? WorkRequest.Opcode.PUT : WorkRequest.Opcode.WRITE, payload.length());
        }
        if (ended == IncomingPayload.Kind.WRITE_BEFORE_SIGNAL) {
            signalDue = true;
        } else {
            sink.writeHandled(status);
        }
    }

    /** Drops the rest of a payload whose region is closing. */
    void regionClosing() {
        payload.regionClosing();
    }

    boolean holdsClosedLease() {
        return payload.holdsClosedLease();
    }

    void close() {
        restBytes = 0;
        table.drop();
        payload.close();
    }
}
