package io.sluice.engine.flow;

import io.sluice.engine.StartEvent;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/** A run's wait for its start event. Once the event has happened it enters the mailbox. Thread-safe. */
final class StartWait implements StartEvent.Listener, FlowTask {
    private volatile @Nullable FlowTransfer transfer;
    private final AtomicBoolean called = new AtomicBoolean();
    private final EventLooks looks = new EventLooks();
    private volatile boolean happened;
    private @Nullable Throwable error;
    private long happenedAt;

    StartWait(FlowTransfer transfer) {
        this.transfer = transfer;
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
            happenedAt = System.nanoTime();
            happened = true;
            FlowTransfer waiting = transfer;
            if (waiting != null) {
                waiting.flow().mailbox().handOver(this);
            }
        }
    }

    @Override
    public boolean isAwaited() {
        return transfer != null;
    }

    @Override
    public boolean look(Runnable look) {
        return looks.look(look);
    }

    /** The transfer, or null if its run has ended. */
    @Nullable
    FlowTransfer transfer() {
        return transfer;
    }

    /** Its run has ended; completes when the looks at the event that are under way are over, null if none is. */
    @Nullable
    CompletableFuture<Void> drop() {
        transfer = null;
        return looks.end();
    }

    boolean hasHappened() {
        return happened;
    }

    /** When, as {@link System#nanoTime()}; once {@link #hasHappened()} is true. */
    long happenedAt() {
        return happenedAt;
    }

    /** Why the event never happens; once {@link #hasHappened()} is true. */
    @Nullable
    Throwable error() {
        return error;
    }
}
