package io.sluice.engine.transport;

import io.sluice.engine.TransportMetrics.PathState;
import org.jspecify.annotations.Nullable;

/**
 * One side's end of a connection. Every method is called on the connection's event loop, unless it says otherwise.
 *
 * <p>What only some transports have is an interface of its own, which the endpoint implements as well: {@link SocketLanes}, {@link
 * RegionAttachments}, {@link TransportMessages}, {@link Notifications}, {@link InlineOperations}, {@link PageLists}, {@link
 * WriteVisibility}, {@link StreamOrder}. The engine looks once, when the endpoint is made.
 */
public interface Endpoint {
    /**
     * The offer of this endpoint to the other side's; crosses the authenticated bootstrap.
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
     * Posts work requests. Those not accepted are offered again after {@link EndpointContext#postable()}; accepted ones
     * leave at the end of the duty cycle at the latest, by {@link TransportLoop#flush()}.
     *
     * @param batch the requests
     * @param from the first to post
     * @param count how many to post
     * @return how many were accepted, from the first on
     */
    int post(WorkRequest[] batch, int from, int count);

    /**
     * A region of this engine is closing: leases for the peer should be ended as soon as possible. An endpoint that holds none
     * beyond a call has nothing to do.
     */
    default void regionClosing() {}

    /**
     * Whether a lease for the peer on a region that is closing has not been ended yet.
     *
     * @return true while one is held; never by default
     */
    default boolean holdsClosedLease() {
        return false;
    }

    /**
     * Looks for a lane that has work but made no progress.
     *
     * @param now the loop's time
     * @param timeoutNanos how long is too long
     * @return which lane is stuck, in words, or {@code null}, as always where no lane waits for the peer
     */
    default @Nullable String stuckLane(long now, long timeoutNanos) {
        return null;
    }

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
     * Ends everything: each accepted request is completed, and nothing touches memory once {@link #isQuiescent()}. A request that
     * a device is at work on, and that cannot be stopped, is completed when the device is done: its transfer ends at once, and
     * its memory stays leased. Calling it again does nothing.
     */
    void close();

    /**
     * Whether the closed endpoint can touch no memory any more.
     *
     * @return true when every accepted request is completed and every lease ended
     */
    boolean isQuiescent();
}
