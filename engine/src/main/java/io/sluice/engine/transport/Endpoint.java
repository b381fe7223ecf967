package io.sluice.engine.transport;

import org.jspecify.annotations.Nullable;

/** One side's end of a connection. Every method is called on the connection's event loop. */
public interface Endpoint {
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
     * @param descriptor the socket, now the endpoint's own to close
     */
    void laneOpened(int index, int descriptor);

    /**
     * Posts work requests. What is not accepted is offered again after {@link EndpointContext#postable()}.
     *
     * @param batch the requests
     * @param from the first to post
     * @param count how many to post
     * @return how many were accepted, from the first on
     */
    int post(WorkRequest[] batch, int from, int count);

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
