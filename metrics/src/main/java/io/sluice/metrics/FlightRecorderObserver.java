package io.sluice.metrics;

import io.sluice.engine.Connection;
import io.sluice.engine.ConnectionState;
import io.sluice.engine.EngineMetrics;
import io.sluice.engine.EngineObserver;
import io.sluice.engine.ErrorKind;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.SluiceException;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * Writes rare events of an engine to the JDK's Flight Recorder: {@code io.sluice.SlowTransfer}, {@code
 * io.sluice.PollerStalled}, {@code io.sluice.ConnectionState} and {@code io.sluice.Region}. Every recording contains
 * them unless its settings disable them, as {@code jcmd PID JFR.start io.sluice.Region#enabled=false} does. Without a
 * recording, or if disabled, events cost nothing. Pass it to an engine by {@link
 * io.sluice.engine.EngineOptions.Builder#observer}. Thread-safe; never blocks.
 */
public final class FlightRecorderObserver implements EngineObserver {
    /** Creates an observer, which may observe several engines. */
    public FlightRecorderObserver() {}

    @Override
    public void pollerStalled(int poller, long nanos) {
        PollerStalledEvent event = new PollerStalledEvent();
        if (event.isEnabled()) {
            event.poller = poller;
            event.took = nanos;
            event.commit();
        }
    }

    @Override
    public void connectionChanged(Connection connection, ConnectionState state, String reason) {
        ConnectionStateEvent event = new ConnectionStateEvent();
        if (event.isEnabled()) {
            event.peer = connection.peer().toString();
            event.connection = connection.id();
            event.transport = connection.transport();
            event.state = lower(state);
            event.reason = reason;
            event.commit();
        }
    }

    @Override
    public void regionOpened(MemoryRegion region, long nanos) {
        changed("opened", region, nanos);
    }

    @Override
    public void regionClosed(MemoryRegion region) {
        changed("closed", region, 0);
    }

    private static void changed(String change, MemoryRegion region, long nanos) {
        RegionEvent event = new RegionEvent();
        if (event.isEnabled()) {
            event.change = change;
            event.name = region.name();
            event.length = region.length();
            event.took = nanos;
            event.commit();
        }
    }

    @Override
    public void slowTransfer(
            Connection connection,
            EngineMetrics.Operation operation,
            long bytes,
            long waitedNanos,
            long nanos,
            @Nullable SluiceException error) {
        SlowTransferEvent event = new SlowTransferEvent();
        if (event.isEnabled()) {
            event.peer = connection.peer().toString();
            event.connection = connection.id();
            event.transport = connection.transport();
            event.operation = lower(operation);
            event.bytes = bytes;
            event.waited = waitedNanos;
            event.took = nanos;
            event.errorKind = error == null ? null : lower(ErrorKind.of(error));
            event.commit();
        }
    }

    private static String lower(Enum<?> value) {
        return value.name().toLowerCase(Locale.ROOT);
    }
}
