package io.sluice.engine.transport.tcp;

import io.sluice.engine.transport.Capabilities;
import io.sluice.engine.transport.Endpoint;
import io.sluice.engine.transport.EndpointContext;
import io.sluice.engine.transport.EventLoop;
import io.sluice.engine.transport.Transport;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** The transport of one engine. It keeps the scratch memory that all lanes of a loop share. */
final class TcpTransport implements Transport {
    // a frame's length is 64 bits wide; the limit only keeps a lane fair
    private static final long LARGEST_MESSAGE = 1L << 30;
    private static final Capabilities CAPABILITIES =
            new Capabilities(true, Capabilities.CompletionLevel.VISIBLE, LARGEST_MESSAGE, true);

    private final Map<EventLoop, LoopScratch> scratch = new ConcurrentHashMap<>();

    @Override
    public Capabilities capabilities() {
        return CAPABILITIES;
    }

    @Override
    public Endpoint endpoint(EndpointContext context) {
        return new TcpEndpoint(context, scratch.computeIfAbsent(context.loop(), loop -> new LoopScratch()));
    }

    @Override
    public void close() {
        scratch.clear();
    }
}
