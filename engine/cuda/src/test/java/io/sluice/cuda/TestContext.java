package io.sluice.cuda;

import io.sluice.engine.EngineOptions;
import io.sluice.engine.Integrity;
import io.sluice.engine.SluiceException;
import io.sluice.engine.transport.CompletionStatus;
import io.sluice.engine.transport.Deadline;
import io.sluice.engine.transport.EndpointContext;
import io.sluice.engine.transport.EventLoop;
import io.sluice.engine.transport.ExportedRegion;
import io.sluice.engine.transport.WireCounter;
import io.sluice.engine.transport.WorkRequest;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** One side of a connection whose loop runs when the test says so, on its thread: watches alone. */
final class TestContext implements EndpointContext, EventLoop {
    private final boolean initiator;
    private final @Nullable EngineOptions options;
    private final Set<Watched> watches = new LinkedHashSet<>();

    TestContext(boolean initiator) {
        this(initiator, null);
    }

    TestContext(boolean initiator, @Nullable EngineOptions options) {
        this.initiator = initiator;
        this.options = options;
    }

    private final class Watched implements Watch {
        private final ReadinessHandler handler;
        private boolean writable;

        Watched(ReadinessHandler handler) {
            this.handler = handler;
        }

        @Override
        public void interest(boolean forReading, boolean forWriting) {
            writable = forWriting;
        }

        @Override
        public void cancel() {
            watches.remove(this);
        }
    }

    /** Calls every handler, as if each descriptor were ready for what is asked for. */
    void cycle() {
        for (Watched each : List.copyOf(watches)) {
            if (watches.contains(each)) {
                each.handler.ready(true, each.writable);
            }
        }
    }

    /** Whether something waits for room. */
    boolean waitsForRoom() {
        return watches.stream().anyMatch(each -> each.writable);
    }

    @Override
    public Watch watch(int descriptor, ReadinessHandler handler) {
        Watched made = new Watched(handler);
        watches.add(made);
        return made;
    }

    @Override
    public EventLoop loop() {
        return this;
    }

    @Override
    public boolean initiator() {
        return initiator;
    }

    @Override
    public long now() {
        return System.nanoTime();
    }

    private static UnsupportedOperationException none() {
        return new UnsupportedOperationException("the test needs none");
    }

    @Override
    public void addSource(Source source) {
        throw none();
    }

    @Override
    public void removeSource(Source source) {
        throw none();
    }

    @Override
    public void atEndOfCycle(Runnable task) {
        throw none();
    }

    @Override
    public void execute(Runnable task) {
        throw none();
    }

    @Override
    public void arm(Deadline deadline, long at) {
        throw none();
    }

    @Override
    public void disarm(Deadline deadline) {
        throw none();
    }

    @Override
    public EngineOptions options() {
        if (options == null) {
            throw none();
        }
        return options;
    }

    @Override
    public Integrity integrity() {
        throw none();
    }

    @Override
    public @Nullable ExportedRegion exportedRegion(long handle) {
        throw none();
    }

    @Override
    public void openLanes(int count) {
        throw none();
    }

    @Override
    public void send(byte[] message) {
        // the peer does not answer
    }

    @Override
    public void notified(byte[] payload) {
        throw none();
    }

    @Override
    public void notificationsSendable() {
        throw none();
    }

    @Override
    public void wordsChanged() {
        throw none();
    }

    @Override
    public void established() {
        throw none();
    }

    @Override
    public void completed(WorkRequest request, CompletionStatus status) {
        throw none();
    }

    @Override
    public void postable() {
        throw none();
    }

    @Override
    public void failed(SluiceException error) {
        throw none();
    }

    @Override
    public void served(WorkRequest.Opcode operation, long bytes) {
        throw none();
    }

    @Override
    public void refused() {
        throw none();
    }

    @Override
    public void count(WireCounter counter, long delta) {
        throw none();
    }
}
