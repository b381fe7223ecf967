package io.sluice.cuda;

import io.sluice.engine.StreamCompletion;
import io.sluice.engine.transport.CompletionStatus;
import io.sluice.engine.transport.WorkRequest;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Runs of transfers that GPUs complete, of one endpoint, as long as it has requests of theirs. All of a run go to one lane, so that what
 * comes behind the last is behind them all. On the loop's thread.
 */
final class CompletionRuns {
    private final List<Run> active = new ArrayList<>();
    private final ArrayDeque<Run> free = new ArrayDeque<>();

    /** One that has requests in flight or waiting. */
    static final class Run {
        private @Nullable StreamWord word;
        private @Nullable StreamLane lane;
        private int ordinal;
        private int outstanding;
        private boolean held;
        private boolean inParts;
        private boolean retained;
        private boolean failed;

        /** Where its requests are; null before the first. */
        @Nullable
        StreamLane lane() {
            return lane;
        }

        /** The GPU of its lane. */
        int ordinal() {
            return ordinal;
        }

        /** All of it goes there from now on, and the lane takes no other event before it has ended. */
        void lane(StreamLane chosen, int gpu) {
            if (lane == null) {
                chosen.keep();
            }
            lane = chosen;
            ordinal = gpu;
        }

        /** Whether requests of it wait for a lane, or one is given in parts: no other may overtake them. */
        boolean isHeld() {
            return held || inParts;
        }

        /** A request of it waits for a lane. */
        void hold() {
            held = true;
        }

        /** Parts of a request of it are still to be given, or are not any more. */
        void inParts(boolean now) {
            inParts = now;
        }

        boolean hasFailed() {
            return failed;
        }

        /** Where the GPU is to store {@link #value}. */
        long address() {
            return word == null ? 0 : word.handle();
        }

        long value() {
            return word == null ? 0 : word.value();
        }
    }

    /** That of a request; null if it completes into nothing, or none of it is here yet. */
    @Nullable
    Run of(WorkRequest request) {
        StreamCompletion event = request.completesInto();
        if (event != null) {
            for (int i = 0; i < active.size(); i++) {
                Run run = active.get(i);
                if (event.equals(run.word)) {
                    return run;
                }
            }
        }
        return null;
    }

    /** Those that wait for a lane are all looked at again, in order. */
    void letHeldGoOn() {
        for (int i = 0; i < active.size(); i++) {
            active.get(i).held = false;
        }
    }

    /** A request has come to be posted. */
    void add(WorkRequest request) {
        if (!(request.completesInto() instanceof StreamWord word)) {
            return;
        }
        Run run = of(request);
        if (run == null) {
            Run recycled = free.pollFirst();
            run = recycled == null ? new Run() : recycled;
            // the word of a run that it was closed in is not touched
            run.retained = word.retain();
            run.failed = !run.retained;
            run.word = word;
            active.add(run);
        }
        run.outstanding++;
    }

    /** Something of a request was refused: no GPU completes its run. */
    void fail(WorkRequest request) {
        Run run = of(request);
        if (run != null) {
            run.failed = true;
        }
    }

    /** A request has ended. */
    void end(WorkRequest request, CompletionStatus status) {
        Run run = of(request);
        if (run == null) {
            return;
        }
        run.failed |= status != CompletionStatus.SUCCESS;
        if (--run.outstanding == 0) {
            active.remove(run);
            StreamWord word = run.word;
            if (word != null && run.retained) {
                word.release();
            }
            StreamLane lane = run.lane;
            if (lane != null) {
                lane.letGo();
            }
            run.word = null;
            run.lane = null;
            run.held = false;
            run.inParts = false;
            free.addFirst(run);
        }
    }
}
