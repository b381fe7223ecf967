package io.sluice.vertx;

import io.sluice.engine.Connection;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.PagesFailedException;
import io.sluice.engine.RemoteRegion;
import io.sluice.engine.SignalUpdate;
import io.sluice.engine.TransferOptions;
import io.sluice.engine.TransferResult;
import io.vertx.core.buffer.Buffer;
import java.util.Objects;

/** One client's transfers over a connection. */
final class EngineTransfers implements CancellableTransfers {
    private final DefaultTransferClient client;
    private final Connection connection;

    EngineTransfers(DefaultTransferClient client, Connection connection) {
        this.client = client;
        this.connection = connection;
    }

    @Override
    public TransferHandle<TransferResult> write(
            MemoryRegion local,
            long localOffset,
            RemoteRegion remote,
            long remoteOffset,
            long length,
            TransferOptions options) {
        Objects.requireNonNull(local, "local");
        Objects.requireNonNull(remote, "remote");
        Objects.requireNonNull(options, "options");
        TransferOperation operation = operation(length);
        return operation.start(
                () -> connection.write(local, localOffset, remote, remoteOffset, length, options, operation));
    }

    @Override
    public TransferHandle<TransferResult> read(
            MemoryRegion local,
            long localOffset,
            RemoteRegion remote,
            long remoteOffset,
            long length,
            TransferOptions options) {
        Objects.requireNonNull(local, "local");
        Objects.requireNonNull(remote, "remote");
        Objects.requireNonNull(options, "options");
        TransferOperation operation = operation(length);
        return operation.start(
                () -> connection.read(local, localOffset, remote, remoteOffset, length, options, operation));
    }

    @Override
    public TransferHandle<TransferResult> writePages(
            MemoryRegion local,
            int[] localPages,
            RemoteRegion remote,
            int[] remotePages,
            long pageBytes,
            TransferOptions options) {
        Objects.requireNonNull(local, "local");
        Objects.requireNonNull(remote, "remote");
        Objects.requireNonNull(options, "options");
        int pages = localPages.length;
        TransferOperation operation = operation(pages * pageBytes);
        return operation.start(() -> connection.writePages(
                local,
                localPages,
                remote,
                remotePages,
                pageBytes,
                options,
                (transfer, failed, error) ->
                        operation.terminated(transfer, PagesFailedException.of(failed, pages, error))));
    }

    @Override
    public TransferHandle<TransferResult> writePages(
            MemoryRegion local,
            long[] localOffsets,
            RemoteRegion remote,
            long[] remoteOffsets,
            long pageBytes,
            TransferOptions options) {
        Objects.requireNonNull(local, "local");
        Objects.requireNonNull(remote, "remote");
        Objects.requireNonNull(options, "options");
        int pages = localOffsets.length;
        TransferOperation operation = operation(pages * pageBytes);
        return operation.start(() -> connection.writePages(
                local,
                localOffsets,
                remote,
                remoteOffsets,
                pageBytes,
                options,
                (transfer, failed, error) ->
                        operation.terminated(transfer, PagesFailedException.of(failed, pages, error))));
    }

    @Override
    public TransferHandle<TransferResult> readPages(
            MemoryRegion local,
            int[] localPages,
            RemoteRegion remote,
            int[] remotePages,
            long pageBytes,
            TransferOptions options) {
        Objects.requireNonNull(local, "local");
        Objects.requireNonNull(remote, "remote");
        Objects.requireNonNull(options, "options");
        int pages = localPages.length;
        TransferOperation operation = operation(pages * pageBytes);
        return operation.start(() -> connection.readPages(
                local,
                localPages,
                remote,
                remotePages,
                pageBytes,
                options,
                (transfer, failed, error) ->
                        operation.terminated(transfer, PagesFailedException.of(failed, pages, error))));
    }

    @Override
    public TransferHandle<TransferResult> readPages(
            MemoryRegion local,
            long[] localOffsets,
            RemoteRegion remote,
            long[] remoteOffsets,
            long pageBytes,
            TransferOptions options) {
        Objects.requireNonNull(local, "local");
        Objects.requireNonNull(remote, "remote");
        Objects.requireNonNull(options, "options");
        int pages = localOffsets.length;
        TransferOperation operation = operation(pages * pageBytes);
        return operation.start(() -> connection.readPages(
                local,
                localOffsets,
                remote,
                remoteOffsets,
                pageBytes,
                options,
                (transfer, failed, error) ->
                        operation.terminated(transfer, PagesFailedException.of(failed, pages, error))));
    }

    @Override
    public TransferHandle<TransferResult> writeBuffer(
            Buffer source, RemoteRegion target, long targetOffset, TransferOptions options) {
        Objects.requireNonNull(source, "source");
        Objects.requireNonNull(target, "target");
        Objects.requireNonNull(options, "options");
        return new BufferWrite(
                        client.mailbox(),
                        client.staging(),
                        client.transfersUnderWay(),
                        connection,
                        source,
                        target,
                        targetOffset,
                        options)
                .start();
    }

    @Override
    public TransferHandle<Buffer> readBuffer(
            RemoteRegion source, long sourceOffset, int length, TransferOptions options) {
        Objects.requireNonNull(source, "source");
        Objects.requireNonNull(options, "options");
        return new BufferRead(
                        client.mailbox(),
                        client.staging(),
                        client.transfersUnderWay(),
                        connection,
                        source,
                        sourceOffset,
                        length,
                        options)
                .start();
    }

    @Override
    public TransferHandle<TransferResult> writeWithSignal(
            MemoryRegion local,
            long localOffset,
            RemoteRegion remote,
            long remoteOffset,
            long length,
            SignalUpdate signal,
            TransferOptions options) {
        Objects.requireNonNull(local, "local");
        Objects.requireNonNull(remote, "remote");
        Objects.requireNonNull(signal, "signal");
        Objects.requireNonNull(options, "options");
        TransferOperation operation = operation(length);
        return operation.start(() -> connection.writeWithSignal(
                local, localOffset, remote, remoteOffset, length, signal, options, operation));
    }

    @Override
    public TransferHandle<TransferResult> put(
            RemoteRegion remote, long remoteOffset, long value, int bytes, TransferOptions options) {
        Objects.requireNonNull(remote, "remote");
        Objects.requireNonNull(options, "options");
        TransferOperation operation = operation(bytes);
        return operation.start(() -> connection.put(remote, remoteOffset, value, bytes, options, operation));
    }

    @Override
    public TransferHandle<TransferResult> signal(SignalUpdate update, TransferOptions options) {
        Objects.requireNonNull(update, "update");
        Objects.requireNonNull(options, "options");
        TransferOperation operation = operation(0);
        return operation.start(() -> connection.signal(update, options, operation));
    }

    @Override
    public TransferHandle<Long> fetchAdd(RemoteRegion remote, long remoteOffset, long addend, TransferOptions options) {
        Objects.requireNonNull(remote, "remote");
        Objects.requireNonNull(options, "options");
        FetchOperation operation = new FetchOperation(client.mailbox(), client.transfersUnderWay());
        return operation.start(() -> connection.fetchAdd(remote, remoteOffset, addend, options, operation));
    }

    @Override
    public TransferHandle<Long> compareAndSwap(
            RemoteRegion remote, long remoteOffset, long expected, long replacement, TransferOptions options) {
        Objects.requireNonNull(remote, "remote");
        Objects.requireNonNull(options, "options");
        FetchOperation operation = new FetchOperation(client.mailbox(), client.transfersUnderWay());
        return operation.start(
                () -> connection.compareAndSwap(remote, remoteOffset, expected, replacement, options, operation));
    }

    @Override
    public TransferHandle<TransferResult> notify(Buffer payload, TransferOptions options) {
        Objects.requireNonNull(options, "options");
        byte[] bytes = payload.getBytes();
        TransferOperation operation = operation(0);
        return operation.start(() -> connection.notify(bytes, options, operation));
    }

    private TransferOperation operation(long bytes) {
        return new TransferOperation(client.mailbox(), client.transfersUnderWay(), bytes);
    }
}
