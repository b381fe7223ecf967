package io.sluice.cuda;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sluice.engine.Connection;
import io.sluice.engine.EngineAddress;
import io.sluice.engine.MemoryKind;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RegionDescriptor;
import io.sluice.engine.RegionMemory;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.RegistrationException;
import io.sluice.engine.RemoteRegion;
import io.sluice.engine.SluiceException;
import io.sluice.engine.TransferEngine;
import io.sluice.jni.LocalSockets;
import io.sluice.jni.Sockets;
import io.sluice.testkit.Patience;
import io.sluice.testkit.PatientOptions;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Memory that a process without an engine owns is served by others, who open it and pass on what they opened it by. */
class ImportedMemoryTest {
    private static final int PAGE_BYTES = 1024;
    private static final int PAGES = 8;
    private static final int REGION_BYTES = PAGES * PAGE_BYTES;
    private static final List<Integer> OFFSETS =
            List.of(0, 64 << 10, (1 << 20) + 256, 5 << 20, OwnerMain.BYTES - REGION_BYTES);

    private static ForkedMain owner;
    private static ForkedMain sidecar;
    private static String sidecarAddress;
    // by the number that this process has for the GPU
    private static final String[] GPUS = new String[2];
    private static final String[] HANDLES = new String[2];
    private static final int[] OWNERS_NUMBERS = new int[2];

    private final List<ImportedMemory> memories = new ArrayList<>();
    private TransferEngine engine;
    private Connection connection;

    @BeforeAll
    static void start() {
        SoftGpu.load();
        // all number the GPUs differently
        owner = new ForkedMain(OwnerMain.class, "1,0");
        sidecar = new ForkedMain(SidecarMain.class, "1,0");
        String[] ready = owner.answer().split(" ");
        for (int i = 0; i < GPUS.length; i++) {
            GPUS[i] = SoftGpu.id(i);
            int number = GPUS[i].equals(ready[1]) ? 0 : 1;
            OWNERS_NUMBERS[i] = number;
            HANDLES[i] = ready[2 + 2 * number];
        }
        sidecarAddress = sidecar.answer().split(" ")[1];
    }

    @AfterAll
    static void end() {
        owner.close();
        sidecar.close();
    }

    @BeforeEach
    void open() {
        engine = TransferEngine.open(PatientOptions.builder()
                .transports(List.of("shm", "tcp", "cuda"))
                .build());
        connection = Patience.await(engine.connect(EngineAddress.parse(sidecarAddress)));
    }

    @AfterEach
    void close() {
        SoftGpu.refuseImports(false);
        memories.forEach(ImportedMemory::close);
        Patience.await(engine.closeAsync());
        assertThat(SoftGpu.count("mappings")).isZero();
        assertThat(SoftGpu.count("allocations")).isZero();
    }

    private static byte[] handle(int gpu) {
        return HexFormat.of().parseHex(HANDLES[gpu]);
    }

    private ImportedMemory imported(int gpu, long offset, long length) {
        ImportedMemory memory = ImportedMemory.ofHandle(GPUS[gpu], handle(gpu), offset, length);
        memories.add(memory);
        return memory;
    }

    private MemoryRegion register(RegionMemory memory) {
        return engine.register(memory, RegionOptions.readWrite().on(MemoryKind.CUDA, String.valueOf(memory.device())));
    }

    private RegionDescriptor served(int gpu, String name, String handle, long offset, long length) {
        String[] answer = sidecar.ask("import %s %s %s %d %d".formatted(name, GPUS[gpu], handle, offset, length))
                .split(" ");
        assertThat(answer[0]).as(() -> String.join(" ", answer)).isEqualTo("REGION");
        return RegionDescriptor.fromBytes(HexFormat.of().parseHex(answer[1]));
    }

    private static void assertOwnerHas(int allocation, long offset, byte[] bytes) {
        assertThat(owner.ask("sum %d %d %d".formatted(allocation, offset, bytes.length)))
                .isEqualTo("SUM " + Arrays.hashCode(bytes));
    }

    /** Neither process owns the memory, and each has only the handle that it was given. */
    @Test
    void pages_go_from_one_owners_memory_to_anothers_wherever_in_the_allocation_they_lie() {
        int[] from = {7, 0, 3, 1};
        int[] to = {2, 6, 0, 5};
        for (int offset : OFFSETS) {
            MemoryRegion local = register(imported(0, offset, REGION_BYTES).memory());
            byte[] source = SoftGpu.read(0, local.memory().address(), REGION_BYTES);
            assertOwnerHas(OWNERS_NUMBERS[0], offset, source);
            RemoteRegion remote =
                    Patience.await(connection.attach(served(1, "region" + offset, HANDLES[1], offset, REGION_BYTES)));
            assertThat(remote.path().transport()).isEqualTo("cuda");
            Patience.await(Ends.pages(true, local, from, remote, to, PAGE_BYTES));
            for (int i = 0; i < to.length; i++) {
                int at = from[i] * PAGE_BYTES;
                assertOwnerHas(
                        OWNERS_NUMBERS[1],
                        offset + (long) to[i] * PAGE_BYTES,
                        Arrays.copyOfRange(source, at, at + PAGE_BYTES));
            }
            Patience.await(connection.detach(remote));
            assertThat(sidecar.ask("close region" + offset)).isEqualTo("CLOSED");
        }
    }

    /** The sidecar maps what this process has imported by the handle of the owner. */
    @Test
    void a_peer_attaches_a_region_of_imported_memory() {
        TransferEngine target = TransferEngine.open(PatientOptions.builder()
                .transports(List.of("shm", "tcp", "cuda"))
                .build());
        try {
            ImportedMemory memory = imported(0, 64 << 10, REGION_BYTES);
            MemoryRegion region =
                    target.register(memory.memory(), RegionOptions.readWrite().on(MemoryKind.CUDA, GPUS[0]));
            served(1, "theirs", HANDLES[1], 3 << 20, REGION_BYTES);
            assertThat(sidecar.ask("connect " + target.address())).isEqualTo("CONNECTED");
            String numbers = IntStream.range(0, PAGES).mapToObj(String::valueOf).collect(Collectors.joining(","));
            assertThat(sidecar.ask("write theirs %s %d %s %s"
                            .formatted(
                                    HexFormat.of().formatHex(region.descriptor().toBytes()),
                                    PAGE_BYTES,
                                    numbers,
                                    numbers)))
                    .isEqualTo("MOVED cuda");
            byte[] expected =
                    Arrays.copyOfRange(OwnerMain.pattern(OWNERS_NUMBERS[1]), 3 << 20, (3 << 20) + REGION_BYTES);
            assertOwnerHas(OWNERS_NUMBERS[0], 64 << 10, expected);
            assertThat(SoftGpu.read(0, region.memory().address(), REGION_BYTES)).isEqualTo(expected);
            // the peer unmaps it first
            Patience.await(region.close());
            assertThat(sidecar.ask("close theirs")).isEqualTo("CLOSED");
        } finally {
            Patience.await(target.closeAsync());
        }
    }

    /** The second GPU and the second engine of this process open the handle, or the descriptor, once more. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void another_engine_of_this_process_reaches_imported_memory_by_either_gpu(boolean byDescriptor) {
        TransferEngine target = TransferEngine.open(PatientOptions.builder()
                .transports(List.of("shm", "tcp", "cuda"))
                .build());
        try {
            int gpu = byDescriptor ? OWNERS_NUMBERS[0] : 0;
            ImportedMemory memory = byDescriptor ? descriptor(gpu) : imported(gpu, 4096, REGION_BYTES);
            byte[] expected = Arrays.copyOfRange(
                    OwnerMain.pattern(byDescriptor ? 2 : OWNERS_NUMBERS[0]), 4096, 4096 + REGION_BYTES);
            MemoryRegion region =
                    target.register(memory.memory(), RegionOptions.readWrite().on(MemoryKind.CUDA, GPUS[gpu]));
            Connection here = Patience.await(engine.connect(target.address()));
            RemoteRegion remote = Patience.await(here.attach(region.descriptor()));
            for (int by = 0; by < GPUS.length; by++) {
                MemoryRegion local =
                        engine.allocate(REGION_BYTES, RegionOptions.local().on(MemoryKind.CUDA, GPUS[by]));
                Patience.await(Ends.read(local, 0, remote, 0, REGION_BYTES));
                assertThat(SoftGpu.read(by, local.memory().address(), REGION_BYTES))
                        .isEqualTo(expected);
                Patience.await(local.close());
            }
            Patience.await(region.close());
        } finally {
            Patience.await(target.closeAsync());
        }
    }

    private ImportedMemory descriptor(int gpu) {
        ImportedMemory memory = ImportedMemory.ofDescriptor(GPUS[gpu], received(), OwnerMain.BYTES, 4096, REGION_BYTES);
        memories.add(memory);
        return memory;
    }

    /** Of memory of the owner's first GPU. */
    private static int received() {
        String name = "sluice-cuda-test-" + UUID.randomUUID();
        int listener = LocalSockets.listen(("\0" + name).getBytes(StandardCharsets.US_ASCII));
        assertThat(listener).isNotNegative();
        assertThat(owner.ask("descriptor " + name)).isEqualTo("SENT");
        int received = OwnerMain.receive(listener);
        Sockets.close(listener);
        return received;
    }

    @Test
    void a_handle_of_pytorch_has_two_bytes_more() {
        byte[] torch = HexFormat.of().parseHex("0163" + HANDLES[0]);
        try (ImportedMemory memory = ImportedMemory.ofHandle(GPUS[0], torch, 5 << 20, REGION_BYTES)) {
            byte[] expected =
                    Arrays.copyOfRange(OwnerMain.pattern(OWNERS_NUMBERS[0]), 5 << 20, (5 << 20) + REGION_BYTES);
            assertThat(SoftGpu.read(0, memory.memory().address(), REGION_BYTES)).isEqualTo(expected);
        }
    }

    @Test
    void what_cannot_be_opened_is_refused_with_the_reason() {
        byte[] handle = handle(0);
        assertRefused(GPUS[0], new byte[63], 0, 8, "not these 63");
        assertRefused(GPUS[0], HexFormat.of().parseHex("0178" + HANDLES[0]), 0, 8, "66 if it is PyTorch's");
        assertRefused(GPUS[0], HexFormat.of().parseHex("0165" + HANDLES[0]), 0, 8, "expandable_segments:False");
        assertRefused("GPU-0", handle, 0, 8, "sees no GPU GPU-0");
        assertRefused(GPUS[0], handle, -1, 8, "no range");
        assertRefused(GPUS[0], handle, 0, 0, "no range");
        assertRefused(GPUS[0], handle, OwnerMain.BYTES - 7, 8, "leave the allocation");
        assertRefused(GPUS[0], handle, Long.MAX_VALUE, Long.MAX_VALUE, "leave the allocation");
        assertThatThrownBy(() -> ImportedMemory.ofDescriptor(GPUS[0], -1, OwnerMain.BYTES, 0, 8))
                .isInstanceOf(RegistrationException.class)
                .hasMessageContaining("no file descriptor");
        assertThatThrownBy(() -> ImportedMemory.ofDescriptor(GPUS[0], 0, OwnerMain.BYTES, OwnerMain.BYTES, 1))
                .isInstanceOf(RegistrationException.class)
                .hasMessageContaining("leave the allocation");
        SoftGpu.refuseImports(true);
        assertRefused(GPUS[0], handle, 0, 8, "does not open the handle");
    }

    /** A driver does not say where the memory lies that a handle opens. */
    @Test
    void a_handle_opens_on_another_gpu_that_reaches_the_memory() {
        try (ImportedMemory memory = ImportedMemory.ofHandle(GPUS[1], handle(0), 1 << 20, REGION_BYTES)) {
            MemoryRegion local = register(memory.memory());
            RemoteRegion remote =
                    Patience.await(connection.attach(served(1, "far", HANDLES[1], 2 << 20, REGION_BYTES)));
            Patience.await(Ends.read(local, 0, remote, 0, REGION_BYTES));
            byte[] expected =
                    Arrays.copyOfRange(OwnerMain.pattern(OWNERS_NUMBERS[1]), 2 << 20, (2 << 20) + REGION_BYTES);
            assertOwnerHas(OWNERS_NUMBERS[0], 1 << 20, expected);
            Patience.await(local.close());
            Patience.await(connection.detach(remote));
            assertThat(sidecar.ask("close far")).isEqualTo("CLOSED");
        }
    }

    @Test
    void a_descriptor_of_another_gpus_memory_is_refused() {
        int descriptor = received();
        int other = 1 - OWNERS_NUMBERS[0];
        assertThatThrownBy(
                        () -> ImportedMemory.ofDescriptor(GPUS[other], descriptor, OwnerMain.BYTES, 4096, REGION_BYTES))
                .isInstanceOf(RegistrationException.class)
                .hasMessageContaining("lies on " + GPUS[1 - other]);
        Sockets.close(descriptor);
    }

    private static void assertRefused(String gpu, byte[] handle, long offset, long length, String why) {
        assertThatThrownBy(() -> ImportedMemory.ofHandle(gpu, handle, offset, length))
                .isInstanceOf(RegistrationException.class)
                .hasMessageContaining(why);
    }

    @Test
    void closed_memory_is_unmapped_once_its_last_region_is_closed() {
        ImportedMemory memory = imported(0, 0, REGION_BYTES);
        MemoryRegion whole = register(memory.memory());
        MemoryRegion part = register(memory.memory().slice(PAGE_BYTES, PAGE_BYTES));
        RemoteRegion remote = Patience.await(connection.attach(served(1, "kept", HANDLES[1], 0, REGION_BYTES)));
        Patience.await(Ends.write(part, 0, remote, 0, PAGE_BYTES));
        long open = SoftGpu.count("mappings");
        memory.close();
        memory.close();
        assertThat(memory.memory().isAlive()).isFalse();
        Patience.failure(later(whole, remote), SluiceException.class);
        Patience.await(whole.close());
        assertThat(SoftGpu.count("mappings")).isEqualTo(open);
        Patience.await(part.close());
        assertThat(SoftGpu.count("mappings")).isEqualTo(Math.max(0, open - 1));
        assertThatThrownBy(() -> register(memory.memory())).isInstanceOf(RegistrationException.class);
        Patience.await(connection.detach(remote));
        assertThat(sidecar.ask("close kept")).isEqualTo("CLOSED");
    }

    /** A refused call and a failed transfer are the same here. */
    private static CompletableFuture<Void> later(MemoryRegion local, RemoteRegion remote) {
        try {
            return Ends.write(local, 0, remote, 0, 8);
        } catch (SluiceException refused) {
            return CompletableFuture.failedFuture(refused);
        }
    }

    /** A handle does not open where it was made: the address is used there, if the memory is registered. */
    @Test
    void a_peer_serves_memory_of_this_process() {
        long address = SoftGpu.malloc(0, OwnerMain.BYTES);
        try {
            String handle = HexFormat.of().formatHex(OwnerMain.handle(0, address));
            RegionDescriptor served = served(0, "mine", handle, 1 << 20, REGION_BYTES);
            MemoryRegion local =
                    engine.allocate(REGION_BYTES, RegionOptions.local().on(MemoryKind.CUDA, GPUS[1]));
            assertThat(Patience.failure(connection.attach(served), SluiceException.class))
                    .hasMessageContaining("by its address alone");
            MemoryRegion own =
                    register(RegionMemory.device(MemoryKind.CUDA, GPUS[0], address, OwnerMain.BYTES, () -> true));
            RemoteRegion remote = Patience.await(connection.attach(served));
            byte[] bytes = Arrays.copyOf(OwnerMain.pattern(9), REGION_BYTES);
            SoftGpu.write(1, local.memory().address(), bytes);
            Patience.await(Ends.write(local, 0, remote, 0, REGION_BYTES));
            assertThat(SoftGpu.read(0, address + (1 << 20), REGION_BYTES)).isEqualTo(bytes);
            Patience.await(own.close());
            // what it may have become is not touched
            Patience.failure(later(local, remote), SluiceException.class);
            Patience.await(connection.detach(remote));
            assertThat(sidecar.ask("close mine")).isEqualTo("CLOSED");
            assertThatThrownBy(() -> ImportedMemory.ofHandle(GPUS[0], OwnerMain.handle(0, address), 0, 8))
                    .isInstanceOf(RegistrationException.class)
                    .hasMessageContaining("made by this process");
        } finally {
            SoftGpu.free(0, address);
        }
    }
}
