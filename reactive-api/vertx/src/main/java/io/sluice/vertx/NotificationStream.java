package io.sluice.vertx;

import io.sluice.engine.Connection;
import io.sluice.engine.NotificationListener;
import io.sluice.engine.NotificationSubscription;
import io.sluice.engine.SluiceException;
import io.vertx.core.Context;
import io.vertx.core.buffer.Buffer;
import org.jspecify.annotations.Nullable;

/** A connection's notifications. What is not fetched stays with the connection, and holds the sender's credits. */
final class NotificationStream extends DemandStream<Buffer> implements NotificationListener {
    /** Enough to keep a context busy; more would let a sender continue without a listener. */
    private static final int ASKED_AHEAD = 8;

    private final Connection connection;
    private final OpenStreams streams;
    private volatile @Nullable NotificationSubscription subscription;
    private volatile boolean unwanted;

    NotificationStream(Context context, Connection connection, OpenStreams streams) {
        super(context, ASKED_AHEAD);
        this.connection = connection;
        this.streams = streams;
    }

    @Override
    void begin() {
        if (!streams.add(this)) {
            finish(null);
            return;
        }
        try {
            subscription = connection.subscribe(this);
        } catch (RuntimeException refused) {
            streams.remove(this);
            finish(refused);
        }
        if (unwanted) {
            // A concurrent stop may have run before the subscription was set.
            stop();
        }
    }

    @Override
    void request(long count) {
        NotificationSubscription listening = subscription;
        if (listening != null) {
            listening.request(count);
        }
    }

    @Override
    void stop() {
        unwanted = true;
        streams.remove(this);
        NotificationSubscription listening = subscription;
        if (listening != null) {
            listening.cancel();
        }
    }

    @Override
    public void notification(byte[] payload) {
        arrived(Buffer.buffer(payload));
    }

    @Override
    public void ended(@Nullable SluiceException error) {
        streams.remove(this);
        finish(error);
    }
}
