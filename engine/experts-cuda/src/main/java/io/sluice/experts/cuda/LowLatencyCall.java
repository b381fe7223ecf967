package io.sluice.experts.cuda;

import io.sluice.cuda.GpuClosedException;
import io.sluice.cuda.GpuWork;
import io.sluice.cuda.GpuWorkFigures.Tally;
import io.sluice.experts.ExpertCallKind;

/** A call that was checked and prepared, in whole and in halves. One thread starts the calls of a buffer at a time; closing is for any. */
final class LowLatencyCall {
    private final BufferCore core;
    private final Kind kind;
    private final LowLatencyOrder order;
    private final TakenResult result;
    private final ResultState state;
    private final CallRegions regions;
    private final GpuWork whole;
    private final GpuWork send;
    private final GpuWork receive;
    private final GpuExpertCounters.Counted counted;

    /** What a call is. */
    enum Kind {
        DISPATCH(ExpertCallKind.LOW_LATENCY_DISPATCH, ResultState.DISPATCH_SENT, ResultState.DISPATCHED),
        COMBINE(ExpertCallKind.LOW_LATENCY_COMBINE, ResultState.COMBINE_SENT, ResultState.IDLE);

        final ExpertCallKind counted;
        final int sent;
        final int done;

        Kind(ExpertCallKind counted, int sent, int done) {
            this.counted = counted;
            this.sent = sent;
            this.done = done;
        }
    }

    /**
     * Its launches.
     *
     * @param whole both halves
     * @param send the first
     * @param receive the second
     */
    record Works(GpuWork whole, GpuWork send, GpuWork receive) {}

    LowLatencyCall(
            BufferCore core, Kind kind, LowLatencyOrder order, TakenResult result, CallRegions regions, Works works) {
        this.core = core;
        this.kind = kind;
        this.order = order;
        this.result = result;
        this.state = result.memory().state();
        this.regions = regions;
        this.whole = works.whole();
        this.send = works.send();
        this.receive = works.receive();
        this.counted = GpuExpertCounters.Counted.of(kind.counted, result.tokensSent());
    }

    TakenResult result() {
        return result;
    }

    Kind kind() {
        return kind;
    }

    BufferCore core() {
        return core;
    }

    /** What it counts in a graph. */
    Tally tally() {
        return counted.inGraph();
    }

    /** The launches of both halves. */
    GpuWork whole() {
        return whole;
    }

    /** Begins to start it, until the result's state is settled; returns the phase before. */
    int begin() {
        return kind == Kind.DISPATCH
                ? state.beginDispatch(result.generation())
                : state.beginCombine(result.generation());
    }

    /** Throws if it would write what an earlier call has not received; so many of its kind are started before it. */
    void ensureFree(int ahead) {
        order.ensureFree(kind, result.memory(), ahead);
    }

    /** It was started. */
    void started() {
        order.started(kind, result.memory());
    }

    /** Starts both halves, and returns the number of their work. */
    long start(boolean isNumbered) {
        long number;
        try {
            number = start(whole, isNumbered, kind.done);
        } catch (RuntimeException e) {
            core.counters().refused();
            throw e;
        }
        core.counters().started(counted.alone(), number);
        return number;
    }

    /** Starts the first half. What the second one uses stays from here on. */
    long send(boolean isNumbered) {
        boolean isRefused = regions.beginHalf();
        try {
            long number = start(send, isNumbered, kind.sent);
            isRefused = false;
            core.counters().begun(counted.alone());
            return number;
        } catch (RuntimeException e) {
            core.counters().refused();
            throw e;
        } finally {
            if (isRefused) {
                regions.endHalf();
            }
        }
    }

    private long start(GpuWork work, boolean isNumbered, int phase) {
        core.ensureUsable();
        ensureFree(0);
        int settled = begin();
        try {
            long number = core.submit(work, isNumbered);
            started();
            settled = phase;
            return number;
        } finally {
            state.settle(settled);
        }
    }

    /** Starts the second half. If it is refused it may be started again, as long as the buffer has not ended. */
    long receive(boolean isNumbered) {
        long number;
        try {
            number = startReceive(isNumbered);
        } catch (RuntimeException e) {
            core.counters().refused();
            throw e;
        }
        core.counters().completed(counted.alone(), number);
        return number;
    }

    private long startReceive(boolean isNumbered) {
        core.ensureUsable();
        if (!regions.isHalf()) {
            throw new IllegalStateException("there is no first half, or its second half was started already");
        }
        state.beginReceive(result.generation(), kind.sent);
        int settled = kind.sent;
        try {
            long number = core.submit(receive, isNumbered);
            settled = kind.done;
            return number;
        } catch (GpuClosedException e) {
            // the stream, as nothing else that it uses is closed before the buffer: it can never be started
            core.words().fail(e);
            core.ensureUsable();
            throw e;
        } finally {
            state.settle(settled);
            if (settled == kind.done) {
                regions.endHalf();
            }
        }
    }

    /** Refuses further starts, but for a second half, and lets its regions go once what was started is done. */
    void closeRegions() {
        regions.close();
    }
}
