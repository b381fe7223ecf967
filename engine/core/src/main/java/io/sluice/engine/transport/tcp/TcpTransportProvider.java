package io.sluice.engine.transport.tcp;

import io.sluice.engine.EngineOptions;
import io.sluice.engine.TransportStatus;
import io.sluice.engine.transport.Transport;
import io.sluice.engine.transport.TransportProvider;
import io.sluice.jni.NativeLibrary;

/** The tcp transport, available wherever the native library loads. */
public final class TcpTransportProvider implements TransportProvider {
    private static final String NAME = "tcp";

    /** For the service loader. */
    public TcpTransportProvider() {}

    @Override
    public String name() {
        return NAME;
    }

    @Override
    public int preference() {
        return 0;
    }

    @Override
    public TransportStatus status() {
        Throwable cause = NativeLibrary.unavailabilityCause();
        return new TransportStatus(NAME, cause == null ? null : String.valueOf(cause.getMessage()), cause);
    }

    @Override
    public Transport open(EngineOptions options) {
        return new TcpTransport();
    }
}
