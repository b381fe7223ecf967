package io.sluice.engine.flow;

import java.util.ArrayDeque;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** The runs of a flow that ended with something still posted, and who waits until that is over. On the poller's thread. */
final class Quiescence {
    private final ArrayDeque<UnquietRun> unquietInOrder = new ArrayDeque<>();
    private final ArrayDeque<Awaited> awaited = new ArrayDeque<>();
    private long unquietRuns;

    /** A run that ended with something still posted. */
    private record UnquietRun(FlowTransfer transfer, int run, long since, long number) {
        boolean isOver() {
            return transfer.run() != run || transfer.isQuiet();
        }
    }

    /** Who waits, and the last run that it is about: what ends later may stay posted for all it cares. */
    private record Awaited(CompletableFuture<Void> waiter, long upTo) {}

    /** A run ends with something still posted. */
    void endsUnquiet(FlowTransfer transfer, long now) {
        unquietRuns++;
        unquietInOrder.addLast(new UnquietRun(transfer, transfer.run(), now, unquietRuns));
    }

    /** Completes when nothing of the runs that have ended until now is posted. */
    void await(CompletableFuture<Void> waiter) {
        awaited.addLast(new Awaited(waiter, unquietRuns));
        release();
    }

    /** Completes those whose wait is over. */
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

    /** Whether a run that has ended for longer than this still has something posted. */
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
