package io.sluice.engine.flow;

import io.sluice.engine.CompletionEvent;
import io.sluice.engine.Connection;
import io.sluice.engine.EngineMetrics;
import io.sluice.engine.SluiceException;
import io.sluice.engine.StartEvent;
import io.sluice.engine.StreamCompletion;
import io.sluice.engine.StreamEvent;
import io.sluice.engine.Transfer;
import io.sluice.engine.TransferOptions;
import io.sluice.engine.TransferTimeoutException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A transfer of a flow. Other threads may only start and cancel it; only the poller changes it afterwards, so its
 * terminal signal needs no lock.
 */
@SuppressWarnings("ReferenceEquality") // NOT_ASKED is a mark, told by identity
abstract class FlowTransfer extends TransferState implements Transfer, FlowTask {
    private static final Logger LOG = LoggerFactory.getLogger(FlowTransfer.class);
    private static final VarHandle QUIESCENCE;
    private static final long NOT_POSTED = Long.MIN_VALUE;
    // marks a run whose quiescence was not requested
    private static final CompletableFuture<Void> NOT_ASKED = new CompletableFuture<>();

    // in signatures of the hot path: C2 inlines no method that names a class which is not loaded
    @SuppressWarnings("UnusedVariable") // to name them loads them
    private static final List<Class<?>> LOADED = List.of(
            StartEvent.class,
            StreamEvent.class,
            StartWait.class,
            CompletionEvent.class,
            StreamCompletion.class,
            ConnectionEnd.class);

    static {
        try {
            QUIESCENCE =
                    MethodHandles.lookup().findVarHandle(FlowTransfer.class, "quiescence", CompletableFuture.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    final TransferOptions options;

    private final OwningFlow flow;
    private long submittedAt;
    // of one that its caller's thread executes: how long that took
    private long postedAt;
    private @Nullable StartWait startWait;
    private boolean waitsOnDevice;
    private boolean completesOnDevice;
    private int admittedRun = NO_RUN;

    // null while it is quiet, as initially: writing it for a new transfer would be a useless fence
    @SuppressWarnings("UnusedVariable") // through its handle
    private volatile @Nullable CompletableFuture<Void> quiescence;
    // of events of runs that have ended; null if no look was under way then
    private volatile @Nullable CompletableFuture<Void> looks;

    FlowTransfer(OwningFlow flow, TransferOptions options) {
        this.flow = flow;
        this.options = options;
    }

    abstract EngineMetrics.Operation kind();

    /** Returns the path for which the whole counts: that of its first element. */
    abstract int path();

    /** Returns how many bytes it should move. */
    abstract long totalBytes();

    /** Returns the number of operations that it counts as. */
    int operations() {
        return 1;
    }

    /** Whether nothing of it is posted. */
    abstract boolean isQuiet();

    /** Ends what has not ended, with this error, without the terminal signal. */
    abstract void endUnfinished(SluiceException error, boolean report);

    /** Calls the user's callback. */
    abstract void deliver(@Nullable SluiceException error);

    /** Makes it as if it had never run. The calling thread holds it. */
    void reset() {
        submittedAt = System.nanoTime();
        postedAt = NOT_POSTED;
        QUIESCENCE.setRelease(this, NOT_ASKED);
    }

    @Override
    public Connection connection() {
        return flow.connection();
    }

    @Override
    public void cancel() {
        int run = askForCancel();
        if (run != NO_RUN) {
            flow.mailbox().handOver(new CancelRequest(this, run));
        }
    }

    @Override
    public boolean isTerminated() {
        return !isRunning();
    }

    @Override
    public CompletableFuture<Void> quiesced() {
        CompletableFuture<Void> mine = askForQuiescence();
        return mine == null || mine == NOT_ASKED ? looked() : mine.thenCompose(quiet -> looked());
    }

    /**
     * Returns what completes when the run is quiet, or null if it is. The poller asks as well, when a run that has ended
     * becomes quiet, and completes it once another may begin: who is told that the run is quiet may start the next.
     */
    @Nullable
    CompletableFuture<Void> askForQuiescence() {
        CompletableFuture<Void> mine = quiescence;
        if (mine == NOT_ASKED) {
            CompletableFuture<Void> fresh = new CompletableFuture<>();
            mine = QUIESCENCE.compareAndSet(this, NOT_ASKED, fresh) ? fresh : quiescence;
        }
        return mine;
    }

    /** Called when a run that has ended becomes quiet, before another may begin. */
    void becomesQuiet() {}

    /** Completes when no start event of a run that has ended is looked at any more. */
    private CompletableFuture<Void> looked() {
        CompletableFuture<Void> underWay = looks;
        return underWay == null ? CompletableFuture.completedFuture(null) : underWay.copy();
    }

    @Override
    protected void expired() {
        flow.endEarly(
                this,
                new TransferTimeoutException("the transfer did not end within its deadline of " + options.deadline()));
    }

    long submittedAt() {
        return submittedAt;
    }

    /** Returns since when it could be posted: its submission, or the event that it starts after. */
    long readyAt() {
        StartWait wait = startWait;
        return wait != null && wait.hasHappened() ? wait.happenedAt() : submittedAt;
    }

    /** Called when its first chunk is offered to the endpoint; it may be offered again, if it was not accepted. */
    void posted(long at) {
        postedAt = at;
    }

    long postedAt() {
        return postedAt;
    }

    /** Returns how long it waited until it was posted, or until its end if it never was. */
    long waitedNanos(long endedAt) {
        return Math.max(0, (postedAt == NOT_POSTED ? endedAt : postedAt) - readyAt());
    }

    /** When the deadline passes, as {@link System#nanoTime()}; only if there is one. */
    long deadlineAt(Duration deadline) {
        return submittedAt + deadline.toNanos();
    }

    /** Whether the endpoint that carries all of it waits for a start event by itself. */
    boolean ordersAfter(StartEvent event) {
        try {
            return flow.ordersAfter(event, path());
        } catch (RuntimeException e) {
            // the user's event has thrown; the host waits for it, and ends the transfer if it throws there as well
            return false;
        }
    }

    /** Whether a device may report its success: all of it is bytes of memory, and goes on one path. */
    boolean mayCompleteOnDevice() {
        return false;
    }

    private boolean completesInto(CompletionEvent event) {
        try {
            return flow.completesInto(event, path());
        } catch (RuntimeException e) {
            // the user's event has thrown; the host completes it
            return false;
        }
    }

    /** Begins a run of a held transfer. */
    void begin() {
        reset();
        CompletionEvent completion = options.completeInto();
        completesOnDevice = completion != null && mayCompleteOnDevice() && completesInto(completion);
        StartEvent event = options.startAfter();
        boolean onDevice = event != null && ordersAfter(event);
        waitsOnDevice = onDevice;
        StartWait wait = event == null || onDevice ? null : new StartWait(this);
        startWait = wait;
        beginRun();
        flow.mailbox().handOver(this);
        if (event != null && wait != null) {
            wait.register(event);
        }
    }

    /** The event that the endpoint is to start the run after, or null. */
    @Nullable
    StreamEvent startOnDevice() {
        return waitsOnDevice && options.startAfter() instanceof StreamEvent event ? event : null;
    }

    /** The event by which a device reports the run's success, or null. */
    @Nullable
    StreamCompletion completionOnDevice() {
        return completesOnDevice && options.completeInto() instanceof StreamCompletion event ? event : null;
    }

    /** Called when a part of the run has failed: no device reports its success any more. */
    void completeOnHost() {
        completesOnDevice = false;
    }

    /** Whether the host completes the event of a run that ends so. */
    boolean completesOnHost(@Nullable SluiceException error) {
        return error != null || !completesOnDevice;
    }

    /** The wait for the event that the run starts after, or null. */
    @Nullable
    StartWait startWait() {
        return startWait;
    }

    /** Called when the run ends: an event that never happens must not keep the transfer alive. */
    void dropStartWait() {
        StartWait wait = startWait;
        if (wait != null) {
            startWait = null;
            CompletableFuture<Void> underWay = wait.drop();
            if (underWay != null) {
                looks = CompletableFuture.allOf(underWay, looked());
            }
        }
    }

    /** Called when the run enters the flow; handles earlier requests. */
    int admit() {
        admittedRun = run();
        return admittedRun;
    }

    int admittedRun() {
        return admittedRun;
    }

    boolean isAdmitted(int run) {
        return admittedRun == run && isRunning(run);
    }

    // ---- the end ----

    /** Counts an operation that has ended by itself, the first chunk of which was posted then, if one was. */
    final void count(int path, @Nullable SluiceException error, long bytes, long firstPostedAt) {
        flow.figures().count(path, kind(), error, bytes, readyAt(), firstPostedAt);
    }

    /** Counts what is refused, as its connection has ended. Any thread. */
    void countRefused(FlowFigures figures, SluiceException error) {
        figures.countRefused(path(), kind(), operations(), totalBytes(), error);
    }

    /** Counts an operation that has not succeeded. */
    final void countFailed(int path, SluiceException error, long bytes) {
        flow.figures().countFailed(path, kind(), error, bytes);
    }

    /**
     * Returns the terminal signal; the flow makes sure that it is called once a run.
     *
     * @param byHost whether the run's completion event is completed here
     */
    void signal(@Nullable SluiceException error, boolean byHost) {
        CompletionEvent event = byHost ? options.completeInto() : null;
        if (event != null) {
            try {
                event.complete(error);
            } catch (Throwable e) {
                LOG.error("the completion event of a {} on {} threw an exception", kind(), flow.connection(), e);
            }
        }
        try {
            deliver(error);
        } catch (Throwable e) {
            LOG.error("the callback of a {} on {} threw an exception", kind(), flow.connection(), e);
        }
    }

    /** Marks the run quiet and returns the future that waited for that. */
    @Nullable
    CompletableFuture<Void> takeQuiescence() {
        @SuppressWarnings("unchecked")
        CompletableFuture<Void> waitedFor = (CompletableFuture<Void>) QUIESCENCE.getAndSet(this, null);
        return waitedFor == NOT_ASKED ? null : waitedFor;
    }

    OwningFlow flow() {
        return flow;
    }
}
