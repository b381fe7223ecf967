package io.sluice.engine;

import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Decides what an authenticated peer may do. The engine that the decision protects asks its own authorizer, on both
 * sides of a connection, so a peer cannot bypass it. Methods are called on pollers, possibly several at a time, and
 * must not block. An exception is a refusal.
 *
 * <p>A decision lasts while it is in use: a region that is attached stays attached until the connection ends.
 */
public interface PeerAuthorizer {
    /**
     * Decides whether a peer may have a connection. Both the accepting and the connecting engine ask this once the peer
     * has authenticated.
     *
     * @param peer the peer's identity
     * @return false to refuse the connection; the peer then gets an {@link AuthenticationException}
     */
    boolean mayConnect(PeerIdentity peer);

    /**
     * Returns the rights of a peer on a region of this engine. Called for each look-up of a name and each attach of a
     * descriptor. A look-up returns a descriptor with at most these rights, and an attach of a descriptor with other
     * rights is refused. Both fail with {@link RemoteAccessException} and {@link
     * RemoteAccessException.Reason#ACCESS_DENIED} if no right is left. So a descriptor that was passed on grants a peer
     * no more than this method allows.
     *
     * @param peer the peer's identity
     * @param region the region's name, whether such a region exists or not; {@code null} for an unnamed region whose
     *     descriptor the peer holds
     * @return the rights, possibly none
     */
    Set<Access> access(PeerIdentity peer, @Nullable String region);
}
