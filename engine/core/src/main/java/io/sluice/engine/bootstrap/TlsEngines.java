package io.sluice.engine.bootstrap;

import io.sluice.engine.TlsOptions;
import java.net.InetSocketAddress;
import java.util.function.Supplier;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLParameters;

/** Creates the TLS side of a socket: version 1.3 and certificates on both sides, and nothing less. */
final class TlsEngines {
    private static final String[] PROTOCOLS = {"TLSv1.3"};

    private TlsEngines() {}

    static Supplier<SSLEngine> accepting(TlsOptions options) {
        return () -> {
            SSLEngine engine = options.context().createSSLEngine();
            engine.setUseClientMode(false);
            SSLParameters parameters = engine.getSSLParameters();
            parameters.setProtocols(PROTOCOLS);
            parameters.setNeedClientAuth(true);
            engine.setSSLParameters(parameters);
            return engine;
        };
    }

    static Supplier<SSLEngine> connecting(TlsOptions options, InetSocketAddress to) {
        return () -> {
            SSLContext context = options.context();
            // the name that was asked for, not what an address resolves to
            SSLEngine engine = context.createSSLEngine(to.getHostString(), to.getPort());
            engine.setUseClientMode(true);
            SSLParameters parameters = engine.getSSLParameters();
            parameters.setProtocols(PROTOCOLS);
            if (options.verifyHost()) {
                parameters.setEndpointIdentificationAlgorithm("HTTPS");
            }
            engine.setSSLParameters(parameters);
            return engine;
        };
    }
}
