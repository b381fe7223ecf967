package io.sluice.engine.transport.tcp;

import io.sluice.engine.ProtocolException;
import io.sluice.engine.transport.CompletionStatus;
import io.sluice.engine.transport.EndpointContext;
import io.sluice.engine.transport.WorkRequest;
import java.util.ArrayDeque;

/**
 * This side's requests on a lane that the peer has neither acknowledged nor answered, in posting order. On the
 * endpoint's loop.
 *
 * <p>A running count acknowledges writes, puts and signals; a write counts once together with its signal. Reads and
 * atomic operations are answered one by one, in order.
 */
final class OutstandingRequests {
    private final TcpEndpoint endpoint;
    private final EndpointContext context;

    private final ArrayDeque<WorkRequest> writes = new ArrayDeque<>();
    private final ArrayDeque<WorkRequest> reads = new ArrayDeque<>();
    private long load;
    private long begunWrites;
    private long sentWrites;
    private long acknowledgedWrites;
    private long begunReads;
    private long sentReads;
    private long answeredReads;

    OutstandingRequests(TcpEndpoint endpoint, EndpointContext context) {
        this.endpoint = endpoint;
        this.context = context;
    }

    int size() {
        return writes.size() + reads.size();
    }

    boolean isEmpty() {
        return writes.isEmpty() && reads.isEmpty();
    }

    /** Bytes of the requests plus a fixed cost for each. */
    long load() {
        return load;
    }

    void add(WorkRequest request) {
        (request.operation().bringsBack() ? reads : writes).addLast(request);
        load += request.length() + FrameHeader.BYTES;
    }

    /** The first byte of a frame has been sent. */
    void begins(int frame) {
        switch (frame) {
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

    /** A frame has been sent completely; a write with a signal has when the signal has. */
    void sent(int frame) {
        switch (frame) {
            case FrameHeader.WRITE,
                    FrameHeader.WRITE_PAGES,
                    FrameHeader.SIGNAL_OF_WRITE,
                    FrameHeader.PUT,
                    FrameHeader.SIGNAL -> sentWrites++;
            case FrameHeader.READ, FrameHeader.READ_PAGES, FrameHeader.FETCH_ADD, FrameHeader.COMPARE_AND_SWAP ->
                sentReads++;
            default -> {}
        }
    }

    /**
     * Completes writes.
     *
     * @param count how many were acknowledged since the lane began
     * @param last the outcome of the last one; those before it succeeded
     * @throws ProtocolException if fewer were sent
     */
    void acknowledged(long count, CompletionStatus last) {
        // a request still being sent must not complete: the kernel reads its memory
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

    /**
     * The read or atomic operation that the peer answers next.
     *
     * @throws ProtocolException if none was sent
     */
    WorkRequest nextAnswered() {
        WorkRequest request = answeredReads < sentReads ? reads.peekFirst() : null;
        if (request == null) {
            throw new ProtocolException("the peer answers a read that was not requested");
        }
        return request;
    }

    /** Completes the request returned by {@link #nextAnswered}. */
    void answered(CompletionStatus status) {
        WorkRequest request = reads.removeFirst();
        answeredReads++;
        endpoint.answered(request);
        load -= request.length() + FrameHeader.BYTES;
        context.completed(request, status);
    }

    /** Whether the peer can have handled this many writes since the lane began. */
    boolean canBeHandled(long count) {
        return count >= acknowledgedWrites && count <= sentWrites;
    }

    /**
     * Called when both sides have closed the lane. Completes the writes that the peer has handled. The others had no
     * effect except for bytes that will be written again, so they move to other lanes; only an atomic operation that
     * was sent is never sent again.
     *
     * @param peer the peer's report, whose count {@linkplain #canBeHandled is possible}
     * @param displaced receives the requests for other lanes
     */
    void settle(LaneFence peer, ArrayDeque<WorkRequest> displaced) {
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
        // last, because a completion callback may post more
        WorkRequest next;
        while ((next = handled.pollFirst()) != null) {
            acknowledgedWrites++;
            context.completed(next, peer.statusOf(acknowledgedWrites));
        }
        while ((next = unknown.pollFirst()) != null) {
            context.completed(next, CompletionStatus.OUTCOME_UNKNOWN);
        }
    }

    /** Completes all requests because the lane is closed. */
    void flush() {
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
