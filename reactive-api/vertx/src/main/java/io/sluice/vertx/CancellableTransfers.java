package io.sluice.vertx;

import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RemoteRegion;
import io.sluice.engine.SignalUpdate;
import io.sluice.engine.TransferOptions;
import io.sluice.engine.TransferResult;
import io.vertx.core.buffer.Buffer;

/**
 * The transfers of a {@link TransferConnection}, each with a handle that can cancel it. What the methods do and how they fail is said
 * there; parameters are the same.
 */
public interface CancellableTransfers {
    /**
     * As {@link TransferConnection#write(MemoryRegion, long, RemoteRegion, long, long, TransferOptions)}.
     *
     * @param local the source
     * @param localOffset where it begins, in bytes
     * @param remote the target
     * @param remoteOffset where it begins, in bytes
     * @param length bytes
     * @param options deadline and the like
     * @return the write
     */
    TransferHandle<TransferResult> write(
            MemoryRegion local,
            long localOffset,
            RemoteRegion remote,
            long remoteOffset,
            long length,
            TransferOptions options);

    /**
     * As {@link TransferConnection#read(MemoryRegion, long, RemoteRegion, long, long, TransferOptions)}.
     *
     * @param local the target
     * @param localOffset where it begins, in bytes
     * @param remote the source
     * @param remoteOffset where it begins, in bytes
     * @param length bytes
     * @param options deadline and the like
     * @return the read
     */
    TransferHandle<TransferResult> read(
            MemoryRegion local,
            long localOffset,
            RemoteRegion remote,
            long remoteOffset,
            long length,
            TransferOptions options);

    /**
     * As {@link TransferConnection#writeBuffer(Buffer, RemoteRegion, long, TransferOptions)}.
     *
     * @param source all its bytes are written
     * @param target the peer's region
     * @param targetOffset where in the target to begin, in bytes
     * @param options deadline and priority
     * @return the write
     */
    TransferHandle<TransferResult> writeBuffer(
            Buffer source, RemoteRegion target, long targetOffset, TransferOptions options);

    /**
     * As {@link TransferConnection#readBuffer(RemoteRegion, long, int, TransferOptions)}.
     *
     * @param source the peer's region
     * @param sourceOffset where in the source to begin, in bytes
     * @param length bytes
     * @param options deadline and priority
     * @return the read
     */
    TransferHandle<Buffer> readBuffer(RemoteRegion source, long sourceOffset, int length, TransferOptions options);

    /**
     * As {@link TransferConnection#writePages(MemoryRegion, int[], RemoteRegion, int[], long, TransferOptions)}.
     *
     * @param local the source
     * @param localPages the pages in it
     * @param remote the peer's region
     * @param remotePages the pages in it
     * @param pageBytes how long a page is
     * @param options deadline and the like
     * @return the transfer
     */
    TransferHandle<TransferResult> writePages(
            MemoryRegion local,
            int[] localPages,
            RemoteRegion remote,
            int[] remotePages,
            long pageBytes,
            TransferOptions options);

    /**
     * As {@link TransferConnection#writePages(MemoryRegion, long[], RemoteRegion, long[], long, TransferOptions)}.
     *
     * @param local the source
     * @param localOffsets the pages in it
     * @param remote the peer's region
     * @param remoteOffsets the pages in it
     * @param pageBytes how long a page is
     * @param options deadline and the like
     * @return the transfer
     */
    TransferHandle<TransferResult> writePages(
            MemoryRegion local,
            long[] localOffsets,
            RemoteRegion remote,
            long[] remoteOffsets,
            long pageBytes,
            TransferOptions options);

    /**
     * As {@link TransferConnection#readPages(MemoryRegion, int[], RemoteRegion, int[], long, TransferOptions)}.
     *
     * @param local the target
     * @param localPages the pages in it
     * @param remote the peer's region
     * @param remotePages the pages in it
     * @param pageBytes how long a page is
     * @param options deadline and the like
     * @return the transfer
     */
    TransferHandle<TransferResult> readPages(
            MemoryRegion local,
            int[] localPages,
            RemoteRegion remote,
            int[] remotePages,
            long pageBytes,
            TransferOptions options);

    /**
     * As {@link TransferConnection#readPages(MemoryRegion, long[], RemoteRegion, long[], long, TransferOptions)}.
     *
     * @param local the target
     * @param localOffsets the pages in it
     * @param remote the peer's region
     * @param remoteOffsets the pages in it
     * @param pageBytes how long a page is
     * @param options deadline and the like
     * @return the transfer
     */
    TransferHandle<TransferResult> readPages(
            MemoryRegion local,
            long[] localOffsets,
            RemoteRegion remote,
            long[] remoteOffsets,
            long pageBytes,
            TransferOptions options);

    /**
     * As {@link TransferConnection#writeWithSignal}.
     *
     * @param local the source
     * @param localOffset where it begins, in bytes
     * @param remote the target
     * @param remoteOffset where it begins, in bytes
     * @param length bytes
     * @param signal what to do to which signal
     * @param options deadline and the like
     * @return the write
     */
    TransferHandle<TransferResult> writeWithSignal(
            MemoryRegion local,
            long localOffset,
            RemoteRegion remote,
            long remoteOffset,
            long length,
            SignalUpdate signal,
            TransferOptions options);

    /**
     * As {@link TransferConnection#put}.
     *
     * @param remote the target
     * @param remoteOffset where to write, in bytes
     * @param value its low-order bytes are written
     * @param bytes how many, 1 to 8
     * @param options deadline and the like
     * @return the put
     */
    TransferHandle<TransferResult> put(
            RemoteRegion remote, long remoteOffset, long value, int bytes, TransferOptions options);

    /**
     * As {@link TransferConnection#signal}.
     *
     * @param update what to do to which signal
     * @param options deadline and the like
     * @return the update; the result has no bytes
     */
    TransferHandle<TransferResult> signal(SignalUpdate update, TransferOptions options);

    /**
     * As {@link TransferConnection#fetchAdd}. After a cancel it may or may not have been added.
     *
     * @param remote the region
     * @param remoteOffset where the word lies, in bytes
     * @param addend what to add
     * @param options deadline and the like
     * @return the operation
     */
    TransferHandle<Long> fetchAdd(RemoteRegion remote, long remoteOffset, long addend, TransferOptions options);

    /**
     * As {@link TransferConnection#compareAndSwap}. After a cancel it may or may not have been replaced.
     *
     * @param remote the region
     * @param remoteOffset where the word lies, in bytes
     * @param expected what it must hold
     * @param replacement what it holds then
     * @param options deadline and the like
     * @return the operation
     */
    TransferHandle<Long> compareAndSwap(
            RemoteRegion remote, long remoteOffset, long expected, long replacement, TransferOptions options);

    /**
     * As {@link TransferConnection#notify(Buffer, TransferOptions)}. A cancel after the message was sent does not call it back.
     *
     * @param payload copied
     * @param options deadline and the like
     * @return the notification; the result has no bytes
     */
    TransferHandle<TransferResult> notify(Buffer payload, TransferOptions options);
}
