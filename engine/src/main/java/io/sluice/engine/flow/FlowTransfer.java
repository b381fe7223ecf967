package io.sluice.engine.flow;

import io.sluice.engine.Connection;
import io.sluice.engine.EngineMetrics;
import io.sluice.engine.SluiceException;
import io.sluice.engine.Transfer;
import io.sluice.engine.TransferCallback;
import io.sluice.engine.TransferOptions;
import io.sluice.engine.TransferTimeoutException;
import io.sluice.engine.transport.Deadline;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * A submitted transfer. Other threads may only ask for its end; the poller alone moves it from state to state, so that its
 * one terminal signal needs no lock.
 */
@SuppressWarnings("ReferenceEquality") // QUIET is a mark, told by identity
abstract class FlowTransfer extends Deadline implements Transfer {
    private static final VarHandle QUIESCENCE;
    private static final CompletableFuture<Void> QUIET = CompletableFuture.completedFuture(null);

    static {
        try {
            QUIESCENCE =
                    MethodHandles.lookup().findVarHandle(FlowTransfer.class, "quiescence", CompletableFuture.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    final TransferOptions options;

    // of the flow's list of waiting transfers
    @Nullable
    FlowTransfer previous;

    @Nullable
    FlowTransfer next;

    boolean waiting;

    // when it ended with something still posted
    long unquietSince;

    private final ConnectionFlow flow;
    private final TransferCallback callback;
    private final long submittedAt = System.nanoTime();
    private boolean admitted;
    private volatile boolean cancelRequested;
    private volatile boolean terminated;

    @SuppressWarnings("UnusedVariable") // through its handle
    private volatile @Nullable CompletableFuture<Void> quiescence;

    FlowTransfer(ConnectionFlow flow, TransferOptions options, TransferCallback callback) {
        this.flow = flow;
        this.options = options;
        this.callback = callback;
    }

    abstract EngineMetrics.Operation kind();

    /** Whether nothing of it is posted. */
    abstract boolean isQuiet();

    /** Ends what has not ended, with this error, without the terminal signal. */
    abstract void endUnfinished(SluiceException error, boolean report);

    @Override
    public Connection connection() {
        return flow.connection();
    }

    @Override
    public void cancel() {
        if (!terminated && !cancelRequested) {
            cancelRequested = true;
            flow.handOver(this);
        }
    }

    @Override
    public boolean isTerminated() {
        return terminated;
    }

    @Override
    public CompletableFuture<Void> quiesced() {
        CompletableFuture<Void> mine = quiescence;
        if (mine == null) {
            CompletableFuture<Void> fresh = new CompletableFuture<>();
            mine = QUIESCENCE.compareAndSet(this, null, fresh) ? fresh : quiescence;
        }
        return mine == null || mine == QUIET ? CompletableFuture.completedFuture(null) : mine.copy();
    }

    @Override
    protected void expired() {
        flow.endEarly(
                this,
                new TransferTimeoutException("the transfer did not end within its deadline of " + options.deadline()));
    }

    boolean isCancelRequested() {
        return cancelRequested;
    }

    /** True the first time: the transfer enters the flow; later hand-overs are requests to cancel. */
    boolean admit() {
        boolean first = !admitted;
        admitted = true;
        return first;
    }

    /** When the deadline passes, as {@link System#nanoTime()}; only if there is one. */
    long deadlineAt(Duration deadline) {
        return submittedAt + deadline.toNanos();
    }

    /** Gives the terminal signal; the flow makes sure that it is called once. */
    void signal(@Nullable SluiceException error) {
        terminated = true;
        callback.terminated(this, error);
    }

    void becomeQuiet() {
        @SuppressWarnings("unchecked")
        CompletableFuture<Void> waitedFor = (CompletableFuture<Void>) QUIESCENCE.getAndSet(this, QUIET);
        if (waitedFor != null && waitedFor != QUIET) {
            waitedFor.complete(null);
        }
    }

    ConnectionFlow flow() {
        return flow;
    }
}
