package io.sluice.engine.session;

import io.sluice.engine.EngineMetrics;
import io.sluice.engine.InFlightWindow;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.flow.FlowCounters;
import io.sluice.engine.progress.Poller;
import io.sluice.engine.progress.PollerCounters.Counter;
import java.util.List;

/** Adds the pollers' counters up when somebody asks. */
final class EngineFigures implements EngineMetrics {
    private final LocalEngine engine;
    private final List<Poller> pollers;

    EngineFigures(LocalEngine engine, List<Poller> pollers) {
        this.engine = engine;
        this.pollers = pollers;
    }

    private long sum(Counter counter) {
        long sum = 0;
        for (Poller poller : pollers) {
            sum += poller.counters().get(counter);
        }
        return sum;
    }

    private long sum(int indexed) {
        long sum = 0;
        for (Poller poller : pollers) {
            sum += poller.counters().get(indexed);
        }
        return sum;
    }

    @Override
    public long operations(Operation operation, Outcome outcome) {
        long byCallers = switch (outcome) {
            case SUCCESS -> engine.callerThreadCounters().operations(operation);
            case CANCELLED -> engine.callerThreadCounters().cancelled(operation);
            case ERROR, TIMEOUT -> 0;
        };
        return sum(FlowCounters.operations(operation, outcome)) + byCallers;
    }

    @Override
    public long bytes(Operation operation) {
        return sum(FlowCounters.bytes(operation))
                + engine.callerThreadCounters().bytes(operation);
    }

    @Override
    public long servedWriteBytes() {
        return sum(Counter.SERVED_WRITE_BYTES);
    }

    @Override
    public long servedReadBytes() {
        return sum(Counter.SERVED_READ_BYTES);
    }

    @Override
    public long lockedBytes() {
        return engine.lockedBytes();
    }

    @Override
    public long refused() {
        return sum(Counter.REFUSED);
    }

    @Override
    public InFlightWindow window() {
        return engine.engineWindow();
    }

    @Override
    public int pending() {
        return engine.connections().stream()
                .mapToInt(connection -> connection.pending())
                .sum();
    }

    @Override
    public int connections() {
        return engine.connections().size();
    }

    @Override
    public long connectionsLost() {
        return sum(Counter.CONNECTIONS_LOST);
    }

    @Override
    public int regions() {
        return engine.regions().size();
    }

    @Override
    public long regionBytes() {
        return engine.regions().stream().mapToLong(MemoryRegion::length).sum();
    }

    @Override
    public int pollers() {
        return pollers.size();
    }

    @Override
    public long busyPolls() {
        return sum(Counter.BUSY_POLLS);
    }

    @Override
    public long emptyPolls() {
        return sum(Counter.EMPTY_POLLS);
    }

    @Override
    public long stalls() {
        return sum(Counter.STALLS);
    }
}
