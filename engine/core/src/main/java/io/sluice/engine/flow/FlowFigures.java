package io.sluice.engine.flow;

import io.sluice.engine.Connection;
import io.sluice.engine.EngineMetrics;
import io.sluice.engine.EngineMetrics.Operation;
import io.sluice.engine.EngineOptions;
import io.sluice.engine.SluiceException;
import io.sluice.engine.progress.Observers;
import io.sluice.engine.transport.EventLoop;
import java.util.List;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/** Counts how a flow's transfers end, and reports slow ones to observers. On the poller's thread, unless said otherwise. */
final class FlowFigures {
    private final Connection connection;
    private final EventLoop loop;
    // each by path
    private final FlowCounters[] counters;
    private final FlowCounters preferred;
    private final RefusedSubmissions[] refused;
    private final LongAdder overflows;
    private final @Nullable Observers observers;
    private final long slowNanos;
    // the peer's are set when the connection opens, before a transfer can be submitted
    private PeerTally tally;
    private InlineCounters[] callerThreadCounters;

    FlowFigures(Connection connection, EventLoop loop, List<FlowPath> paths, EngineOptions options) {
        this.connection = connection;
        this.loop = loop;
        ConnectionCounters first = paths.getFirst().counters();
        this.counters = paths.stream().map(path -> path.counters().transport()).toArray(FlowCounters[]::new);
        this.preferred = counters[0];
        this.refused = paths.stream().map(path -> path.counters().refused()).toArray(RefusedSubmissions[]::new);
        this.overflows = first.overflows();
        this.observers = Observers.of(options);
        this.slowNanos = options.slowTransfer().toNanos();
        this.tally = first.peer();
        this.callerThreadCounters =
                paths.stream().map(path -> path.counters().callerThread()).toArray(InlineCounters[]::new);
    }

    /** Also updates the peer's counters from now on. Called before any submission. */
    void countInto(PeerTally peer, List<InlineCounters> callerThread) {
        tally = peer;
        callerThreadCounters = callerThread.toArray(InlineCounters[]::new);
    }

    // ---- any thread ----

    InlineCounters callerThreadCounters(int path) {
        return callerThreadCounters[path];
    }

    /** Counts a submission refused because the connection has ended; each of its elements counts. */
    void countRefused(int path, Operation kind, int elements, long bytes, SluiceException error) {
        refused[path].count(kind, elements, bytes, error);
    }

    /** Counts a submission refused because too many transfers are pending. */
    void countOverflow() {
        overflows.increment();
    }

    /** Counts a transfer that a caller's thread has executed and signals. */
    void countCarriedOut(
            int path, Operation kind, int elements, long bytes, long nanos, InlineClock clock, boolean cancelled) {
        InlineCounters counted = callerThreadCounters[path];
        if (cancelled) {
            counted.countCancelled(kind, elements, bytes);
            return;
        }
        clock.count(counted, kind, elements, bytes, nanos);
        Observers told = observers;
        // a negative time was not measured
        if (told != null && nanos >= slowNanos) {
            told.slowTransfer(connection, kind, bytes, 0, nanos, null);
        }
    }

    // ---- the poller ----

    /** A branch in place of a look-up for the preferred path: the processor need not wait for the path's number. */
    private FlowCounters of(int path) {
        return path == 0 ? preferred : counters[path];
    }

    void countCompletion(int path) {
        of(path).add(FlowCounter.COMPLETIONS, 1);
    }

    /**
     * Counts an operation that ended by itself.
     *
     * @param path over which
     * @param readyAt since when it could have gone
     * @param postedAt when its first chunk was posted, if one was
     */
    void count(int path, Operation kind, @Nullable SluiceException error, long bytes, long readyAt, long postedAt) {
        if (error != null) {
            countFailed(path, kind, error, bytes);
            return;
        }
        // a callback that ran since the batch was fetched may have submitted it
        long waited = Math.max(0, postedAt - readyAt);
        long completed = Math.max(0, loop.batchTime() - postedAt);
        of(path).succeeded(kind, bytes, waited, completed);
        tally.succeeded(bytes, waited + completed);
    }

    /** Counts an operation that did not succeed. */
    void countFailed(int path, Operation kind, SluiceException error, long bytes) {
        if (counters[path].failed(kind, error, bytes) != EngineMetrics.Outcome.CANCELLED) {
            tally.failed();
        }
    }

    /** Whether there are observers to report slow transfers to. */
    boolean isObserved() {
        return observers != null;
    }

    /** Whether a transfer that took so long is to be reported to observers, if there are any. */
    boolean isSlow(long nanos) {
        return nanos >= slowNanos;
    }

    /** Reports a transfer that {@linkplain #isSlow is slow} to the observers. */
    void reportSlow(Operation kind, long bytes, long waitedNanos, long nanos, @Nullable SluiceException error) {
        Observers told = observers;
        if (told != null) {
            told.slowTransfer(connection, kind, bytes, waitedNanos, nanos, error);
        }
    }
}
