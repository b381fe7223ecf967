package io.sluice.engine;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * A reliable connection to one peer engine; both sides may read, write and notify. All methods may be called from any
 * thread. Futures complete and callbacks run on a poller's thread, with the exceptions that {@link TransferCallback}
 * describes.
 *
 * <p>The {@link TransferOperations} of a connection submit immediately and return a handle. A method that throws has
 * submitted nothing. After a method has returned, its callback is called exactly once.
 */
public interface Connection extends TransferOperations<Transfer> {
    /**
     * Returns the number that identifies this connection in logs and metrics.
     *
     * @return unique within the engine
     */
    long id();

    /**
     * Returns the identity of the engine at the other end.
     *
     * @return the identity that the peer claimed in the bootstrap: a token proves that the peer may connect, not who it
     *     is
     */
    EngineId peer();

    /**
     * Returns the epoch of the engine at the other end, which identifies its run.
     *
     * @return the epoch
     */
    long peerEpoch();

    /**
     * Returns the transport of the first path, which carries all transfers whose memory it reaches.
     *
     * @return {@code tcp}, or another provider's name
     */
    String transport();

    /**
     * Says why this transport was chosen, and what ruled out those that the engine prefers.
     *
     * @return a sentence for people; its wording may change
     */
    String transportReason();

    /**
     * Returns the paths to the peer's memory. There are several if no single transport reaches all of it.
     *
     * @return the most preferred first, that of {@link #transport()}; never changes
     */
    List<ConnectionPath> paths();

    /**
     * Returns how this connection detects bytes that were changed in transit, as both sides agreed. {@link Integrity}
     * says which transports check every transfer.
     *
     * @return never changes
     */
    Integrity integrity();

    /**
     * Returns the current state.
     *
     * @return the state
     */
    ConnectionState state();

    /**
     * Returns the event loop that drives this connection, on which callers can run stages of their own.
     *
     * @return never changes; connections on the same poller share it
     */
    EngineLoop loop();

    /**
     * Returns the group that the side that connected has named in its {@link ConnectOptions}. By it the other side knows
     * what a connection is for.
     *
     * @return the group, the same on both sides; {@code null} if it has named none. Never changes
     */
    @Nullable
    LoopGroup group();

    /**
     * Returns the credits of the transfers that this side of the connection starts.
     *
     * @return live figures
     */
    InFlightWindow window();

    /**
     * Returns the number of transfers submitted and not ended, in flight or waiting.
     *
     * @return 0 to {@link EngineOptions#maxPending()}
     */
    int pending();

    /**
     * Attaches a peer's region: fetches, once, the keys with which the transports reach it. If the caller has cancelled
     * the future or completed it by a time-out by then, the region is detached again.
     *
     * @param descriptor the descriptor received from the peer
     * @return the region; or {@link StaleDescriptorException}, {@link InvalidDescriptorException} (damaged, forged, or
     *     of another engine than this connection's peer), {@link MemoryNotAccessibleException} if none of the
     *     connection's paths reaches the region, {@link ConnectionLostException}
     */
    CompletableFuture<RemoteRegion> attach(RegionDescriptor descriptor);

    /**
     * Attaches many regions, in one exchange for each thousand. They are detached again if the caller has cancelled or
     * completed the future by then.
     *
     * @param descriptors the descriptors received from the peer
     * @return the regions in the same order; if one cannot be attached, its error
     */
    CompletableFuture<List<RemoteRegion>> attach(List<RegionDescriptor> descriptors);

    /**
     * Detaches a remote region. The target refuses transfers that still use it.
     *
     * @param region attached on this connection
     * @return completes when the peer has released it
     * @throws IllegalArgumentException if the region was attached on another connection
     */
    CompletableFuture<Void> detach(RemoteRegion region);

    /**
     * Looks up a region of the peer by name. A region whose memory no path of the connection reaches is reported as not
     * found.
     *
     * @param name the name that the peer gave by {@link RegionOptions#named(String)}
     * @return its descriptor; or {@link RegionNotFoundException}, {@link ConnectionLostException}
     */
    CompletableFuture<RegionDescriptor> lookup(String name);

    /**
     * Asks the peer's engine for the CRC-32C of a range of its memory, to compare with {@link
     * MemoryRegion#checksum(long, long)} after a transfer. It is the check for transports that move bytes without the
     * engines. Where completed writes are not yet visible, wait for {@link #quiet()} first. The result is meaningless
     * if the range changes meanwhile. A connection's requests are answered one at a time; a request has no deadline and
     * ends when the peer answers or the connection ends.
     *
     * @param region attached on this connection
     * @param offset the start of the range, in bytes
     * @param length bytes
     * @return 0 to 0xFFFFFFFF; or {@link RemoteAccessException} if the peer would refuse a read of the range, {@link
     *     ConnectionLostException}, or {@link SluiceException} if the peer's version does not support checksums
     * @throws IndexOutOfBoundsException if the range leaves the region
     * @throws IllegalArgumentException if the region was attached on another connection
     */
    CompletableFuture<Long> checksum(RemoteRegion region, long offset, long length);

    /**
     * Sends a message that the peer sees after all writes submitted earlier on this connection. It waits for those
     * writes and for a credit from the receiver.
     *
     * @param payload copied; at most {@link #maxNotificationBytes()}
     * @param options the deadline and priority
     * @param callback receives the terminal signal. Success means that the peer's engine holds the message for its
     *     listener; {@link OutcomeUnknownException} that the connection ended after the message was sent
     * @return a handle; a cancel does not recall a message that was already sent
     * @throws IllegalArgumentException if the payload is too long, or the options name a start event
     * @throws TooManyPendingException if too many transfers are pending
     * @throws ConnectionLostException if the connection has ended
     */
    Transfer notify(byte[] payload, TransferOptions options, TransferCallback callback);

    /**
     * Returns the length of the longest notification that the peer accepts.
     *
     * @return bytes
     */
    int maxNotificationBytes();

    /**
     * Subscribes to the peer's notifications. Those that arrived earlier are kept and delivered first.
     *
     * @param listener called on a poller's thread
     * @return the subscription, which requests notifications; none is delivered before it has
     * @throws IllegalStateException if there already is a listener
     */
    NotificationSubscription subscribe(NotificationListener listener);

    /**
     * Returns the same operations as prepared transfers, which can be started later and any number of times.
     *
     * @return operations that check and prepare transfers but submit nothing
     */
    TransferOperations<PreparedTransfer> prepared();

    /**
     * Waits until the sources of all earlier operations may be reused. It reports no failures of transfers: each
     * reports its own.
     *
     * @return completes when all writes, puts, signals and atomic operations submitted so far on this connection have
     *     ended and none can touch local memory any more, even if the connection has ended
     */
    CompletableFuture<Void> flush();

    /**
     * Waits until everything written earlier is visible to the target's code. It reports no failures of earlier
     * transfers.
     *
     * @return completes when every successful write, put, signal and atomic operation submitted so far on this
     *     connection is visible at the target; {@link ConnectionLostException} if the connection ends first
     */
    CompletableFuture<Void> quiet();

    /**
     * Waits until no ended transfer can touch memory any more.
     *
     * @return completes when the chunks of all transfers cancelled, timed out or failed so far are done
     */
    CompletableFuture<Void> quiesced();

    /**
     * Returns a stage that completes when the connection ends.
     *
     * @return completes normally if either side closes it, with {@link ConnectionLostException} if the peer is lost
     */
    CompletionStage<Void> ended();

    /**
     * Closes the connection gracefully. Neither side accepts new transfers from now on: here they are refused with
     * {@link ConnectionClosedException}, and at the peer, which is notified, with {@link ConnectionLostException}. When
     * the transfers already submitted on both sides have ended, or the time is over, the connection closes as by {@link
     * #close()}.
     *
     * @param patience the longest time to wait for them, 0 or more
     * @return completes when the connection is closed and quiescent, at most a little longer than the given time plus
     *     the liveness time-out. A second call may shorten the time
     * @throws IllegalArgumentException if the time is negative
     */
    CompletableFuture<Void> shutdown(Duration patience);

    /**
     * Closes the connection. Transfers that have not ended fail with {@link ConnectionClosedException}, or a partly
     * sent write with {@link OutcomeUnknownException}. The peer is notified.
     *
     * @return completes when the connection is closed and quiescent; a second call has the same result
     */
    CompletableFuture<Void> close();
}
