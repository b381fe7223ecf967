package io.sluice.engine.transport.tcp;

import io.sluice.engine.ConnectionLostException;
import io.sluice.engine.Integrity;
import io.sluice.engine.ProtocolException;
import io.sluice.engine.SluiceException;
import io.sluice.engine.transport.CompletionStatus;
import io.sluice.engine.transport.EndpointContext;
import io.sluice.engine.transport.EventLoop;
import io.sluice.engine.transport.ExportedRegion;
import io.sluice.engine.transport.SecureStream;
import io.sluice.engine.transport.WireCounter;
import io.sluice.engine.transport.WorkRequest;
import io.sluice.jni.Errno;
import io.sluice.jni.Sockets;
import java.io.IOException;
import java.util.ArrayDeque;
import org.jspecify.annotations.Nullable;

/**
 * A socket: sends frames of this side's requests and answers to the peer's, and closes the socket in order. {@link
 * InboundFrames} reads the other direction, {@link OutstandingRequests} holds the unanswered requests.
 */
final class TcpLane implements InboundFrames.Sink {
    private static final String MEMORY_FREED = "memory was freed while it was being sent, or its device has failed";
    // the most bytes that a stream encrypts in one call
    private static final long COPIED_BYTES = 128 * 1024;
    // the most bytes sent in a duty cycle, so that other connections get their turn
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
    private final OutstandingRequests requests;
    // payloads in memory of devices
    private final StagedSends sends;
    private final StagedReceives receives;
    private final Runnable flush = this::flush;

    // the peer's requests: executed or refused writes, and how many of them were acknowledged
    private long handledWrites;
    private long reportedWrites;
    private int waitingAnswers;
    private long waitingBytes;
    private final RecentRefusals refusals = new RecentRefusals();

    private boolean flushScheduled;
    private boolean awaitingRoom;
    // the peer exceeds its request window, so its socket is not read until it has received answers
    private boolean readsPaused;
    private boolean broken;
    // the socket is closed; the lane's requests wait for the peer's report on which of them it handled
    private boolean fenced;
    private boolean settled;
    private boolean closed;
    private boolean released;
    private long lastProgress;
    private int lastUnacknowledged;

    /** Takes ownership of a socket unless this throws. */
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
        this.requests = new OutstandingRequests(endpoint, context);
        this.sends = new StagedSends(context.loop(), this::deviceProgressed);
        this.receives = new StagedReceives(context.loop(), this::deviceProgressed);
        this.out = new OutboundFrames(context.integrity() == Integrity.CRC32C ? scratch : null, stream == null, sends);
        this.in = new InboundFrames(context, scratch, descriptor, stream, receives, this);
        this.lastProgress = context.loop().now();
        this.watch = context.loop().watch(descriptor, this::ready);
        if (stream != null) {
            // bytes that arrived with the end of the handshake: the descriptor does not become readable for them
            context.loop().execute(this::receiveMore);
        }
    }

    int index() {
        return index;
    }

    /** Bytes of this side's requests in flight plus a fixed cost for each. */
    long load() {
        return requests.load();
    }

    boolean hasRoom() {
        return !broken && requests.size() < maxOutstanding;
    }

    void post(WorkRequest request) {
        markWorkBegins();
        requests.add(request);
        if (request.hasPages()) {
            out.addPages(request);
        } else {
            out.add(request);
        }
        scheduleFlush();
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
                if (sent == 0 && out.awaitsDevice()) {
                    break;
                }
            } catch (IllegalStateException | InternalError gone) {
                // the arena was closed, or the mapped file was truncated
                sent = -Errno.EFAULT;
            }
            if (sent == 0) {
                // the checksum of a large frame is incomplete; other connections get their turn first
                progress();
                scheduleFlush();
                return;
            }
            if (sent == -Errno.EAGAIN) {
                awaitingRoom = true;
                watchAsNeeded();
                return;
            }
            if (sent == -Errno.EFAULT) {
                // the header has already announced the length, so the stream cannot continue
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
        int entries = out.fill(scratch);
        return entries == 0 ? 0 : Sockets.sendVector(descriptor, scratch.vectorAddress(), entries);
    }

    private long sendEncrypted(SecureStream to) {
        try {
            int count = out.copy(scratch.staging(), COPIED_BYTES);
            return count == 0 ? 0 : to.send(scratch.stagingBytes(0, count));
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
                requests.begins(operation);
            }
            rest = out.sent(rest);
            if (rest >= 0) {
                left(operation, out.firstPayloadLength(), out.removeFirst());
            }
        }
    }

    private void left(int operation, long payload, @Nullable ExportedRegion lease) {
        switch (operation) {
            case FrameHeader.READ_DATA, FrameHeader.FETCHED, FrameHeader.REFUSED, FrameHeader.NACK ->
                answersGone(1, payload);
            default -> requests.sent(operation);
        }
        if (lease != null) {
            lease.release();
            context.served(WorkRequest.Opcode.READ, payload);
        }
    }

    /** Acknowledges all writes since the last acknowledgement with one frame. */
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
                // the descriptor is not watched for reading, so this is the end of the stream
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

    /** The peer has received answers on this or another lane. */
    void readAgain() {
        if (readsPaused && !mustPause()) {
            readsPaused = false;
            watchAsNeeded();
            if (stream != null || in.isHeldUp()) {
                // bytes that were received already: the descriptor does not become readable for them
                context.loop().execute(this::receiveMore);
            }
        }
    }

    private boolean mustPause() {
        return served.isExceeded() || in.awaitsDevice();
    }

    /** A device has copied bytes that are to be sent, or have been received. */
    private void deviceProgressed() {
        if (closed) {
            release();
        }
        if (closed || broken) {
            return;
        }
        progress();
        in.deviceProgressed();
        if (!out.isEmpty()) {
            scheduleFlush();
        }
        if (!mustPause() && (readsPaused || in.isHeldUp())) {
            readsPaused = false;
            watchAsNeeded();
            receive();
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
            // a frame may be half parsed, so nothing that follows could be interpreted
            fail(new ConnectionLostException("lane " + index + ": an unexpected error: " + e, e));
            return;
        }
        if (broken) {
            return;
        }
        if (!closed && mustPause()) {
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
            // the count identifies the refused write, so those before it are reported first
            handledWrites--;
            acknowledge();
            handledWrites++;
            reportedWrites = handledWrites;
            refusals.add(handledWrites, status);
            answer(FrameHeader.NACK, status, handledWrites, 0, 0);
            context.refused();
        }
    }

    @Override
    public void readAsked(ExportedRegion region, long offset, long length) {
        answer(
                FrameHeader.READ_DATA,
                CompletionStatus.SUCCESS,
                0,
                region.memory().address() + offset,
                length);
        out.payloadIn(region.memory(), region.registration(), offset);
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
        requests.acknowledged(count, last);
    }

    @Override
    public WorkRequest readAnswered() {
        return requests.nextAnswered();
    }

    @Override
    public void readDone(CompletionStatus status) {
        requests.answered(status);
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

    /** Restarts the progress timer: an idle lane had nothing to do. */
    private void markWorkBegins() {
        if (!hasWork()) {
            progress();
        }
    }

    private boolean hasWork() {
        return !requests.isEmpty() || !out.isEmpty() || in.isInsideFrame();
    }

    private void progress() {
        lastProgress = context.loop().now();
    }

    /** Whether the peer still leases a closing region. */
    boolean holdsClosedLease() {
        return in.holdsClosedLease() || out.holdsClosedLease();
    }

    boolean isStuck(long now, long timeoutNanos) {
        if (broken || !hasWork()) {
            return false;
        }
        // the kernel may need longer than the time-out to deliver accepted bytes over a slow link
        int unacknowledged = Sockets.unacknowledgedBytes(descriptor);
        if (unacknowledged >= 0 && unacknowledged < lastUnacknowledged) {
            progress();
        }
        lastUnacknowledged = unacknowledged;
        return now - lastProgress > timeoutNanos;
    }

    /** The socket has failed without a protocol violation: other lanes may take over. */
    private void lost(String reason) {
        if (!closed && !broken) {
            endpoint.laneLost(this, new ConnectionLostException("lane " + index + ": " + reason));
        }
    }

    boolean isOpen() {
        return !closed && !broken;
    }

    /** Whether the peer's fence report has yet to arrive. */
    boolean awaitsPeer() {
        return fenced && !settled && !closed;
    }

    /** Whether a device may touch memory for this lane. */
    boolean isDeviceAtWork() {
        return !sends.isIdle() || !receives.isIdle();
    }

    /** Whether a device holds it up, though bytes may come from the peer. */
    boolean isDeviceOverdue(long now, long timeoutNanos) {
        return !broken && (sends.isOverdue(now, timeoutNanos) || receives.isOverdue(now, timeoutNanos));
    }

    /** Closes the socket: nothing received later takes effect or touches memory. No device may be at work for it. */
    LaneFence fence() {
        broken = true;
        fenced = true;
        progress();
        watch.cancel();
        Sockets.close(descriptor);
        in.close();
        out.clear();
        answersGone(waitingAnswers, waitingBytes);
        return refusals.fence(index, handledWrites);
    }

    boolean isFenceOverdue(long now, long timeoutNanos) {
        return awaitsPeer() && now - lastProgress > timeoutNanos;
    }

    /**
     * The peer has closed its end and reports how many requests it has handled.
     *
     * @param displaced receives the requests that other lanes must carry
     */
    void settle(LaneFence peer, ArrayDeque<WorkRequest> displaced) {
        if (settled || !requests.canBeHandled(peer.handled())) {
            throw new ProtocolException("the peer acknowledges requests on lane " + index + " that were not sent");
        }
        settled = true;
        requests.settle(peer, displaced);
    }

    private void fail(String reason) {
        fail(new ConnectionLostException("lane " + index + ": " + reason));
    }

    /** Stops sending and receiving; the engine closes the lane once it knows why it broke. */
    void fail(SluiceException error) {
        if (!closed && !broken) {
            broken = true;
            watch.cancel();
            endpoint.laneFailed(error);
        }
    }

    /** The peer has closed the connection: unsent data can be dropped. */
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
        }
        release();
    }

    /** Lets go of all memory, once no device touches it. */
    private void release() {
        if (released || isDeviceAtWork()) {
            return;
        }
        released = true;
        if (!fenced) {
            in.close();
            out.clear();
            answersGone(waitingAnswers, waitingBytes);
        }
        sends.close();
        receives.close();
        requests.flush();
    }

    /** Whether the closed lane touches no memory any more. */
    boolean isReleased() {
        return released;
    }
}
