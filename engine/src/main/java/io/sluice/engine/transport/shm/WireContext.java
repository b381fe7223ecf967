package io.sluice.engine.transport.shm;

import io.sluice.engine.EngineOptions;
import io.sluice.engine.Integrity;
import io.sluice.engine.ProtocolException;
import io.sluice.engine.SluiceException;
import io.sluice.engine.transport.CompletionStatus;
import io.sluice.engine.transport.EndpointContext;
import io.sluice.engine.transport.EventLoop;
import io.sluice.engine.transport.ExposedRegion;
import io.sluice.engine.transport.WireCounter;
import io.sluice.engine.transport.WorkRequest;
import org.jspecify.annotations.Nullable;

/** What the tcp endpoint beside is given: the connection's own context, but for what both endpoints would say. */
record WireContext(EndpointContext whole, Runnable whenEstablished) implements EndpointContext {
    @Override
    public EventLoop loop() {
        return whole.loop();
    }

    @Override
    public EngineOptions options() {
        return whole.options();
    }

    @Override
    public Integrity integrity() {
        return whole.integrity();
    }

    @Override
    public boolean initiator() {
        return whole.initiator();
    }

    @Override
    public @Nullable ExposedRegion exposed(long handle) {
        return whole.exposed(handle);
    }

    @Override
    public void openLanes(int count) {
        whole.openLanes(count);
    }

    @Override
    public void openLanes(int count, boolean secured) {
        whole.openLanes(count, secured);
    }

    @Override
    public boolean secured() {
        return whole.secured();
    }

    @Override
    public void send(byte[] message) {
        throw new IllegalStateException("the endpoint beside has no messages");
    }

    @Override
    public boolean carriesMessages() {
        return false;
    }

    @Override
    public void notified(byte[] payload) {
        throw new ProtocolException("a notification on the path beside");
    }

    @Override
    public void notificationsSendable() {
        // notifications do not go that way
    }

    @Override
    public void wordsChanged() {
        whole.wordsChanged();
    }

    @Override
    public void established() {
        whenEstablished.run();
    }

    @Override
    public void completed(WorkRequest request, CompletionStatus status) {
        whole.completed(request, status);
    }

    @Override
    public void postable() {
        whole.postable();
    }

    @Override
    public void failed(SluiceException error) {
        whole.failed(error);
    }

    @Override
    public void served(WorkRequest.Operation operation, long bytes) {
        whole.served(operation, bytes);
    }

    @Override
    public void refused() {
        whole.refused();
    }

    @Override
    public void count(WireCounter counter, long delta) {
        whole.count(counter, delta);
    }
}
