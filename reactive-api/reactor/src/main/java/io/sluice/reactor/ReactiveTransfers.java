package io.sluice.reactor;

import io.sluice.engine.Connection;
import io.sluice.engine.ConnectionLostException;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.OutcomeUnknownException;
import io.sluice.engine.PageCallback;
import io.sluice.engine.PagesFailedException;
import io.sluice.engine.RemoteAccessException;
import io.sluice.engine.RemoteRegion;
import io.sluice.engine.SignalOrder;
import io.sluice.engine.SignalUpdate;
import io.sluice.engine.TooManyPendingException;
import io.sluice.engine.Transfer;
import io.sluice.engine.TransferCallback;
import io.sluice.engine.TransferOptions;
import io.sluice.engine.TransferResult;
import java.util.Objects;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;

/**
 * The operations of {@link ReactiveConnection} that have one result: reads, writes, pages, signals and atomic
 * operations.
 */
abstract class ReactiveTransfers {
    final Connection connection;
    final TransferOptions options;
    final @Nullable Scheduler scheduler;

    ReactiveTransfers(Connection connection, TransferOptions options, @Nullable Scheduler scheduler) {
        this.connection = connection;
        this.options = Objects.requireNonNull(options, "options");
        this.scheduler = scheduler;
    }

    /**
     * Writes a whole region or slice into the peer's region.
     *
     * @param source all its bytes are written
     * @param target attached on this connection
     * @param targetOffset the start of the range in the target, in bytes
     * @return as {@link #write(MemoryRegion, long, RemoteRegion, long, long, TransferOptions)}
     */
    public Mono<TransferResult> write(MemoryRegion source, RemoteRegion target, long targetOffset) {
        return write(source, 0, target, targetOffset, source.length());
    }

    /**
     * Writes into the peer's region with the options of this object.
     *
     * @param local the source
     * @param localOffset the start of the local range, in bytes
     * @param remote the target, attached on this connection
     * @param remoteOffset the start of the remote range, in bytes
     * @param length bytes, 0 or more
     * @return as {@link #write(MemoryRegion, long, RemoteRegion, long, long, TransferOptions)}
     */
    public Mono<TransferResult> write(
            MemoryRegion local, long localOffset, RemoteRegion remote, long remoteOffset, long length) {
        return write(local, localOffset, remote, remoteOffset, length, options);
    }

    /**
     * Writes into the peer's region.
     *
     * @param local the source
     * @param localOffset the start of the local range, in bytes
     * @param remote the target, attached on this connection
     * @param remoteOffset the start of the remote range, in bytes
     * @param length bytes, 0 or more
     * @param transferOptions deadline, priority and events
     * @return the result of a success, with the meaning that {@link Connection#write} describes. Errors, all signalled
     *     by {@code onError}: {@link RemoteAccessException}, {@link io.sluice.engine.TransferTimeoutException}, {@link
     *     io.sluice.engine.RegionClosedException}, {@link OutcomeUnknownException}, {@link ConnectionLostException},
     *     {@link TooManyPendingException}, {@link IndexOutOfBoundsException} if a range leaves its region, {@link
     *     IllegalArgumentException} if a region belongs to another engine or connection
     */
    public Mono<TransferResult> write(
            MemoryRegion local,
            long localOffset,
            RemoteRegion remote,
            long remoteOffset,
            long length,
            TransferOptions transferOptions) {
        return transfer(Direction.WRITE, local, localOffset, remote, remoteOffset, length, transferOptions);
    }

    /**
     * Fills a whole region or slice from the peer's region.
     *
     * @param target all its bytes are overwritten
     * @param source attached on this connection
     * @param sourceOffset the start of the range in the source, in bytes
     * @return as {@link #read(MemoryRegion, long, RemoteRegion, long, long, TransferOptions)}
     */
    public Mono<TransferResult> read(MemoryRegion target, RemoteRegion source, long sourceOffset) {
        return read(target, 0, source, sourceOffset, target.length());
    }

    /**
     * Reads from the peer's region with the options of this object.
     *
     * @param local the target
     * @param localOffset the start of the local range, in bytes
     * @param remote the source, attached on this connection
     * @param remoteOffset the start of the remote range, in bytes
     * @param length bytes, 0 or more
     * @return as {@link #read(MemoryRegion, long, RemoteRegion, long, long, TransferOptions)}
     */
    public Mono<TransferResult> read(
            MemoryRegion local, long localOffset, RemoteRegion remote, long remoteOffset, long length) {
        return read(local, localOffset, remote, remoteOffset, length, options);
    }

    /**
     * Reads from the peer's region.
     *
     * @param local the target
     * @param localOffset the start of the local range, in bytes
     * @param remote the source, attached on this connection
     * @param remoteOffset the start of the remote range, in bytes
     * @param length bytes, 0 or more
     * @param transferOptions deadline, priority and events
     * @return the result of a success: the bytes are final. Errors as for {@link #write(MemoryRegion, long,
     *     RemoteRegion, long, long, TransferOptions)}, without {@link OutcomeUnknownException}
     */
    public Mono<TransferResult> read(
            MemoryRegion local,
            long localOffset,
            RemoteRegion remote,
            long remoteOffset,
            long length,
            TransferOptions transferOptions) {
        return transfer(Direction.READ, local, localOffset, remote, remoteOffset, length, transferOptions);
    }

    /**
     * Writes many pages of one size as one transfer with the options of this object, by page number as in a block
     * table: page n of a region begins at n × pageBytes. The list takes one credit for each chunk, not for each page.
     * The order of the pages is undefined, even for pages with the same target.
     *
     * @param local the source
     * @param localPages the page numbers in the local region, one or more; copied
     * @param remote the target, attached on this connection
     * @param remotePages the page numbers in the remote region, as many; copied. Page i of one list goes to page i of
     *     the other
     * @param pageBytes the length of a page in bytes, 1 or more
     * @return the result of a success. Errors as for {@link #write(MemoryRegion, long, RemoteRegion, long, long,
     *     TransferOptions)}, but as the cause of a {@link PagesFailedException}, which names the pages that failed,
     *     once pages have been submitted
     */
    public Mono<TransferResult> writePages(
            MemoryRegion local, int[] localPages, RemoteRegion remote, int[] remotePages, long pageBytes) {
        Objects.requireNonNull(local, "local");
        Objects.requireNonNull(remote, "remote");
        int[] here = localPages.clone();
        int[] there = remotePages.clone();
        return pages(
                "writePages",
                here.length,
                pageBytes,
                end -> connection.writePages(local, here, remote, there, pageBytes, options, end));
    }

    /**
     * Does the same as {@link #writePages(MemoryRegion, int[], RemoteRegion, int[], long)}, with offsets in place of
     * page numbers.
     *
     * @param local the source
     * @param localOffsets the offsets of the pages in the local region, in bytes, one or more; copied
     * @param remote the target, attached on this connection
     * @param remoteOffsets the offsets of the pages in the remote region, in bytes, as many; copied
     * @param pageBytes the length of a page in bytes, 1 or more
     * @return as {@link #writePages(MemoryRegion, int[], RemoteRegion, int[], long)}
     */
    public Mono<TransferResult> writePages(
            MemoryRegion local, long[] localOffsets, RemoteRegion remote, long[] remoteOffsets, long pageBytes) {
        Objects.requireNonNull(local, "local");
        Objects.requireNonNull(remote, "remote");
        long[] here = localOffsets.clone();
        long[] there = remoteOffsets.clone();
        return pages(
                "writePages",
                here.length,
                pageBytes,
                end -> connection.writePages(local, here, remote, there, pageBytes, options, end));
    }

    /**
     * Reads many pages of one size as one transfer with the options of this object, by page number as in a block table:
     * page n of a region begins at n × pageBytes. The list takes one credit for each chunk, not for each page. The
     * order of the pages is undefined, even for pages with the same target.
     *
     * @param local the target
     * @param localPages the page numbers in the local region, one or more; copied
     * @param remote the source, attached on this connection
     * @param remotePages the page numbers in the remote region, as many; copied. Page i of one list comes from page i
     *     of the other
     * @param pageBytes the length of a page in bytes, 1 or more
     * @return the result of a success: the bytes are final. Errors as for {@link #read(MemoryRegion, long,
     *     RemoteRegion, long, long, TransferOptions)}, but as the cause of a {@link PagesFailedException}, which names
     *     the pages that failed, once pages have been submitted
     */
    public Mono<TransferResult> readPages(
            MemoryRegion local, int[] localPages, RemoteRegion remote, int[] remotePages, long pageBytes) {
        Objects.requireNonNull(local, "local");
        Objects.requireNonNull(remote, "remote");
        int[] here = localPages.clone();
        int[] there = remotePages.clone();
        return pages(
                "readPages",
                here.length,
                pageBytes,
                end -> connection.readPages(local, here, remote, there, pageBytes, options, end));
    }

    /**
     * Does the same as {@link #readPages(MemoryRegion, int[], RemoteRegion, int[], long)}, with offsets in place of
     * page numbers.
     *
     * @param local the target
     * @param localOffsets the offsets of the pages in the local region, in bytes, one or more; copied
     * @param remote the source, attached on this connection
     * @param remoteOffsets the offsets of the pages in the remote region, in bytes, as many; copied
     * @param pageBytes the length of a page in bytes, 1 or more
     * @return as {@link #readPages(MemoryRegion, int[], RemoteRegion, int[], long)}
     */
    public Mono<TransferResult> readPages(
            MemoryRegion local, long[] localOffsets, RemoteRegion remote, long[] remoteOffsets, long pageBytes) {
        Objects.requireNonNull(local, "local");
        Objects.requireNonNull(remote, "remote");
        long[] here = localOffsets.clone();
        long[] there = remoteOffsets.clone();
        return pages(
                "readPages",
                here.length,
                pageBytes,
                end -> connection.readPages(local, here, remote, there, pageBytes, options, end));
    }

    /**
     * Writes a whole region or slice into the peer's region and then adds to a signal there.
     *
     * @param source all its bytes are written
     * @param target attached on this connection
     * @param targetOffset the start of the range in the target, in bytes
     * @param signal the signal and its update
     * @return as {@link #writeWithSignal(MemoryRegion, long, RemoteRegion, long, long, SignalUpdate, TransferOptions)}
     */
    public Mono<TransferResult> writeWithSignal(
            MemoryRegion source, RemoteRegion target, long targetOffset, SignalUpdate signal) {
        return writeWithSignal(source, 0, target, targetOffset, source.length(), signal, options);
    }

    /**
     * Writes into the peer's region and adds to a signal there after the bytes are visible. If the write fails, the
     * signal is not changed.
     *
     * @param local the source
     * @param localOffset the start of the local range, in bytes
     * @param remote the target, attached on this connection
     * @param remoteOffset the start of the remote range, in bytes
     * @param length bytes, 0 or more
     * @param signal the signal and its update; its region is attached on this connection, too
     * @param transferOptions deadline, priority and events
     * @return the result of a success: the signal is updated. Errors as for {@link #write(MemoryRegion, long,
     *     RemoteRegion, long, long, TransferOptions)}; {@link OutcomeUnknownException} also means that the signal may
     *     or may not be updated
     */
    public Mono<TransferResult> writeWithSignal(
            MemoryRegion local,
            long localOffset,
            RemoteRegion remote,
            long remoteOffset,
            long length,
            SignalUpdate signal,
            TransferOptions transferOptions) {
        Objects.requireNonNull(local, "local");
        Objects.requireNonNull(remote, "remote");
        Objects.requireNonNull(signal, "signal");
        Objects.requireNonNull(transferOptions, "transferOptions");
        return operation(
                "writeWithSignal",
                length,
                callback -> connection.writeWithSignal(
                        local, localOffset, remote, remoteOffset, length, signal, transferOptions, callback));
    }

    /**
     * Writes a value of up to 8 bytes with the options of this object, as {@link #put(RemoteRegion, long, long, int,
     * TransferOptions)} does.
     *
     * @param remote the target, attached on this connection
     * @param remoteOffset the start of the remote range, in bytes
     * @param value its low-order bytes are written, the lowest first
     * @param bytes the number of bytes, 1 to 8
     * @return the result of a success
     */
    public Mono<TransferResult> put(RemoteRegion remote, long remoteOffset, long value, int bytes) {
        return put(remote, remoteOffset, value, bytes, options);
    }

    /**
     * Writes a value of up to 8 bytes, without a local region.
     *
     * @param remote the target, attached on this connection
     * @param remoteOffset the start of the remote range, in bytes
     * @param value its low-order bytes are written, the lowest first
     * @param bytes the number of bytes, 1 to 8
     * @param transferOptions deadline, priority and events
     * @return the result of a success; errors as for {@link #write(MemoryRegion, long, RemoteRegion, long, long,
     *     TransferOptions)}, and {@link IllegalArgumentException} if the number of bytes is out of range
     */
    public Mono<TransferResult> put(
            RemoteRegion remote, long remoteOffset, long value, int bytes, TransferOptions transferOptions) {
        Objects.requireNonNull(remote, "remote");
        Objects.requireNonNull(transferOptions, "transferOptions");
        return operation(
                "put",
                bytes,
                callback -> connection.put(remote, remoteOffset, value, bytes, transferOptions, callback));
    }

    /**
     * Adds to a signal of the peer with the options of this object, as {@link #signal(SignalUpdate, TransferOptions)}
     * does.
     *
     * @param update the signal and its update
     * @return completes when the signal is updated
     */
    public Mono<Void> signal(SignalUpdate update) {
        return signal(update, options);
    }

    /**
     * Adds to a signal of the peer. {@link SignalOrder#STRONG} follows everything submitted earlier on this connection,
     * which means subscribed to and requested earlier; {@link SignalOrder#WEAK} waits for nothing.
     *
     * @param update the signal and its update
     * @param transferOptions deadline, priority and events
     * @return completes when the signal is updated. Errors: {@link RemoteAccessException}, {@link
     *     io.sluice.engine.TransferTimeoutException}, {@link ConnectionLostException}, {@link OutcomeUnknownException},
     *     {@link TooManyPendingException}, {@link IllegalArgumentException} if the region belongs to another connection
     */
    public Mono<Void> signal(SignalUpdate update, TransferOptions transferOptions) {
        Objects.requireNonNull(update, "update");
        Objects.requireNonNull(transferOptions, "transferOptions");
        return operation("signal", 0, callback -> connection.signal(update, transferOptions, callback))
                .then();
    }

    /**
     * Adds to a 64-bit word of the peer with the options of this object, as {@link #fetchAdd(RemoteRegion, long, long,
     * TransferOptions)} does.
     *
     * @param remote the region, attached on this connection
     * @param remoteOffset the offset of the word, in bytes; a multiple of 8
     * @param addend the number to add; wraps around like Java's addition
     * @return the previous value
     */
    public Mono<Long> fetchAdd(RemoteRegion remote, long remoteOffset, long addend) {
        return fetchAdd(remote, remoteOffset, addend, options);
    }

    /**
     * Adds to a 64-bit word of the peer, atomically in the region's {@link io.sluice.engine.AtomicDomain}, and returns
     * the previous value. Every subscription adds: {@code retry()} and {@code repeat()} add again.
     *
     * @param remote the region, attached on this connection
     * @param remoteOffset the offset of the word, in bytes; a multiple of 8
     * @param addend the number to add; wraps around like Java's addition
     * @param transferOptions deadline, priority and events
     * @return the previous value. Errors as for {@link #write(MemoryRegion, long, RemoteRegion, long, long,
     *     TransferOptions)}, and {@link IllegalArgumentException} if the offset is not a multiple of 8; {@link
     *     OutcomeUnknownException} means that it may or may not have been added, and so does a cancel
     */
    public Mono<Long> fetchAdd(RemoteRegion remote, long remoteOffset, long addend, TransferOptions transferOptions) {
        Objects.requireNonNull(remote, "remote");
        Objects.requireNonNull(transferOptions, "transferOptions");
        return signalled(FetchMono.of(
                "fetchAdd", callback -> connection.fetchAdd(remote, remoteOffset, addend, transferOptions, callback)));
    }

    /**
     * Replaces a 64-bit word of the peer if it has the expected value, with the options of this object, as {@link
     * #compareAndSwap(RemoteRegion, long, long, long, TransferOptions)} does.
     *
     * @param remote the region, attached on this connection
     * @param remoteOffset the offset of the word, in bytes; a multiple of 8
     * @param expected the expected value
     * @param replacement the new value
     * @return the previous value; the word was replaced if that equals the expected value
     */
    public Mono<Long> compareAndSwap(RemoteRegion remote, long remoteOffset, long expected, long replacement) {
        return compareAndSwap(remote, remoteOffset, expected, replacement, options);
    }

    /**
     * Replaces a 64-bit word of the peer if it has the expected value, atomically in the region's {@link
     * io.sluice.engine.AtomicDomain}, and returns the previous value.
     *
     * @param remote the region, attached on this connection
     * @param remoteOffset the offset of the word, in bytes; a multiple of 8
     * @param expected the expected value
     * @param replacement the new value
     * @param transferOptions deadline, priority and events
     * @return the previous value; the word was replaced if that equals the expected value. Errors as for {@link
     *     #fetchAdd(RemoteRegion, long, long, TransferOptions)}
     */
    public Mono<Long> compareAndSwap(
            RemoteRegion remote, long remoteOffset, long expected, long replacement, TransferOptions transferOptions) {
        Objects.requireNonNull(remote, "remote");
        Objects.requireNonNull(transferOptions, "transferOptions");
        return signalled(FetchMono.of(
                "compareAndSwap",
                callback -> connection.compareAndSwap(
                        remote, remoteOffset, expected, replacement, transferOptions, callback)));
    }

    private Mono<TransferResult> transfer(
            Direction direction,
            MemoryRegion local,
            long localOffset,
            RemoteRegion remote,
            long remoteOffset,
            long length,
            TransferOptions transferOptions) {
        return signalled(new RangeTransferMono(
                        connection, direction, local, localOffset, remote, remoteOffset, length, transferOptions)
                .assembled());
    }

    private Mono<TransferResult> pages(
            String name, int pages, long pageBytes, Function<PageCallback, ? extends Transfer> submission) {
        return operation(
                name,
                pages * pageBytes,
                callback -> submission.apply((transfer, failed, error) ->
                        callback.terminated(transfer, PagesFailedException.of(failed, pages, error))));
    }

    private Mono<TransferResult> operation(
            String name, long bytes, Function<? super TransferCallback, ? extends Transfer> submission) {
        return signalled(new OperationMono(name, bytes, submission).assembled());
    }

    /** Signals on the scheduler, if there is one. */
    final <T> Mono<T> signalled(Mono<T> mono) {
        return scheduler == null ? mono : mono.publishOn(scheduler);
    }
}
