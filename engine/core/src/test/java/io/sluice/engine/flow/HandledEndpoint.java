package io.sluice.engine.flow;

import io.sluice.engine.EngineOptions;
import io.sluice.engine.RegionMemory;
import io.sluice.engine.progress.Poller;
import io.sluice.engine.transport.Capabilities;
import io.sluice.engine.transport.CompletionStatus;
import io.sluice.engine.transport.Endpoint;
import io.sluice.engine.transport.NotificationSender;
import io.sluice.engine.transport.RegisteredMemory;
import io.sluice.engine.transport.RemoteKey;
import io.sluice.engine.transport.WorkRequest;
import io.sluice.testkit.Patience;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** An endpoint of a flow on a poller of its own, which a test tells what to do with each work request. */
final class HandledEndpoint implements Endpoint, AutoCloseable {
    private static final RemoteKey KEY = new RemoteKey(0, 0, 0);

    private final Poller poller;
    private final ConnectionFlow flow;
    private Predicate<WorkRequest> accepted = request -> true;
    private Consumer<WorkRequest> handler = this::completeSoon;
    private boolean closed;

    @SuppressWarnings("NullAway") // the flow hands its connection out and does nothing else with it
    HandledEndpoint(EngineOptions options, boolean carriesSignals) {
        poller = new Poller("flow-test", 0, options, failing -> {});
        flow = new ConnectionFlow(
                null,
                poller,
                options,
                new EngineWindow(options.engineWindowOperations(), options.engineWindowBytes()),
                List.of(new FlowPath(0, new Capabilities(1 << 20, carriesSignals), this, ConnectionCounters.alone())),
                new NotificationSender() {
                    @Override
                    public boolean hasRoom() {
                        return false;
                    }

                    @Override
                    public void send(byte[] payload) {
                        throw new UnsupportedOperationException();
                    }
                },
                1);
        poller.start();
    }

    /** Sets the requests to accept and their handling, on the poller. Before the first transfer. */
    void handle(Predicate<WorkRequest> accept, Consumer<WorkRequest> each) {
        accepted = accept;
        handler = each;
    }

    void completeSoon(WorkRequest request) {
        soon(() -> flow.completed(request, CompletionStatus.SUCCESS));
    }

    /** Runs something on the poller, and does not wait for it. */
    void soon(Runnable task) {
        poller.execute(task);
    }

    ConnectionFlow flow() {
        return flow;
    }

    TransferFactory transfers() {
        return new TransferFactory(flow);
    }

    static ElementPlan bytes(long count) {
        return new ElementPlan(NoMemory.INSTANCE, 0, KEY, 0, count);
    }

    static RemoteKey key() {
        return KEY;
    }

    /** Runs something on the poller and waits for it. */
    <T> T onPoller(Callable<T> question) throws Exception {
        CompletableFuture<T> answer = new CompletableFuture<>();
        poller.execute(() -> {
            try {
                answer.complete(question.call());
            } catch (Exception e) {
                answer.completeExceptionally(e);
            }
        });
        return answer.get(Patience.BOUND.toNanos(), TimeUnit.NANOSECONDS);
    }

    /** Ends the connection as a session does. On the poller; completes nothing by itself. */
    void cut() {
        flow.stop(new ConnectionEnd(ConnectionEnd.Kind.LOST, "cut", null));
        closed = true;
    }

    @Override
    public byte[] offer() {
        return new byte[0];
    }

    @Override
    public void begin(byte[] peerOffer) {}

    @Override
    public int post(WorkRequest[] batch, int from, int count) {
        for (int i = 0; i < count; i++) {
            if (closed || !accepted.test(batch[from + i])) {
                return i;
            }
            handler.accept(batch[from + i]);
        }
        return count;
    }

    @Override
    public boolean isQuiescent() {
        return true;
    }

    @Override
    public void close() {
        poller.stop();
    }

    /** Memory whose bytes are never read. */
    enum NoMemory implements LeasedMemory {
        INSTANCE;

        private static final RegionMemory NOTHING = RegionMemory.host(MemorySegment.NULL);

        @Override
        public @Nullable RegisteredMemory registration(int transport) {
            return null;
        }

        @Override
        public boolean acquire() {
            return true;
        }

        @Override
        public void release() {}

        @Override
        public RegionMemory memory() {
            return NOTHING;
        }
    }
}
