package io.sluice.engine.flow;

import io.sluice.engine.StartEvent;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/** One run's wait for the event that it starts after. Any thread. */
final class StartWait implements StartEvent.Listener {
    private final FlowTransfer transfer;
    private final int run;
    private final AtomicBoolean called = new AtomicBoolean();
    private volatile @Nullable Throwable error;

    StartWait(FlowTransfer transfer, int run) {
        this.transfer = transfer;
        this.run = run;
    }

    void register(StartEvent event) {
        try {
            event.whenHappened(this);
        } catch (RuntimeException | Error e) {
            happened(e);
        }
    }

    @Override
    public void happened(@Nullable Throwable failure) {
        if (called.compareAndSet(false, true)) {
            error = failure;
            if (transfer.eventHappened(run)) {
                transfer.flow().handOver(transfer);
            }
        }
    }

    /** Why the event never happens; once the transfer was told. */
    @Nullable
    Throwable error() {
        return error;
    }
}
