package io.sluice.engine;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/**
 * A reliable path to one peer engine; both sides may read, write and notify. All methods may be called from any thread;
 * futures complete, and callbacks are called, on a poller's thread, unless {@link TransferCallback} says otherwise.
 *
 * <p>The {@link TransferOperations} of a connection submit at once, and return a handle. A method that throws has submitted
 * nothing. Once it has returned, the callback is called exactly once.
 */
public interface Connection extends TransferOperations<Transfer> {
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
     * The transport of its first path, which carries the transfers unless it does not reach their memory.
     *
     * @return {@code tcp}, or another provider's name
     */
    String transport();

    /**
     * Why it is that transport: what stood in the way of those that the engine would rather take.
     *
     * @return a sentence for people; its words may change
     */
    String transportReason();

    /**
     * The ways to the peer's memory, of several transports at once where one does not reach all of it.
     *
     * @return the most preferred first, that of {@link #transport()}; never changes
     */
    List<ConnectionPath> paths();

    /**
     * How this connection finds out that bytes were changed on their way: what both sides have agreed on. {@link Integrity}
     * says on which transports that takes place with each transfer.
     *
     * @return never changes
     */
    Integrity integrity();

    /**
     * The state now.
     *
     * @return the state
     */
    ConnectionState state();

    /**
     * The event loop that drives this connection, where callers can also run stages of their own.
     *
     * @return never changes; that of the engine's other connections as well, as far as they are on the same poller
     */
    EngineLoop loop();

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
     * Brings the transport's keys of a peer's region over, once. A region that is attached after the caller has cancelled the
     * future, or completed it by a time-out of its own, is detached.
     *
     * @param descriptor what the peer gave
     * @return the region; or {@link StaleDescriptorException}, {@link InvalidDescriptorException} (damaged, forged, or of
     *     another engine than this connection's peer), {@link MemoryNotAccessibleException} if none of the connection's paths
     *     reaches the region, {@link ConnectionLostException}
     */
    CompletableFuture<RemoteRegion> attach(RegionDescriptor descriptor);

    /**
     * Attaches many at once, in one exchange for each thousand. As with one, they are detached if the caller has completed the
     * future before.
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
     * Asks the peer for a region by name. A region whose memory is of a kind that the connection's transport does not reach is
     * answered as not found.
     *
     * @param name as in {@link RegionOptions#named(String)} of the peer
     * @return its descriptor; or {@link RegionNotFoundException}, {@link ConnectionLostException}
     */
    CompletableFuture<RegionDescriptor> lookup(String name);

    /**
     * Asks the peer's engine for the CRC-32C of what a range holds there, to compare with
     * {@link MemoryRegion#checksum(long, long)} after a transfer: the check of transports on which bytes move without the
     * engines. On a transport whose writes are not visible on completion ask after {@link #quiet()}. While the range is
     * changed the answer means nothing. Questions of a connection are answered one after the other; one has no deadline of its
     * own, and ends when the peer answers or the connection ends.
     *
     * @param region attached on this connection
     * @param offset where the range begins, in bytes
     * @param length bytes
     * @return 0 to 0xFFFFFFFF; or {@link RemoteAccessException} if the peer refuses as it would refuse to be read from,
     *     {@link ConnectionLostException}, or {@link SluiceException} if the peer is of a version that makes no checksums
     * @throws IndexOutOfBoundsException if the range leaves the region
     * @throws IllegalArgumentException if the region was attached on another connection
     */
    CompletableFuture<Long> checksum(RemoteRegion region, long offset, long length);

    /**
     * Sends a message that the peer sees after all writes submitted on this connection before it. It waits for those
     * writes, and for a credit of the receiver.
     *
     * @param payload copied; at most {@link #maxNotificationBytes()}
     * @param options deadline and the like
     * @param callback the terminal signal; success means that the peer's engine holds the message for its listener.
     *     {@link OutcomeUnknownException} means that the connection ended after it was sent
     * @return a handle; a cancel after the message was sent does not call it back
     * @throws IllegalArgumentException if the payload is too long, or the options name a start event
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
     * The same operations, to be started later, any number of times.
     *
     * @return operations that check and prepare, and submit nothing
     */
    TransferOperations<PreparedTransfer> prepared();

    /**
     * When the sources of everything that was submitted before may be reused. It reports no failure: each transfer reports
     * its own.
     *
     * @return completes when all writes, puts, signals and atomic operations submitted on this connection until now have
     *     ended and none of them can touch local memory any more, also when the connection has ended
     */
    CompletableFuture<Void> flush();

    /**
     * When all that was written before is visible to the target's code. It reports no failure of an earlier transfer.
     *
     * @return completes when every write, put, signal and atomic operation that was submitted on this connection until now
     *     and has succeeded is visible at the target; {@link ConnectionLostException} if the connection ends first
     */
    CompletableFuture<Void> quiet();

    /**
     * When no transfer that has ended can touch memory any more.
     *
     * @return completes when the chunks of all transfers cancelled, timed out or failed until now are done
     */
    CompletableFuture<Void> quiesced();

    /**
     * Completes when the connection ends, whichever side closes it.
     *
     * @return completes normally if either side closes it, with {@link ConnectionLostException} if the peer is lost
     */
    CompletionStage<Void> ended();

    /**
     * Closes the connection in order. From now on neither side takes new transfers: here they are refused with {@link
     * ConnectionClosedException}, at the peer, which gets a message, with {@link ConnectionLostException}. When those
     * of both sides that were submitted before have ended, or the time is over, the connection closes as by {@link
     * #close()}.
     *
     * @param patience the most time for that, 0 or more
     * @return completes when it is closed and quiescent: after the given time, and a little more than the liveness time-out, at the
     *     latest. A second call may shorten the time
     * @throws IllegalArgumentException if the time is negative
     */
    CompletableFuture<Void> shutdown(Duration patience);

    /**
     * Closes the connection: what has not ended ends with {@link ConnectionClosedException} (a write of which parts were
     * sent with {@link OutcomeUnknownException}). The peer is notified.
     *
     * @return completes when it is closed and quiescent; a second call gives the same outcome
     */
    CompletableFuture<Void> close();
}
