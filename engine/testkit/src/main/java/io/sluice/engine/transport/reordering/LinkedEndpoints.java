package io.sluice.engine.transport.reordering;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.engine.EngineOptions;
import io.sluice.engine.Integrity;
import io.sluice.engine.SluiceException;
import io.sluice.engine.transport.CompletionStatus;
import io.sluice.engine.transport.EndpointContext;
import io.sluice.engine.transport.EventLoop;
import io.sluice.engine.transport.ExportedRegion;
import io.sluice.engine.transport.RemoteKey;
import io.sluice.engine.transport.WireCounter;
import io.sluice.engine.transport.WorkRequest;
import io.sluice.jni.Errno;
import io.sluice.jni.Sockets;
import io.sluice.testkit.Patience;
import io.sluice.testkit.PatientOptions;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/** Two endpoints joined by real sockets, each on a loop that the test drives; no engine takes part. */
final class LinkedEndpoints implements AutoCloseable {
    private static final byte[] LOOPBACK = {127, 0, 0, 1};
    private static final long STEP_NANOS = 10_000;
    // longer than the longest delay
    private static final int QUIET_CYCLES = 300;
    private static final long PATIENCE_NANOS = Patience.BOUND.toNanos();

    private final Arena arena = Arena.ofShared();
    private final Side initiator;
    private final Side target;

    LinkedEndpoints(long seed, int lanes) {
        initiator = new Side(true, seed, lanes);
        target = new Side(false, seed + 1, lanes);
        initiator.endpoint.begin(target.endpoint.offer());
        target.endpoint.begin(initiator.endpoint.offer());
        assertThat(initiator.lanesAsked).isEqualTo(lanes);
        for (int lane = 0; lane < lanes; lane++) {
            connect(lane);
        }
        assertThat(initiator.established && target.established).isTrue();
    }

    private void connect(int lane) {
        int listener = Sockets.openStream(false);
        try {
            assertThat(Sockets.bind(listener, LOOPBACK, 0, 0)).isZero();
            assertThat(Sockets.listen(listener, 1)).isZero();
            int connecting = Sockets.openStream(false);
            int result = Sockets.connect(connecting, LOOPBACK, 0, Sockets.localPort(listener));
            assertThat(result).isIn(0, -Errno.EINPROGRESS);
            int accepted = -Errno.EAGAIN;
            long start = System.nanoTime();
            while (accepted == -Errno.EAGAIN && System.nanoTime() - start < PATIENCE_NANOS) {
                accepted = Sockets.accept(listener);
            }
            assertThat(accepted).isPositive();
            initiator.endpoint.laneOpened(lane, connecting);
            target.endpoint.laneOpened(lane, accepted);
        } finally {
            Sockets.close(listener);
        }
    }

    Side initiator() {
        return initiator;
    }

    Side target() {
        return target;
    }

    MemorySegment memory(long bytes) {
        return arena.allocate(bytes, Long.BYTES);
    }

    ServedMemory serve(MemorySegment segment) {
        RemoteKey key = new RemoteKey(100 + target.regions.size(), 4711, 4712);
        ServedMemory region = new ServedMemory(key, segment);
        target.regions.put(key.handle(), region);
        return region;
    }

    void post(WorkRequest... requests) {
        assertThat(initiator.endpoint.post(requests, 0, requests.length)).isEqualTo(requests.length);
    }

    /** Runs both loops, and lets time pass, until something is so; no lane may break meanwhile. */
    void runUntil(String what, BooleanSupplier condition) {
        run(what, STEP_NANOS, STEP_NANOS, () -> {
            assertThat(initiator.failures).isEmpty();
            assertThat(target.failures).isEmpty();
            return condition.getAsBoolean();
        });
    }

    /** Runs until the initiator finds a lane broken. */
    void runUntilBroken() {
        run("a broken lane is noticed", STEP_NANOS, STEP_NANOS, () -> !initiator.failures.isEmpty());
    }

    /** Runs both loops while their time stands still, until what is not held has long come through. */
    void runWithoutTime() {
        runUntilNoMoreComesThrough(0);
    }

    /** Runs while the target's clock stands still. */
    void runWithoutTimeAtTarget() {
        runUntilNoMoreComesThrough(STEP_NANOS);
    }

    private void runUntilNoMoreComesThrough(long initiatorStep) {
        long[] quietCycles = {0};
        long[] seen = {-1, -1};
        run("no more comes through", initiatorStep, 0, () -> {
            long held = target.endpoint.heldBytes();
            long completed = initiator.completions.size();
            quietCycles[0] = held == seen[0] && completed == seen[1] ? quietCycles[0] + 1 : 0;
            seen[0] = held;
            seen[1] = completed;
            return quietCycles[0] > QUIET_CYCLES;
        });
    }

    private void run(String what, long initiatorStep, long targetStep, BooleanSupplier condition) {
        long start = System.nanoTime();
        while (!condition.getAsBoolean()) {
            assertThat(System.nanoTime() - start).as(what).isLessThan(PATIENCE_NANOS);
            initiator.loop.cycle();
            target.loop.cycle();
            initiator.loop.advance(initiatorStep);
            target.loop.advance(targetStep);
            LockSupport.parkNanos(1);
        }
    }

    void runUntilEnded(OwnedRequest... requests) {
        runUntil(
                "every request ends",
                () -> List.of(requests).stream()
                        .noneMatch(request -> request.ends().isEmpty()));
    }

    @Override
    public void close() {
        initiator.endpoint.close();
        target.endpoint.close();
        target.regions.values().forEach(region -> assertThat(region.leases()).isZero());
        if (arena.scope().isAlive()) {
            arena.close();
        }
    }

    /** One endpoint and its calls to its engine. */
    static final class Side implements EndpointContext {
        private final boolean initiates;
        private final ManualLoop loop = new ManualLoop();
        private final EngineOptions options;
        private final ReorderingEndpoint endpoint;
        private final Map<Long, ServedMemory> regions = new HashMap<>();
        private final List<OwnedRequest> completions = new ArrayList<>();
        private final List<SluiceException> failures = new ArrayList<>();
        private int lanesAsked;
        private boolean established;
        private int postableCalls;

        Side(boolean initiates, long seed, int lanes) {
            this.initiates = initiates;
            this.options = PatientOptions.builder().lanes(lanes).build();
            this.endpoint = new ReorderingEndpoint(this, seed);
        }

        ManualLoop manualLoop() {
            return loop;
        }

        ReorderingEndpoint endpoint() {
            return endpoint;
        }

        /** The completed requests, in the order of completion. */
        List<OwnedRequest> completions() {
            return completions;
        }

        List<SluiceException> failures() {
            return failures;
        }

        int postableCalls() {
            return postableCalls;
        }

        @Override
        public void send(byte[] message) {
            throw new UnsupportedOperationException();
        }

        @Override
        public void notified(byte[] payload) {
            throw new UnsupportedOperationException();
        }

        @Override
        public void notificationsSendable() {
            throw new UnsupportedOperationException();
        }

        @Override
        public EventLoop loop() {
            return loop;
        }

        @Override
        public EngineOptions options() {
            return options;
        }

        @Override
        public Integrity integrity() {
            return Integrity.NONE;
        }

        @Override
        public boolean initiator() {
            return initiates;
        }

        @Override
        public @Nullable ExportedRegion exportedRegion(long handle) {
            return regions.get(handle);
        }

        @Override
        public void openLanes(int count) {
            lanesAsked = count;
        }

        @Override
        public void wordsChanged() {}

        @Override
        public void established() {
            established = true;
        }

        @Override
        public void completed(WorkRequest request, CompletionStatus status) {
            OwnedRequest owned = (OwnedRequest) request;
            owned.ended(status);
            completions.add(owned);
        }

        @Override
        public void postable() {
            postableCalls++;
        }

        @Override
        public void failed(SluiceException error) {
            failures.add(error);
        }

        @Override
        public void served(WorkRequest.Opcode operation, long bytes) {}

        @Override
        public void count(WireCounter counter, long delta) {}

        @Override
        public void refused() {}
    }
}
