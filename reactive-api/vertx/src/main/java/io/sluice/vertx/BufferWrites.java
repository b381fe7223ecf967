package io.sluice.vertx;

import io.sluice.engine.RemoteRegion;
import io.sluice.engine.TransferOptions;
import io.vertx.core.Future;
import io.vertx.core.buffer.Buffer;

/** Writes buffers one behind the other into a peer's region. */
final class BufferWrites extends WindowedWriteStream<Buffer> {
    private final EngineConnection connection;
    private final RemoteRegion remote;
    private final TransferOptions options;
    private long offset;

    BufferWrites(
            ContextMailbox mailbox,
            EngineConnection connection,
            RemoteRegion remote,
            long offset,
            TransferOptions options) {
        super(mailbox, connection.connection().window());
        this.connection = connection;
        this.remote = remote;
        this.offset = offset;
        this.options = options;
    }

    @Override
    long bytes(Buffer buffer) {
        return buffer.length();
    }

    @Override
    Future<?> transfer(Buffer buffer) {
        long here = offset;
        offset += buffer.length();
        return connection.writeBuffer(buffer, remote, here, options);
    }
}
