package io.sluice.engine.transport;

import io.sluice.engine.TransportMetrics.PathState;
import org.jspecify.annotations.Nullable;

/**
 * One side's end of a path of a connection. Methods are called on the connection's event loop unless they say
 * otherwise.
 *
 * <p>Optional features are separate interfaces that the endpoint also implements: {@link SocketLanes}, {@link
 * RegionAttachments}, {@link TransportMessages}, {@link Notifications}, {@link InlineOperations}, {@link PageLists},
 * {@link WriteVisibility}, {@link StreamOrder}. The engine checks this once, when the endpoint is created.
 */
public interface Endpoint {
    /**
     * Returns this endpoint's offer to the peer's endpoint, which the authenticated bootstrap carries.
     *
     * @return at most 16 KiB
     */
    byte[] offer();

    /**
     * Begins the set-up of the path. A call of {@link EndpointContext#established()} or {@link EndpointContext#failed}
     * must follow.
     *
     * @param peerOffer the peer's {@link #offer()}
     */
    void begin(byte[] peerOffer);

    /**
     * Posts work requests. The engine offers requests that are not accepted again after {@link
     * EndpointContext#postable()}. Accepted requests leave by {@link TransportLoop#flush()} in the same duty cycle at
     * the latest.
     *
     * @param batch the requests
     * @param from the first to post
     * @param count how many to post
     * @return how many were accepted, counted from the first
     */
    int post(WorkRequest[] batch, int from, int count);

    /**
     * A region of this engine is closing: leases for the peer should be ended as soon as possible. An endpoint that holds none
     * beyond a call has nothing to do.
     */
    default void regionClosing() {}

    /**
     * Returns whether a lease for the peer on a closing region is still held.
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
     * Returns the number of lanes in a state. May be called from any thread.
     *
     * @param state the state
     * @return the current count
     */
    default int lanes(PathState state) {
        return 0;
    }

    /**
     * Returns the number of rails in a state. May be called from any thread.
     *
     * @param state the state; a rail is up as long as one of its lanes is not down
     * @return the current count; 0 for a transport without rails
     */
    default int rails(PathState state) {
        return 0;
    }

    /**
     * Called when the peer has closed the connection and expects nothing more; {@link #close()} follows. Reset sockets
     * then instead of closing them: the side that closes first would keep their ports for a minute.
     */
    default void peerClosed() {}

    /**
     * Ends everything: each accepted request is completed, and nothing touches memory once {@link #isQuiescent()}. A request that
     * a device is at work on, and that cannot be stopped, is completed when the device is done: its transfer ends at once, and
     * its memory stays leased. Calling it again does nothing.
     */
    void close();

    /**
     * Returns whether the closed endpoint can no longer touch memory.
     *
     * @return true when every accepted request is completed and every lease has ended
     */
    boolean isQuiescent();
}
