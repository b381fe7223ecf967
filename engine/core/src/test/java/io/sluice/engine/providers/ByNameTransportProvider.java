package io.sluice.engine.providers;

import io.sluice.engine.EngineOptions;
import io.sluice.engine.transport.Capabilities;
import io.sluice.engine.transport.EventLoop;
import io.sluice.engine.transport.Transport;
import io.sluice.engine.transport.TransportLoop;
import io.sluice.engine.transport.TransportProvider;

/** A transport that is opened by its name alone, and leaves memory to one that is not there. */
public final class ByNameTransportProvider implements TransportProvider {
    static final String NAME = "byname";
    static final String COMPLEMENT = "absent";

    /** For the service loader. */
    public ByNameTransportProvider() {}

    @Override
    public String name() {
        return NAME;
    }

    /** The first one, if it were compared. */
    @Override
    public int preference() {
        return Integer.MAX_VALUE;
    }

    @Override
    public boolean byNameOnly() {
        return true;
    }

    @Override
    public Transport open(EngineOptions options) {
        return new Transport() {
            @Override
            public Capabilities capabilities() {
                return new Capabilities(1, false);
            }

            @Override
            public String complement() {
                return COMPLEMENT;
            }

            @Override
            public TransportLoop openLoop(EventLoop loop) {
                throw new UnsupportedOperationException();
            }
        };
    }
}
