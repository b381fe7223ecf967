package io.sluice.collectives;

import io.sluice.collectives.mapped.MappedSteps;
import io.sluice.collectives.reduce.Reducer;
import io.sluice.collectives.run.HelperThreads;
import io.sluice.collectives.run.Memory;
import io.sluice.collectives.run.Pending;
import io.sluice.collectives.run.Run;
import io.sluice.collectives.run.RunEnd;
import io.sluice.collectives.run.TeamLoop;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.SluiceException;
import io.sluice.engine.StartEvent;
import io.sluice.engine.StartEventException;
import io.sluice.engine.TransferOptions;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** A collective and its runs: one, or one after another. */
class CalledCollective implements Collective, RunEnd {
    private static final VarHandle STATE = state();
    private static final int RUNS = 1;
    private static final int CLOSED = 2;

    private final Parts parts;
    private final Call call;
    private final CollectiveOptions options;
    private final long timeoutNanos;
    private final Run run;
    private final @Nullable MemoryRegion work;
    private final boolean repeated;
    private CollectiveCallback callback;
    // flags
    private volatile int state;
    private boolean workGiven;

    /**
     * What all collectives of a team share.
     *
     * @param helpers {@code null} if the loop reduces all
     */
    record Parts(
            TeamLoop loop,
            int size,
            Duration timeout,
            WorkMemory work,
            Memory nothing,
            Reducer reducer,
            @Nullable HelperThreads helpers,
            TeamFigures figures) {
        Parts(
                TeamLoop loop,
                int size,
                Duration timeout,
                WorkMemory work,
                Memory nothing,
                Reducer reducer,
                @Nullable HelperThreads helpers) {
            this(loop, size, timeout, work, nothing, reducer, helpers, new TeamFigures(size));
        }

        /** Lets go on what has waited for an event; with an error, which ends it, if the event will not happen. */
        void happened(Pending gated, CollectiveKind kind, @Nullable Throwable error) {
            if (error != null) {
                gated.refuse(new StartEventException("the event before " + kind + " will not happen", error));
            }
            gated.open();
            loop.signal();
        }

        /** Returns the same with figures of their own. */
        Parts uncounted() {
            return new Parts(loop, size, timeout, work, nothing, reducer, helpers);
        }
    }

    /**
     * Creates a collective.
     *
     * @param channel the channel of one that runs again and again, or -1
     */
    CalledCollective(Parts parts, Call call, CollectiveOptions options, CollectiveCallback callback, int channel) {
        this.parts = parts;
        this.call = call;
        this.options = options;
        this.callback = callback;
        this.repeated = channel >= 0;
        Duration timeout = options.timeout();
        this.timeoutNanos = (timeout == null ? parts.timeout : timeout).toNanos();
        this.work = call.plan().workBytes() == 0
                ? null
                : parts.work.take(call.plan().workBytes());
        this.run = new Run(
                call.plan(),
                memory(call.source()),
                memory(call.target()),
                work == null ? parts.nothing : Memory.of(work, 0),
                call.signature(parts.size),
                parts.reducer,
                TransferOptions.defaults().withPriority(options.priority()),
                channel,
                this);
        MappedSteps steps = call.steps(parts.loop.regions());
        if (steps != null) {
            run.reads(steps);
        }
        HelperThreads helpers = parts.helpers;
        if (helpers != null) {
            run.helpedBy(helpers);
        }
        run.countsInto(parts.figures.waits());
    }

    private static VarHandle state() {
        try {
            return MethodHandles.lookup().findVarHandle(CalledCollective.class, "state", int.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private Memory memory(@Nullable Buffer buffer) {
        return buffer == null ? parts.nothing : buffer.memory();
    }

    void run(CollectiveCallback next) {
        if (!STATE.compareAndSet(this, 0, RUNS)) {
            throw new IllegalStateException(
                    (state & CLOSED) == 0 ? "the last run has not ended" : "the collective is closed");
        }
        callback = next;
        StartEvent event = options.startAfter();
        if (event != null) {
            run.gate();
        }
        try {
            parts.loop.submit(run, timeoutNanos);
        } catch (RuntimeException e) {
            terminate();
            throw e;
        }
        if (event != null) {
            event.whenHappened(error -> parts.happened(run, call.kind(), error));
        }
    }

    @Override
    public void ended(@Nullable SluiceException error) {
        CollectiveCallback receiver = callback;
        parts.figures.ended(this, run, timeoutNanos, parts.figures.bytes(call), error);
        terminate();
        receiver.ended(this, error);
    }

    private void terminate() {
        int before = (int) STATE.getAndBitwiseAnd(this, ~RUNS);
        if (!repeated || (before & CLOSED) != 0) {
            giveWork();
        }
    }

    void release() {
        int before = (int) STATE.getAndBitwiseOr(this, CLOSED);
        if ((before & RUNS) == 0) {
            giveWork();
        }
    }

    private void giveWork() {
        MemoryRegion region = work;
        if (region != null) {
            synchronized (this) {
                if (!workGiven) {
                    workGiven = true;
                    parts.work.give(region);
                }
            }
        }
    }

    CollectiveCallback callback() {
        return callback;
    }

    @Override
    public CollectiveKind kind() {
        return call.kind();
    }

    @Override
    public Algorithm algorithm() {
        return run.goesAnotherWay() ? call.otherwise() : call.algorithm();
    }

    @Override
    public boolean isTerminated() {
        return (state & RUNS) == 0;
    }

    @Override
    public long totalBytes() {
        return call.plan().receivedBytes();
    }

    @Override
    public long processedBytes() {
        return run.processed();
    }
}
