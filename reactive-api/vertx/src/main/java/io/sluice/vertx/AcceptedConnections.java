package io.sluice.vertx;

import io.sluice.engine.Connection;
import io.sluice.engine.ConnectionState;
import io.sluice.engine.SluiceException;
import io.sluice.engine.TransferEngine;
import io.vertx.core.Context;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The connections that peers make. An engine accepts them whether or not anybody listens, so they cannot be asked for: those that
 * were not fetched wait here, as many as may be open at once.
 */
final class AcceptedConnections extends DemandStream<TransferConnection> {
    private final TransferEngine engine;
    private final OpenStreams streams;
    private final Function<Connection, TransferConnection> face;
    private volatile TransferEngine.@Nullable ListenerHandle registration;
    private volatile boolean unwanted;

    AcceptedConnections(
            Context context,
            TransferEngine engine,
            OpenStreams streams,
            Function<Connection, TransferConnection> face) {
        super(context, 1);
        this.engine = engine;
        this.streams = streams;
        this.face = face;
    }

    @Override
    void begin() {
        if (!streams.add(this)) {
            finish(null);
            return;
        }
        try {
            registration = engine.onConnection(this::accepted);
        } catch (RuntimeException refused) {
            streams.remove(this);
            finish(refused);
        }
        if (unwanted) {
            stop();
        }
    }

    private void accepted(Connection connection) {
        int most = engine.options().maxConnections();
        if (waiting() >= most) {
            dropIf(waiting -> waiting.connection().state() != ConnectionState.OPEN);
        }
        if (waiting() >= most) {
            endNow(new SluiceException("more than " + most + " accepted connections wait to be fetched"));
        } else {
            arrived(face.apply(connection));
        }
    }

    @Override
    void request(long count) {
        // peers connect when they like
    }

    @Override
    void stop() {
        unwanted = true;
        streams.remove(this);
        TransferEngine.ListenerHandle listening = registration;
        if (listening != null) {
            listening.close();
        }
    }
}
