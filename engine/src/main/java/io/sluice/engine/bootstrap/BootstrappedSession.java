package io.sluice.engine.bootstrap;

import io.sluice.engine.progress.Poller;
import io.sluice.engine.security.TlsStream;
import org.jspecify.annotations.Nullable;

/** A session as its bootstrap sees it, on the session's poller except where it says otherwise. */
public interface BootstrappedSession {
    /** What the bootstrap has agreed on. Any thread. */
    PeerTerms terms();

    /** Where it lives. Any thread. */
    Poller poller();

    /** What the peer's endpoint must know of this side's. */
    byte[] offer();

    /** The bootstrap has failed before {@link #begin}: what the endpoint has prepared for its offer is given back. */
    void discard();

    /** From here on, lanes of the peer's find this session. */
    void expectLanes();

    /**
     * The bootstrap's messages are done; the path for the data is set up next.
     *
     * @param peerOffer what this side's endpoint must know of the peer's
     * @param connectDeadline by when the connection must be open
     */
    void begin(byte[] peerOffer, long connectDeadline);

    /** A lane of the peer's has proved that it belongs here. */
    void laneArrived(int index, int descriptor, @Nullable TlsStream stream);
}
