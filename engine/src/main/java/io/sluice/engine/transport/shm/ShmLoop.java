package io.sluice.engine.transport.shm;

import io.sluice.engine.transport.Endpoint;
import io.sluice.engine.transport.EndpointContext;
import io.sluice.engine.transport.TransportLoop;
import java.util.function.BiFunction;

/** What one event loop has of the transport: the endpoints copy by themselves, and only the tcp ones beside have something. */
record ShmLoop(TransportLoop wire, BiFunction<EndpointContext, TransportLoop, Endpoint> making)
        implements TransportLoop {
    @Override
    public Endpoint endpoint(EndpointContext context) {
        return making.apply(context, wire);
    }

    @Override
    public int flush() {
        return wire.flush();
    }

    @Override
    public void close() {
        wire.close();
    }
}
