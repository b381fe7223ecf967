package io.sluice.engine.bootstrap;

import io.sluice.engine.EngineId;
import io.sluice.engine.Integrity;
import io.sluice.engine.LoopGroup;
import io.sluice.engine.PeerIdentity;
import java.net.InetSocketAddress;
import org.jspecify.annotations.Nullable;

/**
 * The terms that a bootstrap has agreed on.
 *
 * @param initiator whether this side connected
 * @param peer the other engine
 * @param identity the peer's proven identity
 * @param peerEpoch the peer's epoch
 * @param connectionId 16 random bytes from the acceptor
 * @param secret the secret that both sides derived
 * @param notificationCredits the credits that the peer grants initially
 * @param maxNotificationBytes the longest notification that the peer accepts
 * @param peerLivenessNanos the silence after which the peer considers this side lost
 * @param integrity how changed bytes are detected
 * @param knowsChecksums whether the peer can be asked for the checksum of a region
 * @param knowsDrain whether the peer understands the announcement of a drain
 * @param knowsPaths whether the peer knows that a connection may have several paths
 * @param group the group that the side that connected has asked for, or null
 * @param transportReason why the connection uses its transport, in a sentence
 * @param address where lanes are opened to; null on the accepting side
 */
public record PeerTerms(
        boolean initiator,
        EngineId peer,
        PeerIdentity identity,
        long peerEpoch,
        byte[] connectionId,
        SessionSecret secret,
        int notificationCredits,
        int maxNotificationBytes,
        long peerLivenessNanos,
        Integrity integrity,
        boolean knowsChecksums,
        boolean knowsDrain,
        boolean knowsPaths,
        @Nullable LoopGroup group,
        String transportReason,
        @Nullable InetSocketAddress address) {}
