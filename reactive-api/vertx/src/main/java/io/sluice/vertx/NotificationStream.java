package io.sluice.vertx;

import io.sluice.engine.Connection;
import io.sluice.engine.NotificationListener;
import io.sluice.engine.NotificationSubscription;
import io.sluice.engine.SluiceException;
import io.vertx.core.buffer.Buffer;
import org.jspecify.annotations.Nullable;

/** A connection's notifications. Unfetched ones stay with the connection and hold the sender's credits. */
final class NotificationStream extends DemandListener<Buffer> implements NotificationListener {
    /** Enough to keep a context busy; a larger number would let a sender continue without a consumer. */
    private static final int ASKED_AHEAD = 8;

    private final Connection connection;
    private volatile @Nullable NotificationSubscription subscription;

    NotificationStream(ClientContext client, Connection connection) {
        super(client, ASKED_AHEAD);
        this.connection = connection;
    }

    @Override
    Runnable listen() {
        NotificationSubscription made = connection.subscribe(this);
        subscription = made;
        return made::cancel;
    }

    @Override
    void request(long count) {
        NotificationSubscription listening = subscription;
        if (listening != null) {
            listening.request(count);
        }
    }

    @Override
    public void notification(byte[] payload) {
        arrived(Buffer.buffer(payload));
    }

    @Override
    public void ended(@Nullable SluiceException error) {
        listenerEnded(error);
    }
}
