package io.sluice.engine.session;

import io.sluice.engine.EngineOptions;
import io.sluice.engine.transport.Capabilities;
import io.sluice.engine.transport.Endpoint;
import io.sluice.engine.transport.EventLoop;
import io.sluice.engine.transport.RegionAttachments;
import io.sluice.engine.transport.SocketLanes;
import io.sluice.engine.transport.Transport;
import io.sluice.engine.transport.TransportLoop;
import io.sluice.engine.transport.TransportMessages;
import io.sluice.engine.transport.TransportProvider;
import io.sluice.engine.transport.tcp.TcpTransportProvider;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;

/** Opens the tcp transport with endpoints that fail to tell the peer of an attachment's end. An engine prefers any other. */
public final class WordlessTransportProvider implements TransportProvider {
    static final String NAME = "wordless";

    private final TransportProvider tcp = new TcpTransportProvider();

    /** For the service loader. */
    public WordlessTransportProvider() {}

    @Override
    public String name() {
        return NAME;
    }

    @Override
    public int preference() {
        return Integer.MIN_VALUE;
    }

    @Override
    public Transport open(EngineOptions options) {
        Transport opened = tcp.open(options);
        return new Transport() {
            @Override
            public Capabilities capabilities() {
                return opened.capabilities();
            }

            @Override
            public TransportLoop openLoop(EventLoop loop) {
                TransportLoop made = opened.openLoop(loop);
                return context -> wordless(made.endpoint(context));
            }

            @Override
            public void close() {
                opened.close();
            }
        };
    }

    private static Endpoint wordless(Endpoint endpoint) {
        Class<?>[] faces = {Endpoint.class, SocketLanes.class, TransportMessages.class, RegionAttachments.class};
        return (Endpoint) Proxy.newProxyInstance(Endpoint.class.getClassLoader(), faces, (proxy, method, arguments) -> {
            if (method.getName().equals("exportEnded")) {
                throw new OutOfMemoryError("as the test wants it");
            }
            if (method.getDeclaringClass().equals(RegionAttachments.class)) {
                // tcp has no part in attaching
                return InvocationHandler.invokeDefault(proxy, method, arguments);
            }
            try {
                return method.invoke(endpoint, arguments);
            } catch (InvocationTargetException e) {
                throw e.getCause();
            }
        });
    }
}
