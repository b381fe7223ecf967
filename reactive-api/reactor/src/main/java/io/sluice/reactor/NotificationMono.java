package io.sluice.reactor;

import io.sluice.engine.Connection;
import io.sluice.engine.Transfer;
import io.sluice.engine.TransferCallback;
import io.sluice.engine.TransferOptions;
import java.util.Objects;

/** A notification to the peer. */
final class NotificationMono extends TransferMono {
    private final Connection connection;
    private final byte[] payload;
    private final TransferOptions options;

    NotificationMono(Connection connection, byte[] payload, TransferOptions options) {
        this.connection = connection;
        // A copy, as the caller may reuse the array before the subscription.
        this.payload = payload.clone();
        this.options = Objects.requireNonNull(options, "options");
    }

    @Override
    Transfer submit(TransferCallback callback) {
        return connection.notify(payload, options, callback);
    }

    @Override
    long bytes() {
        return payload.length;
    }

    @Override
    public String stepName() {
        return "notify";
    }
}
