package io.sluice.experts.cuda;

import io.sluice.cuda.GpuWork;
import io.sluice.cuda.GpuWorkFigures.Tally;
import io.sluice.cuda.MappedRegion;
import io.sluice.engine.SignalCallback;
import io.sluice.engine.SignalWait;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * A call of normal mode that was checked and prepared, and is started again and again. It keeps the regions that it was given leased until
 * it or the buffer is closed. Starts are for one thread of a buffer at a time; closing is for any thread.
 */
public abstract sealed class GpuNormalCall implements AutoCloseable
        permits GpuNormalLayout, GpuNormalDispatch, GpuNormalCombine {
    private final CallOwner owner;
    private final BufferCore core;
    private final GpuWork work;
    private final List<MappedRegion> used;
    private final GpuExpertCounters.Counted counted;
    private final AtomicBoolean closed = new AtomicBoolean();

    GpuNormalCall(CallOwner owner, Prepared prepared, GpuExpertCounters.Counted counted) {
        this.owner = owner;
        this.core = prepared.core();
        this.work = prepared.work();
        this.used = prepared.used();
        this.counted = counted;
    }

    /** What all calls consist of. */
    record Prepared(BufferCore core, GpuWork work, List<MappedRegion> used) {}

    /**
     * Starts it: gives its kernel to the buffer's stream, behind what the stream has. Allocates nothing and waits for nothing, so that a
     * poller may call it.
     *
     * @return the number of its work in the stream, to wait for by {@link GpuExpertBuffer#onReached}
     * @throws io.sluice.engine.SluiceException the buffer's error, if it has failed
     * @throws io.sluice.cuda.GpuClosedException if this, the buffer, or a region or handle that it uses is closed
     * @throws io.sluice.engine.TooManyPendingException if {@link GpuWork#MOST_LAUNCHES} launches are under way. Nothing was started
     * @throws IllegalStateException if two threads start calls of a buffer at the same time, or what it needs was never started
     */
    public final long start() {
        return start(true);
    }

    /**
     * Starts it as {@link #start} does, for calls that follow each other: its number counts as reached with that of a later one, see {@link
     * GpuWork#submitUnnumbered}.
     *
     * @return the number of its work in the stream
     * @throws io.sluice.engine.SluiceException as for {@link #start}
     * @throws IllegalStateException as for {@link #start}
     */
    public final long startUnnumbered() {
        return start(false);
    }

    private long start(boolean isNumbered) {
        long number;
        try {
            core.ensureUsable();
            ensureStartable();
            number = core.submit(work, isNumbered);
        } catch (RuntimeException e) {
            core.counters().refused();
            throw e;
        }
        core.counters().started(counted.alone(), number);
        started(number);
        return number;
    }

    /**
     * Returns a wait for the numbers of starts, as {@link GpuExpertBuffer#onReached} does.
     *
     * @param callback as there
     * @return the wait, not armed
     */
    public final SignalWait onReached(SignalCallback callback) {
        return core.onReached(callback);
    }

    CallOwner owner() {
        return owner;
    }

    BufferCore core() {
        return core;
    }

    /** What it counts in a graph. */
    Tally tally() {
        return counted.inGraph();
    }

    GpuWork work() {
        return work;
    }

    /** Throws if what it needs was never started. */
    abstract void ensureStartable();

    /** Whether a call that is started before it is what it needs. */
    abstract boolean isEnabledBy(GpuNormalCall earlier);

    /** It was given to the stream. */
    abstract void started(long number);

    /** Gives back what it has, once. */
    abstract void release();

    /** Refuses further starts, and lets its regions go once those that were started are done; returns before that. */
    @Override
    public final void close() {
        if (closed.compareAndSet(false, true)) {
            used.forEach(MappedRegion::close);
            release();
            owner.closed(this);
        }
    }
}
