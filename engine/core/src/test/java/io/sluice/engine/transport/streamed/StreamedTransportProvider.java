package io.sluice.engine.transport.streamed;

import io.sluice.engine.EngineOptions;
import io.sluice.engine.StreamCompletion;
import io.sluice.engine.StreamEvent;
import io.sluice.engine.transport.Capabilities;
import io.sluice.engine.transport.CompletionStatus;
import io.sluice.engine.transport.Endpoint;
import io.sluice.engine.transport.EndpointContext;
import io.sluice.engine.transport.EventLoop;
import io.sluice.engine.transport.PageLists;
import io.sluice.engine.transport.SocketLanes;
import io.sluice.engine.transport.StreamOrder;
import io.sluice.engine.transport.Transport;
import io.sluice.engine.transport.TransportLoop;
import io.sluice.engine.transport.TransportMessages;
import io.sluice.engine.transport.TransportProvider;
import io.sluice.engine.transport.WorkRequest;
import io.sluice.engine.transport.tcp.TcpTransportProvider;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Opens the tcp transport with endpoints that order after the events of a {@link HostStream}, and complete into them: they take a
 * request at once, and the stream lets it go on; what has been carried out sets the event of its run. An engine takes it only by
 * name.
 */
public final class StreamedTransportProvider implements TransportProvider {
    static final String NAME = "streamed";
    static final String DEVICE = "device-0";

    private final TransportProvider tcp = new TcpTransportProvider();

    /** For the service loader. */
    public StreamedTransportProvider() {}

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
                return context -> new Ordering(context, made).endpoint();
            }

            @Override
            public void close() {
                opened.close();
            }
        };
    }

    /** Stands before an endpoint of tcp. */
    private static final class Ordering {
        private final EndpointContext context;
        private final Endpoint tcp;
        private final Set<WorkRequest> held = new LinkedHashSet<>();
        private final Map<Long, Completion> completions = new HashMap<>();
        private boolean closed;

        Ordering(EndpointContext context, TransportLoop loop) {
            this.context = context;
            this.tcp = loop.endpoint((EndpointContext) Proxy.newProxyInstance(
                    EndpointContext.class.getClassLoader(),
                    new Class<?>[] {EndpointContext.class},
                    (proxy, method, arguments) -> {
                        if (method.getName().equals("completed")) {
                            completed((WorkRequest) arguments[0], (CompletionStatus) arguments[1]);
                            return null;
                        }
                        return invoke(method, context, arguments);
                    }));
        }

        private static @Nullable Object invoke(Method method, Object target, Object[] arguments) throws Throwable {
            try {
                return method.invoke(target, arguments);
            } catch (InvocationTargetException e) {
                throw e.getCause();
            }
        }

        /** The requests in flight of a run that completes into a stream. */
        private static final class Completion {
            private int outstanding;
            private boolean complete;
            private boolean failed;
        }

        private void begins(WorkRequest request) {
            StreamCompletion event = request.completesInto();
            if (event != null) {
                Completion completion = completions.computeIfAbsent(event.handle(), handle -> new Completion());
                completion.outstanding++;
                completion.complete |= request.isLastOfCompletion();
            }
        }

        private void completed(WorkRequest request, CompletionStatus status) {
            StreamCompletion event = request.completesInto();
            if (event != null) {
                Completion completion = Objects.requireNonNull(completions.get(event.handle()));
                completion.failed |= status != CompletionStatus.SUCCESS;
                if (--completion.outstanding == 0) {
                    completions.remove(event.handle());
                    if (completion.complete && !completion.failed) {
                        HostStream.set(event.handle());
                    }
                }
            }
            context.completed(request, status);
        }

        Endpoint endpoint() {
            return (Endpoint) Proxy.newProxyInstance(
                    Endpoint.class.getClassLoader(),
                    new Class<?>[] {
                        Endpoint.class, SocketLanes.class, TransportMessages.class, PageLists.class, StreamOrder.class
                    },
                    (proxy, method, arguments) -> switch (method.getName()) {
                        case "ordersAfter" ->
                            ((StreamEvent) arguments[0]).device().equals(DEVICE);
                        case "completesInto" ->
                            ((StreamCompletion) arguments[0]).device().equals(DEVICE);
                        case "post" -> post((WorkRequest[]) arguments[0], (int) arguments[1], (int) arguments[2]);
                        case "close" -> {
                            close();
                            yield null;
                        }
                        default -> invoke(method, tcp, arguments);
                    });
        }

        private int post(WorkRequest[] batch, int from, int count) {
            for (int i = 0; i < count; i++) {
                WorkRequest request = batch[from + i];
                StreamEvent event = request.startAfter();
                begins(request);
                if (event != null) {
                    held.add(request);
                    HostStream.onceHappened(event.handle(), () -> context.loop().execute(() -> release(request)));
                } else if (tcp.post(batch, from + i, 1) == 0) {
                    takeBack(request);
                    return i;
                }
            }
            return count;
        }

        private void takeBack(WorkRequest request) {
            StreamCompletion event = request.completesInto();
            if (event != null) {
                Completion completion = Objects.requireNonNull(completions.get(event.handle()));
                completion.complete &= !request.isLastOfCompletion();
                if (--completion.outstanding == 0) {
                    completions.remove(event.handle());
                }
            }
        }

        private void release(WorkRequest request) {
            if (closed || !held.contains(request)) {
                return;
            }
            if (tcp.post(new WorkRequest[] {request}, 0, 1) == 1) {
                held.remove(request);
            } else {
                context.loop().execute(() -> release(request));
            }
        }

        private void close() {
            closed = true;
            for (WorkRequest request : List.copyOf(held)) {
                held.remove(request);
                completed(request, CompletionStatus.FLUSHED_UNSENT);
            }
            tcp.close();
        }
    }
}
