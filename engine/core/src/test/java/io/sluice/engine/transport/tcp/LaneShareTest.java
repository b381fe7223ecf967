package io.sluice.engine.transport.tcp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.sluice.engine.EngineOptions;
import io.sluice.engine.Integrity;
import io.sluice.engine.KernelSockets;
import io.sluice.engine.RegionMemory;
import io.sluice.engine.SluiceException;
import io.sluice.engine.transport.CompletionStatus;
import io.sluice.engine.transport.Deadline;
import io.sluice.engine.transport.EndpointContext;
import io.sluice.engine.transport.EventLoop;
import io.sluice.engine.transport.ExportedRegion;
import io.sluice.engine.transport.RemoteKey;
import io.sluice.engine.transport.WireCounter;
import io.sluice.engine.transport.WorkRequest;
import io.sluice.jni.Sockets;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** How much of a duty cycle a lane takes whose peer takes all that it sends. */
class LaneShareTest {
    private static final long MIB = 1 << 20;
    private static final int REQUESTS = 40;
    // what a lane may send in a cycle, and what the call adds that goes beyond it
    private static final long LEAST = 8 * MIB;
    private static final long MOST = 16 * MIB;
    // the kernel counts more than the bytes
    private static final int ROOM = 256 << 20;

    private final Arena arena = Arena.ofAuto();
    private final MemorySegment source = arena.allocate(MIB);
    private final Context context = new Context();

    @Test
    void aLaneThatCouldSendForEverLeavesTheRestToTheNextCycles() {
        int[] pair = KernelSockets.pair();
        try {
            assumeTrue(KernelSockets.forceSendBuffer(pair[0], ROOM), "needs a right to large socket buffers");
            LoopScratch scratch = new LoopScratch();
            TcpLane lane = new TcpLane(
                    new TcpEndpoint(context, scratch),
                    context,
                    scratch,
                    new ServedWindow(1, 1, () -> {}),
                    pair[0],
                    0,
                    REQUESTS,
                    null);
            for (int i = 0; i < REQUESTS; i++) {
                lane.post(new Write());
            }
            int cycles = 0;
            long all = REQUESTS * (MIB + FrameHeader.BYTES);
            while (context.sent < all) {
                assertThat(context.loop.endOfCycle).as("after " + context.sent).hasSize(1);
                long before = context.sent;
                context.loop.cycle();
                cycles++;
                assertThat(context.sent - before)
                        .isLessThan(MOST)
                        .isGreaterThanOrEqualTo(Math.min(LEAST, all - before));
            }
            assertThat(context.sent).isEqualTo(all);
            assertThat(cycles).isGreaterThanOrEqualTo(3);
            assertThat(context.loop.endOfCycle).isEmpty();
        } finally {
            Sockets.close(pair[0]);
            Sockets.close(pair[1]);
        }
    }

    private final class Write extends WorkRequest {
        Write() {
            describe(Opcode.WRITE, RegionMemory.host(source), null, 0, MIB, new RemoteKey(1, 2, 3), 0);
        }
    }

    /** A loop whose duty cycles the test drives. */
    private static final class Loop implements EventLoop {
        private List<Runnable> endOfCycle = new ArrayList<>();

        void cycle() {
            List<Runnable> due = endOfCycle;
            endOfCycle = new ArrayList<>();
            due.forEach(Runnable::run);
        }

        @Override
        public void atEndOfCycle(Runnable task) {
            endOfCycle.add(task);
        }

        @Override
        public long now() {
            return 1;
        }

        @Override
        public Watch watch(int descriptor, ReadinessHandler handler) {
            return new Watch() {
                @Override
                public void interest(boolean readable, boolean writable) {
                    throw new AssertionError("there is room in the socket");
                }

                @Override
                public void cancel() {}
            };
        }

        @Override
        public void addSource(Source added) {
            throw new UnsupportedOperationException();
        }

        @Override
        public void removeSource(Source removed) {
            throw new UnsupportedOperationException();
        }

        @Override
        public void execute(Runnable task) {
            throw new UnsupportedOperationException();
        }

        @Override
        public void arm(Deadline deadline, long at) {}

        @Override
        public void disarm(Deadline deadline) {}
    }

    /** Counts what is sent. */
    private static final class Context implements EndpointContext {
        private final Loop loop = new Loop();
        private long sent;

        @Override
        public void count(WireCounter counter, long delta) {
            if (counter == WireCounter.SENT) {
                sent += delta;
            }
        }

        @Override
        public EventLoop loop() {
            return loop;
        }

        @Override
        public EngineOptions options() {
            return EngineOptions.defaults();
        }

        @Override
        public Integrity integrity() {
            return Integrity.NONE;
        }

        @Override
        public boolean initiator() {
            return true;
        }

        @Override
        public @Nullable ExportedRegion exportedRegion(long handle) {
            return null;
        }

        @Override
        public void openLanes(int count) {
            throw new UnsupportedOperationException();
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
        public void wordsChanged() {
            throw new UnsupportedOperationException();
        }

        @Override
        public void established() {
            throw new UnsupportedOperationException();
        }

        @Override
        public void completed(WorkRequest request, CompletionStatus status) {
            throw new UnsupportedOperationException();
        }

        @Override
        public void postable() {
            throw new UnsupportedOperationException();
        }

        @Override
        public void failed(SluiceException error) {
            throw error;
        }

        @Override
        public void served(WorkRequest.Opcode operation, long bytes) {
            throw new UnsupportedOperationException();
        }

        @Override
        public void refused() {
            throw new UnsupportedOperationException();
        }
    }
}
