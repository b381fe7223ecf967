package io.sluice.cuda;

import io.sluice.engine.StreamEvent;
import io.sluice.engine.transport.CompletionStatus;
import io.sluice.engine.transport.EndpointContext;
import io.sluice.engine.transport.WorkRequest;
import io.sluice.jni.CudaStream;
import java.util.ArrayDeque;
import org.jspecify.annotations.Nullable;

/**
 * An endpoint's requests that start after events, and those that complete into words, of the user's: their lanes, what is kept until there
 * is one, and the records before and behind their own. Each is a launch or copies of its own: none is joined with another. On the loop's
 * thread.
 */
final class OrderedPosting {
    private final EndpointContext context;
    private final CudaEndpoint endpoint;
    private final CudaLoop loop;
    private final GpuChoice choice;
    private final WorkPosting posting;
    // there is no lane for them, or none may go to it yet
    private final ArrayDeque<WorkRequest> held = new ArrayDeque<>();
    // since when none of them has got one
    private long heldSince;
    private final CompletionRuns runs = new CompletionRuns();

    OrderedPosting(
            EndpointContext context, CudaEndpoint endpoint, CudaLoop loop, GpuChoice choice, WorkPosting posting) {
        this.context = context;
        this.endpoint = endpoint;
        this.loop = loop;
        this.choice = choice;
        this.posting = posting;
    }

    static boolean isOrdered(WorkRequest request) {
        return request.startAfter() != null || request.completesInto() != null;
    }

    /** Posts a request or keeps it: one that waits for an event must not hold up others, which the event may depend on. */
    void post(WorkRequest request, int ordinal) {
        endpoint.posted(request);
        runs.add(request);
        if (!place(request, ordinal, false)) {
            if (held.isEmpty()) {
                heldSince = context.loop().now();
            }
            hold(request);
        }
    }

    private void hold(WorkRequest request) {
        held.addLast(request);
        CompletionRuns.Run run = runs.of(request);
        if (run != null) {
            run.hold();
        }
        loop.owe(endpoint);
    }

    /**
     * Posts a request to the lane of its run or its event; false if there is none yet.
     *
     * @param looks whether the event may be looked at: if it has happened, any lane will do
     */
    private boolean place(WorkRequest request, int ordinal, boolean looks) {
        CompletionRuns.Run run = runs.of(request);
        if (run != null && run.isHeld()) {
            return false;
        }
        StreamLane lane = run == null ? null : run.lane();
        int gpu = run == null || lane == null ? ordinal : run.ordinal();
        if (lane == null) {
            lane = laneFor(request.startAfter(), gpu, looks);
        }
        if (lane == null || lane.room() == 0) {
            return false;
        }
        GpuStreams streams = loop.streamsOf(lane, gpu);
        if (request.hasPages() && loop.usesKernels() && streams.tables().isEmpty()) {
            return false;
        }
        if (run != null) {
            run.lane(lane, gpu);
        }
        posting.post(request, streams, lane);
        return true;
    }

    private @Nullable StreamLane laneFor(@Nullable StreamEvent event, int gpu, boolean looks) {
        GpuStreams streams = loop.streams(gpu);
        if (event == null) {
            return streams.idlest(endpoint);
        }
        StreamLane lane = loop.ordered(gpu).behind(event.handle());
        return lane == null
                        && looks
                        && CudaStream.eventQuery(streams.gpu().device(), event.handle()) != CudaStream.NOT_READY
                ? streams.idlest(endpoint)
                : lane;
    }

    /** How long what waits for a lane has got none, in nanoseconds; 0 if nothing waits for one. */
    long waited(long now) {
        return held.isEmpty() ? 0 : now - heldSince;
    }

    /** Posts what waits for a lane, as far as there is one, in order. */
    void postHeld(boolean looks) {
        if (held.isEmpty()) {
            return;
        }
        runs.letHeldGoOn();
        for (int left = held.size(); left > 0 && !held.isEmpty(); left--) {
            WorkRequest request = held.removeFirst();
            if (place(request, choice.ordinalOf(request, (CudaRemoteKey) request.remote()), looks)) {
                heldSince = context.loop().now();
            } else {
                hold(request);
            }
        }
    }

    /** The endpoint is closed: what waits for a lane will not be posted. */
    void flushHeld() {
        WorkRequest request;
        while ((request = held.pollFirst()) != null) {
            endpoint.finished(request, CompletionStatus.FLUSHED_UNSENT);
        }
    }

    /** Something of a request was refused: no GPU completes its run. */
    void refused(WorkRequest request) {
        runs.fail(request);
    }

    /** A request has ended. */
    void ended(WorkRequest request, CompletionStatus status) {
        runs.end(request, status);
    }

    /** A request is given in parts: no other of its run goes to the lane before the last of them. */
    void partsBegun(WorkRequest request) {
        inParts(request, true);
    }

    /** All of them were given, or none will be any more. */
    void partsGiven(WorkRequest request) {
        inParts(request, false);
    }

    private void inParts(WorkRequest request, boolean now) {
        CompletionRuns.Run run = runs.of(request);
        if (run != null) {
            run.inParts(now);
        }
    }

    /** The number of a request's first records, of which the first waits for its event. */
    long begin(WorkRequest request, StreamLane lane) {
        long number = lane.nextSequence();
        StreamEvent event = request.startAfter();
        if (event != null) {
            long record = loop.record(lane, CudaStream.WAIT_EVENT, number);
            loop.put(record, CudaStream.REQUEST_SOURCE_OFFSET, event.handle());
            lane.waits(event.handle());
        }
        return number;
    }

    /** The last record of a request stores the lane's word; before that the GPU stores the word of a run that ends with it. */
    void end(long record, WorkRequest request, StreamLane lane, long number) {
        CompletionRuns.Run run = request.isLastOfCompletion() ? runs.of(request) : null;
        long last = record;
        if (run != null && !run.hasFailed() && !lane.isRefused(number)) {
            loop.completion(lane, number, run);
            last = loop.record(lane, CudaStream.COMPLETE, number);
        }
        loop.put(last, CudaStream.REQUEST_WORD_OFFSET, lane.wordAddress());
    }
}
