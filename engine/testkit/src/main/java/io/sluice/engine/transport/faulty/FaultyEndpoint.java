package io.sluice.engine.transport.faulty;

import io.sluice.engine.EngineOptions;
import io.sluice.engine.Integrity;
import io.sluice.engine.SluiceException;
import io.sluice.engine.TransportMetrics.PathState;
import io.sluice.engine.transport.CompletionStatus;
import io.sluice.engine.transport.Deadline;
import io.sluice.engine.transport.Endpoint;
import io.sluice.engine.transport.EndpointContext;
import io.sluice.engine.transport.EventLoop;
import io.sluice.engine.transport.ExportedRegion;
import io.sluice.engine.transport.PageLists;
import io.sluice.engine.transport.RemoteKey;
import io.sluice.engine.transport.SocketLanes;
import io.sluice.engine.transport.TransportMessages;
import io.sluice.engine.transport.WireCounter;
import io.sluice.engine.transport.WorkRequest;
import java.nio.ByteBuffer;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Stands between the engine and a tcp endpoint: takes fewer requests than it is given, hands completions over late and out of
 * order, and breaks.
 */
final class FaultyEndpoint implements Endpoint, SocketLanes, TransportMessages, PageLists, EndpointContext {
    private final EndpointContext context;
    private final Endpoint endpoint;
    private final SocketLanes lanes;
    private final TransportMessages messages;
    private final PageLists lists;
    private final Faults faults;
    private final Set<Held> held = new LinkedHashSet<>();
    private boolean offeredAgain;
    private boolean broken;
    private boolean closed;

    FaultyEndpoint(EndpointContext context, Function<EndpointContext, Endpoint> opening, Faults faults) {
        this.context = context;
        this.faults = faults;
        this.endpoint = opening.apply(this);
        this.lanes = (SocketLanes) endpoint;
        this.messages = (TransportMessages) endpoint;
        this.lists = (PageLists) endpoint;
    }

    /** A completion that has come and is not told yet. */
    private final class Held extends Deadline {
        private final WorkRequest request;
        private final CompletionStatus status;

        Held(WorkRequest request, CompletionStatus status) {
            this.request = request;
            this.status = status;
        }

        @Override
        protected void expired() {
            held.remove(this);
            context.completed(request, status);
        }
    }

    // ---- faults ----

    @Override
    public int post(WorkRequest[] batch, int from, int count) {
        int accepted = broken ? 0 : faults.accepted(count);
        if (accepted < count && !offeredAgain && !broken) {
            offeredAgain = true;
            context.loop().execute(() -> {
                offeredAgain = false;
                context.postable();
            });
        }
        return accepted == 0 ? 0 : endpoint.post(batch, from, accepted);
    }

    @Override
    public void completed(WorkRequest request, CompletionStatus status) {
        if (broken && !closed) {
            // its outcome is not reported any more
            held.add(new Held(request, CompletionStatus.FLUSHED));
            return;
        }
        long hold = closed ? 0 : faults.holdNanos();
        if (hold == 0) {
            context.completed(request, status);
        } else {
            Held late = new Held(request, status);
            held.add(late);
            context.loop().arm(late, context.loop().now() + hold);
        }
        if (!broken && faults.breaksNow()) {
            broken = true;
            context.loop().execute(() -> context.failed(new SluiceException("the path breaks, as the seed wants it")));
        }
    }

    @Override
    public void close() {
        closed = true;
        endpoint.close();
        for (Held late : List.copyOf(held)) {
            context.loop().disarm(late);
            late.expired();
        }
    }

    @Override
    public boolean isQuiescent() {
        return endpoint.isQuiescent() && held.isEmpty();
    }

    // ---- the endpoint's ----

    @Override
    public byte[] offer() {
        return endpoint.offer();
    }

    @Override
    public void begin(byte[] peerOffer) {
        endpoint.begin(peerOffer);
    }

    @Override
    public void laneOpened(int index, int descriptor) {
        lanes.laneOpened(index, descriptor);
    }

    @Override
    public boolean takesPages(RemoteKey remote) {
        return lists.takesPages(remote);
    }

    @Override
    public void received(ByteBuffer message) {
        messages.received(message);
    }

    @Override
    public void regionClosing() {
        endpoint.regionClosing();
    }

    @Override
    public boolean holdsClosedLease() {
        return endpoint.holdsClosedLease();
    }

    @Override
    public @Nullable String stuckLane(long now, long timeoutNanos) {
        return endpoint.stuckLane(now, timeoutNanos);
    }

    @Override
    public int lanes(PathState state) {
        return endpoint.lanes(state);
    }

    @Override
    public int rails(PathState state) {
        return endpoint.rails(state);
    }

    @Override
    public void peerClosed() {
        endpoint.peerClosed();
    }

    // ---- the context's ----

    @Override
    public EventLoop loop() {
        return context.loop();
    }

    @Override
    public Integrity integrity() {
        return context.integrity();
    }

    @Override
    public EngineOptions options() {
        return context.options();
    }

    @Override
    public boolean initiator() {
        return context.initiator();
    }

    @Override
    public @Nullable ExportedRegion exportedRegion(long handle) {
        return context.exportedRegion(handle);
    }

    @Override
    public void openLanes(int count) {
        context.openLanes(count);
    }

    @Override
    public void send(byte[] message) {
        context.send(message);
    }

    @Override
    public void notified(byte[] payload) {
        context.notified(payload);
    }

    @Override
    public void notificationsSendable() {
        context.notificationsSendable();
    }

    @Override
    public void wordsChanged() {
        context.wordsChanged();
    }

    @Override
    public void established() {
        context.established();
    }

    @Override
    public void postable() {
        context.postable();
    }

    @Override
    public void failed(SluiceException error) {
        context.failed(error);
    }

    @Override
    public void served(WorkRequest.Opcode operation, long bytes) {
        context.served(operation, bytes);
    }

    @Override
    public void refused() {
        context.refused();
    }

    @Override
    public void count(WireCounter counter, long delta) {
        context.count(counter, delta);
    }
}
