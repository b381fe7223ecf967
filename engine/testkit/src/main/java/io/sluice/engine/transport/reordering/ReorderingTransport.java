package io.sluice.engine.transport.reordering;

import io.sluice.engine.transport.Capabilities;
import io.sluice.engine.transport.EventLoop;
import io.sluice.engine.transport.Transport;
import io.sluice.engine.transport.TransportLoop;
import java.util.concurrent.atomic.AtomicLong;

/** The transport of one engine. It numbers the connections, so that each has a seed of its own. */
final class ReorderingTransport implements Transport {
    // less than the engine would take, so that it cuts by this limit
    private static final long LARGEST_MESSAGE = 4 << 20;

    private final Capabilities capabilities;
    private final AtomicLong connections = new AtomicLong();

    ReorderingTransport(boolean writeWithSignal) {
        capabilities = new Capabilities(LARGEST_MESSAGE, writeWithSignal);
    }

    @Override
    public Capabilities capabilities() {
        return capabilities;
    }

    @Override
    public TransportLoop openLoop(EventLoop loop) {
        return context ->
                new ReorderingEndpoint(context, Disorder.derive(DisorderSeed.current(), connections.getAndIncrement()));
    }
}
