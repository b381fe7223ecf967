package io.sluice.engine;

import java.util.List;

/**
 * The operations on a peer's memory over one connection. {@link Connection} submits them immediately. {@link
 * Connection#prepared()} returns transfers that {@link PreparedTransfer#start()} submits; {@code start} then throws
 * {@link TooManyPendingException} and {@link ConnectionLostException}. All methods may be called from any thread;
 * callbacks run on a poller's thread, with the exceptions that {@link TransferCallback} describes.
 *
 * @param <T> the type that the operations return
 */
public interface TransferOperations<T extends Transfer> {
    /**
     * Writes into the peer's region.
     *
     * @param local the source
     * @param localOffset the start of the local range, in bytes
     * @param remote the target, attached on the connection
     * @param remoteOffset the start of the remote range, in bytes
     * @param length bytes, 0 or more
     * @param options deadline, priority and events
     * @param callback receives the terminal signal. Success means that the target's engine (tcp) or adapter (verbs) has
     *     acknowledged the bytes, or that they are stored (shm). Errors: {@link RemoteAccessException}, {@link
     *     TransferTimeoutException}, {@link TransferCancelledException}, {@link RegionClosedException}, {@link
     *     OutcomeUnknownException}, {@link ConnectionLostException}
     * @return the transfer
     * @throws IndexOutOfBoundsException if a range leaves its region
     * @throws RemoteAccessException if the remote region may not be written
     * @throws IllegalArgumentException if the local region belongs to another engine or the remote one to another
     *     connection
     * @throws MemoryNotAccessibleException if the connection's transport cannot access the local region's memory
     * @throws TooManyPendingException if too many transfers are pending
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
     * @param localOffset the start of the local range, in bytes
     * @param remote the source, attached on the connection
     * @param remoteOffset the start of the remote range, in bytes
     * @param length bytes, 0 or more
     * @param options deadline, priority and events
     * @param callback receives the terminal signal; errors as for {@link #write}, without {@link
     *     OutcomeUnknownException}
     * @return the transfer
     * @throws IndexOutOfBoundsException if a range leaves its region
     * @throws RemoteAccessException if the remote region may not be read
     * @throws IllegalArgumentException as for {@link #write}
     * @throws MemoryNotAccessibleException if the connection's transport cannot access the local region's memory
     * @throws TooManyPendingException if too many transfers are pending
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
     * Writes into the peer's region and adds to a signal there after the bytes are visible, in one work request if the
     * transport supports it. If the write fails, the signal is not changed; if the signal is refused, the bytes are
     * written.
     *
     * @param local the source
     * @param localOffset the start of the local range, in bytes
     * @param remote the target, attached on the connection
     * @param remoteOffset the start of the remote range, in bytes
     * @param length bytes, 0 or more
     * @param signal the signal and its update; its region is attached on the same connection
     * @param options deadline, priority and events
     * @param callback receives the terminal signal. Success means that the signal is updated. Errors as for {@link
     *     #write}; {@link OutcomeUnknownException} also means that the signal may or may not be updated
     * @return the transfer
     * @throws IndexOutOfBoundsException if a range leaves its region
     * @throws RemoteAccessException if a remote region may not be written
     * @throws IllegalArgumentException as for {@link #write}
     * @throws MemoryNotAccessibleException if the connection's transport cannot access the local region's memory
     * @throws TooManyPendingException if too many transfers are pending
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
     * Writes a value of up to 8 bytes, without a local region.
     *
     * @param remote the target, attached on the connection
     * @param remoteOffset the start of the remote range, in bytes
     * @param value its low-order bytes are written, the lowest first
     * @param bytes the number of bytes, 1 to 8
     * @param options deadline, priority and events
     * @param callback receives the terminal signal; errors as for {@link #write}
     * @return the transfer
     * @throws IndexOutOfBoundsException if the range leaves the region
     * @throws RemoteAccessException if the remote region may not be written
     * @throws IllegalArgumentException if the number of bytes is out of range, or the remote region belongs to another
     *     connection
     * @throws TooManyPendingException if too many transfers are pending
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
     * @param signal the signal and its update. {@link SignalOrder#STRONG} follows all writes, puts, signals and atomic
     *     operations submitted earlier on this connection, but not reads: to announce that a read is done, signal from
     *     its callback. {@link SignalOrder#WEAK} waits for nothing
     * @param options deadline, priority and events
     * @param callback receives the terminal signal. Success means that the signal is updated. {@link
     *     OutcomeUnknownException} means that the connection ended meanwhile; the signal is not sent again
     * @return the transfer
     * @throws RemoteAccessException if the remote region may not be written
     * @throws IllegalArgumentException if the remote region belongs to another connection
     * @throws TooManyPendingException if too many transfers are pending
     * @throws ConnectionLostException if the connection has ended
     */
    T signal(SignalUpdate signal, TransferOptions options, TransferCallback callback);

    /**
     * Adds to a 64-bit word of the peer, atomically in the region's {@link AtomicDomain}, and returns the previous
     * value. The word is in the peer's byte order.
     *
     * @param remote the region, attached on the connection
     * @param remoteOffset the offset of the word, in bytes; a multiple of 8
     * @param addend the number to add; wraps around like Java's addition
     * @param options deadline, priority and events
     * @param callback receives the terminal signal; errors as for {@link #write}. {@link OutcomeUnknownException} means
     *     that the connection ended meanwhile; the operation is never sent again
     * @return the transfer
     * @throws IndexOutOfBoundsException if the word leaves the region
     * @throws RemoteAccessException if the remote region may not be both read and written
     * @throws IllegalArgumentException if the offset is not a multiple of 8, or the remote region belongs to another
     *     connection
     * @throws TooManyPendingException if too many transfers are pending
     * @throws ConnectionLostException if the connection has ended
     */
    T fetchAdd(RemoteRegion remote, long remoteOffset, long addend, TransferOptions options, FetchCallback callback);

    /**
     * Replaces a 64-bit word of the peer if it has the expected value, atomically in the region's {@link AtomicDomain},
     * and returns the previous value. The word was replaced if that equals the expected value.
     *
     * @param remote the region, attached on the connection
     * @param remoteOffset the offset of the word, in bytes; a multiple of 8
     * @param expected the expected value
     * @param replacement the new value
     * @param options deadline, priority and events
     * @param callback receives the terminal signal; errors as for {@link #fetchAdd}
     * @return the transfer
     * @throws IndexOutOfBoundsException if the word leaves the region
     * @throws RemoteAccessException if the remote region may not be both read and written
     * @throws IllegalArgumentException if the offset is not a multiple of 8, or the remote region belongs to another
     *     connection
     * @throws TooManyPendingException if too many transfers are pending
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
     * @param callback receives each element's result and then the terminal signal
     * @return the transfer
     * @throws IndexOutOfBoundsException if a range leaves its region
     * @throws RemoteAccessException if a remote region may not be written
     * @throws IllegalArgumentException as for {@link #write}, and if there is no element
     * @throws MemoryNotAccessibleException if the connection's transport cannot access a local region's memory
     * @throws TooManyPendingException if too many transfers are pending
     * @throws ConnectionLostException if the connection has ended
     */
    T writeVectored(List<TransferElement> elements, TransferOptions options, VectoredTransferCallback callback);

    /**
     * Reads many elements as one transfer, each with its own result.
     *
     * @param elements copied; not empty
     * @param options for the transfer as a whole
     * @param callback receives each element's result and then the terminal signal
     * @return the transfer
     * @throws IndexOutOfBoundsException if a range leaves its region
     * @throws RemoteAccessException if a remote region may not be read
     * @throws IllegalArgumentException as for {@link #read}, and if there is no element
     * @throws MemoryNotAccessibleException if the connection's transport cannot access a local region's memory
     * @throws TooManyPendingException if too many transfers are pending
     * @throws ConnectionLostException if the connection has ended
     */
    T readVectored(List<TransferElement> elements, TransferOptions options, VectoredTransferCallback callback);

    /**
     * Writes many pages of one size as one transfer, by page number as in a block table. The list is checked once and
     * takes one operation credit for each chunk, not for each page. The order of the pages is undefined: a target page
     * that is listed twice ends with the content of either, or parts of both.
     *
     * @param local the source
     * @param localPages the page numbers in the local region, one or more; page n begins at n × pageBytes; copied
     * @param remote the target, attached on the connection
     * @param remotePages the page numbers in the remote region, as many; page i of one list goes to page i of the
     *     other; copied
     * @param pageBytes the length of a page in bytes, 1 or more
     * @param options for the transfer as a whole
     * @param callback receives the terminal signal, with the pages that failed; errors as for {@link #write}, within
     *     {@link PagesFailedException} if they concern some of the pages
     * @return the transfer
     * @throws IndexOutOfBoundsException if a page leaves its region; the message names the first that does
     * @throws RemoteAccessException if the remote region may not be written
     * @throws IllegalArgumentException as for {@link #write}, and if there is no page, the counts differ, or pageBytes
     *     is out of range
     * @throws TooManyPendingException if too many transfers are pending
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
     * Does the same as {@link #writePages(MemoryRegion, int[], RemoteRegion, int[], long, TransferOptions,
     * PageCallback)}, with offsets in place of page numbers. Offsets need no alignment.
     *
     * @param local the source
     * @param localOffsets the offsets of the pages in the local region, in bytes, one or more; copied
     * @param remote the target, attached on the connection
     * @param remoteOffsets the offsets of the pages in the remote region, in bytes, as many; copied
     * @param pageBytes the length of a page in bytes, 1 or more
     * @param options for the transfer as a whole
     * @param callback receives the terminal signal, with the pages that failed
     * @return the transfer
     * @throws IndexOutOfBoundsException if a page leaves its region; the message names the first that does
     * @throws RemoteAccessException if the remote region may not be written
     * @throws IllegalArgumentException as for {@link #write}, and if there is no page, the counts differ, or pageBytes
     *     is out of range
     * @throws TooManyPendingException if too many transfers are pending
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
     * Reads many pages of one size as one transfer, by page number as in a block table. The list is checked once and
     * takes one operation credit for each chunk, not for each page. The order of the pages is undefined: a target page
     * that is listed twice ends with the content of either, or parts of both.
     *
     * @param local the target
     * @param localPages the page numbers in the local region, one or more; page n begins at n × pageBytes; copied
     * @param remote the source, attached on the connection
     * @param remotePages the page numbers in the remote region, as many; page i of one list comes from page i of the
     *     other; copied
     * @param pageBytes the length of a page in bytes, 1 or more
     * @param options for the transfer as a whole
     * @param callback receives the terminal signal, with the pages that failed; errors as for {@link #read}, within
     *     {@link PagesFailedException} if they concern some of the pages
     * @return the transfer
     * @throws IndexOutOfBoundsException if a page leaves its region; the message names the first that does
     * @throws RemoteAccessException if the remote region may not be read
     * @throws IllegalArgumentException as for {@link #read}, and if there is no page, the counts differ, or pageBytes
     *     is out of range
     * @throws TooManyPendingException if too many transfers are pending
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
     * Does the same as {@link #readPages(MemoryRegion, int[], RemoteRegion, int[], long, TransferOptions,
     * PageCallback)}, with offsets in place of page numbers. Offsets need no alignment.
     *
     * @param local the target
     * @param localOffsets the offsets of the pages in the local region, in bytes, one or more; copied
     * @param remote the source, attached on the connection
     * @param remoteOffsets the offsets of the pages in the remote region, in bytes, as many; copied
     * @param pageBytes the length of a page in bytes, 1 or more
     * @param options for the transfer as a whole
     * @param callback receives the terminal signal, with the pages that failed
     * @return the transfer
     * @throws IndexOutOfBoundsException if a page leaves its region; the message names the first that does
     * @throws RemoteAccessException if the remote region may not be read
     * @throws IllegalArgumentException as for {@link #read}, and if there is no page, the counts differ, or pageBytes
     *     is out of range
     * @throws TooManyPendingException if too many transfers are pending
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
