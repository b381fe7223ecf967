package io.sluice.cuda;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.engine.Connection;
import io.sluice.engine.DeviceMetrics;
import io.sluice.engine.MemoryKind;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.RemoteRegion;
import io.sluice.engine.SluiceException;
import io.sluice.engine.TransferEngine;
import io.sluice.engine.TransferOptions;
import io.sluice.testkit.Patience;
import io.sluice.testkit.PatientOptions;
import java.lang.foreign.Arena;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A kernel of the user's runs on and on: the driver frees nothing before it has ended, and no poller waits for that. */
class HeldUpGpuTest {
    private static final int BYTES = 1 << 20;

    private EndlessKernel kernel;
    private Set<Thread> threads;

    @BeforeEach
    void load() {
        SoftGpu.load();
        threads = pollers();
    }

    @AfterEach
    void end() {
        if (kernel != null) {
            kernel.close();
        }
    }

    private static Set<Thread> pollers() {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.getName().contains("-poller-"))
                .collect(Collectors.toSet());
    }

    private static TransferEngine engine() {
        return TransferEngine.open(PatientOptions.builder()
                .transports(List.of("shm", "tcp", "cuda"))
                .build());
    }

    @Test
    void pollers_of_a_closing_engine_end() {
        TransferEngine initiator = engine();
        TransferEngine target = engine();
        Connection connection = Patience.await(initiator.connect(target.address()));
        MemoryRegion local = initiator.allocate(BYTES, RegionOptions.local().on(MemoryKind.CUDA, SoftGpu.id(0)));
        MemoryRegion there = target.allocate(BYTES, RegionOptions.readWrite().on(MemoryKind.CUDA, SoftGpu.id(0)));
        RemoteRegion remote = Patience.await(connection.attach(there.descriptor()));
        Patience.await(Ends.write(local, 0, remote, 0, BYTES));
        kernel = new EndlessKernel(0);
        Patience.await(Ends.write(local, 0, remote, 0, BYTES));
        CompletableFuture<Void> closed = CompletableFuture.allOf(initiator.closeAsync(), target.closeAsync());
        Patience.until("the pollers have ended", () -> threads.containsAll(pollers()));
        kernel.close();
        kernel = null;
        Patience.await(closed);
        Patience.until("all is given back", () -> SoftGpu.count("allocations") == 0);
    }

    /** The driver unpins nothing meanwhile: neither who closes a word waits for that, nor the poller that ends its last run. */
    @Test
    void words_are_given_back_by_no_poller() {
        SoftGpu.needSoftware("a stream that does nothing");
        TransferEngine initiator = engine();
        TransferEngine target = engine();
        Connection connection = Patience.await(initiator.connect(target.address()));
        MemoryRegion local = initiator.allocate(BYTES, RegionOptions.local().on(MemoryKind.CUDA, SoftGpu.id(0)));
        MemoryRegion there = target.allocate(BYTES, RegionOptions.readWrite().on(MemoryKind.CUDA, SoftGpu.id(0)));
        RemoteRegion remote = Patience.await(connection.attach(there.descriptor()));
        Patience.await(Ends.write(local, 0, remote, 0, BYTES));
        long registrations = SoftGpu.count("registrations");
        StreamWord idle = StreamWord.allocate(SoftGpu.id(0));
        StreamWord used = StreamWord.allocate(SoftGpu.id(0));
        used.next();
        kernel = new EndlessKernel(0);
        SoftGpu.hang(true);
        CompletableFuture<Void> end = new CompletableFuture<>();
        connection.write(
                local,
                0,
                remote,
                0,
                BYTES,
                TransferOptions.defaults().completeInto(used),
                (transfer, error) -> Ends.complete(end, error));
        try {
            Patience.until("it is posted", () -> connection.window().bytes() == BYTES);
            CompletableFuture<Void> closed = CompletableFuture.runAsync(
                    () -> {
                        idle.close();
                        used.close();
                    },
                    task -> new Thread(task).start());
            Patience.await(closed);
            SoftGpu.hang(false);
            Patience.await(end);
            Patience.await(Ends.write(local, 0, remote, 0, BYTES));
            assertThat(SoftGpu.count("registrations")).isEqualTo(registrations + 3);
        } finally {
            SoftGpu.hang(false);
            kernel.close();
            kernel = null;
        }
        Patience.until("both are given back", () -> SoftGpu.count("registrations") == registrations);
        Patience.await(initiator.closeAsync());
        Patience.await(target.closeAsync());
    }

    /** Streams that have not begun are waited for together. */
    @Test
    void opening_many_streams_takes_no_longer_than_opening_one() {
        SoftGpu.needSoftware("a stream that does nothing");
        try (Gpus gpus = new Gpus(1)) {
            Gpu gpu = gpus.open(0);
            SoftGpu.hang(true);
            long began = System.nanoTime();
            GpuStreams one = GpuStreams.open(gpu, 1);
            long first = System.nanoTime() - began;
            GpuStreams many = GpuStreams.open(gpu, GpuStreams.ORDERED);
            long second = System.nanoTime() - began - first;
            SoftGpu.hang(false);
            // one after the other they would take 8 times as long
            assertThat(second).isLessThan(GpuStreams.ORDERED / 2 * first);
            one.close();
            many.close();
        } finally {
            SoftGpu.hang(false);
        }
    }

    /**
     * The driver neither pins nor unpins meanwhile: what is pinned is used, other memory is attached and closed, and a poller never
     * waits. A connection with a transfer that needs more pages does.
     */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void a_region_closes_when_its_pages_are_given_back_and_others_go_on(boolean pinsWait) {
        SoftGpu.awaitKernels(pinsWait);
        TransferEngine initiator = engine();
        TransferEngine target = engine();
        Connection connection = Patience.await(initiator.connect(target.address()));
        Connection other = Patience.await(initiator.connect(target.address()));
        MemoryRegion there = target.allocate(BYTES, RegionOptions.readWrite().on(MemoryKind.CUDA, SoftGpu.id(0)));
        MemoryRegion more = target.allocate(BYTES, RegionOptions.readWrite().on(MemoryKind.CUDA, SoftGpu.id(0)));
        RemoteRegion remote = Patience.await(connection.attach(there.descriptor()));
        try (Arena arena = Arena.ofShared()) {
            RemoteRegion again = Patience.await(other.attach(there.descriptor()));
            MemoryRegion first = initiator.register(arena.allocate(BYTES, 4096), RegionOptions.local());
            MemoryRegion second = initiator.register(arena.allocate(BYTES, 4096), RegionOptions.local());
            MemoryRegion third = initiator.register(arena.allocate(BYTES, 4096), RegionOptions.local());
            MemoryRegion untouched = initiator.allocate(BYTES, RegionOptions.readWrite());
            Patience.await(Ends.write(first, 0, remote, 0, BYTES));
            Patience.await(Ends.write(second, 0, remote, 0, BYTES));
            kernel = new EndlessKernel(0);
            CompletableFuture<Void> closed = first.close();
            CompletableFuture<Void> late = Ends.write(third, 0, again, 0, BYTES);
            Patience.await(untouched.close());
            RemoteRegion another = Patience.await(connection.attach(more.descriptor()));
            Patience.await(Ends.write(second, 0, another, 0, BYTES));
            Patience.await(Ends.read(second, 0, remote, 0, BYTES));
            assertThat(closed).isNotDone();
            kernel.close();
            kernel = null;
            Patience.await(closed);
            Patience.await(late);
            Patience.await(second.close());
        } finally {
            if (kernel != null) {
                kernel.close();
                kernel = null;
            }
            SoftGpu.awaitKernels(false);
            Patience.await(initiator.closeAsync());
            Patience.await(target.closeAsync());
        }
    }

    /** It is given back when the kernel has ended. */
    @Test
    void a_close_that_a_kernel_holds_up_ends_in_time() {
        SoftGpu.awaitKernels(true);
        try (TransferEngine engine = TransferEngine.open(PatientOptions.builder()
                .transports(List.of("shm", "tcp", "cuda"))
                .livenessTimeout(Duration.ofMillis(300))
                .build())) {
            MemoryRegion region =
                    engine.allocate(BYTES, RegionOptions.readWrite().on(MemoryKind.CUDA, SoftGpu.id(0)));
            DeviceMetrics gpu = engine.metrics().devices().getFirst();
            kernel = new EndlessKernel(0);
            Throwable error = Patience.await(
                    region.close().handle((nothing, failed) -> failed == null ? null : failed.getCause()));
            // not all drivers wait before they unmap memory
            assertThat(error == null || error instanceof SluiceException).isTrue();
            kernel.close();
            kernel = null;
            Patience.until("the memory is given back", () -> gpu.allocatedBytes() == 0);
        } finally {
            SoftGpu.awaitKernels(false);
        }
    }
}
