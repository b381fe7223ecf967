package io.sluice.engine.transport.verbs;

import io.sluice.engine.EngineOptions;
import io.sluice.engine.SluiceException;
import io.sluice.engine.TransportStatus;
import io.sluice.engine.TransportUnavailableException;
import io.sluice.engine.transport.Transport;
import io.sluice.engine.transport.TransportProvider;
import java.util.function.ToLongFunction;

/** The verbs transport, available on machines with libibverbs and an RDMA device with an active port. */
public final class VerbsTransportProvider implements TransportProvider {
    private static final String NAME = "verbs";
    private static final int PREFERENCE = 10;

    /** For the service loader. */
    public VerbsTransportProvider() {}

    @Override
    public String name() {
        return NAME;
    }

    @Override
    public int preference() {
        return PREFERENCE;
    }

    @Override
    public TransportStatus status() {
        String unavailable = Native.unavailable();
        if (unavailable != null) {
            return new TransportStatus(NAME, unavailable, null);
        }
        try {
            return new TransportStatus(NAME, null, null, PortChoice.describeActive());
        } catch (SluiceException e) {
            return new TransportStatus(NAME, String.valueOf(e.getMessage()), null);
        }
    }

    @Override
    public Transport open(EngineOptions options) {
        return open(options, adapter -> Long.MAX_VALUE);
    }

    @Override
    public Transport open(EngineOptions options, ToLongFunction<String> distances) {
        String unavailable = Native.unavailable();
        if (unavailable != null) {
            throw new TransportUnavailableException(unavailable);
        }
        return new VerbsTransport(VerbsOptions.of(options), options.windowOperations(), distances);
    }
}
