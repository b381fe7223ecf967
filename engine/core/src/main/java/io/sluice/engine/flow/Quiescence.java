package io.sluice.engine.flow;

import java.util.ArrayDeque;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** The runs of a flow that ended with chunks still posted, and the futures that wait for them. On the poller's thread. */
final class Quiescence {
    private final ArrayDeque<UnquietRun> unquietInOrder = new ArrayDeque<>();
    private final ArrayDeque<Awaited> awaited = new ArrayDeque<>();
    private long unquietRuns;

    /** A run that ended with chunks still posted. */
    private record UnquietRun(FlowTransfer transfer, int run, long since, long number) {
        boolean isOver() {
            return transfer.run() != run || transfer.isQuiet();
        }
    }

    /** A future that waits, and the last run that it waits for: later ones may stay posted. */
    private record Awaited(CompletableFuture<Void> waiter, long upTo) {}

    /** A run ends with chunks still posted. */
    void endsUnquiet(FlowTransfer transfer, long now) {
        unquietRuns++;
        unquietInOrder.addLast(new UnquietRun(transfer, transfer.run(), now, unquietRuns));
    }

    /** Completes when nothing of the runs that have ended until now is posted. */
    void await(CompletableFuture<Void> waiter) {
        awaited.addLast(new Awaited(waiter, unquietRuns));
        release();
    }

    /** Completes the futures whose wait is over. */
    void release() {
        Awaited next;
        while ((next = awaited.peekFirst()) != null) {
            UnquietRun oldest = oldestUnquiet();
            if (oldest != null && oldest.number() <= next.upTo()) {
                return;
            }
            awaited.removeFirst();
            next.waiter().complete(null);
        }
    }

    /** Whether a run that ended longer ago than this still has chunks posted. */
    boolean isOverdue(long now, long timeoutNanos) {
        UnquietRun oldest = oldestUnquiet();
        return oldest != null && now - oldest.since() > timeoutNanos;
    }

    private @Nullable UnquietRun oldestUnquiet() {
        UnquietRun oldest;
        while ((oldest = unquietInOrder.peekFirst()) != null && oldest.isOver()) {
            unquietInOrder.removeFirst();
        }
        return oldest;
    }
}
