package io.sluice.engine;

import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Decides what an authenticated peer may do. It is asked by the engine that is connected to or whose region it is, on both sides of
 * a connection, so a peer cannot pass it by. Its methods are called on pollers, by several at a time: they must not block. One
 * that throws has refused.
 *
 * <p>What it allowed stays allowed while it is in use: a region that is attached stays attached until the connection ends.
 */
public interface PeerAuthorizer {
    /**
     * Whether there may be a connection with a peer: asked when the peer has proved who it is, by the accepting engine and by
     * the connecting one.
     *
     * @param peer who it is
     * @return false to end the connection; the peer gets an {@link AuthenticationException}
     */
    boolean mayConnect(PeerIdentity peer);

    /**
     * The rights of a peer on a region of this engine: called at each look-up of a name and each attach of a
     * descriptor. A look-up gives a descriptor of these rights at most, and an attach of a descriptor that has others
     * is refused: both end with {@link RemoteAccessException} of {@link RemoteAccessException.Reason#ACCESS_DENIED} if
     * there is no right left. So a descriptor that was passed on to a peer is of no more use to it than this allows.
     *
     * @param peer who it is
     * @param region its name, whether there is such a region or not; {@code null} for a region without one, whose descriptor
     *     the peer holds
     * @return the rights, possibly none
     */
    Set<Access> access(PeerIdentity peer, @Nullable String region);
}
