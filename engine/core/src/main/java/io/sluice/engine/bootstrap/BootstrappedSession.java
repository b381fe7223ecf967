package io.sluice.engine.bootstrap;

import io.sluice.engine.progress.Poller;
import io.sluice.engine.security.TlsStream;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A session as its bootstrap sees it, on the session's poller except where it says otherwise. */
public interface BootstrappedSession {
    /** The terms that the bootstrap has agreed on. Any thread. */
    PeerTerms terms();

    /** The poller that drives the session. Any thread. */
    Poller poller();

    /** The offers of this side's endpoints to the peer's, path by path. */
    List<byte[]> offers();

    /** The bootstrap has failed before {@link #begin}: what the endpoint has prepared for its offer is given back. */
    void discard();

    /** From here on, lanes of the peer's find this session. */
    void expectLanes();

    /**
     * The bootstrap's messages are done; the path for the data is set up next.
     *
     * @param peerOffers what this side's endpoints must know of the peer's, path by path
     * @param connectDeadline by when the connection must be open
     */
    void begin(List<byte[]> peerOffers, long connectDeadline);

    /** A lane of the peer's has proved that it belongs here. */
    void laneArrived(int index, int descriptor, @Nullable TlsStream stream);
}
