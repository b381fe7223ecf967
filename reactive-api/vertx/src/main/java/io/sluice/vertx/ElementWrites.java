package io.sluice.vertx;

import io.sluice.engine.TransferElement;
import io.sluice.engine.TransferOptions;
import io.vertx.core.Future;

/** Writes elements, each of which names its source and its target. */
final class ElementWrites extends WindowedWriteStream<TransferElement> {
    private final EngineConnection connection;
    private final TransferOptions options;

    ElementWrites(ContextMailbox mailbox, EngineConnection connection, TransferOptions options) {
        super(mailbox, connection.connection().window());
        this.connection = connection;
        this.options = options;
    }

    @Override
    long bytes(TransferElement element) {
        return element.length();
    }

    @Override
    Future<?> transfer(TransferElement element) {
        return connection.write(
                element.local(),
                element.localOffset(),
                element.remote(),
                element.remoteOffset(),
                element.length(),
                options);
    }
}
