package io.sluice.cuda;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sluice.engine.Connection;
import io.sluice.engine.MemoryKind;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RegionMemory;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.RegistrationException;
import io.sluice.engine.RemoteRegion;
import io.sluice.engine.SluiceException;
import io.sluice.engine.TransferEngine;
import io.sluice.testkit.Patience;
import io.sluice.testkit.PatientOptions;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Regions of memory that lies in several allocations side by side, with a gap before the last. */
class ChunkedMemoryTest {
    private static final int CHUNKS = 5;
    private static final int GAP = 3;
    private static final int MARGIN = 1000;

    private ChunkedMemory chunks;
    private TransferEngine initiator;
    private TransferEngine target;
    private Connection connection;

    @BeforeEach
    void open() {
        SoftGpu.load();
        chunks = new ChunkedMemory(0, CHUNKS);
        for (int chunk = 0; chunk < CHUNKS; chunk++) {
            if (chunk != GAP) {
                chunks.map(chunk);
            }
        }
        initiator = engine();
        target = engine();
        connection = Patience.await(initiator.connect(target.address()));
    }

    @AfterEach
    void close() {
        Patience.await(initiator.closeAsync());
        Patience.await(target.closeAsync());
        chunks.close();
        assertThat(SoftGpu.count("mappings")).isZero();
        assertThat(SoftGpu.count("allocations")).isZero();
    }

    private static TransferEngine engine() {
        return TransferEngine.open(PatientOptions.builder()
                .transports(List.of("shm", "tcp", "cuda"))
                .build());
    }

    private static MemoryRegion register(TransferEngine engine, long address, long bytes) {
        return engine.register(
                RegionMemory.device(MemoryKind.CUDA, SoftGpu.id(0), address, bytes, () -> true),
                RegionOptions.readWrite().on(MemoryKind.CUDA, SoftGpu.id(0)));
    }

    private static MemoryRegion allocate(TransferEngine engine, int ordinal, long bytes) {
        return engine.allocate(bytes, RegionOptions.readWrite().on(MemoryKind.CUDA, SoftGpu.id(ordinal)));
    }

    private static byte[] random(int bytes) {
        byte[] made = new byte[bytes];
        new Random(bytes).nextBytes(made);
        return made;
    }

    private void assertZeros(long from, long length) {
        assertThat(Arrays.mismatch(chunks.read(from, length), new byte[(int) length]))
                .isEqualTo(-1);
    }

    /** Its own allocation is mapped, and not the first of the range that was reserved. */
    @ParameterizedTest
    @ValueSource(ints = {0, 1})
    void a_region_in_one_of_them_is_mapped(int gpu) {
        int bytes = 5000;
        MemoryRegion served = register(target, chunks.address(1) + MARGIN, bytes);
        RemoteRegion remote = Patience.await(connection.attach(served.descriptor()));
        assertThat(remote.path(MemoryKind.CUDA).transport()).isEqualTo("cuda");
        MemoryRegion local = allocate(initiator, gpu, bytes);
        byte[] source = random(bytes);
        SoftGpu.write(gpu, local.memory().address(), source);
        Patience.await(Ends.write(local, 0, remote, 0, bytes));
        byte[] expected = new byte[MARGIN + bytes + MARGIN];
        System.arraycopy(source, 0, expected, MARGIN, bytes);
        assertThat(chunks.read(chunks.address(1), expected.length)).isEqualTo(expected);
        assertZeros(chunks.address(0), chunks.chunkBytes());
    }

    @Test
    void a_region_of_several_is_read_and_written_by_its_own_gpu() {
        int bytes = (int) (2 * chunks.chunkBytes()) - MARGIN;
        long address = chunks.address(0) + MARGIN;
        MemoryRegion spanning = register(target, address, bytes);
        RemoteRegion remote = Patience.await(connection.attach(spanning.descriptor()));
        MemoryRegion local = allocate(initiator, 0, bytes);
        byte[] source = random(bytes);
        SoftGpu.write(0, local.memory().address(), source);
        Patience.await(Ends.write(local, 0, remote, 0, bytes));
        assertThat(Arrays.mismatch(chunks.read(address, bytes), source)).isEqualTo(-1);
        assertZeros(chunks.address(0), MARGIN);
        assertZeros(chunks.address(2), chunks.chunkBytes());
        // pages on either side of where two allocations meet
        int page = (int) (chunks.chunkBytes() / 512);
        int[] pages = {510, 511, 512, 5};
        int[] reversed = {5, 512, 511, 510};
        Patience.await(Ends.pages(true, local, reversed, remote, pages, page));
        for (int i = 0; i < pages.length; i++) {
            assertThat(chunks.read(address + (long) pages[i] * page, page))
                    .isEqualTo(Arrays.copyOfRange(source, reversed[i] * page, (reversed[i] + 1) * page));
        }
        // another engine of the process has it as the local side
        MemoryRegion own = register(initiator, address, bytes);
        MemoryRegion there = allocate(target, 1, bytes);
        Patience.await(Ends.write(own, 0, Patience.await(connection.attach(there.descriptor())), 0, bytes));
        assertThat(Arrays.mismatch(SoftGpu.read(1, there.memory().address(), bytes), chunks.read(address, bytes)))
                .isEqualTo(-1);
    }

    @Test
    void another_gpu_is_refused_a_region_of_several() {
        MemoryRegion spanning = register(target, chunks.address(0), 2 * chunks.chunkBytes());
        MemoryRegion local = allocate(initiator, 1, 4096);
        assertThat(Patience.failure(connection.attach(spanning.descriptor()), SluiceException.class))
                .hasMessageContaining("of several allocations");
        assertThat(local.isOpen()).isTrue();
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 2, GAP})
    void what_is_not_mapped_is_refused(int first) {
        assertThatThrownBy(() -> register(initiator, chunks.address(first), (GAP + 2 - first) * chunks.chunkBytes()))
                .isInstanceOf(RegistrationException.class);
    }

    @Test
    void an_allocation_that_was_exchanged_is_refused() {
        MemoryRegion one = register(target, chunks.address(1), 4096);
        MemoryRegion spanning = register(target, chunks.address(0), 3 * chunks.chunkBytes());
        MemoryRegion before = register(target, chunks.address(0), 4096);
        chunks.unmap(1);
        chunks.map(1);
        for (MemoryRegion each : List.of(one, spanning)) {
            Patience.failure(connection.attach(each.descriptor()), SluiceException.class);
        }
        Patience.await(connection.attach(before.descriptor()));
        MemoryRegion again = register(target, chunks.address(0), 3 * chunks.chunkBytes());
        Patience.await(connection.attach(again.descriptor()));
    }
}
