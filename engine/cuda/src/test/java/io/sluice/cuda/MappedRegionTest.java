package io.sluice.cuda;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sluice.engine.Connection;
import io.sluice.engine.MemoryKind;
import io.sluice.engine.MemoryNotAccessibleException;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RegionClosedException;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.RemoteRegion;
import io.sluice.engine.SluiceException;
import io.sluice.engine.StaleDescriptorException;
import io.sluice.engine.TransferEngine;
import io.sluice.engine.TransferPriority;
import io.sluice.jni.CudaKernels;
import io.sluice.testkit.Patience;
import io.sluice.testkit.PatientOptions;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Kernels of the user's reach regions by address: this engine's, and a peer's. */
class MappedRegionTest {
    private static final VarHandle WORD = ValueLayout.JAVA_LONG.varHandle();
    private static final int BYTES = 100_000;
    private static final LaunchShape SHAPE = LaunchShape.of(8, 256);

    private final List<TransferEngine> engines = new ArrayList<>();
    private final List<AutoCloseable> opened = new ArrayList<>();
    private TransferEngine initiator;
    private TransferEngine target;
    private Connection connection;
    private PinnedBuffer gate;

    @BeforeEach
    void open() {
        SoftGpu.load();
        initiator = engine();
        target = engine();
        connection = Patience.await(initiator.connect(target.address()));
        gate = open(PinnedBuffer.allocate(SoftGpu.id(0), 8));
    }

    @AfterEach
    void close() throws Exception {
        WORD.setRelease(gate.segment(), 0L, 1L);
        engines.forEach(engine -> Patience.await(engine.closeAsync()));
        for (AutoCloseable each : opened) {
            each.close();
        }
    }

    private TransferEngine engine() {
        TransferEngine engine = TransferEngine.open(PatientOptions.builder()
                .transports(List.of("shm", "tcp", "cuda"))
                .build());
        engines.add(engine);
        return engine;
    }

    private <T extends AutoCloseable> T open(T made) {
        opened.add(made);
        return made;
    }

    private static MemoryRegion region(TransferEngine engine, int ordinal) {
        return engine.allocate(BYTES, RegionOptions.readWrite().on(MemoryKind.CUDA, SoftGpu.id(ordinal)));
    }

    private static byte pattern(long seed, long at) {
        return (byte) ((seed + at) * 0x9e3779b97f4a7c15L >>> 56);
    }

    /** Fills a region by a kernel, once the gate is open if it is to wait. */
    private GpuWork filling(MappedRegion region, long seed, boolean waits) {
        String gpu = region.device();
        GpuModule module = open(GpuModule.load(gpu, CudaKernels.ptx().getBytes(US_ASCII)));
        GpuStream stream = open(GpuStream.create(gpu, TransferPriority.NORMAL));
        GpuWork.Builder work = stream.work().uses(region);
        if (waits) {
            work.launch(module.kernel("sluice_wait"), SHAPE, KernelArguments.ofLongs(gate.address()))
                    .uses(gate);
        }
        return work.launch(
                        module.kernel("sluice_fill_pattern"),
                        SHAPE,
                        KernelArguments.ofLongs(region.address() + 3, region.length() - 3, seed))
                .build();
    }

    private static void assertFilled(int ordinal, MemoryRegion region, long seed) {
        byte[] bytes = SoftGpu.read(ordinal, region.memory().address(), BYTES);
        assertThat(bytes[2]).isZero();
        for (int i = 3; i < BYTES; i += 997) {
            assertThat(bytes[i]).isEqualTo(pattern(seed, i - 3));
        }
    }

    private static <T> T within(CompletableFuture<T> future) {
        return Patience.await(future);
    }

    @ParameterizedTest
    @CsvSource({"0, 0", "0, 1", "1, 0"})
    void kernels_of_a_gpu_write_to_a_peers_memory(int kernels, int memory) {
        MemoryRegion there = region(target, memory);
        RemoteRegion remote = Patience.await(connection.attach(there.descriptor()));
        MappedRegion mapped = within(MappedRegion.of(remote, SoftGpu.id(kernels)));
        assertThat(mapped.length()).isEqualTo(BYTES);
        assertThat(mapped.device()).isEqualTo(SoftGpu.id(kernels));
        filling(mapped, 5, false).submit();
        mapped.close();
        within(mapped.released());
        assertFilled(memory, there, 5);
        // the region is as before, and can be mapped again
        MappedRegion again = within(MappedRegion.of(remote, SoftGpu.id(kernels)));
        assertThat(again.address()).isEqualTo(mapped.address());
        assertThat(again.isOpen()).isTrue();
        Patience.await(there.close());
        assertThat(again.isOpen()).isFalse();
    }

    @Test
    void a_slice_begins_where_it_should() {
        MemoryRegion there = region(target, 1);
        RemoteRegion whole = Patience.await(connection.attach(there.descriptor()));
        RemoteRegion slice =
                Patience.await(connection.attach(there.slice(4096, 1000).descriptor()));
        MappedRegion first = open(within(MappedRegion.of(whole, SoftGpu.id(0))));
        MappedRegion second = open(within(MappedRegion.of(slice, SoftGpu.id(0))));
        assertThat(second.address() - first.address()).isEqualTo(4096);
        assertThat(second.length()).isEqualTo(1000);
    }

    @Test
    void an_own_region_has_its_address() {
        MemoryRegion own = region(initiator, 1);
        try (MappedRegion mapped = MappedRegion.of(own.slice(8, BYTES - 8))) {
            assertThat(mapped.address()).isEqualTo(own.memory().address() + 8);
        }
        MappedRegion mapped = MappedRegion.of(own);
        filling(mapped, 6, false).submit();
        mapped.close();
        within(mapped.released());
        assertFilled(1, own, 6);
        Patience.await(own.close());
        assertThatThrownBy(() -> MappedRegion.of(own)).isInstanceOf(RegionClosedException.class);
    }

    @Test
    void an_own_region_stays_mapped_until_it_is_closed_if_its_closing_is_to_be_told() {
        MemoryRegion own = region(initiator, 1);
        CompletableFuture<Void> told = new CompletableFuture<>();
        MappedRegion mapped = MappedRegion.of(own, () -> told.complete(null));
        CompletableFuture<Void> closing = own.close();
        Patience.await(told);
        assertThat(mapped.isOpen()).isTrue();
        filling(mapped, 7, false).submit();
        assertThat(closing).isNotDone();
        mapped.close();
        Patience.await(closing);
        assertThatThrownBy(() -> MappedRegion.of(own, () -> {})).isInstanceOf(RegionClosedException.class);
    }

    @Test
    void other_memory_and_other_paths_are_refused_with_the_reason() {
        assertThatThrownBy(() -> MappedRegion.of(initiator.allocate(64, RegionOptions.local())))
                .isInstanceOf(MemoryNotAccessibleException.class);
        MemoryRegion host = target.allocate(4096, RegionOptions.readWrite());
        RemoteRegion remote = Patience.await(connection.attach(host.descriptor()));
        assertThat(Patience.failure(MappedRegion.of(remote, SoftGpu.id(0)), MemoryNotAccessibleException.class))
                .hasMessageContaining("cuda");
        RemoteRegion there = Patience.await(connection.attach(region(target, 0).descriptor()));
        Patience.failure(MappedRegion.of(there, "GPU-0"), IllegalArgumentException.class);
        MappedRegion mapped = open(within(MappedRegion.of(there, SoftGpu.id(1))));
        try (GpuStream stream = GpuStream.create(SoftGpu.id(0), TransferPriority.NORMAL)) {
            assertThatThrownBy(() -> stream.work().uses(mapped)).isInstanceOf(IllegalArgumentException.class);
        }
    }

    /** The peer closes it: no kernel begins any more, and the peer waits for the one that runs. */
    @Test
    void a_peers_region_closes_after_the_kernel_that_runs_on_it() {
        MemoryRegion there = region(target, 1);
        RemoteRegion remote = Patience.await(connection.attach(there.descriptor()));
        MappedRegion mapped = within(MappedRegion.of(remote, SoftGpu.id(0)));
        GpuWork work = filling(mapped, 7, true);
        work.submit();
        CompletableFuture<Void> closed = there.close();
        Patience.until("it is told", () -> !mapped.isOpen());
        assertThatThrownBy(work::submit).isInstanceOf(GpuClosedException.class);
        assertThat(closed).isNotDone();
        assertThat(mapped.released()).isNotDone();
        WORD.setRelease(gate.segment(), 0L, 1L);
        Patience.await(closed);
        Patience.failure(MappedRegion.of(remote, SoftGpu.id(0)), StaleDescriptorException.class);
    }

    @Test
    void an_own_region_closes_after_the_kernel_that_runs_on_it() {
        MemoryRegion own = region(initiator, 0);
        MappedRegion mapped = MappedRegion.of(own);
        GpuWork work = filling(mapped, 8, true);
        work.submit();
        CompletableFuture<Void> closed = own.close();
        assertThat(mapped.isOpen()).isFalse();
        assertThatThrownBy(work::submit).isInstanceOf(GpuClosedException.class);
        assertThat(closed).isNotDone();
        WORD.setRelease(gate.segment(), 0L, 1L);
        Patience.await(closed);
    }

    /** The engine ends, and its peer with it: a region that was left mapped holds up neither. */
    @Test
    void the_end_of_a_connection_ends_what_was_mapped_over_it() {
        MemoryRegion there = region(target, 0);
        RemoteRegion remote = Patience.await(connection.attach(there.descriptor()));
        MappedRegion mapped = within(MappedRegion.of(remote, SoftGpu.id(1)));
        Patience.await(connection.close());
        Patience.until("it has ended", () -> !mapped.isOpen());
        Patience.failure(MappedRegion.of(remote, SoftGpu.id(1)), SluiceException.class);
        Patience.await(there.close());
    }
}
