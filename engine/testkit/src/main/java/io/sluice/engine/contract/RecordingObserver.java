package io.sluice.engine.contract;

import io.sluice.engine.Connection;
import io.sluice.engine.ConnectionState;
import io.sluice.engine.EngineMetrics.Operation;
import io.sluice.engine.EngineObserver;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.SluiceException;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;

/** Records events, and throws afterwards, which must do no harm. */
final class RecordingObserver implements EngineObserver {
    private final List<String> events = new CopyOnWriteArrayList<>();

    /** Everything, in the order of hearing. */
    List<String> events() {
        return events;
    }

    private void heard(String event) {
        events.add(event);
        throw new IllegalStateException("an observer's own fault, thrown on purpose");
    }

    @Override
    public void pollerStalled(int poller, long nanos) {
        heard("stalled " + poller);
    }

    @Override
    public void connectionChanged(Connection connection, ConnectionState state, String reason) {
        heard("connection " + state + (reason.isEmpty() == (state == ConnectionState.OPEN) ? "" : ": " + reason));
    }

    @Override
    public void regionOpened(MemoryRegion region, long nanos) {
        heard("opened " + region.length());
    }

    @Override
    public void regionClosed(MemoryRegion region) {
        heard("closed " + region.length());
    }

    @Override
    public void slowTransfer(
            Connection connection,
            Operation operation,
            long bytes,
            long waitedNanos,
            long nanos,
            @Nullable SluiceException error) {
        heard("slow " + operation + " " + bytes + (waitedNanos > nanos ? " waited too long" : "")
                + (error == null ? "" : " " + error.getClass().getSimpleName()));
    }
}
