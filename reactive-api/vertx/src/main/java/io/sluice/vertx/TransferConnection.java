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
 * A reliable connection to one peer engine; both sides may read, write and notify.
 *
 * <p><strong>Contexts.</strong> All methods may be called from any thread. Futures complete, and streams call their
 * handlers, on the context of the call that returned them: an event loop, a worker or a virtual thread. A caller
 * without a context is given one, as Vert.x does. No future is complete when it is returned, and each completes exactly
 * once.
 *
 * <p><strong>Submission.</strong> The call submits the transfer. A refusal by the engine, such as of a range outside
 * its region or by {@link io.sluice.engine.TooManyPendingException}, fails the future.
 *
 * <p><strong>Cancel.</strong> {@link #cancellable()} has the same transfers with a handle for cancellation. {@link
 * Future#timeout} only stops waiting and leaves the transfer running; a deadline of {@link TransferOptions} ends the
 * transfer. After a cancel, time-out or error its posted chunks may still access local memory: see {@link #quiesced()}.
 */
public interface TransferConnection {
    /** {@return the engine's connection; its callbacks run on pollers, not on contexts} */
    Connection connection();

    /**
     * {@return the paths to the peer's memory, the most preferred first; constant} {@link RemoteRegion#path()} is the
     * path to a region.
     */
    default List<ConnectionPath> paths() {
        return connection().paths();
    }

    /** {@return the same transfers with handles; the call submits them, too} */
    CancellableTransfers cancellable();

    /**
     * Submits one of the {@linkplain #cancellable() transfers} and blocks until its end, for example {@code
     * connection.await(with -> with.fetchAdd(remote, 0, 1, options))}. For virtual threads: on one of Vert.x the
     * context continues with other work, as with {@link Future#await()}. Threads outside Vert.x may use it, too.
     *
     * <p>An interrupt cancels the transfer and sets the thread's interrupt status. The transfer's memory may be reused
     * after {@link #quiesced()}.
     *
     * @param <T> the type of the result
     * @param transfer submits one transfer
     * @return its result; its error is thrown, mostly a {@link io.sluice.engine.SluiceException}
     * @throws IllegalStateException on an event loop or a worker, where completions could not be delivered; nothing is
     *     transferred
     * @throws io.sluice.engine.TransferCancelledException if the thread is interrupted
     */
    default <T> T await(Function<CancellableTransfers, TransferHandle<T>> transfer) {
        return cancellable().await(transfer);
    }

    /**
     * Attaches a region of the peer. After {@link Future#timeout}, a region attached later stays attached until the
     * connection ends.
     *
     * @param descriptor the peer's descriptor
     * @return the region; or {@link io.sluice.engine.StaleDescriptorException}, {@link
     *     io.sluice.engine.InvalidDescriptorException}, {@link io.sluice.engine.MemoryNotAccessibleException} if no
     *     path of the connection reaches memory of the region's kind, {@link io.sluice.engine.ConnectionLostException}
     */
    Future<RemoteRegion> attach(RegionDescriptor descriptor);

    /**
     * {@return several regions, attached together, in the same order; the error if one cannot be attached}
     *
     * @param descriptors the peer's descriptors; copied
     */
    Future<List<RemoteRegion>> attach(List<RegionDescriptor> descriptors);

    /**
     * {@return completes when the peer has released a remote region} The target refuses transfers that still use it.
     *
     * @param region attached on this connection
     */
    Future<Void> detach(RemoteRegion region);

    /**
     * {@return the descriptor of a named region of the peer; or {@link io.sluice.engine.RegionNotFoundException},
     * {@link io.sluice.engine.ConnectionLostException}}
     *
     * @param name the region's name at the peer
     */
    Future<RegionDescriptor> lookup(String name);

    /**
     * {@return the result of writing a whole region or slice to the peer's region}
     *
     * @param source the bytes to write
     * @param target attached on this connection
     * @param targetOffset the target offset in bytes
     */
    default Future<TransferResult> write(MemoryRegion source, RemoteRegion target, long targetOffset) {
        return write(source, 0, target, targetOffset, source.length(), TransferOptions.defaults());
    }

    /**
     * Writes to the peer's region.
     *
     * @param local the source
     * @param localOffset the source offset in bytes
     * @param remote the target, attached on this connection
     * @param remoteOffset the target offset in bytes
     * @param length the length in bytes, 0 or more
     * @param options deadline, priority and events
     * @return the result of success, as {@link Connection#write} defines it. Errors: {@link
     *     io.sluice.engine.RemoteAccessException}, {@link io.sluice.engine.TransferTimeoutException}, {@link
     *     io.sluice.engine.RegionClosedException}, {@link io.sluice.engine.OutcomeUnknownException}, {@link
     *     io.sluice.engine.ConnectionLostException}, {@link io.sluice.engine.TooManyPendingException}, {@link
     *     IndexOutOfBoundsException} if a range exceeds its region, {@link IllegalArgumentException} if a region
     *     belongs to another engine or connection
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
     * {@return the result of reading from the peer's region into a whole region or slice}
     *
     * @param target the memory to overwrite
     * @param source attached on this connection
     * @param sourceOffset the source offset in bytes
     */
    default Future<TransferResult> read(MemoryRegion target, RemoteRegion source, long sourceOffset) {
        return read(target, 0, source, sourceOffset, target.length(), TransferOptions.defaults());
    }

    /**
     * Reads from the peer's region.
     *
     * @param local the target
     * @param localOffset the target offset in bytes
     * @param remote the source, attached on this connection
     * @param remoteOffset the source offset in bytes
     * @param length the length in bytes, 0 or more
     * @param options deadline, priority and events
     * @return the result of success: the bytes are final; errors as for a write, without {@link
     *     io.sluice.engine.OutcomeUnknownException}
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
     * {@return the result of {@link #writeBuffer(Buffer, RemoteRegion, long, TransferOptions)} with default options}
     *
     * @param source the bytes to write
     * @param target attached on this connection
     * @param targetOffset the target offset in bytes
     */
    default Future<TransferResult> writeBuffer(Buffer source, RemoteRegion target, long targetOffset) {
        return writeBuffer(source, target, targetOffset, TransferOptions.defaults());
    }

    /**
     * Writes the bytes of a buffer to the peer's region.
     *
     * <p><strong>This copies.</strong> A buffer is not registered memory: its bytes are copied twice into the engine's
     * staging memory ({@link TransferClientOptions#setStagingBytes}), and transferred from there in chunks of {@link
     * TransferClientOptions#setStagingSlotBytes}. Write large data from a region. While all staging memory is in use,
     * transfers of buffers wait. Do not change the buffer before the future completes, with success or error.
     *
     * @param source the bytes to write
     * @param target attached on this connection
     * @param targetOffset the target offset in bytes
     * @param options a deadline for the whole, to the millisecond, and a priority; no events
     * @return the result of success: all bytes are written; after an error of a write some may be
     */
    default Future<TransferResult> writeBuffer(
            Buffer source, RemoteRegion target, long targetOffset, TransferOptions options) {
        return cancellable().writeBuffer(source, target, targetOffset, options).result();
    }

    /**
     * {@return the buffer of {@link #readBuffer(RemoteRegion, long, int, TransferOptions)} with default options}
     *
     * @param source attached on this connection
     * @param sourceOffset the source offset in bytes
     * @param length the length in bytes, 0 or more
     */
    default Future<Buffer> readBuffer(RemoteRegion source, long sourceOffset, int length) {
        return readBuffer(source, sourceOffset, length, TransferOptions.defaults());
    }

    /**
     * Reads bytes of the peer's region into a new buffer: in chunks into staging memory, from which the caller's
     * context copies them once; see {@link #writeBuffer(Buffer, RemoteRegion, long, TransferOptions)}.
     *
     * @param source attached on this connection
     * @param sourceOffset the source offset in bytes
     * @param length the length in bytes, 0 or more
     * @param options a deadline for the whole, to the millisecond, and a priority; no events
     * @return the buffer, of exactly this length; errors as for a read
     */
    default Future<Buffer> readBuffer(RemoteRegion source, long sourceOffset, int length, TransferOptions options) {
        return cancellable().readBuffer(source, sourceOffset, length, options).result();
    }

    /**
     * Writes many pages of one size as one transfer, by page number as in a block table: page n of a region begins at n
     * × pageBytes. Takes one credit for each chunk rather than each page. The order of the pages is undefined, also for
     * pages with the same target.
     *
     * @param local the source
     * @param localPages the page numbers in the source, one or more; copied
     * @param remote the target, attached on this connection
     * @param remotePages the page numbers in the target, as many; copied. Page i of one list goes to page i of the
     *     other
     * @param pageBytes the page length in bytes, 1 or more
     * @param options deadline, priority and events
     * @return the result of success. Errors as for {@link #write(MemoryRegion, long, RemoteRegion, long, long,
     *     TransferOptions)}; once pages are submitted, an error or cancel is the cause of a {@link
     *     io.sluice.engine.PagesFailedException}, which names the failed pages
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
     * {@return as {@link #writePages(MemoryRegion, int[], RemoteRegion, int[], long, TransferOptions)}, by page offset}
     *
     * @param local the source
     * @param localOffsets the page offsets in the source in bytes, one or more; copied
     * @param remote the target, attached on this connection
     * @param remoteOffsets the page offsets in the target in bytes, as many; copied
     * @param pageBytes the page length in bytes, 1 or more
     * @param options deadline, priority and events
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
     * Reads many pages as one transfer; see {@link #writePages(MemoryRegion, int[], RemoteRegion, int[], long,
     * TransferOptions)}.
     *
     * @param local the target
     * @param localPages the page numbers in the target, one or more; copied
     * @param remote the source, attached on this connection
     * @param remotePages the page numbers in the source, as many; copied. Page i of one list comes from page i of the
     *     other
     * @param pageBytes the page length in bytes, 1 or more
     * @param options deadline, priority and events
     * @return the result of success; errors as for writePages, without {@link io.sluice.engine.OutcomeUnknownException}
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
     * {@return as {@link #readPages(MemoryRegion, int[], RemoteRegion, int[], long, TransferOptions)}, by page offset}
     *
     * @param local the target
     * @param localOffsets the page offsets in the target in bytes, one or more; copied
     * @param remote the source, attached on this connection
     * @param remoteOffsets the page offsets in the source in bytes, as many; copied
     * @param pageBytes the page length in bytes, 1 or more
     * @param options deadline, priority and events
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
     * Writes to the peer's region and adds to a signal there once the bytes are visible. If the write fails, the signal
     * does not change.
     *
     * @param local the source
     * @param localOffset the source offset in bytes
     * @param remote the target, attached on this connection
     * @param remoteOffset the target offset in bytes
     * @param length the length in bytes, 0 or more
     * @param signal the signal to update and its operand; its region is attached on this connection, too
     * @param options deadline, priority and events
     * @return the result of success: the signal is updated; after {@link io.sluice.engine.OutcomeUnknownException} it
     *     may be
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
     * {@return the result of writing a few bytes, without a local region; errors as for {@link #write(MemoryRegion,
     * long, RemoteRegion, long, long, TransferOptions)}}
     *
     * @param remote the target, attached on this connection
     * @param remoteOffset the target offset in bytes
     * @param value the value, whose low-order bytes are written, lowest first
     * @param bytes the number of bytes, 1 to 8
     * @param options deadline, priority and events
     */
    default Future<TransferResult> put(
            RemoteRegion remote, long remoteOffset, long value, int bytes, TransferOptions options) {
        return cancellable().put(remote, remoteOffset, value, bytes, options).result();
    }

    /**
     * {@return completes when a signal of the peer is updated} {@link io.sluice.engine.SignalOrder#STRONG} follows
     * everything submitted before on this connection; {@link io.sluice.engine.SignalOrder#WEAK} does not wait.
     *
     * @param update the signal to update and its operand
     * @param options deadline, priority and events
     */
    default Future<Void> signal(SignalUpdate update, TransferOptions options) {
        return cancellable().signal(update, options).result().mapEmpty();
    }

    /**
     * Adds to a 64-bit word of the peer, atomically in the region's {@link io.sluice.engine.AtomicDomain}.
     *
     * @param remote the region, attached on this connection
     * @param remoteOffset the offset of the word in bytes; a multiple of 8
     * @param addend the number to add; overflow wraps around
     * @param options deadline, priority and events
     * @return the previous value; after {@link io.sluice.engine.OutcomeUnknownException} the addition may have happened
     */
    default Future<Long> fetchAdd(RemoteRegion remote, long remoteOffset, long addend, TransferOptions options) {
        return cancellable().fetchAdd(remote, remoteOffset, addend, options).result();
    }

    /**
     * Replaces a 64-bit word of the peer if it has an expected value, atomically in the region's {@link
     * io.sluice.engine.AtomicDomain}.
     *
     * @param remote the region, attached on this connection
     * @param remoteOffset the offset of the word in bytes; a multiple of 8
     * @param expected the required current value
     * @param replacement the new value
     * @param options deadline, priority and events
     * @return the previous value: the word was replaced if that equals the expected one
     */
    default Future<Long> compareAndSwap(
            RemoteRegion remote, long remoteOffset, long expected, long replacement, TransferOptions options) {
        return cancellable()
                .compareAndSwap(remote, remoteOffset, expected, replacement, options)
                .result();
    }

    /**
     * {@return the results of many writes, one for each element; nothing is written before a handler is set}
     *
     * @param elements copied
     * @param options the options of each element
     */
    TransferResultStream writeVectored(List<TransferElement> elements, TransferOptions options);

    /**
     * Writes every element of a stream. Takes no more elements than there is demand for results and room in the window.
     *
     * @param elements paused at once
     * @param options the options of each element
     * @return the results; nothing is taken or written before a handler is set
     */
    TransferResultStream writeVectored(ReadStream<TransferElement> elements, TransferOptions options);

    /**
     * {@return the results of many reads, one for each element; nothing is read before a handler is set}
     *
     * @param elements copied
     * @param options the options of each element
     */
    TransferResultStream readVectored(List<TransferElement> elements, TransferOptions options);

    /**
     * {@return the results of reading every element of a stream; see {@link #writeVectored(ReadStream,
     * TransferOptions)}}
     *
     * @param elements paused at once
     * @param options the options of each element
     */
    TransferResultStream readVectored(ReadStream<TransferElement> elements, TransferOptions options);

    /**
     * Returns a stream whose written elements are transferred. It is full when its operations or bytes in flight fill
     * {@link Connection#window()} ({@link WriteStream#setWriteQueueMaxSize} sets another number of operations), and
     * drained at half of that. A full stream still accepts elements, up to {@link
     * io.sluice.engine.EngineOptions#maxPending()}.
     *
     * @param options the options of each write
     * @return the future of a write is that of its transfer; that of {@link WriteStream#end()} completes when all have
     *     ended, with the first error if there was one
     */
    WriteStream<TransferElement> writes(TransferOptions options);

    /**
     * Returns a stream that writes each buffer right behind the one before, through staging memory, so that a request
     * body or a file can be piped into a peer's region. Full and drained are as for {@link #writes}.
     *
     * @param target attached on this connection
     * @param targetOffset the target offset of the first buffer in bytes
     * @param options as for {@link #writeBuffer(Buffer, RemoteRegion, long, TransferOptions)}, for each buffer
     * @return a buffer that exceeds the region fails with {@link IndexOutOfBoundsException}
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
     * Sends a message that the peer sees after all writes submitted before on this connection. It waits for those
     * writes and for a credit of the receiver, so that a slow receiver delays it.
     *
     * @param payload copied; at most {@link Connection#maxNotificationBytes()}
     * @param options deadline, priority and events
     * @return completes when the peer's engine has received the message
     */
    default Future<Void> notify(Buffer payload, TransferOptions options) {
        return cancellable().notify(payload, options).result().mapEmpty();
    }

    /**
     * Returns the peer's notifications, oldest first. Demand is passed on, with a few requested ahead: unfetched
     * notifications stay with the connection and delay the sender. Only one stream at a time may be active; a second
     * one fails with {@link IllegalStateException}. Removing the handler ends a stream for good; the next stream
     * continues with the rest.
     *
     * @return starts with its handler, and ends when either side closes the connection or the client is closed; the
     *     exception handler is called with {@link io.sluice.engine.ConnectionLostException} if the peer is lost
     */
    ReadStream<Buffer> notifications();

    /**
     * {@return completes when all writes, puts, signals and atomic operations submitted so far have ended and none of
     * them can access local memory any more, also if the connection has ended} Each transfer reports its own failure.
     */
    Future<Void> flush();

    /**
     * {@return completes when every successful write, put, signal and atomic operation submitted so far is visible to
     * the target's code; {@link io.sluice.engine.ConnectionLostException} if the connection ends first}
     */
    Future<Void> quiet();

    /**
     * {@return the CRC-32C of a range of the peer's region, 0 to 0xFFFFFFFF; errors as for a read} See {@link Connection#checksum}.
     *
     * @param region attached on this connection
     * @param offset the start of the range in bytes
     * @param length the length in bytes
     */
    Future<Long> checksum(RemoteRegion region, long offset, long length);

    /**
     * {@return completes when the chunks of all transfers cancelled, timed out or failed so far have ended and cannot
     * access memory any more} {@link TransferHandle#quiesced()} is for a single transfer.
     */
    Future<Void> quiesced();

    /**
     * {@return completes when either side closes the connection; {@link io.sluice.engine.ConnectionLostException} if the peer is lost}
     */
    Future<Void> ended();

    /**
     * {@return completes when the connection is closed and quiescent; a second call returns the same outcome} Open
     * transfers end with {@link io.sluice.engine.ConnectionClosedException}, partly sent writes with {@link
     * io.sluice.engine.OutcomeUnknownException}.
     */
    Future<Void> close();
}
