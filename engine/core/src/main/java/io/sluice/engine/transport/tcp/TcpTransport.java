package io.sluice.engine.transport.tcp;

import io.sluice.engine.transport.Capabilities;
import io.sluice.engine.transport.EventLoop;
import io.sluice.engine.transport.Transport;
import io.sluice.engine.transport.TransportLoop;

/** The tcp transport of one engine. The lanes of a loop share scratch memory. */
final class TcpTransport implements Transport {
    // frame lengths have 64 bits; the limit only keeps a lane fair
    private static final long LARGEST_MESSAGE = 1L << 30;
    private static final Capabilities CAPABILITIES = new Capabilities(LARGEST_MESSAGE, true);

    @Override
    public Capabilities capabilities() {
        return CAPABILITIES;
    }

    @Override
    public boolean carriesStaged() {
        return true;
    }

    @Override
    public TransportLoop openLoop(EventLoop loop) {
        LoopScratch scratch = new LoopScratch();
        // each lane sends its queue at the end of the duty cycle, by a system call of its own
        return context -> new TcpEndpoint(context, scratch);
    }
}
