package io.sluice.engine.transport;

import io.sluice.engine.ProtocolException;
import io.sluice.engine.RegionDescriptor;
import io.sluice.engine.RegionMemory;
import io.sluice.engine.SluiceException;
import io.sluice.engine.StreamEvent;
import io.sluice.engine.TransportMetrics.PathState;
import io.sluice.jni.Sockets;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** One side's end of a connection. Every method is called on the connection's event loop, unless it says otherwise. */
public interface Endpoint {
    /** The keys of a transport that needs none. */
    byte[] NO_KEYS = {};

    /**
     * What the other side's endpoint must know; crosses the authenticated bootstrap.
     *
     * @return at most 16 KiB
     */
    byte[] offer();

    /**
     * Begins to set the path up. {@link EndpointContext#established()} or {@link EndpointContext#failed} follows.
     *
     * @param peerOffer the other side's {@link #offer()}
     */
    void begin(byte[] peerOffer);

    /**
     * A lane asked for by {@link EndpointContext#openLanes}, by this side or the other, is connected and authenticated.
     *
     * @param index 0 to the count − 1; each once
     * @param descriptor the socket, now the endpoint's own to close, also when this throws
     */
    void laneOpened(int index, int descriptor);

    /**
     * As {@link #laneOpened(int, int)}, of a lane with TLS. An endpoint that has not asked for it does not know what to do with
     * it.
     *
     * @param index from 0
     * @param descriptor of the connected socket, which belongs to the endpoint from now on
     * @param stream through which all bytes go; it may have received some already
     */
    default void laneOpened(int index, int descriptor, SecureStream stream) {
        Sockets.close(descriptor);
    }

    /**
     * Posts work requests. What is not accepted is offered again after {@link EndpointContext#postable()}; what is accepted
     * leaves at the end of the duty cycle at the latest, by {@link TransportLoop#flush()}.
     *
     * @param batch the requests
     * @param from the first to post
     * @param count how many to post
     * @return how many were accepted, from the first on
     */
    int post(WorkRequest[] batch, int from, int count);

    /**
     * Whether this endpoint waits for such an event by itself, on the device that brings it about: then the work requests of a
     * transfer that starts after it are posted at once and carry it ({@link WorkRequest#startAfter()}). Any thread. Otherwise the
     * engine waits on the host, and posts once the event has happened.
     *
     * @param event a start event
     * @return true if requests that carry the event may be posted, from now on until the endpoint is closed
     */
    default boolean ordersAfter(StreamEvent event) {
        return false;
    }

    /**
     * What the peer must present beyond handle, key and epoch to reach a region that it attaches: its endpoint gets this in
     * {@link #remoteKey}.
     *
     * @param handle this side's number for the attachment
     * @param region what it attaches
     * @return at most 1 KiB; null if the region is closing and could not be leased, which refuses the attachment
     */
    default byte @Nullable [] keysOf(long handle, ExposedRegion region) {
        return NO_KEYS;
    }

    /**
     * Makes the key of a region of the peer's.
     *
     * @param handle the peer's number for the attachment
     * @param descriptor what was attached
     * @param keys what the peer's {@link #keysOf} gave
     * @return the key that work requests carry
     * @throws ProtocolException if the keys are damaged
     */
    default RemoteKey remoteKey(long handle, RegionDescriptor descriptor, ByteBuffer keys) {
        return new RemoteKey(handle, descriptor.key(), descriptor.epoch());
    }

    /**
     * Makes attached regions ready for use.
     *
     * @param keys made by {@link #remoteKey}
     * @param done to be run once on the loop's thread, perhaps inside the call: with {@code null} when work requests may carry
     *     the keys, or with the reason why they never may; not at all if the endpoint is closed before
     */
    default void prepare(List<RemoteKey> keys, Consumer<@Nullable SluiceException> done) {
        done.accept(null);
    }

    /**
     * A region of the peer's is not attached any more.
     *
     * @param key made by {@link #remoteKey}
     */
    default void detached(RemoteKey key) {}

    /**
     * An attachment of the peer's has ended: its region is closing, or the peer has detached it.
     *
     * @param handle its number
     */
    default void exposureEnded(long handle) {}

    /**
     * A message of the peer's endpoint.
     *
     * @param message what it gave to {@link EndpointContext#send}
     * @throws ProtocolException if it is damaged
     */
    default void received(ByteBuffer message) {
        throw new ProtocolException("a message for a transport that has none");
    }

    /**
     * Who carries notifications so that they arrive after all writes that completed before.
     *
     * @return {@code null} for the control channel, which suits a transport whose completed writes are visible
     */
    default @Nullable NotificationSender notificationSender() {
        return null;
    }

    /**
     * Makes what has completed visible to the target's code.
     *
     * @param done to be run on the loop's thread when it is, perhaps inside the call; never if the endpoint is closed before
     */
    default void makeVisible(Runnable done) {
        done.run();
    }

    /**
     * Carries out a write or read of at most {@link Capabilities#callerThreadBytes()} at once, if this side can do so alone. Any thread;
     * the caller holds a lease on the local memory and credits for the bytes.
     *
     * @param operation {@link WorkRequest.Operation#WRITE} or {@link WorkRequest.Operation#READ}
     * @param local the local region's memory
     * @param localOffset where the bytes begin in it
     * @param remote made by {@link #remoteKey}, and prepared
     * @param remoteOffset where they begin in the remote region or slice
     * @param length how many, checked
     * @return true if it is done; false if it has to be posted instead, and nothing was done
     */
    default boolean carryOut(
            WorkRequest.Operation operation,
            RegionMemory local,
            long localOffset,
            RemoteKey remote,
            long remoteOffset,
            long length) {
        return false;
    }

    /** A region of this engine is closing: leases for the peer should be ended as soon as possible. */
    void regionClosing();

    /**
     * Whether a lease for the peer on a region that is closing has not been ended yet.
     *
     * @return true while one is held
     */
    boolean holdsClosedLease();

    /**
     * Looks for a lane that has work but made no progress.
     *
     * @param now the loop's time
     * @param timeoutNanos how long is too long
     * @return which lane is stuck, in words, or {@code null}
     */
    @Nullable
    String stuckLane(long now, long timeoutNanos);

    /**
     * How many lanes there are. Any thread.
     *
     * @param state in which they are
     * @return the count, now
     */
    default int lanes(PathState state) {
        return 0;
    }

    /**
     * How many rails the lanes are spread over. Any thread.
     *
     * @param state in which they are: a rail is up as long as one of its lanes is not down
     * @return the count, now; 0 for a transport without rails
     */
    default int rails(PathState state) {
        return 0;
    }

    /**
     * The peer has said goodbye, so that nothing is owed to it any more; {@link #close()} follows. Sockets are then reset
     * rather than closed in order: the side that closes first would keep each of their ports for a minute.
     */
    default void peerClosed() {}

    /**
     * Ends everything: each accepted request is completed, and nothing touches memory once {@link #isQuiescent()}. Calling it
     * again does nothing.
     */
    void close();

    /**
     * Whether the closed endpoint can touch no memory any more.
     *
     * @return true when every accepted request is completed and every lease ended
     */
    boolean isQuiescent();
}
