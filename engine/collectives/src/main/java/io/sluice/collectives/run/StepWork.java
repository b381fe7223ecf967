package io.sluice.collectives.run;

import io.sluice.collectives.plan.Step;
import io.sluice.collectives.reduce.Reducer;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * What the steps of a collective do with memory of this rank: in slices that do not hold the loop up, or by helper threads.
 * All of it is the loop's.
 */
final class StepWork {
    // takes C some microseconds; a multiple of every element's length
    private static final int SLICE_BYTES = 64 << 10;

    private final Memory source;
    private final Memory target;
    private final Memory work;
    private final Run.Signature signature;
    private final Reducer reducer;
    private @Nullable Reduction helped;

    StepWork(Memory source, Memory target, Memory work, Run.Signature signature, Reducer reducer) {
        this.source = source;
        this.target = target;
        this.work = work;
        this.signature = signature;
        this.reducer = reducer;
    }

    /** Lets other threads reduce what is large. */
    void helpedBy(HelperThreads helpers) {
        helped = new Reduction(helpers, reducer);
    }

    Memory memory(Step.Buffer buffer) {
        return switch (buffer) {
            case SOURCE -> source;
            case TARGET -> target;
            case WORK -> work;
        };
    }

    /**
     * Does the next slice of a step.
     *
     * @param done how much of it is done, in bytes
     * @param message the memory of the message that has arrived, if the step awaits one
     * @param messageAt where it begins there
     * @return the length of the slice
     */
    int take(Step step, long done, MemorySegment message, long messageAt) {
        int length = (int) Math.min(SLICE_BYTES, step.length() - done);
        Memory to = memory(step.to());
        long toAt = to.offset() + step.toOffset() + done;
        switch (step.kind()) {
            case RECEIVE -> MemorySegment.copy(message, messageAt + done, to.segment(), toAt, length);
            case COPY -> MemorySegment.copy(from(step), fromAt(step) + done, to.segment(), toAt, length);
            case REDUCE -> {
                if (step.messageFirst()) {
                    reduce(to, toAt, message, messageAt + done, from(step), fromAt(step) + done, length);
                } else {
                    reduce(to, toAt, from(step), fromAt(step) + done, message, messageAt + done, length);
                }
            }
            case COMBINE -> reduce(to, toAt, from(step), fromAt(step) + done, to.segment(), toAt, length);
            case DIVIDE -> reducer.divide(signature.type(), to.segment(), toAt, elements(length), signature.size());
            default -> {
                return (int) step.length();
            }
        }
        return length;
    }

    private MemorySegment from(Step step) {
        return memory(step.from()).segment();
    }

    private long fromAt(Step step) {
        return memory(step.from()).offset() + step.fromOffset();
    }

    private long elements(long length) {
        return length / signature.elementBytes();
    }

    private void reduce(
            Memory to, long toAt, MemorySegment first, long firstAt, MemorySegment second, long secondAt, int length) {
        reducer.reduce(
                signature.type(),
                signature.operation(),
                to.segment(),
                toAt,
                first,
                firstAt,
                second,
                secondAt,
                elements(length));
    }

    // ---- helper threads ----

    /** Whether helper threads are to do all of a step. */
    boolean isForHelpers(Step step) {
        return helped != null
                && step.length() >= Reduction.SHORTEST
                && (step.kind() == Step.Kind.REDUCE || step.kind() == Step.Kind.COMBINE);
    }

    /** Hands a step to helper threads, unless they have it already; returns whether it is done. */
    boolean isDoneByHelpers(Step step, MemorySegment message, long messageAt) {
        Reduction reduction = helped;
        if (reduction == null) {
            throw new IllegalStateException("there are no helper threads");
        }
        if (!reduction.isBegun()) {
            Memory to = memory(step.to());
            long toAt = to.offset() + step.toOffset();
            if (step.kind() == Step.Kind.COMBINE) {
                reduction.of(from(step), fromAt(step), to.segment(), toAt);
            } else if (step.messageFirst()) {
                reduction.of(message, messageAt, from(step), fromAt(step));
            } else {
                reduction.of(from(step), fromAt(step), message, messageAt);
            }
            reduction.begin(
                    signature.type(),
                    signature.operation(),
                    to.segment(),
                    toAt,
                    elements(step.length()),
                    signature.elementBytes());
        }
        if (!reduction.isDone()) {
            return false;
        }
        reduction.end();
        return true;
    }

    /** Whether helper threads have done what they were handed last, and nothing has come of it yet. */
    boolean isReady() {
        Reduction reduction = helped;
        return reduction != null && reduction.isDone();
    }

    /** Whether helper threads may access memory. */
    boolean isUnderWay() {
        Reduction reduction = helped;
        return reduction != null && reduction.isRunning();
    }

    /** Waits, for microseconds, until helper threads access no memory any more. */
    void abandon() {
        Reduction reduction = helped;
        if (reduction != null) {
            reduction.abandon();
        }
    }
}
