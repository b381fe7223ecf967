package io.sluice.engine;

import java.util.List;

/**
 * The operations on a peer's memory over one connection. {@link Connection} itself submits at once;
 * {@link Connection#prepared()} gives transfers that are submitted by {@link PreparedTransfer#start()}, which then throws
 * what is said here of waiting and ended connections. All methods may be called from any thread; callbacks are called on a
 * poller's thread.
 *
 * @param <T> what the operations return
 */
public interface TransferOperations<T extends Transfer> {
    /**
     * Writes into the peer's region.
     *
     * @param local the source
     * @param localOffset where it begins, in bytes
     * @param remote the target, attached on the connection
     * @param remoteOffset where it begins, in bytes
     * @param length bytes, 0 or more
     * @param options deadline and the like
     * @param callback the terminal signal. Success means that the target's engine has acknowledged the bytes (tcp), its
     *     adapter has (verbs), or they are stored (shm). Errors: {@link RemoteAccessException},
     *     {@link TransferTimeoutException}, {@link TransferCancelledException}, {@link RegionClosedException},
     *     {@link OutcomeUnknownException}, {@link ConnectionLostException}
     * @return the transfer
     * @throws IndexOutOfBoundsException if a range leaves its region
     * @throws RemoteAccessException if the remote region may not be written
     * @throws IllegalArgumentException if the local region belongs to another engine or the remote one to another
     *     connection
     * @throws MemoryNotAccessibleException if the connection's transport does not access the local region's memory
     * @throws TooManyPendingException if too many transfers wait already
     * @throws ConnectionLostException if the connection has ended
     */
    T write(
            MemoryRegion local,
            long localOffset,
            RemoteRegion remote,
            long remoteOffset,
            long length,
            TransferOptions options,
            TransferCallback callback);

    /**
     * Reads from the peer's region. On success the bytes are final.
     *
     * @param local the target
     * @param localOffset where it begins, in bytes
     * @param remote the source, attached on the connection
     * @param remoteOffset where it begins, in bytes
     * @param length bytes, 0 or more
     * @param options deadline and the like
     * @param callback the terminal signal; errors as for {@link #write}, without {@link OutcomeUnknownException}
     * @return the transfer
     * @throws IndexOutOfBoundsException if a range leaves its region
     * @throws RemoteAccessException if the remote region may not be read
     * @throws IllegalArgumentException as for {@link #write}
     * @throws MemoryNotAccessibleException if the connection's transport does not access the local region's memory
     * @throws TooManyPendingException if too many transfers wait already
     * @throws ConnectionLostException if the connection has ended
     */
    T read(
            MemoryRegion local,
            long localOffset,
            RemoteRegion remote,
            long remoteOffset,
            long length,
            TransferOptions options,
            TransferCallback callback);

    /**
     * Writes into the peer's region and adds to a signal there after the bytes are visible; one work request where the
     * transport can. If the write fails, the signal is left alone; if the signal is refused, the bytes are written.
     *
     * @param local the source
     * @param localOffset where it begins, in bytes
     * @param remote the target, attached on the connection
     * @param remoteOffset where it begins, in bytes
     * @param length bytes, 0 or more
     * @param signal what to do to which signal; its region is attached on the same connection
     * @param options deadline and the like
     * @param callback the terminal signal; success means that the signal is updated. Errors as for {@link #write};
     *     {@link OutcomeUnknownException} also means that the signal may or may not be updated
     * @return the transfer
     * @throws IndexOutOfBoundsException if a range leaves its region
     * @throws RemoteAccessException if a remote region may not be written
     * @throws IllegalArgumentException as for {@link #write}
     * @throws MemoryNotAccessibleException if the connection's transport does not access the local region's memory
     * @throws TooManyPendingException if too many transfers wait already
     * @throws ConnectionLostException if the connection has ended
     */
    T writeWithSignal(
            MemoryRegion local,
            long localOffset,
            RemoteRegion remote,
            long remoteOffset,
            long length,
            SignalUpdate signal,
            TransferOptions options,
            TransferCallback callback);

    /**
     * Writes a value of a few bytes that needs no local region.
     *
     * @param remote the target, attached on the connection
     * @param remoteOffset where to write, in bytes
     * @param value its low-order bytes are written, the lowest first
     * @param bytes how many, 1 to 8
     * @param options deadline and the like
     * @param callback the terminal signal; errors as for {@link #write}
     * @return the transfer
     * @throws IndexOutOfBoundsException if the range leaves the region
     * @throws RemoteAccessException if the remote region may not be written
     * @throws IllegalArgumentException if the number of bytes is out of range, or the remote region belongs to another
     *     connection
     * @throws TooManyPendingException if too many transfers wait already
     * @throws ConnectionLostException if the connection has ended
     */
    T put(
            RemoteRegion remote,
            long remoteOffset,
            long value,
            int bytes,
            TransferOptions options,
            TransferCallback callback);

    /**
     * Adds to a signal of the peer.
     *
     * @param signal what to do to which signal. {@link SignalOrder#STRONG} is after all writes, puts, signals and
     *     atomic operations submitted before on this connection, not after reads: to tell that a read is done, signal from
     *     its callback. {@link SignalOrder#WEAK} waits for nothing
     * @param options deadline and the like
     * @param callback the terminal signal; success means that the signal is updated. {@link OutcomeUnknownException} means
     *     that the connection ended on the way: it is not sent again
     * @return the transfer
     * @throws RemoteAccessException if the remote region may not be written
     * @throws IllegalArgumentException if the remote region belongs to another connection
     * @throws TooManyPendingException if too many transfers wait already
     * @throws ConnectionLostException if the connection has ended
     */
    T signal(SignalUpdate signal, TransferOptions options, TransferCallback callback);

    /**
     * Adds to a 64-bit word of the peer, atomically in the region's {@link AtomicDomain}, and fetches what it held before.
     * The word is in the peer's byte order.
     *
     * @param remote the region, attached on the connection
     * @param remoteOffset where the word lies, in bytes; a multiple of 8
     * @param addend what to add; wraps around as Java's addition does
     * @param options deadline and the like
     * @param callback the terminal signal; errors as for {@link #write}. {@link OutcomeUnknownException} means that the
     *     connection ended on the way: it is never sent again
     * @return the transfer
     * @throws IndexOutOfBoundsException if the word leaves the region
     * @throws RemoteAccessException if the remote region may not be both read and written
     * @throws IllegalArgumentException if the offset is not a multiple of 8, or the remote region belongs to another
     *     connection
     * @throws TooManyPendingException if too many transfers wait already
     * @throws ConnectionLostException if the connection has ended
     */
    T fetchAdd(RemoteRegion remote, long remoteOffset, long addend, TransferOptions options, FetchCallback callback);

    /**
     * Replaces a 64-bit word of the peer if it holds what is expected, atomically in the region's {@link AtomicDomain},
     * and fetches what it held before: it was replaced if that is what was expected.
     *
     * @param remote the region, attached on the connection
     * @param remoteOffset where the word lies, in bytes; a multiple of 8
     * @param expected what it must hold
     * @param replacement what it holds then
     * @param options deadline and the like
     * @param callback the terminal signal; errors as for {@link #fetchAdd}
     * @return the transfer
     * @throws IndexOutOfBoundsException if the word leaves the region
     * @throws RemoteAccessException if the remote region may not be both read and written
     * @throws IllegalArgumentException if the offset is not a multiple of 8, or the remote region belongs to another
     *     connection
     * @throws TooManyPendingException if too many transfers wait already
     * @throws ConnectionLostException if the connection has ended
     */
    T compareAndSwap(
            RemoteRegion remote,
            long remoteOffset,
            long expected,
            long replacement,
            TransferOptions options,
            FetchCallback callback);

    /**
     * Writes many elements as one transfer, each with its own result.
     *
     * @param elements copied; not empty
     * @param options for the transfer as a whole
     * @param callback each element's result, then the terminal signal
     * @return the transfer
     * @throws IndexOutOfBoundsException if a range leaves its region
     * @throws RemoteAccessException if a remote region may not be written
     * @throws IllegalArgumentException as for {@link #write}, and if there is no element
     * @throws MemoryNotAccessibleException if the connection's transport does not access a local region's memory
     * @throws TooManyPendingException if too many transfers wait already
     * @throws ConnectionLostException if the connection has ended
     */
    T writeVectored(List<TransferElement> elements, TransferOptions options, VectoredTransferCallback callback);

    /**
     * Reads many elements as one transfer, each with its own result.
     *
     * @param elements copied; not empty
     * @param options for the transfer as a whole
     * @param callback each element's result, then the terminal signal
     * @return the transfer
     * @throws IndexOutOfBoundsException if a range leaves its region
     * @throws RemoteAccessException if a remote region may not be read
     * @throws IllegalArgumentException as for {@link #read}, and if there is no element
     * @throws MemoryNotAccessibleException if the connection's transport does not access a local region's memory
     * @throws TooManyPendingException if too many transfers wait already
     * @throws ConnectionLostException if the connection has ended
     */
    T readVectored(List<TransferElement> elements, TransferOptions options, VectoredTransferCallback callback);

    /**
     * Writes many pages of one size as one transfer, by their numbers, as a block table has them. It is checked once, and takes one
     * operation credit for each chunk, and not for each page. The order in which pages are moved is undefined: what a page holds
     * that is listed twice as a target is one of what was moved there, or parts of several.
     *
     * @param local the source
     * @param localPages numbers of the pages in the local region, one or more: page n begins at n × pageBytes; copied
     * @param remote the target, attached on the connection
     * @param remotePages numbers of the pages in the remote region, as many; page i of one list goes to page i of the other;
     *     copied
     * @param pageBytes how long a page is, 1 or more
     * @param options for the transfer as a whole
     * @param callback the terminal signal, with the pages that failed; errors as for {@link #write}, within
     *     {@link PagesFailedException} where they are those of some pages
     * @return the transfer
     * @throws IndexOutOfBoundsException if a page leaves its region; the message names the first that does
     * @throws RemoteAccessException if the remote region may not be written
     * @throws IllegalArgumentException as for {@link #write}, and if there is no page, the counts differ, or pageBytes is out of
     *     range
     * @throws TooManyPendingException if too many transfers wait already
     * @throws ConnectionLostException if the connection has ended
     */
    T writePages(
            MemoryRegion local,
            int[] localPages,
            RemoteRegion remote,
            int[] remotePages,
            long pageBytes,
            TransferOptions options,
            PageCallback callback);

    /**
     * As {@link #writePages(MemoryRegion, int[], RemoteRegion, int[], long, TransferOptions, PageCallback)}, by the pages' offsets,
     * which need not be multiples of anything.
     *
     * @param local the source
     * @param localOffsets where the pages begin in the local region, in bytes, one or more; copied
     * @param remote the target, attached on the connection
     * @param remoteOffsets where they begin in the remote region, in bytes, as many; copied
     * @param pageBytes how long a page is, 1 or more
     * @param options for the transfer as a whole
     * @param callback the terminal signal, with the pages that failed
     * @return the transfer
     * @throws IndexOutOfBoundsException if a page leaves its region; the message names the first that does
     * @throws RemoteAccessException if the remote region may not be written
     * @throws IllegalArgumentException as for {@link #write}, and if there is no page, the counts differ, or pageBytes is out of
     *     range
     * @throws TooManyPendingException if too many transfers wait already
     * @throws ConnectionLostException if the connection has ended
     */
    T writePages(
            MemoryRegion local,
            long[] localOffsets,
            RemoteRegion remote,
            long[] remoteOffsets,
            long pageBytes,
            TransferOptions options,
            PageCallback callback);

    /**
     * Reads many pages of one size as one transfer, by their numbers, as a block table has them. It is checked once, and takes one
     * operation credit for each chunk, and not for each page. The order in which pages are moved is undefined: what a page holds
     * that is listed twice as a target is one of what was moved there, or parts of several.
     *
     * @param local the target
     * @param localPages numbers of the pages in the local region, one or more: page n begins at n × pageBytes; copied
     * @param remote the source, attached on the connection
     * @param remotePages numbers of the pages in the remote region, as many; page i of one list comes from page i of the other;
     *     copied
     * @param pageBytes how long a page is, 1 or more
     * @param options for the transfer as a whole
     * @param callback the terminal signal, with the pages that failed; errors as for {@link #read}, within
     *     {@link PagesFailedException} where they are those of some pages
     * @return the transfer
     * @throws IndexOutOfBoundsException if a page leaves its region; the message names the first that does
     * @throws RemoteAccessException if the remote region may not be read
     * @throws IllegalArgumentException as for {@link #read}, and if there is no page, the counts differ, or pageBytes is out of
     *     range
     * @throws TooManyPendingException if too many transfers wait already
     * @throws ConnectionLostException if the connection has ended
     */
    T readPages(
            MemoryRegion local,
            int[] localPages,
            RemoteRegion remote,
            int[] remotePages,
            long pageBytes,
            TransferOptions options,
            PageCallback callback);

    /**
     * As {@link #readPages(MemoryRegion, int[], RemoteRegion, int[], long, TransferOptions, PageCallback)}, by the pages' offsets,
     * which need not be multiples of anything.
     *
     * @param local the target
     * @param localOffsets where the pages begin in the local region, in bytes, one or more; copied
     * @param remote the source, attached on the connection
     * @param remoteOffsets where they begin in the remote region, in bytes, as many; copied
     * @param pageBytes how long a page is, 1 or more
     * @param options for the transfer as a whole
     * @param callback the terminal signal, with the pages that failed
     * @return the transfer
     * @throws IndexOutOfBoundsException if a page leaves its region; the message names the first that does
     * @throws RemoteAccessException if the remote region may not be read
     * @throws IllegalArgumentException as for {@link #read}, and if there is no page, the counts differ, or pageBytes is out of
     *     range
     * @throws TooManyPendingException if too many transfers wait already
     * @throws ConnectionLostException if the connection has ended
     */
    T readPages(
            MemoryRegion local,
            long[] localOffsets,
            RemoteRegion remote,
            long[] remoteOffsets,
            long pageBytes,
            TransferOptions options,
            PageCallback callback);
}
