package io.sluice.vertx;

import org.jspecify.annotations.Nullable;

/** A stream of the engine's calls to a listener. */
abstract class DemandListener<T> extends DemandStream<T> {
    private final OpenWork<DemandStream<?>> streams;
    private volatile @Nullable Runnable listening;
    private volatile boolean unwanted;

    DemandListener(ClientContext client, int limit) {
        super(client.mailbox().context(), limit);
        this.streams = client.streams();
    }

    /** Registers the listener; the result unregisters it. On the context. */
    abstract Runnable listen();

    /** The engine makes no more calls. Any thread. */
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
            // a concurrent stop may have run before the listener was set
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
