package io.sluice.vertx;

import io.sluice.engine.Connection;
import io.sluice.engine.ConnectionPath;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RegionDescriptor;
import io.sluice.engine.RemoteRegion;
import io.sluice.engine.SignalUpdate;
import io.sluice.engine.TransferElement;
import io.sluice.engine.TransferOptions;
import io.sluice.engine.TransferResult;
import io.vertx.core.Future;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.streams.ReadStream;
import io.vertx.core.streams.WriteStream;
import java.util.List;
import java.util.function.Function;

/**
 * A reliable path to one peer engine; both sides may read, write and notify.
 *
 * <p><strong>Contexts.</strong> All methods may be called from any thread. A future completes, and a stream calls its handlers, on
 * the context that called the method that gave it: an event loop, a worker or a virtual thread. A caller without a context is given
 * one, as Vert.x does. No future is complete when it is returned, and each is completed, exactly once.
 *
 * <p><strong>Submission.</strong> A transfer is submitted by the call. What the engine refuses, such as a range outside its region or
 * {@link io.sluice.engine.TooManyPendingException}, fails the future.
 *
 * <p><strong>Cancel.</strong> {@link #cancellable()} has the same transfers with a handle that can cancel them. A future alone cannot:
 * {@link Future#timeout} gives up waiting, and leaves the transfer and its memory as they are; a deadline of {@link TransferOptions}
 * ends the transfer. After a cancel, time-out or error its posted chunks may still touch local memory: see {@link #quiesced()}.
 */
public interface TransferConnection {
    /** {@return the engine's own connection; its callbacks come on pollers, not on contexts} */
    Connection connection();

    /**
     * {@return the paths to the peer's memory, the most preferred first; never changes} {@link RemoteRegion#path()} is the one that
     * reaches a region.
     */
    default List<ConnectionPath> paths() {
        return connection().paths();
    }

    /** {@return the same transfers with handles; they are submitted by the call, too} */
    CancellableTransfers cancellable();

    /**
     * Makes one of the {@linkplain #cancellable() transfers} and waits for its end, for instance
     * {@code connection.await(with -> with.fetchAdd(remote, 0, 1, options))}. For virtual threads: on one of Vert.x the context goes on
     * with other work meanwhile, as with {@link Future#await()}. Threads without Vert.x may use it, too.
     *
     * <p>A thread that is interrupted while it waits cancels the transfer, and its interrupt status is set. The transfer's memory may be
     * used again after {@link #quiesced()}.
     *
     * @param <T> what the transfer gives
     * @param transfer submits one transfer
     * @return its result; its error is thrown, mostly a {@link io.sluice.engine.SluiceException}
     * @throws IllegalStateException on an event loop or a worker, as its completions could not come; nothing is transferred
     * @throws io.sluice.engine.TransferCancelledException if the thread is interrupted
     */
    default <T> T await(Function<CancellableTransfers, TransferHandle<T>> transfer) {
        return BlockingTransfer.await(cancellable(), transfer);
    }

    /**
     * Brings the transport's keys of a peer's region over. After {@link Future#timeout} a region that is attached later stays so
     * until the connection ends.
     *
     * @param descriptor what the peer gave
     * @return the region; or {@link io.sluice.engine.StaleDescriptorException},
     *     {@link io.sluice.engine.InvalidDescriptorException}, {@link io.sluice.engine.MemoryNotAccessibleException} if the
     *     connection's transport does not reach memory of the region's kind,
     *     {@link io.sluice.engine.ConnectionLostException}
     */
    Future<RemoteRegion> attach(RegionDescriptor descriptor);

    /**
     * {@return many regions, attached at once, in the same order; if one cannot be attached, its error}
     *
     * @param descriptors what the peer gave; copied
     */
    Future<List<RemoteRegion>> attach(List<RegionDescriptor> descriptors);

    /**
     * {@return completes when the peer has dropped a remote region} The target refuses transfers that still use it.
     *
     * @param region attached on this connection
     */
    Future<Void> detach(RemoteRegion region);

    /**
     * {@return the descriptor of a region that the peer has named; or {@link io.sluice.engine.RegionNotFoundException},
     * {@link io.sluice.engine.ConnectionLostException}}
     *
     * @param name as the peer gave it to its region
     */
    Future<RegionDescriptor> lookup(String name);

    /**
     * {@return the result of a write of a whole region or slice into the peer's region}
     *
     * @param source all its bytes are written
     * @param target attached on this connection
     * @param targetOffset where in the target to begin, in bytes
     */
    default Future<TransferResult> write(MemoryRegion source, RemoteRegion target, long targetOffset) {
        return write(source, 0, target, targetOffset, source.length(), TransferOptions.defaults());
    }

    /**
     * Writes into the peer's region.
     *
     * @param local the source
     * @param localOffset where it begins, in bytes
     * @param remote the target, attached on this connection
     * @param remoteOffset where it begins, in bytes
     * @param length bytes, 0 or more
     * @param options deadline and the like
     * @return the result of a success, which means what {@link Connection#write} says of it. Errors:
     *     {@link io.sluice.engine.RemoteAccessException}, {@link io.sluice.engine.TransferTimeoutException},
     *     {@link io.sluice.engine.RegionClosedException}, {@link io.sluice.engine.OutcomeUnknownException},
     *     {@link io.sluice.engine.ConnectionLostException}, {@link io.sluice.engine.TooManyPendingException},
     *     {@link IndexOutOfBoundsException} if a range leaves its region, {@link IllegalArgumentException} if a region belongs
     *     elsewhere
     */
    default Future<TransferResult> write(
            MemoryRegion local,
            long localOffset,
            RemoteRegion remote,
            long remoteOffset,
            long length,
            TransferOptions options) {
        return cancellable()
                .write(local, localOffset, remote, remoteOffset, length, options)
                .result();
    }

    /**
     * {@return the result of a read from the peer's region into a whole region or slice}
     *
     * @param target all its bytes are overwritten
     * @param source attached on this connection
     * @param sourceOffset where in the source to begin, in bytes
     */
    default Future<TransferResult> read(MemoryRegion target, RemoteRegion source, long sourceOffset) {
        return read(target, 0, source, sourceOffset, target.length(), TransferOptions.defaults());
    }

    /**
     * Reads from the peer's region.
     *
     * @param local the target
     * @param localOffset where it begins, in bytes
     * @param remote the source, attached on this connection
     * @param remoteOffset where it begins, in bytes
     * @param length bytes, 0 or more
     * @param options deadline and the like
     * @return the result of a success: the bytes are final; errors as for a write, without
     *     {@link io.sluice.engine.OutcomeUnknownException}
     */
    default Future<TransferResult> read(
            MemoryRegion local,
            long localOffset,
            RemoteRegion remote,
            long remoteOffset,
            long length,
            TransferOptions options) {
        return cancellable()
                .read(local, localOffset, remote, remoteOffset, length, options)
                .result();
    }

    /**
     * {@return the result of a {@link #writeBuffer(Buffer, RemoteRegion, long, TransferOptions)} with default options}
     *
     * @param source all its bytes are written
     * @param target attached on this connection
     * @param targetOffset where in the target to begin, in bytes
     */
    default Future<TransferResult> writeBuffer(Buffer source, RemoteRegion target, long targetOffset) {
        return writeBuffer(source, target, targetOffset, TransferOptions.defaults());
    }

    /**
     * Writes the bytes of a buffer into the peer's region.
     *
     * <p><strong>It copies.</strong> A buffer is not registered memory: its bytes are copied twice into the engine's staging memory
     * ({@link TransferClientOptions#setStagingBytes}), and go from there in chunks of
     * {@link TransferClientOptions#setStagingSlotBytes}. Write large data from a region. While all staging memory is in use,
     * transfers of buffers wait. The buffer must not be changed before the future completes; then it may, also after an error.
     *
     * @param source all its bytes are written
     * @param target attached on this connection
     * @param targetOffset where in the target to begin, in bytes
     * @param options a deadline, to the millisecond, for the whole, and a priority; no events
     * @return the result of a success: all bytes are written; after an error of a write some may be
     */
    default Future<TransferResult> writeBuffer(
            Buffer source, RemoteRegion target, long targetOffset, TransferOptions options) {
        return cancellable().writeBuffer(source, target, targetOffset, options).result();
    }

    /**
     * {@return the buffer of a {@link #readBuffer(RemoteRegion, long, int, TransferOptions)} with default options}
     *
     * @param source attached on this connection
     * @param sourceOffset where in the source to begin, in bytes
     * @param length bytes, 0 or more
     */
    default Future<Buffer> readBuffer(RemoteRegion source, long sourceOffset, int length) {
        return readBuffer(source, sourceOffset, length, TransferOptions.defaults());
    }

    /**
     * Reads bytes of the peer's region into a new buffer: in chunks into staging memory, from where the caller's context copies them
     * once; see {@link #writeBuffer(Buffer, RemoteRegion, long, TransferOptions)}.
     *
     * @param source attached on this connection
     * @param sourceOffset where in the source to begin, in bytes
     * @param length bytes, 0 or more
     * @param options a deadline, to the millisecond, for the whole, and a priority; no events
     * @return the buffer, of exactly this length; errors as for a read
     */
    default Future<Buffer> readBuffer(RemoteRegion source, long sourceOffset, int length, TransferOptions options) {
        return cancellable().readBuffer(source, sourceOffset, length, options).result();
    }

    /**
     * Writes many pages of one size as one transfer, by their numbers, as a block table has them: page n of a region begins at
     * n × pageBytes. It takes one credit for each chunk, and not for each page. The order in which pages are moved is undefined, also
     * of those with the same target.
     *
     * @param local the source
     * @param localPages numbers of the pages in it, one or more; copied
     * @param remote the target, attached on this connection
     * @param remotePages numbers of the pages in it, as many; copied. Page i of one list goes to page i of the other
     * @param pageBytes how long a page is, 1 or more
     * @param options deadline and the like
     * @return the result of a success. Errors as for {@link #write(MemoryRegion, long, RemoteRegion, long, long, TransferOptions)};
     *     once pages are submitted, errors and a cancel are the cause of a {@link io.sluice.engine.PagesFailedException}, which names
     *     the pages that failed
     */
    default Future<TransferResult> writePages(
            MemoryRegion local,
            int[] localPages,
            RemoteRegion remote,
            int[] remotePages,
            long pageBytes,
            TransferOptions options) {
        return cancellable()
                .writePages(local, localPages, remote, remotePages, pageBytes, options)
                .result();
    }

    /**
     * {@return as {@link #writePages(MemoryRegion, int[], RemoteRegion, int[], long, TransferOptions)}, by the pages' offsets}
     *
     * @param local the source
     * @param localOffsets where the pages begin in it, in bytes, one or more; copied
     * @param remote the target, attached on this connection
     * @param remoteOffsets where they begin in it, in bytes, as many; copied
     * @param pageBytes how long a page is, 1 or more
     * @param options deadline and the like
     */
    default Future<TransferResult> writePages(
            MemoryRegion local,
            long[] localOffsets,
            RemoteRegion remote,
            long[] remoteOffsets,
            long pageBytes,
            TransferOptions options) {
        return cancellable()
                .writePages(local, localOffsets, remote, remoteOffsets, pageBytes, options)
                .result();
    }

    /**
     * Reads many pages as one transfer, as {@link #writePages(MemoryRegion, int[], RemoteRegion, int[], long, TransferOptions)}
     * writes them.
     *
     * @param local the target
     * @param localPages numbers of the pages in it, one or more; copied
     * @param remote the source, attached on this connection
     * @param remotePages numbers of the pages in it, as many; copied. Page i of one list comes from page i of the other
     * @param pageBytes how long a page is, 1 or more
     * @param options deadline and the like
     * @return the result of a success; errors as for writePages, without {@link io.sluice.engine.OutcomeUnknownException}
     */
    default Future<TransferResult> readPages(
            MemoryRegion local,
            int[] localPages,
            RemoteRegion remote,
            int[] remotePages,
            long pageBytes,
            TransferOptions options) {
        return cancellable()
                .readPages(local, localPages, remote, remotePages, pageBytes, options)
                .result();
    }

    /**
     * {@return as {@link #readPages(MemoryRegion, int[], RemoteRegion, int[], long, TransferOptions)}, by the pages' offsets}
     *
     * @param local the target
     * @param localOffsets where the pages begin in it, in bytes, one or more; copied
     * @param remote the source, attached on this connection
     * @param remoteOffsets where they begin in it, in bytes, as many; copied
     * @param pageBytes how long a page is, 1 or more
     * @param options deadline and the like
     */
    default Future<TransferResult> readPages(
            MemoryRegion local,
            long[] localOffsets,
            RemoteRegion remote,
            long[] remoteOffsets,
            long pageBytes,
            TransferOptions options) {
        return cancellable()
                .readPages(local, localOffsets, remote, remoteOffsets, pageBytes, options)
                .result();
    }

    /**
     * Writes into the peer's region and adds to a signal there after the bytes are visible. If the write fails, the signal is left
     * alone.
     *
     * @param local the source
     * @param localOffset where it begins, in bytes
     * @param remote the target, attached on this connection
     * @param remoteOffset where it begins, in bytes
     * @param length bytes, 0 or more
     * @param signal what to do to which signal; its region is attached on this connection, too
     * @param options deadline and the like
     * @return the result of a success: the signal is updated; after {@link io.sluice.engine.OutcomeUnknownException} it may be
     */
    default Future<TransferResult> writeWithSignal(
            MemoryRegion local,
            long localOffset,
            RemoteRegion remote,
            long remoteOffset,
            long length,
            SignalUpdate signal,
            TransferOptions options) {
        return cancellable()
                .writeWithSignal(local, localOffset, remote, remoteOffset, length, signal, options)
                .result();
    }

    /**
     * {@return the result of a write of a few bytes, which needs no local region; errors as for
     * {@link #write(MemoryRegion, long, RemoteRegion, long, long, TransferOptions)}}
     *
     * @param remote the target, attached on this connection
     * @param remoteOffset where to write, in bytes
     * @param value its low-order bytes are written, the lowest first
     * @param bytes how many, 1 to 8
     * @param options deadline and the like
     */
    default Future<TransferResult> put(
            RemoteRegion remote, long remoteOffset, long value, int bytes, TransferOptions options) {
        return cancellable().put(remote, remoteOffset, value, bytes, options).result();
    }

    /**
     * {@return completes when a signal of the peer is updated} {@link io.sluice.engine.SignalOrder#STRONG} is after everything that
     * was submitted before on this connection; {@link io.sluice.engine.SignalOrder#WEAK} waits for nothing.
     *
     * @param update what to do to which signal
     * @param options deadline and the like
     */
    default Future<Void> signal(SignalUpdate update, TransferOptions options) {
        return cancellable().signal(update, options).result().mapEmpty();
    }

    /**
     * Adds to a 64-bit word of the peer, atomically in the region's {@link io.sluice.engine.AtomicDomain}.
     *
     * @param remote the region, attached on this connection
     * @param remoteOffset where the word lies, in bytes; a multiple of 8
     * @param addend what to add; wraps around as Java's addition does
     * @param options deadline and the like
     * @return what the word held before; after {@link io.sluice.engine.OutcomeUnknownException} it may have been added
     */
    default Future<Long> fetchAdd(RemoteRegion remote, long remoteOffset, long addend, TransferOptions options) {
        return cancellable().fetchAdd(remote, remoteOffset, addend, options).result();
    }

    /**
     * Replaces a 64-bit word of the peer if it holds what is expected, atomically in the region's
     * {@link io.sluice.engine.AtomicDomain}.
     *
     * @param remote the region, attached on this connection
     * @param remoteOffset where the word lies, in bytes; a multiple of 8
     * @param expected what it must hold
     * @param replacement what it holds then
     * @param options deadline and the like
     * @return what the word held before: it was replaced if that is what was expected
     */
    default Future<Long> compareAndSwap(
            RemoteRegion remote, long remoteOffset, long expected, long replacement, TransferOptions options) {
        return cancellable()
                .compareAndSwap(remote, remoteOffset, expected, replacement, options)
                .result();
    }

    /**
     * {@return the results of many writes, one an element; nothing is written before it has a handler}
     *
     * @param elements copied
     * @param options of each element
     */
    TransferResultStream writeVectored(List<TransferElement> elements, TransferOptions options);

    /**
     * Writes every element that a stream gives. The stream is asked for no more than there is demand for results and room in the
     * window.
     *
     * @param elements paused at once
     * @param options of each element
     * @return the results; nothing is taken or written before it has a handler
     */
    TransferResultStream writeVectored(ReadStream<TransferElement> elements, TransferOptions options);

    /**
     * {@return the results of many reads, one an element; nothing is read before it has a handler}
     *
     * @param elements copied
     * @param options of each element
     */
    TransferResultStream readVectored(List<TransferElement> elements, TransferOptions options);

    /**
     * {@return the results of reading every element of a stream, as {@link #writeVectored(ReadStream, TransferOptions)} writes them}
     *
     * @param elements paused at once
     * @param options of each element
     */
    TransferResultStream readVectored(ReadStream<TransferElement> elements, TransferOptions options);

    /**
     * A stream that writes each element that is written to it. It is full when its operations or bytes in flight fill
     * {@link Connection#window()} ({@link WriteStream#setWriteQueueMaxSize}: another number of operations), and drained at half of
     * that. A full stream still takes elements, until {@link io.sluice.engine.EngineOptions#maxPending()}.
     *
     * @param options of each write
     * @return the future of a write is that of its transfer; that of {@link WriteStream#end()} completes when all have ended, with
     *     the first error if there was one
     */
    WriteStream<TransferElement> writes(TransferOptions options);

    /**
     * A stream that writes each buffer right behind the one before, through staging memory; so the body of a request or a file can
     * be piped into a peer's region. Full and drained are as for {@link #writes}.
     *
     * @param target attached on this connection
     * @param targetOffset where the first buffer goes, in bytes
     * @param options as for {@link #writeBuffer(Buffer, RemoteRegion, long, TransferOptions)}, of each buffer
     * @return a buffer that does not fit into the region any more fails with {@link IndexOutOfBoundsException}
     */
    WriteStream<Buffer> bufferWrites(RemoteRegion target, long targetOffset, TransferOptions options);

    /**
     * {@return as {@link #notify(Buffer, TransferOptions)}, with default options}
     *
     * @param payload copied; at most {@link Connection#maxNotificationBytes()}
     */
    default Future<Void> notify(Buffer payload) {
        return notify(payload, TransferOptions.defaults());
    }

    /**
     * Sends a message that the peer sees after all writes that were submitted on this connection before it. It waits for those
     * writes, and for a credit of the receiver, so that a slow receiver delays it.
     *
     * @param payload copied; at most {@link Connection#maxNotificationBytes()}
     * @param options deadline and the like
     * @return completes when the peer's engine holds the message
     */
    default Future<Void> notify(Buffer payload, TransferOptions options) {
        return cancellable().notify(payload, options).result().mapEmpty();
    }

    /**
     * The peer's notifications, the oldest first. Demand is passed on, up to a few ahead: those that are not fetched stay with the
     * connection and delay the sender. One stream at a time has them; a second one fails with {@link IllegalStateException}. Taking
     * the handler away ends a stream for good; the next stream goes on with the rest.
     *
     * @return begins with its handler, and ends when either side closes the connection or the client is closed; the exception handler
     *     gets {@link io.sluice.engine.ConnectionLostException} if the peer is lost
     */
    ReadStream<Buffer> notifications();

    /**
     * {@return completes when all writes, puts, signals and atomic operations submitted until now have ended and none of them can
     * touch local memory any more, also when the connection has ended} Each transfer reports its own failure.
     */
    Future<Void> flush();

    /**
     * {@return completes when every write, put, signal and atomic operation that was submitted until now and has succeeded is visible
     * to the target's code; {@link io.sluice.engine.ConnectionLostException} if the connection ends first}
     */
    Future<Void> quiet();

    /**
     * {@return the CRC-32C of a range of the peer's region, 0 to 0xFFFFFFFF; errors as for a read} See {@link Connection#checksum}.
     *
     * @param region attached on this connection
     * @param offset where the range begins, in bytes
     * @param length bytes
     */
    Future<Long> checksum(RemoteRegion region, long offset, long length);

    /**
     * {@return completes when the chunks of all transfers that were cancelled, timed out or failed until now are done, and cannot
     * touch memory any more} {@link TransferHandle#quiesced()} is for a single transfer.
     */
    Future<Void> quiesced();

    /**
     * {@return completes when either side closes the connection; {@link io.sluice.engine.ConnectionLostException} if the peer is lost}
     */
    Future<Void> ended();

    /**
     * {@return completes when the connection is closed and quiescent; a second call gives the same outcome} Open transfers end with
     * {@link io.sluice.engine.ConnectionClosedException}, partly sent writes with {@link io.sluice.engine.OutcomeUnknownException}.
     */
    Future<Void> close();
}
