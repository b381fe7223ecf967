package io.sluice.engine.progress;

import io.sluice.engine.Connection;
import io.sluice.engine.ConnectionState;
import io.sluice.engine.EngineMetrics.Operation;
import io.sluice.engine.EngineObserver;
import io.sluice.engine.EngineOptions;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.SluiceException;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Notifies all observers of an engine. An exception of one affects neither the others nor the observed operation. */
public final class Observers implements EngineObserver {
    private static final Logger LOG = LoggerFactory.getLogger(Observers.class);

    private final List<EngineObserver> all;

    private Observers(List<EngineObserver> all) {
        this.all = all;
    }

    /**
     * Returns the observers of an engine.
     *
     * @param options the engine's options
     * @return {@code null} if there are none
     */
    public static @Nullable Observers of(EngineOptions options) {
        return options.observers().isEmpty() ? null : new Observers(options.observers());
    }

    private void tell(Consumer<EngineObserver> event) {
        for (EngineObserver observer : all) {
            try {
                event.accept(observer);
            } catch (Throwable e) {
                LOG.error("engine observer {} threw an exception", observer, e);
            }
        }
    }

    @Override
    public void pollerStalled(int poller, long nanos) {
        tell(observer -> observer.pollerStalled(poller, nanos));
    }

    @Override
    public void connectionChanged(Connection connection, ConnectionState state, String reason) {
        tell(observer -> observer.connectionChanged(connection, state, reason));
    }

    @Override
    public void regionOpened(MemoryRegion region, long nanos) {
        tell(observer -> observer.regionOpened(region, nanos));
    }

    @Override
    public void regionClosed(MemoryRegion region) {
        tell(observer -> observer.regionClosed(region));
    }

    @Override
    public void slowTransfer(
            Connection connection,
            Operation operation,
            long bytes,
            long waitedNanos,
            long nanos,
            @Nullable SluiceException error) {
        tell(observer -> observer.slowTransfer(connection, operation, bytes, waitedNanos, nanos, error));
    }
}
