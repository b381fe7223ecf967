package io.sluice.experts;

import io.sluice.collectives.CollectiveTimeoutException;
import io.sluice.collectives.RankFailedException;
import io.sluice.collectives.Team;
import io.sluice.collectives.TeamClosedException;
import io.sluice.engine.ConnectionLostException;
import io.sluice.engine.EngineLoop;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.OutcomeUnknownException;
import io.sluice.engine.RemoteAccessException;
import io.sluice.engine.SluiceException;
import io.sluice.experts.backend.CommBackend;
import java.time.Duration;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/** A buffer that was created: drives its parts on the team's loop, and ends them. */
final class DefaultExpertBuffer implements ExpertBuffer, BufferHost, EngineLoop.Source {
    private static final int KIB = 1 << 10;
    // some tens of microseconds
    private static final int BUDGET_KIB = 256;

    private final Team team;
    private final ExpertOptions options;
    private final CommBackend backend;
    private final BufferFigures figures;
    private final @Nullable HelperThreads helpers;
    private final AtomicBoolean closeCalled = new AtomicBoolean();
    private final CompletableFuture<Void> closed = new CompletableFuture<>();
    private volatile @Nullable SluiceException failure;
    private volatile boolean stopped;
    private volatile EngineLoop.@Nullable SourceHandle handle;
    private @Nullable LowLatency lowLatency;
    private @Nullable NormalMode normalMode;
    private @Nullable BufferPart parts;
    private long lookAt = BufferPart.NEVER;
    private boolean flushing;
    private boolean flushed;
    private boolean teamIsOver;
    private boolean backendIsOver;
    private boolean saidFailed;
    private boolean closing;
    private boolean saidClosed;
    private boolean releasing;
    private long leaveUntil;

    DefaultExpertBuffer(Team team, ExpertOptions options, CommBackend backend) {
        this.team = team;
        this.options = options;
        this.backend = backend;
        this.figures = new BufferFigures(team, options);
        int threads = options.helperThreads();
        this.helpers = threads > 0 ? new HelperThreads(team.name(), threads, this::signal) : null;
    }

    BufferFigures figures() {
        return figures;
    }

    /**
     * Begins to run. Once, on the loop.
     *
     * @param calls null if there are no such calls
     * @param normalCalls null if there are no such calls
     */
    void start(@Nullable LowLatency calls, @Nullable NormalMode normalCalls) {
        lowLatency = calls;
        normalMode = normalCalls;
        if (calls == null) {
            parts = new BufferParts(Objects.requireNonNull(normalCalls));
        } else {
            parts = normalCalls == null ? new BufferParts(calls) : new BufferParts(calls, normalCalls);
        }
        handle = team.loop().addSource(this, BUDGET_KIB);
        team.ended().whenComplete((nothing, error) -> onLoop(() -> teamEnded(error)));
        backend.whenLost(rank -> {
            parts().lost(rank);
            lost(rank, null);
            signal();
        });
        // the back end tells the other ranks itself, and the team goes on
        backend.whenFailed(error -> {
            fail(error);
            backendIsOver = true;
            signal();
        });
    }

    private boolean onLoop(Runnable task) {
        try {
            team.loop().execute(task);
            return true;
        } catch (SluiceException engineIsClosed) {
            // the source is removed as well, which ends everything
            return false;
        }
    }

    private LowLatency lowLatency() {
        LowLatency calls = lowLatency;
        if (calls == null) {
            throw new IllegalStateException(this + " was created without low-latency calls");
        }
        return calls;
    }

    private NormalMode normalMode() {
        NormalMode calls = normalMode;
        if (calls == null) {
            throw new IllegalStateException(this + " was created without normal mode");
        }
        return calls;
    }

    private BufferPart parts() {
        return Objects.requireNonNull(parts, "the buffer is not started");
    }

    // ---- any thread ----

    @Override
    public ExpertOptions options() {
        return options;
    }

    @Override
    public int rank() {
        return team.rank();
    }

    @Override
    public int ranks() {
        return team.size();
    }

    @Override
    public String backend() {
        return backend.type();
    }

    @Override
    public ExpertMetrics metrics() {
        return figures;
    }

    @Override
    public void lowLatencyDispatch(
            MemoryRegion x,
            long xOffset,
            MemoryRegion topkIdx,
            long topkIdxOffset,
            int tokens,
            DispatchOptions dispatchOptions,
            ExpertCallback<LowLatencyResult> callback) {
        lowLatency().lowLatencyDispatch(x, xOffset, topkIdx, topkIdxOffset, tokens, dispatchOptions, callback);
    }

    @Override
    public void lowLatencyDispatchHooked(
            MemoryRegion x,
            long xOffset,
            MemoryRegion topkIdx,
            long topkIdxOffset,
            int tokens,
            DispatchOptions dispatchOptions,
            ExpertCallback<ReceiveHook<LowLatencyResult>> callback) {
        lowLatency().lowLatencyDispatchHooked(x, xOffset, topkIdx, topkIdxOffset, tokens, dispatchOptions, callback);
    }

    @Override
    public void lowLatencyCombine(
            LowLatencyResult handled,
            MemoryRegion y,
            long yOffset,
            MemoryRegion topkIdx,
            long topkIdxOffset,
            MemoryRegion weights,
            long weightsOffset,
            MemoryRegion out,
            long outOffset,
            CombineOptions combineOptions,
            ExpertCallback<MemoryRegion> callback) {
        lowLatency()
                .lowLatencyCombine(
                        handled,
                        y,
                        yOffset,
                        topkIdx,
                        topkIdxOffset,
                        weights,
                        weightsOffset,
                        out,
                        outOffset,
                        combineOptions,
                        callback);
    }

    @Override
    public void lowLatencyCombineHooked(
            LowLatencyResult handled,
            MemoryRegion y,
            long yOffset,
            MemoryRegion topkIdx,
            long topkIdxOffset,
            MemoryRegion weights,
            long weightsOffset,
            MemoryRegion out,
            long outOffset,
            CombineOptions combineOptions,
            ExpertCallback<ReceiveHook<MemoryRegion>> callback) {
        lowLatency()
                .lowLatencyCombineHooked(
                        handled,
                        y,
                        yOffset,
                        topkIdx,
                        topkIdxOffset,
                        weights,
                        weightsOffset,
                        out,
                        outOffset,
                        combineOptions,
                        callback);
    }

    @Override
    public NormalLayout layout(MemoryRegion topkIdx, long topkIdxOffset, int tokens, @Nullable NormalLayout reuse) {
        return normalMode().layout(topkIdx, topkIdxOffset, tokens, reuse);
    }

    @Override
    public void dispatch(
            MemoryRegion x,
            long xOffset,
            MemoryRegion topkIdx,
            long topkIdxOffset,
            MemoryRegion weights,
            long weightsOffset,
            NormalLayout layout,
            NormalOptions dispatchOptions,
            ExpertCallback<NormalResult> callback) {
        normalMode()
                .dispatch(
                        x, xOffset, topkIdx, topkIdxOffset, weights, weightsOffset, layout, dispatchOptions, callback);
    }

    @Override
    public void dispatchAgain(
            MemoryRegion x,
            long xOffset,
            NormalHandle handled,
            NormalOptions dispatchOptions,
            ExpertCallback<NormalResult> callback) {
        normalMode().dispatchAgain(x, xOffset, handled, dispatchOptions, callback);
    }

    @Override
    public void combine(
            NormalHandle handled,
            MemoryRegion y,
            long yOffset,
            @Nullable MemoryRegion bias,
            long biasOffset,
            MemoryRegion out,
            long outOffset,
            @Nullable Duration timeout,
            ExpertCallback<MemoryRegion> callback) {
        normalMode().combine(handled, y, yOffset, bias, biasOffset, out, outOffset, timeout, callback);
    }

    @Override
    public CompletableFuture<Void> closeAsync() {
        if (closeCalled.compareAndSet(false, true) && !onLoop(this::close)) {
            release();
        }
        return closed.copy();
    }

    @Override
    public @Nullable HelperThreads helpers() {
        return helpers;
    }

    /** Ends the threads that help. */
    void endHelpers() {
        if (helpers != null) {
            helpers.close();
        }
    }

    @Override
    public void check() {
        SluiceException error = failure;
        if (error != null) {
            throw error;
        }
    }

    @Override
    public void signal() {
        EngineLoop.SourceHandle source = handle;
        if (source != null) {
            source.signal();
        }
        if (stopped) {
            endAll();
        }
    }

    // ---- the loop ----

    @Override
    public int poll(int budget) {
        int most = budget * KIB;
        int used = 0;
        if (failure == null) {
            used = advance(most);
            expire();
        }
        if (failure != null) {
            endFailed();
        }
        return used >= most ? budget : Math.min(budget - 1, used / KIB);
    }

    private int advance(int most) {
        int used = 0;
        try {
            int did;
            do {
                did = parts().advance(most - used);
                used += did;
            } while (did > 0 && used < most && failure == null);
        } catch (SluiceException e) {
            failAll(e);
        } catch (RuntimeException e) {
            int unmapped = parts().unmapped();
            if (unmapped >= 0) {
                lost(unmapped, e);
            } else {
                failAll(new SluiceException("a call on " + this + " failed", e));
            }
        }
        return used;
    }

    private void expire() {
        long deadline = parts().deadline();
        if (deadline == BufferPart.NEVER || failure != null) {
            return;
        }
        if (deadline - System.nanoTime() <= 0) {
            failAll(new CollectiveTimeoutException("a call on " + this + " did not end in its time"));
        } else if (deadline != lookAt) {
            lookAt = deadline;
            lookAt(deadline);
        }
    }

    private void lookAt(long time) {
        EngineLoop.SourceHandle source = handle;
        if (source != null) {
            source.signalAt(time);
        }
    }

    @Override
    public void fail(SluiceException error) {
        if (failure == null) {
            failure = error;
            signal();
        }
    }

    /** Ends the buffer for a reason that the other ranks do not see by themselves. */
    private void failAll(SluiceException error) {
        if (failure == null) {
            fail(error);
            team.revoke();
        }
    }

    @Override
    public void lost(int rank, @Nullable Throwable cause) {
        fail(lostExperts(Set.of(rank), cause));
    }

    @Override
    public void putFailed(int rank, SluiceException error) {
        if (error instanceof ConnectionLostException
                || error instanceof OutcomeUnknownException
                || error instanceof RemoteAccessException) {
            lost(rank, error);
        } else {
            failAll(error);
        }
    }

    private ExpertsLostException lostExperts(Set<Integer> ranks, @Nullable Throwable cause) {
        int each = options.localExperts(team.size());
        Set<Integer> experts = new TreeSet<>();
        for (int rank : ranks) {
            for (int i = 0; i < each; i++) {
                experts.add(rank * each + i);
            }
        }
        return new ExpertsLostException(
                "ranks " + new TreeSet<>(ranks) + " of " + team + " are lost or have left, and with them the experts "
                        + experts,
                ranks,
                experts,
                cause);
    }

    private void teamEnded(@Nullable Throwable error) {
        Throwable cause = error instanceof CompletionException && error.getCause() != null ? error.getCause() : error;
        if (cause instanceof RankFailedException ranks) {
            fail(lostExperts(ranks.ranks(), ranks));
        } else if (cause instanceof SluiceException typed) {
            fail(typed);
        } else {
            fail(new TeamClosedException(team + " is closed on this rank"));
        }
        teamIsOver = true;
        signal();
    }

    /** Ends what does not touch memory any more. */
    private void endFailed() {
        if (!flushing) {
            flushing = true;
            backend.flush(error -> {
                flushed = true;
                signal();
            });
        }
        if (!flushed) {
            return;
        }
        endAll();
        if (closing && !releasing && !parts().isBusy()) {
            leave();
        } else if (!closing && !saidFailed && !teamIsOver && failure instanceof ExpertsLostException) {
            saidFailed = true;
            parts().leave(false);
        }
    }

    private synchronized void endAll() {
        SluiceException error = failure;
        if (error != null) {
            if (helpers != null) {
                helpers.abandon();
            }
            parts().fail(error);
        }
    }

    private void close() {
        closing = true;
        leaveUntil = System.nanoTime() + options.timeout().toNanos();
        fail(new ExpertBufferClosedException(this + " is closed on this rank"));
        signal();
        if (stopped && !releasing) {
            releasing = true;
            release();
        }
    }

    /** Memory that the other ranks still read here stays until they have. */
    private void leave() {
        if (!saidClosed) {
            saidClosed = true;
            parts().leave(true);
        }
        if (teamIsOver || backendIsOver || parts().isSettled() || leaveUntil - System.nanoTime() <= 0) {
            releasing = true;
            backend.flush(error -> finish());
        } else {
            lookAt(leaveUntil);
        }
    }

    private void finish() {
        EngineLoop.SourceHandle source = handle;
        if (source != null) {
            source.close();
        }
        release();
    }

    private void release() {
        endHelpers();
        parts().close()
                .handle((nothing, error) -> backend.closeAsync())
                .thenCompose(closing -> closing)
                .whenComplete((nothing, error) -> closed.complete(null));
    }

    @Override
    public void removed(@Nullable Throwable cause) {
        fail(
                cause instanceof SluiceException typed
                        ? typed
                        : new SluiceException(this + " has failed on this rank", cause));
        stopped = true;
        endAll();
        if (closing && !releasing) {
            releasing = true;
            release();
        }
    }

    @Override
    public String toString() {
        return "an expert buffer of " + team;
    }
}
