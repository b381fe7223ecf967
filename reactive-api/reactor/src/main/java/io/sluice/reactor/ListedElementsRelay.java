package io.sluice.reactor;

import io.sluice.engine.Connection;
import io.sluice.engine.ConnectionLostException;
import io.sluice.engine.Transfer;
import io.sluice.engine.TransferElement;
import io.sluice.engine.TransferResult;
import java.util.List;
import org.jspecify.annotations.Nullable;
import reactor.core.CoreSubscriber;
import reactor.core.scheduler.Scheduler.Worker;

/**
 * Submits the elements of a list: as many neighbours of one connection as demand and limit allow share one transfer of
 * the engine. It waits until an eighth of the limit is free, so that several can be submitted together.
 */
final class ListedElementsRelay extends VectoredRelay {
    private static final int RUNS_UNDER_WAY = 8;

    private final List<TransferElement> elements;

    /** The first element not yet submitted. Used only by the working thread. */
    private int next;

    ListedElementsRelay(
            CoreSubscriber<? super TransferResult> actual,
            VectoredTransferFlux source,
            List<TransferElement> elements,
            int limit,
            @Nullable Worker worker) {
        super(actual, source, limit, Math.max(1, limit / RUNS_UNDER_WAY), worker);
        this.elements = elements;
    }

    /** Passes the subscription to the subscriber. */
    void start() {
        actual.onSubscribe(this);
        if (elements.isEmpty()) {
            ended();
        }
        begin();
    }

    @Override
    void take(long count) {
        int until = (int) Math.min(elements.size(), next + count);
        while (next < until && isActive()) {
            int from = next;
            next = endOfRun(from, until);
            submit(from, next);
        }
        if (next == elements.size()) {
            ended();
        }
    }

    @Override
    long left() {
        return (long) elements.size() - next;
    }

    /** Returns the index of the next element with another connection, or the end. */
    private int endOfRun(int from, int until) {
        Connection connection = source.connection(elements.get(from));
        int end = from + 1;
        while (end < until && source.connection(elements.get(end)).equals(connection)) {
            end++;
        }
        return end;
    }

    private void submit(int from, int until) {
        if (until - from == 1 || !submitRun(from, until)) {
            for (int index = from; index < until && isActive(); index++) {
                TransferElement element = elements.get(index);
                submit(element, new ElementTransfer(this, freeSlot(), index, element.length()));
            }
        }
    }

    /**
     * Returns false if the elements cannot share a transfer. Each is then submitted alone, so that an error names its
     * element.
     */
    private boolean submitRun(int from, int until) {
        List<TransferElement> run = elements.subList(from, until);
        ElementRun transfer = new ElementRun(this, freeSlot(), from, run);
        enters(transfer);
        Transfer submitted;
        try {
            submitted = source.submit(run, transfer);
        } catch (ConnectionLostException over) {
            leaves(transfer);
            // the engine has counted each of them, and would count them again
            for (int index = from; index < until && isActive(); index++) {
                elementEnded(index, elements.get(index).length(), over);
            }
            return true;
        } catch (Throwable refused) {
            leaves(transfer);
            return false;
        }
        entered(transfer, submitted);
        return true;
    }

    @Override
    long elements() {
        return elements.size();
    }
}
