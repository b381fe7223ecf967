package io.sluice.vertx;

import io.sluice.engine.Connection;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.PageCallback;
import io.sluice.engine.PagesFailedException;
import io.sluice.engine.RemoteRegion;
import io.sluice.engine.SignalUpdate;
import io.sluice.engine.Transfer;
import io.sluice.engine.TransferCancelledException;
import io.sluice.engine.TransferOptions;
import io.sluice.engine.TransferResult;
import io.vertx.core.Context;
import io.vertx.core.buffer.Buffer;
import java.util.Objects;
import java.util.function.Function;

/**
 * The transfers of a {@link TransferConnection} with a handle for cancellation. Effect, errors and parameters are those
 * of the methods of the same name there.
 */
public final class CancellableTransfers {
    private final ClientContext client;
    private final Connection connection;

    CancellableTransfers(ClientContext client, Connection connection) {
        this.client = client;
        this.connection = connection;
    }

    /**
     * {@return the write}
     *
     * @param local the source
     * @param localOffset the source offset in bytes
     * @param remote the target
     * @param remoteOffset the target offset in bytes
     * @param length the length in bytes
     * @param options deadline, priority and events
     */
    public TransferHandle<TransferResult> write(
            MemoryRegion local,
            long localOffset,
            RemoteRegion remote,
            long remoteOffset,
            long length,
            TransferOptions options) {
        check(local, remote, options);
        PendingOperation.OfBytes operation = operation(length);
        return operation.start(
                () -> connection.write(local, localOffset, remote, remoteOffset, length, options, operation));
    }

    /**
     * {@return the read}
     *
     * @param local the target
     * @param localOffset the target offset in bytes
     * @param remote the source
     * @param remoteOffset the source offset in bytes
     * @param length the length in bytes
     * @param options deadline, priority and events
     */
    public TransferHandle<TransferResult> read(
            MemoryRegion local,
            long localOffset,
            RemoteRegion remote,
            long remoteOffset,
            long length,
            TransferOptions options) {
        check(local, remote, options);
        PendingOperation.OfBytes operation = operation(length);
        return operation.start(
                () -> connection.read(local, localOffset, remote, remoteOffset, length, options, operation));
    }

    /**
     * {@return the write}
     *
     * @param source the bytes to write
     * @param target the peer's region
     * @param targetOffset the target offset in bytes
     * @param options deadline and priority
     */
    public TransferHandle<TransferResult> writeBuffer(
            Buffer source, RemoteRegion target, long targetOffset, TransferOptions options) {
        Objects.requireNonNull(source, "source");
        check(target, options);
        return new BufferTransfer.Write(client, connection, source, target, targetOffset, options).start();
    }

    /**
     * {@return the read}
     *
     * @param source the peer's region
     * @param sourceOffset the source offset in bytes
     * @param length the length in bytes
     * @param options deadline and priority
     */
    public TransferHandle<Buffer> readBuffer(
            RemoteRegion source, long sourceOffset, int length, TransferOptions options) {
        check(source, options);
        return new BufferTransfer.Read(client, connection, source, sourceOffset, length, options).start();
    }

    /**
     * {@return the write}
     *
     * @param local the source
     * @param localPages the page numbers in the source
     * @param remote the target
     * @param remotePages the page numbers in the target
     * @param pageBytes the page length in bytes
     * @param options deadline, priority and events
     */
    public TransferHandle<TransferResult> writePages(
            MemoryRegion local,
            int[] localPages,
            RemoteRegion remote,
            int[] remotePages,
            long pageBytes,
            TransferOptions options) {
        check(local, remote, options);
        return pages(
                localPages.length,
                pageBytes,
                end -> connection.writePages(local, localPages, remote, remotePages, pageBytes, options, end));
    }

    /**
     * {@return the write}
     *
     * @param local the source
     * @param localOffsets the page offsets in the source in bytes
     * @param remote the target
     * @param remoteOffsets the page offsets in the target in bytes
     * @param pageBytes the page length in bytes
     * @param options deadline, priority and events
     */
    public TransferHandle<TransferResult> writePages(
            MemoryRegion local,
            long[] localOffsets,
            RemoteRegion remote,
            long[] remoteOffsets,
            long pageBytes,
            TransferOptions options) {
        check(local, remote, options);
        return pages(
                localOffsets.length,
                pageBytes,
                end -> connection.writePages(local, localOffsets, remote, remoteOffsets, pageBytes, options, end));
    }

    /**
     * {@return the read}
     *
     * @param local the target
     * @param localPages the page numbers in the target
     * @param remote the source
     * @param remotePages the page numbers in the source
     * @param pageBytes the page length in bytes
     * @param options deadline, priority and events
     */
    public TransferHandle<TransferResult> readPages(
            MemoryRegion local,
            int[] localPages,
            RemoteRegion remote,
            int[] remotePages,
            long pageBytes,
            TransferOptions options) {
        check(local, remote, options);
        return pages(
                localPages.length,
                pageBytes,
                end -> connection.readPages(local, localPages, remote, remotePages, pageBytes, options, end));
    }

    /**
     * {@return the read}
     *
     * @param local the target
     * @param localOffsets the page offsets in the target in bytes
     * @param remote the source
     * @param remoteOffsets the page offsets in the source in bytes
     * @param pageBytes the page length in bytes
     * @param options deadline, priority and events
     */
    public TransferHandle<TransferResult> readPages(
            MemoryRegion local,
            long[] localOffsets,
            RemoteRegion remote,
            long[] remoteOffsets,
            long pageBytes,
            TransferOptions options) {
        check(local, remote, options);
        return pages(
                localOffsets.length,
                pageBytes,
                end -> connection.readPages(local, localOffsets, remote, remoteOffsets, pageBytes, options, end));
    }

    /**
     * {@return the write}
     *
     * @param local the source
     * @param localOffset the source offset in bytes
     * @param remote the target
     * @param remoteOffset the target offset in bytes
     * @param length the length in bytes
     * @param signal the signal to update and its operand
     * @param options deadline, priority and events
     */
    public TransferHandle<TransferResult> writeWithSignal(
            MemoryRegion local,
            long localOffset,
            RemoteRegion remote,
            long remoteOffset,
            long length,
            SignalUpdate signal,
            TransferOptions options) {
        check(local, remote, options);
        Objects.requireNonNull(signal, "signal");
        PendingOperation.OfBytes operation = operation(length);
        return operation.start(() -> connection.writeWithSignal(
                local, localOffset, remote, remoteOffset, length, signal, options, operation));
    }

    /**
     * {@return the write of a few bytes}
     *
     * @param remote the target
     * @param remoteOffset the target offset in bytes
     * @param value the value, whose low-order bytes are written
     * @param bytes the number of bytes, 1 to 8
     * @param options deadline, priority and events
     */
    public TransferHandle<TransferResult> put(
            RemoteRegion remote, long remoteOffset, long value, int bytes, TransferOptions options) {
        check(remote, options);
        PendingOperation.OfBytes operation = operation(bytes);
        return operation.start(() -> connection.put(remote, remoteOffset, value, bytes, options, operation));
    }

    /**
     * {@return the update of a signal; its result has no bytes}
     *
     * @param update the signal to update and its operand
     * @param options deadline, priority and events
     */
    public TransferHandle<TransferResult> signal(SignalUpdate update, TransferOptions options) {
        Objects.requireNonNull(update, "update");
        Objects.requireNonNull(options, "options");
        PendingOperation.OfBytes operation = operation(0);
        return operation.start(() -> connection.signal(update, options, operation));
    }

    /**
     * {@return the addition; after a cancel it may or may not have happened}
     *
     * @param remote the region
     * @param remoteOffset the offset of the word in bytes
     * @param addend the number to add
     * @param options deadline, priority and events
     */
    public TransferHandle<Long> fetchAdd(RemoteRegion remote, long remoteOffset, long addend, TransferOptions options) {
        check(remote, options);
        PendingOperation.OfWord operation = new PendingOperation.OfWord(client);
        return operation.start(() -> connection.fetchAdd(remote, remoteOffset, addend, options, operation));
    }

    /**
     * {@return the compare-and-swap; after a cancel it may or may not have happened}
     *
     * @param remote the region
     * @param remoteOffset the offset of the word in bytes
     * @param expected the required current value
     * @param replacement the new value
     * @param options deadline, priority and events
     */
    public TransferHandle<Long> compareAndSwap(
            RemoteRegion remote, long remoteOffset, long expected, long replacement, TransferOptions options) {
        check(remote, options);
        PendingOperation.OfWord operation = new PendingOperation.OfWord(client);
        return operation.start(
                () -> connection.compareAndSwap(remote, remoteOffset, expected, replacement, options, operation));
    }

    /**
     * {@return the notification; its result has no bytes, and a cancel does not retract a message that was sent}
     *
     * @param payload copied
     * @param options deadline, priority and events
     */
    public TransferHandle<TransferResult> notify(Buffer payload, TransferOptions options) {
        Objects.requireNonNull(options, "options");
        byte[] bytes = payload.getBytes();
        PendingOperation.OfBytes operation = operation(0);
        return operation.start(() -> connection.notify(bytes, options, operation));
    }

    private PendingOperation.OfBytes operation(long bytes) {
        return new PendingOperation.OfBytes(client, bytes);
    }

    private TransferHandle<TransferResult> pages(
            int pages, long pageBytes, Function<PageCallback, Transfer> submission) {
        PendingOperation.OfBytes operation = operation(pages * pageBytes);
        return operation.start(() -> submission.apply((transfer, failed, error) ->
                operation.terminated(transfer, PagesFailedException.of(failed, pages, error))));
    }

    private static void check(MemoryRegion local, RemoteRegion remote, TransferOptions options) {
        Objects.requireNonNull(local, "local");
        check(remote, options);
    }

    private static void check(RemoteRegion remote, TransferOptions options) {
        Objects.requireNonNull(remote, "remote");
        Objects.requireNonNull(options, "options");
    }

    /** Blocks until a transfer ends. */
    <T> T await(Function<CancellableTransfers, TransferHandle<T>> submission) {
        if (Context.isOnVertxThread() && !Thread.currentThread().isVirtual()) {
            throw new IllegalStateException(
                    "the thread " + Thread.currentThread().getName()
                            + " must not wait: use a virtual thread, or the futures of TransferConnection");
        }
        TransferHandle<T> transfer = submission.apply(this);
        try {
            return transfer.result().await();
        } catch (Exception failure) {
            if (isInterruption(failure)) {
                transfer.cancel();
                Thread.currentThread().interrupt();
                throw new TransferCancelledException("interrupted while waiting for the transfer");
            }
            throw failure;
        }
    }

    /** The context's await throws InterruptedException without declaring it. */
    private static boolean isInterruption(Exception failure) {
        return failure instanceof InterruptedException;
    }
}
