package io.sluice.engine.transport.tcp;

import io.sluice.engine.ConnectionLostException;
import io.sluice.engine.Integrity;
import io.sluice.engine.ProtocolException;
import io.sluice.engine.SluiceException;
import io.sluice.engine.transport.CompletionStatus;
import io.sluice.engine.transport.EndpointContext;
import io.sluice.engine.transport.EventLoop;
import io.sluice.engine.transport.ExportedRegion;
import io.sluice.engine.transport.RemoteKey;
import io.sluice.engine.transport.SecureStream;
import io.sluice.engine.transport.WireCounter;
import io.sluice.engine.transport.WorkRequest;
import io.sluice.jni.Errno;
import io.sluice.jni.Sockets;
import java.io.IOException;
import java.util.ArrayDeque;
import org.jspecify.annotations.Nullable;

/**
 * A socket and both directions on it: frames out, of this side's requests and of answers to the peer's, and the requests that
 * wait for the peer's answers. {@link InboundFrames} reads the other direction.
 */
final class TcpLane implements InboundFrames.Sink {
    private static final String MEMORY_FREED = "memory was freed while it was registered and being sent";
    // what a stream encrypts at a time
    private static final long COPIED_BYTES = 128 * 1024;
    // a lane takes the poller's time, of which other connections want some
    private static final long ENCRYPTED_A_CYCLE = 1 << 20;
    private static final long SENT_A_CYCLE = 8 << 20;

    private final TcpEndpoint endpoint;
    private final EndpointContext context;
    private final LoopScratch scratch;
    private final ServedWindow served;
    private final int descriptor;
    private final int index;
    private final int maxOutstanding;
    private final EventLoop.Watch watch;
    private final @Nullable SecureStream stream;
    private final OutboundFrames out;
    private final InboundFrames in;
    private final Runnable flush = this::flush;

    // this side's requests, in the order of posting
    private final ArrayDeque<WorkRequest> writes = new ArrayDeque<>();
    private final ArrayDeque<WorkRequest> reads = new ArrayDeque<>();
    private long load;
    // running counts of what is acknowledged: writes, puts, signals; a write counts with the signal it carries
    private long begunWrites;
    private long sentWrites;
    private long acknowledgedWrites;
    // and of what is answered: reads and atomic operations
    private long begunReads;
    private long sentReads;
    private long answeredReads;

    // the peer's requests: writes that took effect or were refused, and how many of them the peer knows of
    private long handledWrites;
    private long reportedWrites;
    private int waitingAnswers;
    private long waitingBytes;
    // the youngest refusals: the frames that tell of them are lost if the lane breaks
    private final ArrayDeque<LaneFence.Refusal> refusals = new ArrayDeque<>();
    private long refusalsKnownAfter;

    private boolean flushScheduled;
    private boolean awaitingRoom;
    // the peer asks for more than it may, and is not heard until it has taken answers
    private boolean readsPaused;
    private boolean broken;
    // the socket is closed, and the lane's requests wait for the peer to say which of them it has handled
    private boolean fenced;
    private boolean settled;
    private boolean closed;
    private long lastProgress;
    private int lastUnacknowledged;

    /** Takes a socket over; if this fails, it stays the caller's to close. */
    TcpLane(
            TcpEndpoint endpoint,
            EndpointContext context,
            LoopScratch scratch,
            ServedWindow served,
            int descriptor,
            int index,
            int maxOutstanding,
            @Nullable SecureStream stream) {
        this.endpoint = endpoint;
        this.context = context;
        this.scratch = scratch;
        this.served = served;
        this.descriptor = descriptor;
        this.index = index;
        this.maxOutstanding = maxOutstanding;
        Sockets.setNoDelay(descriptor, true);
        int buffer = context.options().socketBufferBytes();
        if (buffer > 0) {
            Sockets.setSendBuffer(descriptor, buffer);
            Sockets.setReceiveBuffer(descriptor, buffer);
        }
        this.stream = stream;
        this.out = new OutboundFrames(context.integrity() == Integrity.CRC32C ? scratch.sum() : null, stream == null);
        this.in = new InboundFrames(context, scratch, descriptor, stream, this);
        this.lastProgress = context.loop().now();
        this.watch = context.loop().watch(descriptor, this::ready);
        if (stream != null) {
            // what came with the end of the handshake, the descriptor does not tell of
            context.loop().execute(this::receiveMore);
        }
    }

    int index() {
        return index;
    }

    /** Bytes of this side's requests under way, with a share for each request's own cost. */
    long load() {
        return load;
    }

    boolean hasRoom() {
        return !broken && writes.size() + reads.size() < maxOutstanding;
    }

    void post(WorkRequest request) {
        markWorkBegins();
        if (request.hasPages()) {
            (request.operation() == WorkRequest.Opcode.WRITE ? writes : reads).addLast(request);
            out.addPages(request);
        } else {
            addFrames(request);
        }
        load += request.length() + FrameHeader.BYTES;
        scheduleFlush();
    }

    private void addFrames(WorkRequest request) {
        switch (request.operation()) {
            case WRITE -> {
                writes.addLast(request);
                addFrame(
                        request.hasSignal() ? FrameHeader.WRITE_BEFORE_SIGNAL : FrameHeader.WRITE,
                        request,
                        request.localAddress(),
                        request.length());
                out.payloadIn(request.local().segment(), request.localOffset());
                if (request.hasSignal()) {
                    RemoteKey signal = request.signal();
                    out.addWord(
                            FrameHeader.SIGNAL_OF_WRITE,
                            signal.handle(),
                            signal.key(),
                            signal.epoch(),
                            request.signalOffset(),
                            WorkRequest.WORD_BYTES,
                            request.signalAddend(),
                            0);
                }
            }
            case PUT -> {
                writes.addLast(request);
                addWord(FrameHeader.PUT, request);
            }
            case SIGNAL -> {
                writes.addLast(request);
                addWord(FrameHeader.SIGNAL, request);
            }
            case READ -> {
                reads.addLast(request);
                addFrame(FrameHeader.READ, request, 0, 0);
            }
            case FETCH_ADD -> {
                reads.addLast(request);
                addWord(FrameHeader.FETCH_ADD, request);
            }
            case COMPARE_AND_SWAP -> {
                reads.addLast(request);
                addWord(FrameHeader.COMPARE_AND_SWAP, request);
            }
        }
    }

    private void addFrame(int operation, WorkRequest request, long payloadAddress, long payloadLength) {
        RemoteKey remote = request.remote();
        out.add(
                operation,
                0,
                remote.handle(),
                remote.key(),
                remote.epoch(),
                request.remoteOffset(),
                request.length(),
                payloadAddress,
                payloadLength);
    }

    private void addWord(int operation, WorkRequest request) {
        RemoteKey remote = request.remote();
        out.addWord(
                operation,
                remote.handle(),
                remote.key(),
                remote.epoch(),
                request.remoteOffset(),
                request.length(),
                request.operand(),
                request.expected());
    }

    // ---- sending ----

    private void scheduleFlush() {
        if (!flushScheduled && !awaitingRoom) {
            flushScheduled = true;
            context.loop().atEndOfCycle(flush);
        }
    }

    private void flush() {
        flushScheduled = false;
        if (closed || broken || awaitingRoom) {
            return;
        }
        acknowledge();
        long most = stream == null ? SENT_A_CYCLE : ENCRYPTED_A_CYCLE;
        long sentInAll = 0;
        while (!out.isEmpty()) {
            if (sentInAll >= most) {
                scheduleFlush();
                return;
            }
            long sent;
            try {
                sent = stream == null ? sendPlain() : sendEncrypted(stream);
            } catch (IllegalStateException | InternalError gone) {
                // the arena was closed, or the mapped file was cut short
                sent = -Errno.EFAULT;
            }
            if (sent == -Errno.EAGAIN) {
                awaitingRoom = true;
                watchAsNeeded();
                return;
            }
            if (sent == -Errno.EFAULT) {
                // the frame's length is promised already, so the stream cannot go on
                fail(MEMORY_FREED);
                return;
            }
            if (sent < 0) {
                lost("sending failed: " + Errno.message((int) -sent));
                return;
            }
            context.count(WireCounter.SENT, sent);
            progress();
            takeOff(sent);
            sentInAll += sent;
        }
        if (stream != null && stream.flush() == -Errno.EAGAIN) {
            awaitingRoom = true;
            watchAsNeeded();
        }
    }

    private long sendPlain() {
        return Sockets.sendVector(descriptor, scratch.vectorAddress(), out.fill(scratch));
    }

    private long sendEncrypted(SecureStream to) {
        try {
            int count = out.copy(scratch.staging(), COPIED_BYTES);
            return to.send(scratch.stagingBytes(0, count));
        } catch (IOException e) {
            return -Errno.EPIPE;
        }
    }

    private void takeOff(long sent) {
        long rest = sent;
        while (rest >= 0 && !out.isEmpty()) {
            boolean wasBegun = out.isFirstBegun();
            if (!wasBegun && rest == 0) {
                return;
            }
            int operation = out.firstOperation();
            if (!wasBegun) {
                begins(operation);
            }
            rest = out.sent(rest);
            if (rest >= 0) {
                left(operation, out.firstPayloadLength(), out.removeFirst());
            }
        }
    }

    private void begins(int operation) {
        switch (operation) {
            case FrameHeader.WRITE,
                    FrameHeader.WRITE_PAGES,
                    FrameHeader.WRITE_BEFORE_SIGNAL,
                    FrameHeader.PUT,
                    FrameHeader.SIGNAL -> begunWrites++;
            case FrameHeader.READ, FrameHeader.READ_PAGES, FrameHeader.FETCH_ADD, FrameHeader.COMPARE_AND_SWAP ->
                begunReads++;
            default -> {}
        }
    }

    private void left(int operation, long payload, @Nullable ExportedRegion lease) {
        switch (operation) {
            case FrameHeader.WRITE,
                    FrameHeader.WRITE_PAGES,
                    FrameHeader.SIGNAL_OF_WRITE,
                    FrameHeader.PUT,
                    FrameHeader.SIGNAL -> sentWrites++;
            case FrameHeader.READ, FrameHeader.READ_PAGES, FrameHeader.FETCH_ADD, FrameHeader.COMPARE_AND_SWAP ->
                sentReads++;
            case FrameHeader.READ_DATA, FrameHeader.FETCHED, FrameHeader.REFUSED, FrameHeader.NACK ->
                answersGone(1, payload);
            default -> {}
        }
        if (lease != null) {
            lease.release();
            context.served(WorkRequest.Opcode.READ, payload);
        }
    }

    /** One frame acknowledges all writes since the last one. */
    private void acknowledge() {
        if (reportedWrites != handledWrites) {
            reportedWrites = handledWrites;
            out.add(FrameHeader.ACK, 0, handledWrites, 0, 0, 0, 0, 0, 0);
        }
    }

    // ---- receiving ----

    private void ready(boolean readable, boolean writable) {
        if (writable && awaitingRoom) {
            awaitingRoom = false;
            watchAsNeeded();
            scheduleFlush();
        }
        if (readable && !closed && !broken) {
            if (readsPaused) {
                // it is not watched for bytes, so this is its end
                lost("the peer closed the socket");
            } else {
                receive();
            }
        }
    }

    private void watchAsNeeded() {
        if (!closed && !broken) {
            watch.interest(!readsPaused, awaitingRoom);
        }
    }

    /** The peer has taken answers, on this lane or on another. */
    void readAgain() {
        if (readsPaused) {
            readsPaused = false;
            watchAsNeeded();
            if (stream != null) {
                // what it has received already, the descriptor does not tell of
                context.loop().execute(this::receiveMore);
            }
        }
    }

    private void receive() {
        try {
            switch (in.receive()) {
                case PROGRESS -> {
                    progress();
                    watch.expectMore();
                }
                case NOTHING -> {}
                case END_OF_STREAM -> lost("the peer closed the socket");
            }
        } catch (ProtocolException e) {
            fail(e);
            return;
        } catch (SocketFailedException e) {
            lost(e.getMessage());
            return;
        } catch (RuntimeException | Error e) {
            // a frame may be half read, so nothing that follows could be understood
            fail(new ConnectionLostException("lane " + index + ": an unexpected error: " + e, e));
            return;
        }
        if (broken) {
            return;
        }
        if (served.isExceeded() && !closed) {
            readsPaused = true;
            watchAsNeeded();
        }
        if (!closed && (reportedWrites != handledWrites || !out.isEmpty())) {
            scheduleFlush();
        }
        if (!closed && stream != null) {
            if (stream.hasUnsent()) {
                scheduleFlush();
            }
            if (stream.hasReceived() && !readsPaused) {
                context.loop().execute(this::receiveMore);
            }
        }
        if (!closed) {
            endpoint.roomMade();
        }
    }

    private void receiveMore() {
        if (!closed && !broken && !readsPaused) {
            receive();
        }
    }

    @Override
    public void received(long bytes) {
        context.count(WireCounter.RECEIVED, bytes);
        context.loop().beginBatch();
    }

    @Override
    public void writeHandled(CompletionStatus status) {
        handledWrites++;
        if (status != CompletionStatus.SUCCESS) {
            // the count tells the peer which write it was, so those before it are reported first
            handledWrites--;
            acknowledge();
            handledWrites++;
            reportedWrites = handledWrites;
            remember(new LaneFence.Refusal(handledWrites, status));
            answer(FrameHeader.NACK, status, handledWrites, 0, 0);
            context.refused();
        }
    }

    private void remember(LaneFence.Refusal refusal) {
        if (refusals.size() == LaneFence.MOST_REFUSALS) {
            refusalsKnownAfter = refusals.removeFirst().count();
        }
        refusals.addLast(refusal);
    }

    @Override
    public void readAsked(ExportedRegion region, long offset, long length) {
        answer(
                FrameHeader.READ_DATA,
                CompletionStatus.SUCCESS,
                0,
                region.memory().address() + offset,
                length);
        out.payloadIn(region.memory().segment(), offset);
        out.lease(region);
    }

    @Override
    public void pagesAsked(ExportedRegion region, IncomingTable table) {
        markWorkBegins();
        answerWaits(table.bytes());
        out.addPages(region, table);
        out.lease(region);
    }

    @Override
    public void fetched(long word) {
        markWorkBegins();
        answerWaits(0);
        out.addWord(FrameHeader.FETCHED, 0, 0, 0, 0, WorkRequest.WORD_BYTES, word, 0);
    }

    @Override
    public void readRefused(CompletionStatus status) {
        answer(FrameHeader.REFUSED, status, 0, 0, 0);
        context.refused();
    }

    private void answer(int operation, CompletionStatus status, long count, long payloadAddress, long payloadLength) {
        markWorkBegins();
        answerWaits(payloadLength);
        out.add(operation, status.code(), count, 0, 0, 0, payloadLength, payloadAddress, payloadLength);
    }

    private void answerWaits(long payload) {
        waitingAnswers++;
        waitingBytes += payload;
        served.add(payload);
    }

    private void answersGone(int answers, long payloads) {
        waitingAnswers -= answers;
        waitingBytes -= payloads;
        served.remove(answers, payloads);
    }

    @Override
    public void writesAcknowledged(long count, CompletionStatus last) {
        // one that is still leaving is not to be given back: the kernel reads its memory
        if (count <= acknowledgedWrites || count > sentWrites) {
            throw new ProtocolException("the peer acknowledges writes that were not sent");
        }
        while (acknowledgedWrites < count) {
            acknowledgedWrites++;
            WorkRequest request = writes.removeFirst();
            load -= request.length() + FrameHeader.BYTES;
            context.completed(request, acknowledgedWrites == count ? last : CompletionStatus.SUCCESS);
        }
    }

    @Override
    public WorkRequest readAnswered() {
        WorkRequest request = answeredReads < sentReads ? reads.peekFirst() : null;
        if (request == null) {
            throw new ProtocolException("the peer answers a read that was not asked");
        }
        return request;
    }

    @Override
    public void readDone(CompletionStatus status) {
        WorkRequest request = reads.removeFirst();
        answeredReads++;
        endpoint.answered(request);
        load -= request.length() + FrameHeader.BYTES;
        context.completed(request, status);
    }

    @Override
    public boolean isClosed() {
        return closed || broken;
    }

    @Override
    public boolean hasEnough() {
        return served.isExceeded();
    }

    // ---- life ----

    void regionClosing() {
        in.regionClosing();
        answersGone(0, out.refuseClosed());
    }

    /** What was idle has made no progress because it had nothing to do. */
    private void markWorkBegins() {
        if (!hasWork()) {
            progress();
        }
    }

    private boolean hasWork() {
        return !writes.isEmpty() || !reads.isEmpty() || !out.isEmpty() || in.isInsideFrame();
    }

    private void progress() {
        lastProgress = context.loop().now();
    }

    /** Whether a closing region is still leased to the peer. */
    boolean holdsClosedLease() {
        return in.holdsClosedLease() || out.holdsClosedLease();
    }

    boolean isStuck(long now, long timeoutNanos) {
        if (broken || !hasWork()) {
            return false;
        }
        // what the kernel has taken may still be on its way over a slow link, for longer than the time-out
        int unacknowledged = Sockets.unacknowledgedBytes(descriptor);
        if (unacknowledged >= 0 && unacknowledged < lastUnacknowledged) {
            progress();
        }
        lastUnacknowledged = unacknowledged;
        return now - lastProgress > timeoutNanos;
    }

    /** The socket is of no use any more, through nobody's fault: other lanes may take over. */
    private void lost(String reason) {
        if (!closed && !broken) {
            endpoint.laneLost(this, new ConnectionLostException("lane " + index + ": " + reason));
        }
    }

    boolean isOpen() {
        return !closed && !broken;
    }

    /** Whether the peer's word is waited for. */
    boolean awaitsPeer() {
        return fenced && !settled && !closed;
    }

    /** From here on nothing of this lane takes effect on this side, nor touches this side's memory. */
    LaneFence fence() {
        broken = true;
        fenced = true;
        progress();
        watch.cancel();
        Sockets.close(descriptor);
        in.close();
        out.clear();
        answersGone(waitingAnswers, waitingBytes);
        return new LaneFence(index, handledWrites, refusalsKnownAfter, refusals);
    }

    boolean isFenceOverdue(long now, long timeoutNanos) {
        return awaitsPeer() && now - lastProgress > timeoutNanos;
    }

    /**
     * The peer has closed its side as well and says what it has handled. That ends; what it has not handled had no effect but for
     * bytes that are written again, and goes to other lanes. Only an atomic operation that was sent is never sent again.
     */
    void settle(LaneFence peer, ArrayDeque<WorkRequest> displaced) {
        if (settled || peer.handled() < acknowledgedWrites || peer.handled() > sentWrites) {
            throw new ProtocolException("the peer counts what was not sent on lane " + index);
        }
        settled = true;
        load = 0;
        ArrayDeque<WorkRequest> handled = new ArrayDeque<>();
        for (long i = acknowledgedWrites; i < peer.handled(); i++) {
            handled.addLast(writes.removeFirst());
        }
        displaced.addAll(writes);
        writes.clear();
        ArrayDeque<WorkRequest> unknown = new ArrayDeque<>();
        WorkRequest read;
        while ((read = reads.pollFirst()) != null) {
            boolean begun = answeredReads < begunReads;
            answeredReads++;
            (begun && read.operation().isFetching() ? unknown : displaced).addLast(read);
        }
        // last, as what is told of an end may begin something new
        WorkRequest next;
        while ((next = handled.pollFirst()) != null) {
            acknowledgedWrites++;
            context.completed(next, peer.statusOf(acknowledgedWrites));
        }
        while ((next = unknown.pollFirst()) != null) {
            context.completed(next, CompletionStatus.OUTCOME_UNKNOWN);
        }
    }

    private void fail(String reason) {
        fail(new ConnectionLostException("lane " + index + ": " + reason));
    }

    /** Nothing more is sent or received; the engine closes the lane when it has found out why it broke. */
    void fail(SluiceException error) {
        if (!closed && !broken) {
            broken = true;
            watch.cancel();
            endpoint.laneFailed(error);
        }
    }

    /** Nothing is owed to the peer any more. */
    void peerClosed() {
        if (!closed && !fenced) {
            Sockets.setResetOnClose(descriptor);
        }
    }

    void close() {
        if (closed) {
            return;
        }
        closed = true;
        if (!fenced) {
            watch.cancel();
            Sockets.close(descriptor);
            in.close();
            out.clear();
            answersGone(waitingAnswers, waitingBytes);
        }
        WorkRequest request;
        while ((request = writes.pollFirst()) != null) {
            boolean begun = acknowledgedWrites < begunWrites;
            acknowledgedWrites++;
            context.completed(request, begun ? CompletionStatus.FLUSHED : CompletionStatus.FLUSHED_UNSENT);
        }
        while ((request = reads.pollFirst()) != null) {
            boolean begun = answeredReads < begunReads;
            answeredReads++;
            endpoint.answered(request);
            context.completed(request, begun ? CompletionStatus.FLUSHED : CompletionStatus.FLUSHED_UNSENT);
        }
    }
}
