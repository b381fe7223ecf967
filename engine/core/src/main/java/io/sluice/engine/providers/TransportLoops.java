package io.sluice.engine.providers;

import io.sluice.engine.progress.Poller;
import io.sluice.engine.transport.TransportLoop;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The loops of an engine's transports on its pollers. Each row is confined to its poller. */
public final class TransportLoops {
    private static final Logger LOG = LoggerFactory.getLogger(TransportLoops.class);

    // by poller and transport
    private final @Nullable TransportLoop[][] loops;

    public TransportLoops(int pollers, int transports) {
        this.loops = new @Nullable TransportLoop[pollers][transports];
    }

    /** The loop of a transport on a poller; opened with its first connection there. On the poller's thread. */
    public TransportLoop get(Poller poller, OpenTransport transport) {
        @Nullable TransportLoop[] ofPoller = loops[poller.index()];
        TransportLoop known = ofPoller[transport.index()];
        if (known != null) {
            return known;
        }
        TransportLoop opened = transport.transport().openLoop(poller);
        ofPoller[transport.index()] = opened;
        poller.add(opened);
        return opened;
    }

    /** Closes what there is on a poller. On its thread; all endpoints there are closed. */
    public void close(Poller poller) {
        @Nullable TransportLoop[] ofPoller = loops[poller.index()];
        for (int transport = 0; transport < ofPoller.length; transport++) {
            TransportLoop loop = ofPoller[transport];
            if (loop != null) {
                ofPoller[transport] = null;
                poller.remove(loop);
                close(loop);
            }
        }
    }

    /** An error in one keeps none of the others open. */
    private static void close(TransportLoop loop) {
        try {
            loop.close();
        } catch (RuntimeException | Error e) {
            LOG.error("{} could not be closed", loop, e);
        }
    }
}
