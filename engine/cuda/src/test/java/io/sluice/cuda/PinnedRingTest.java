package io.sluice.cuda;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.engine.DeviceMetrics;
import io.sluice.engine.MemoryKind;
import io.sluice.engine.RegionMemory;
import io.sluice.engine.transport.Deadline;
import io.sluice.engine.transport.EventLoop;
import io.sluice.testkit.Patience;
import java.lang.foreign.ValueLayout;
import java.util.concurrent.LinkedBlockingQueue;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A ring on a loop whose cycles the test runs. */
class PinnedRingTest {
    private static final int BYTES = 4096;

    private final MappingThread thread = new MappingThread("mappings of a test");
    private final ReleaseThread releases = new ReleaseThread();
    private final Loop loop = new Loop();
    private Gpus gpus;
    private long address;
    private DeviceRegistration memory;
    private PinnedRing ring;

    @BeforeEach
    void open() {
        SoftGpu.load();
        gpus = new Gpus(1);
        address = SoftGpu.malloc(0, BYTES);
        PinnedRings rings = new PinnedRings(gpus, thread, releases, PinnedRing.PAGES_BYTES, true);
        memory = DeviceRegistration.of(
                RegionMemory.device(MemoryKind.CUDA, SoftGpu.id(0), address, BYTES, () -> true), rings);
        ring = new PinnedRing(rings, loop, () -> {});
        Patience.until("the ring is ready", () -> {
            loop.runTasks();
            return ring.isReady(memory);
        });
    }

    @AfterEach
    void close() {
        ring.close();
        memory.close();
        thread.close();
        releases.close();
        SoftGpu.free(0, address);
        gpus.close();
    }

    private void copyOut(int piece) {
        ring.begin(piece, memory, true);
        ring.add(address, 0, BYTES);
        ring.end();
    }

    @Test
    void pieces_that_are_done_when_it_closes_count() {
        byte[] expected = new byte[BYTES];
        expected[17] = 5;
        SoftGpu.write(0, address, expected);
        for (int i = 0; i < PinnedRing.PIECES; i++) {
            copyOut(i);
        }
        // the transport looks at the pieces before the loop polls the ring
        Patience.until("all pieces are done", ring::isIdle);
        assertThat(ring.memory().asSlice(0, BYTES).toArray(ValueLayout.JAVA_BYTE))
                .isEqualTo(expected);
        DeviceMetrics figures = gpus.metrics().get(0);
        assertThat(figures.launches(DeviceMetrics.Unit.STAGED)).isEqualTo(PinnedRing.PIECES);
        assertThat(figures.requests()).isZero();

        ring.close();
        assertThat(figures.requests()).isEqualTo(PinnedRing.PIECES);
        assertThat(figures.requestNanos()).isPositive();
        assertThat(loop.source).isNull();
    }

    @Test
    void each_piece_counts_once() {
        copyOut(0);
        Patience.until("the piece is done", ring::isIdle);
        assertThat(loop.source.poll()).isEqualTo(1);
        assertThat(loop.source).isNull();
        copyOut(0);
        Patience.until("the piece is done again", ring::isIdle);
        ring.close();
        assertThat(gpus.metrics().get(0).requests()).isEqualTo(2);
    }

    private static final class Loop implements EventLoop {
        private final LinkedBlockingQueue<Runnable> tasks = new LinkedBlockingQueue<>();
        private Source source;

        void runTasks() {
            for (Runnable task = tasks.poll(); task != null; task = tasks.poll()) {
                task.run();
            }
        }

        @Override
        public long now() {
            return System.nanoTime();
        }

        @Override
        public Watch watch(int descriptor, ReadinessHandler handler) {
            throw new UnsupportedOperationException("a ring watches nothing");
        }

        @Override
        public void addSource(Source added) {
            source = added;
        }

        @Override
        public void removeSource(Source removed) {
            source = null;
        }

        @Override
        public void atEndOfCycle(Runnable task) {
            throw new UnsupportedOperationException("a ring has no such task");
        }

        @Override
        public void execute(Runnable task) {
            tasks.add(task);
        }

        @Override
        public void arm(Deadline deadline, long at) {
            throw new UnsupportedOperationException("this loop does not park");
        }

        @Override
        public void disarm(Deadline deadline) {
            // never armed
        }
    }
}
