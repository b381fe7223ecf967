package io.sluice.vertx;

import org.jspecify.annotations.Nullable;

/** A stream of what the engine reports to a listener from the stream's begin to its end. */
abstract class DemandListener<T> extends DemandStream<T> {
    private final OpenWork<DemandStream<?>> streams;
    private volatile @Nullable Runnable listening;
    private volatile boolean unwanted;

    DemandListener(ClientContext client, int limit) {
        super(client.mailbox().context(), limit);
        this.streams = client.streams();
    }

    /** Registers the listener; what it returns takes it away. On the context. */
    abstract Runnable listen();

    /** The engine reports no more. Any thread. */
    final void listenerEnded(@Nullable Throwable error) {
        streams.remove(this);
        finish(error);
    }

    @Override
    final void begin() {
        if (!streams.add(this)) {
            finish(null);
            return;
        }
        try {
            listening = listen();
        } catch (RuntimeException refused) {
            listenerEnded(refused);
        }
        if (unwanted) {
            // A concurrent stop may have run before the listener was set.
            stop();
        }
    }

    @Override
    final void stop() {
        unwanted = true;
        streams.remove(this);
        Runnable ending = listening;
        if (ending != null) {
            ending.run();
        }
    }
}
