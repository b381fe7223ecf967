package io.sluice.engine;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/**
 * A reliable path to one peer engine; both sides may read, write and notify. All methods may be called from any thread;
 * futures complete, and callbacks are called, on a poller's thread.
 *
 * <p>A method that throws has submitted nothing. Once it has returned, the callback is called exactly once.
 */
public interface Connection {
    /**
     * A number that tells this engine's connections apart, in logs and metrics.
     *
     * @return unique within the engine
     */
    long id();

    /**
     * The engine at the other end.
     *
     * @return its identity, as it claims in the bootstrap: a token proves that the peer may connect, not who it is
     */
    EngineId peer();

    /**
     * The run of the engine at the other end.
     *
     * @return its epoch
     */
    long peerEpoch();

    /**
     * The transport that carries the transfers.
     *
     * @return {@code tcp}, or another provider's name
     */
    String transport();

    /**
     * The state now.
     *
     * @return the state
     */
    ConnectionState state();

    /**
     * The credits of this connection's own transfers.
     *
     * @return live figures
     */
    InFlightWindow window();

    /**
     * How many transfers were submitted and have not ended, in flight or waiting.
     *
     * @return 0 to {@link EngineOptions#maxPending()}
     */
    int pending();

    /**
     * Brings the transport's keys of a peer's region over, once.
     *
     * @param descriptor what the peer gave
     * @return the region; or {@link StaleDescriptorException}, {@link InvalidDescriptorException} (damaged, forged, or of
     *     another engine than this connection's peer), {@link ConnectionLostException}
     */
    CompletableFuture<RemoteRegion> attach(RegionDescriptor descriptor);

    /**
     * Attaches many at once, in one exchange for each thousand.
     *
     * @param descriptors what the peer gave
     * @return the regions in the same order; if one cannot be attached, its error
     */
    CompletableFuture<List<RemoteRegion>> attach(List<RegionDescriptor> descriptors);

    /**
     * Gives up a remote region. Transfers that still use it are refused by the target.
     *
     * @param region attached on this connection
     * @return completes when the peer has dropped it
     * @throws IllegalArgumentException if the region was attached on another connection
     */
    CompletableFuture<Void> detach(RemoteRegion region);

    /**
     * Asks the peer for a region by name.
     *
     * @param name as in {@link RegionOptions#named(String)} of the peer
     * @return its descriptor; or {@link RegionNotFoundException}, {@link ConnectionLostException}
     */
    CompletableFuture<RegionDescriptor> lookup(String name);

    /**
     * Writes into the peer's region.
     *
     * @param local the source
     * @param localOffset where it begins, in bytes
     * @param remote the target, attached on this connection
     * @param remoteOffset where it begins, in bytes
     * @param length bytes, 0 or more
     * @param options deadline and the like
     * @param callback the terminal signal. Success means that the target's engine has acknowledged the bytes (tcp), its
     *     adapter has (verbs), or they are stored (shm). Errors: {@link RemoteAccessException},
     *     {@link TransferTimeoutException}, {@link TransferCancelledException}, {@link RegionClosedException},
     *     {@link OutcomeUnknownException}, {@link ConnectionLostException}
     * @return a handle
     * @throws IndexOutOfBoundsException if a range leaves its region
     * @throws RemoteAccessException if the remote region may not be written
     * @throws IllegalArgumentException if the local region belongs to another engine or the remote one to another
     *     connection
     * @throws TooManyPendingException if too many transfers wait already
     * @throws ConnectionLostException if the connection has ended
     */
    Transfer write(
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
     * @param remote the source, attached on this connection
     * @param remoteOffset where it begins, in bytes
     * @param length bytes, 0 or more
     * @param options deadline and the like
     * @param callback the terminal signal; errors as for {@link #write}, without {@link OutcomeUnknownException}
     * @return a handle
     * @throws IndexOutOfBoundsException if a range leaves its region
     * @throws RemoteAccessException if the remote region may not be read
     * @throws IllegalArgumentException as for {@link #write}
     * @throws TooManyPendingException if too many transfers wait already
     * @throws ConnectionLostException if the connection has ended
     */
    Transfer read(
            MemoryRegion local,
            long localOffset,
            RemoteRegion remote,
            long remoteOffset,
            long length,
            TransferOptions options,
            TransferCallback callback);

    /**
     * Writes many elements as one transfer, each with its own result.
     *
     * @param elements copied; not empty
     * @param options for the transfer as a whole
     * @param callback each element's result, then the terminal signal
     * @return a handle
     * @throws IndexOutOfBoundsException if a range leaves its region
     * @throws RemoteAccessException if a remote region may not be written
     * @throws IllegalArgumentException as for {@link #write}, and if there is no element
     * @throws TooManyPendingException if too many transfers wait already
     * @throws ConnectionLostException if the connection has ended
     */
    Transfer writeVectored(List<TransferElement> elements, TransferOptions options, VectoredTransferCallback callback);

    /**
     * Reads many elements as one transfer, each with its own result.
     *
     * @param elements copied; not empty
     * @param options for the transfer as a whole
     * @param callback each element's result, then the terminal signal
     * @return a handle
     * @throws IndexOutOfBoundsException if a range leaves its region
     * @throws RemoteAccessException if a remote region may not be read
     * @throws IllegalArgumentException as for {@link #read}, and if there is no element
     * @throws TooManyPendingException if too many transfers wait already
     * @throws ConnectionLostException if the connection has ended
     */
    Transfer readVectored(List<TransferElement> elements, TransferOptions options, VectoredTransferCallback callback);

    /**
     * Sends a message that the peer sees after all writes submitted on this connection before it. It waits for those
     * writes, and for a credit of the receiver.
     *
     * @param payload copied; at most {@link #maxNotificationBytes()}
     * @param options deadline and the like
     * @param callback the terminal signal; success means that the peer's engine holds the message for its listener.
     *     {@link OutcomeUnknownException} means that the connection ended after it was sent
     * @return a handle; a cancel after the message was sent does not call it back
     * @throws IllegalArgumentException if the payload is too long
     * @throws TooManyPendingException if too many transfers wait already
     * @throws ConnectionLostException if the connection has ended
     */
    Transfer notify(byte[] payload, TransferOptions options, TransferCallback callback);

    /**
     * The longest notification that the peer accepts.
     *
     * @return bytes
     */
    int maxNotificationBytes();

    /**
     * Listens for the peer's notifications. Those that came before are kept and delivered first.
     *
     * @param listener called on a poller's thread
     * @return what to ask for notifications with; nothing is delivered before
     * @throws IllegalStateException if there is a listener already
     */
    NotificationSubscription subscribe(NotificationListener listener);

    /**
     * When no transfer that has ended can touch memory any more.
     *
     * @return completes when the chunks of all transfers cancelled, timed out or failed until now are done
     */
    CompletableFuture<Void> quiesced();

    /**
     * The end of the connection, whoever brings it about.
     *
     * @return completes normally if either side closes it, with {@link ConnectionLostException} if the peer is lost
     */
    CompletionStage<Void> ended();

    /**
     * Closes the connection: what has not ended ends with {@link ConnectionClosedException} (a write of which parts were
     * sent with {@link OutcomeUnknownException}). The peer is told.
     *
     * @return completes when it is closed and quiescent; a second call gives the same outcome
     */
    CompletableFuture<Void> close();
}
