package io.sluice.engine.bootstrap;

import io.sluice.engine.progress.Poller;
import io.sluice.engine.security.TlsStream;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The parts of a session that its bootstrap needs. Methods are called on the session's poller unless they say
 * otherwise.
 */
public interface BootstrappedSession {
    /** The terms that the bootstrap has agreed on. Any thread. */
    PeerTerms terms();

    /** The poller that drives the session. Any thread. */
    Poller poller();

    /** The offers of this side's endpoints to the peer's, path by path. */
    List<byte[]> offers();

    /**
     * Called when the bootstrap has failed before {@link #begin}: releases what the endpoint has prepared for its
     * offer.
     */
    void discard();

    /** From here on, lanes of the peer's find this session. */
    void expectLanes();

    /**
     * Called when the bootstrap's messages are done, to set up the data paths.
     *
     * @param peerOffers the offers of the peer's endpoints, path by path
     * @param connectDeadline by when the connection must be open
     */
    void begin(List<byte[]> peerOffers, long connectDeadline);

    /** Called when a lane of the peer has proved that it belongs to this session. */
    void laneArrived(int index, int descriptor, @Nullable TlsStream stream);
}
