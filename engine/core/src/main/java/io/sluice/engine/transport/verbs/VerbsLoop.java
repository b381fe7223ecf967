package io.sluice.engine.transport.verbs;

import io.sluice.engine.transport.Endpoint;
import io.sluice.engine.transport.EndpointContext;
import io.sluice.engine.transport.EventLoop;
import io.sluice.engine.transport.TransportLoop;
import java.util.List;

/** The transport on one event loop: the lanes of its connections, whose work is posted together. */
final class VerbsLoop implements TransportLoop {
    private final VerbsOptions options;
    private final List<Rail> rails;
    private final LoopLanes lanes;

    VerbsLoop(EventLoop loop, VerbsOptions options, List<Rail> rails, int sendDepth, int gatherElements) {
        this.options = options;
        this.rails = rails;
        this.lanes = new LoopLanes(loop, rails, sendDepth, gatherElements);
    }

    @Override
    public Endpoint endpoint(EndpointContext context) {
        return new VerbsEndpoint(context, options, rails, lanes);
    }

    @Override
    public int flush() {
        return lanes.flush();
    }

    /** The number of native calls that have posted work. */
    long posts() {
        return lanes.batch().posts();
    }

    @Override
    public void close() {
        lanes.close();
    }
}
