package io.sluice.vertx;

import io.sluice.engine.Connection;
import io.sluice.engine.RegionDescriptor;
import io.sluice.engine.RemoteRegion;
import io.sluice.engine.TransferElement;
import io.sluice.engine.TransferOptions;
import io.vertx.core.Future;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.streams.ReadStream;
import io.vertx.core.streams.WriteStream;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicLong;

/** A client's view of a connection. */
final class EngineConnection implements TransferConnection {
    private final ClientContext client;
    private final Connection connection;
    private final CancellableTransfers transfers;

    EngineConnection(ClientContext client, Connection connection) {
        this.client = client;
        this.connection = connection;
        this.transfers = new CancellableTransfers(client, connection);
    }

    @Override
    public Connection connection() {
        return connection;
    }

    @Override
    public CancellableTransfers cancellable() {
        return transfers;
    }

    @Override
    public Future<RemoteRegion> attach(RegionDescriptor descriptor) {
        Objects.requireNonNull(descriptor, "descriptor");
        return client.answer(() -> connection.attach(descriptor));
    }

    @Override
    public Future<List<RemoteRegion>> attach(List<RegionDescriptor> descriptors) {
        List<RegionDescriptor> copy = List.copyOf(descriptors);
        return client.answer(() -> connection.attach(copy));
    }

    @Override
    public Future<Void> detach(RemoteRegion region) {
        Objects.requireNonNull(region, "region");
        return client.answer(() -> connection.detach(region));
    }

    @Override
    public Future<RegionDescriptor> lookup(String name) {
        Objects.requireNonNull(name, "name");
        return client.answer(() -> connection.lookup(name));
    }

    @Override
    public TransferResultStream writeVectored(List<TransferElement> elements, TransferOptions options) {
        return vectored(new VectoredStream.Listed(elements), VectoredStream.Submission::write, options);
    }

    @Override
    public TransferResultStream writeVectored(ReadStream<TransferElement> elements, TransferOptions options) {
        return vectored(new VectoredStream.Streamed(elements), VectoredStream.Submission::write, options);
    }

    @Override
    public TransferResultStream readVectored(List<TransferElement> elements, TransferOptions options) {
        return vectored(new VectoredStream.Listed(elements), VectoredStream.Submission::read, options);
    }

    @Override
    public TransferResultStream readVectored(ReadStream<TransferElement> elements, TransferOptions options) {
        return vectored(new VectoredStream.Streamed(elements), VectoredStream.Submission::read, options);
    }

    private TransferResultStream vectored(
            VectoredStream.Source source, VectoredStream.Submission submission, TransferOptions options) {
        Objects.requireNonNull(options, "options");
        return new VectoredStream(
                client.mailbox(),
                client.streams(),
                connection.window().operationLimit(),
                source,
                (element, callback) -> submission.submit(connection, element, options, callback));
    }

    @Override
    public WriteStream<TransferElement> writes(TransferOptions options) {
        Objects.requireNonNull(options, "options");
        return new WindowedWriteStream<>(
                client.mailbox(),
                connection.window(),
                TransferElement::length,
                e -> write(e.local(), e.localOffset(), e.remote(), e.remoteOffset(), e.length(), options));
    }

    @Override
    public WriteStream<Buffer> bufferWrites(RemoteRegion target, long targetOffset, TransferOptions options) {
        Objects.requireNonNull(target, "target");
        Objects.requireNonNull(options, "options");
        AtomicLong next = new AtomicLong(targetOffset);
        return new WindowedWriteStream<>(
                client.mailbox(),
                connection.window(),
                Buffer::length,
                buffer -> writeBuffer(buffer, target, next.getAndAdd(buffer.length()), options));
    }

    @Override
    public ReadStream<Buffer> notifications() {
        return new NotificationStream(client, connection);
    }

    @Override
    public Future<Void> flush() {
        return client.answer(connection::flush);
    }

    @Override
    public Future<Void> quiet() {
        return client.answer(connection::quiet);
    }

    @Override
    public Future<Long> checksum(RemoteRegion region, long offset, long length) {
        Objects.requireNonNull(region, "region");
        return client.answer(() -> connection.checksum(region, offset, length));
    }

    @Override
    public Future<Void> quiesced() {
        return client.answer(connection::quiesced);
    }

    @Override
    public Future<Void> ended() {
        return client.answer(() -> connection.ended().toCompletableFuture());
    }

    @Override
    public Future<Void> close() {
        return client.answer(connection::close);
    }

    /** Returns peer and connection, for logs. */
    @Override
    public String toString() {
        return "TransferConnection[" + connection.id() + " to " + connection.peer() + "]";
    }
}
