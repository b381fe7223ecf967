package io.sluice.vertx;

import io.sluice.engine.Connection;
import io.sluice.engine.ConnectionState;
import io.sluice.engine.SluiceException;

/**
 * The connections made by peers. An engine accepts them with or without a listener, so demand does not limit them:
 * unfetched ones wait here, as many as may be open at once.
 */
final class AcceptedConnections extends DemandListener<TransferConnection> {
    private final ClientContext client;

    AcceptedConnections(ClientContext client) {
        super(client, 1);
        this.client = client;
    }

    @Override
    Runnable listen() {
        return client.engine().onConnection(this::accepted)::close;
    }

    private void accepted(Connection connection) {
        int most = client.engine().options().maxConnections();
        if (waiting() >= most) {
            dropIf(waiting -> waiting.connection().state() != ConnectionState.OPEN);
        }
        if (waiting() >= most) {
            endNow(new SluiceException("more than " + most + " accepted connections of engine "
                    + client.engine().id() + " wait in its stream; fetch them, or raise maxConnections"));
        } else {
            arrived(new EngineConnection(client, connection));
        }
    }

    @Override
    void request(long count) {
        // demand does not limit connects
    }
}
