package io.sluice.engine.transport.faulty;

import io.sluice.engine.EngineOptions;
import io.sluice.engine.transport.Capabilities;
import io.sluice.engine.transport.EventLoop;
import io.sluice.engine.transport.Transport;
import io.sluice.engine.transport.TransportLoop;
import io.sluice.engine.transport.TransportProvider;
import java.util.ServiceLoader;

/** Opens the tcp transport behind faults; an engine takes it only by name. */
public class FaultyTransportProvider implements TransportProvider {
    private final String name;
    private final boolean breaks;

    /** For the service loader. */
    public FaultyTransportProvider() {
        this("faulty", false);
    }

    FaultyTransportProvider(String name, boolean breaks) {
        this.name = name;
        this.breaks = breaks;
    }

    /** The same transport, whose paths break after some requests. */
    public static final class Breaking extends FaultyTransportProvider {
        /** For the service loader. */
        public Breaking() {
            super("breaking", true);
        }
    }

    private static TransportProvider tcp() {
        return ServiceLoader.load(TransportProvider.class).stream()
                .map(ServiceLoader.Provider::get)
                .filter(provider -> provider.name().equals("tcp"))
                .findFirst()
                .orElseThrow();
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public int preference() {
        return Integer.MIN_VALUE;
    }

    @Override
    public Transport open(EngineOptions options) {
        Transport tcp = tcp().open(options);
        return new Transport() {
            @Override
            public Capabilities capabilities() {
                return tcp.capabilities();
            }

            @Override
            public TransportLoop openLoop(EventLoop loop) {
                TransportLoop made = tcp.openLoop(loop);
                return context -> {
                    long seed = FaultSeed.current() + (context.initiator() ? 0 : 1);
                    return new FaultyEndpoint(context, made::endpoint, new Faults(seed, breaks && context.initiator()));
                };
            }

            @Override
            public void close() {
                tcp.close();
            }
        };
    }
}
