package io.sluice.vertx;

import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RemoteRegion;
import io.sluice.engine.SignalUpdate;
import io.sluice.engine.TransferCancelledException;
import io.sluice.engine.TransferOptions;
import io.sluice.engine.TransferResult;
import io.vertx.core.Context;
import io.vertx.core.buffer.Buffer;
import java.util.function.Function;

/**
 * The transfers of a {@link TransferConnection} for virtual threads: each method does what the method of the same name there says,
 * waits for the end, returns its result, and throws its error, mostly a {@link io.sluice.engine.SluiceException}. It holds no thread:
 * on a virtual thread of Vert.x the context goes on with other work meanwhile, as with {@link io.vertx.core.Future#await()}.
 *
 * <p>Threads without Vert.x may use it, too. Event loops and workers may not, as their completions could not come while they wait:
 * there each method throws {@link IllegalStateException} and transfers nothing.
 *
 * <p>A thread that is interrupted while it waits cancels its transfer: the method throws {@link TransferCancelledException}, and the
 * thread's interrupt status is set. The transfer's memory may be used again after {@link TransferConnection#quiesced()}.
 */
public final class BlockingTransfers {
    private final CancellableTransfers transfers;

    BlockingTransfers(CancellableTransfers transfers) {
        this.transfers = transfers;
    }

    /**
     * {@return the result of a write of a whole region or slice}
     *
     * @param source all its bytes are written
     * @param target attached on this connection
     * @param targetOffset where in the target to begin, in bytes
     */
    public TransferResult write(MemoryRegion source, RemoteRegion target, long targetOffset) {
        return write(source, 0, target, targetOffset, source.length(), TransferOptions.defaults());
    }

    /**
     * {@return the result of a write}
     *
     * @param local the source
     * @param localOffset where it begins, in bytes
     * @param remote the target, attached on this connection
     * @param remoteOffset where it begins, in bytes
     * @param length bytes, 0 or more
     * @param options deadline and the like
     */
    public TransferResult write(
            MemoryRegion local,
            long localOffset,
            RemoteRegion remote,
            long remoteOffset,
            long length,
            TransferOptions options) {
        return end(with -> with.write(local, localOffset, remote, remoteOffset, length, options));
    }

    /**
     * {@return the result of a read into a whole region or slice}
     *
     * @param target all its bytes are overwritten
     * @param source attached on this connection
     * @param sourceOffset where in the source to begin, in bytes
     */
    public TransferResult read(MemoryRegion target, RemoteRegion source, long sourceOffset) {
        return read(target, 0, source, sourceOffset, target.length(), TransferOptions.defaults());
    }

    /**
     * {@return the result of a read}
     *
     * @param local the target
     * @param localOffset where it begins, in bytes
     * @param remote the source, attached on this connection
     * @param remoteOffset where it begins, in bytes
     * @param length bytes, 0 or more
     * @param options deadline and the like
     */
    public TransferResult read(
            MemoryRegion local,
            long localOffset,
            RemoteRegion remote,
            long remoteOffset,
            long length,
            TransferOptions options) {
        return end(with -> with.read(local, localOffset, remote, remoteOffset, length, options));
    }

    /**
     * {@return the result of a write through staging memory}
     *
     * @param source all its bytes are written; not to be changed meanwhile
     * @param target attached on this connection
     * @param targetOffset where in the target to begin, in bytes
     * @param options deadline and priority
     */
    public TransferResult writeBuffer(Buffer source, RemoteRegion target, long targetOffset, TransferOptions options) {
        return end(with -> with.writeBuffer(source, target, targetOffset, options));
    }

    /**
     * {@return a new buffer, read through staging memory}
     *
     * @param source attached on this connection
     * @param sourceOffset where in the source to begin, in bytes
     * @param length bytes, 0 or more
     * @param options deadline and priority
     */
    public Buffer readBuffer(RemoteRegion source, long sourceOffset, int length, TransferOptions options) {
        return end(with -> with.readBuffer(source, sourceOffset, length, options));
    }

    /**
     * {@return the result of a write of pages by their numbers}
     *
     * @param local the source
     * @param localPages the pages in it, one or more
     * @param remote the target, attached on this connection
     * @param remotePages the pages in it, as many
     * @param pageBytes how long a page is, 1 or more
     * @param options deadline and the like
     */
    public TransferResult writePages(
            MemoryRegion local,
            int[] localPages,
            RemoteRegion remote,
            int[] remotePages,
            long pageBytes,
            TransferOptions options) {
        return end(with -> with.writePages(local, localPages, remote, remotePages, pageBytes, options));
    }

    /**
     * {@return the result of a write of pages by their offsets}
     *
     * @param local the source
     * @param localOffsets the pages in it, one or more
     * @param remote the target, attached on this connection
     * @param remoteOffsets the pages in it, as many
     * @param pageBytes how long a page is, 1 or more
     * @param options deadline and the like
     */
    public TransferResult writePages(
            MemoryRegion local,
            long[] localOffsets,
            RemoteRegion remote,
            long[] remoteOffsets,
            long pageBytes,
            TransferOptions options) {
        return end(with -> with.writePages(local, localOffsets, remote, remoteOffsets, pageBytes, options));
    }

    /**
     * {@return the result of a read of pages by their numbers}
     *
     * @param local the target
     * @param localPages the pages in it, one or more
     * @param remote the source, attached on this connection
     * @param remotePages the pages in it, as many
     * @param pageBytes how long a page is, 1 or more
     * @param options deadline and the like
     */
    public TransferResult readPages(
            MemoryRegion local,
            int[] localPages,
            RemoteRegion remote,
            int[] remotePages,
            long pageBytes,
            TransferOptions options) {
        return end(with -> with.readPages(local, localPages, remote, remotePages, pageBytes, options));
    }

    /**
     * {@return the result of a read of pages by their offsets}
     *
     * @param local the target
     * @param localOffsets the pages in it, one or more
     * @param remote the source, attached on this connection
     * @param remoteOffsets the pages in it, as many
     * @param pageBytes how long a page is, 1 or more
     * @param options deadline and the like
     */
    public TransferResult readPages(
            MemoryRegion local,
            long[] localOffsets,
            RemoteRegion remote,
            long[] remoteOffsets,
            long pageBytes,
            TransferOptions options) {
        return end(with -> with.readPages(local, localOffsets, remote, remoteOffsets, pageBytes, options));
    }

    /**
     * {@return the result of a write that then updates a signal}
     *
     * @param local the source
     * @param localOffset where it begins, in bytes
     * @param remote the target, attached on this connection
     * @param remoteOffset where it begins, in bytes
     * @param length bytes, 0 or more
     * @param signal which counter, and how
     * @param options deadline and the like
     */
    public TransferResult writeWithSignal(
            MemoryRegion local,
            long localOffset,
            RemoteRegion remote,
            long remoteOffset,
            long length,
            SignalUpdate signal,
            TransferOptions options) {
        return end(with -> with.writeWithSignal(local, localOffset, remote, remoteOffset, length, signal, options));
    }

    /**
     * {@return the result of a write of a few bytes that needs no local region}
     *
     * @param remote the target, attached on this connection
     * @param remoteOffset where it begins, in bytes
     * @param value its low-order bytes are written, the lowest first
     * @param bytes how many, 1 to 8
     * @param options deadline and the like
     */
    public TransferResult put(RemoteRegion remote, long remoteOffset, long value, int bytes, TransferOptions options) {
        return end(with -> with.put(remote, remoteOffset, value, bytes, options));
    }

    /**
     * Updates a signal in one of the peer's regions.
     *
     * @param update which counter, and how
     * @param options deadline and the like
     */
    public void signal(SignalUpdate update, TransferOptions options) {
        end(with -> with.signal(update, options));
    }

    /**
     * {@return what a word of the peer's region held before the addition}
     *
     * @param remote attached on this connection
     * @param remoteOffset of the word, in bytes, a multiple of 8
     * @param addend wraps around
     * @param options deadline and the like
     */
    public long fetchAdd(RemoteRegion remote, long remoteOffset, long addend, TransferOptions options) {
        return end(with -> with.fetchAdd(remote, remoteOffset, addend, options));
    }

    /**
     * {@return what a word of the peer's region held; it was replaced if that is what was expected}
     *
     * @param remote attached on this connection
     * @param remoteOffset of the word, in bytes, a multiple of 8
     * @param expected what it must hold
     * @param replacement what it shall hold
     * @param options deadline and the like
     */
    public long compareAndSwap(
            RemoteRegion remote, long remoteOffset, long expected, long replacement, TransferOptions options) {
        return end(with -> with.compareAndSwap(remote, remoteOffset, expected, replacement, options));
    }

    /**
     * Sends a message that the peer sees after all writes that were submitted on this connection before it.
     *
     * @param payload copied; at most {@link io.sluice.engine.Connection#maxNotificationBytes()}
     * @param options deadline and the like
     */
    public void notify(Buffer payload, TransferOptions options) {
        end(with -> with.notify(payload, options));
    }

    private <T> T end(Function<CancellableTransfers, TransferHandle<T>> submission) {
        if (Context.isOnVertxThread() && !Thread.currentThread().isVirtual()) {
            throw new IllegalStateException(
                    "the thread " + Thread.currentThread().getName()
                            + " must not wait: use a virtual thread, or the futures of TransferConnection");
        }
        TransferHandle<T> transfer = submission.apply(transfers);
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

    /** It is not declared by what throws it. */
    private static boolean isInterruption(Exception failure) {
        return failure instanceof InterruptedException;
    }
}
