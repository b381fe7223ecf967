package io.sluice.engine.figures;

import io.sluice.engine.PollerMetrics;
import io.sluice.engine.flow.FlowCounter;
import io.sluice.engine.flow.FlowCounters;
import io.sluice.engine.progress.Poller;
import io.sluice.engine.progress.PollerCounters.Counter;

/**
 * One poller's counters.
 *
 * @param poller itself
 * @param byTransport what its connections count into
 */
@SuppressWarnings("ArrayRecordComponent") // never compared
record PollerFigures(Poller poller, FlowCounters[] byTransport) implements PollerMetrics {
    @Override
    public int index() {
        return poller.index();
    }

    @Override
    public long busyPolls() {
        return poller.counters().get(Counter.BUSY_POLLS);
    }

    @Override
    public long emptyPolls() {
        return poller.counters().get(Counter.EMPTY_POLLS);
    }

    @Override
    public long completions() {
        long sum = 0;
        for (FlowCounters counters : byTransport) {
            sum += counters.get(FlowCounter.COMPLETIONS);
        }
        return sum;
    }

    @Override
    public long busyNanos() {
        return poller.counters().get(Counter.BUSY_NANOS);
    }

    @Override
    public long stalls() {
        return poller.counters().get(Counter.STALLS);
    }
}
