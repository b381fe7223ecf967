package io.sluice.cuda;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sluice.engine.Connection;
import io.sluice.engine.ConnectionState;
import io.sluice.engine.MemoryKind;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RegionMemory;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.RegistrationException;
import io.sluice.engine.RemoteRegion;
import io.sluice.engine.RemoteSignal;
import io.sluice.engine.Signal;
import io.sluice.engine.SluiceException;
import io.sluice.engine.TransferEngine;
import io.sluice.engine.TransferOptions;
import io.sluice.jni.CudaDevice;
import io.sluice.jni.CudaMemory;
import io.sluice.testkit.ForkedJava;
import io.sluice.testkit.Patience;
import io.sluice.testkit.PatientOptions;
import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A request that a driver or a GPU refuses, or never executes, ends with a typed error, and other transfers go on. */
class FaultsTest {
    private static final int BYTES = 1 << 20;
    private static final Duration LONG_ENOUGH_TO_SEE = Duration.ofMillis(200);

    private final List<TransferEngine> engines = new ArrayList<>();

    @BeforeEach
    void load() {
        SoftGpu.load();
    }

    @AfterEach
    void close() {
        SoftGpu.hang(false);
        SoftGpu.refuseImports(false);
        SoftGpu.refuseCopies(0, 0);
        SoftGpu.refusePeerAtomics(false);
        SoftGpu.refusePins(false);
        engines.forEach(engine -> Patience.await(engine.closeAsync()));
        assertThat(SoftGpu.count("allocations")).isZero();
        assertThat(SoftGpu.count("registrations")).isZero();
    }

    private TransferEngine engine(CudaOptions options) {
        TransferEngine engine = TransferEngine.open(PatientOptions.builder()
                .transports(List.of("shm", "tcp", "cuda"))
                .transport(options)
                .build());
        engines.add(engine);
        return engine;
    }

    private TransferEngine engine() {
        return engine(CudaOptions.builder().build());
    }

    private static RegionOptions on(int ordinal, RegionOptions options) {
        return options.on(MemoryKind.CUDA, SoftGpu.id(ordinal));
    }

    private static byte[] random(int bytes) {
        byte[] made = new byte[bytes];
        new Random(bytes).nextBytes(made);
        return made;
    }

    @Test
    void more_memory_than_a_gpu_has_is_refused_with_the_drivers_words() {
        TransferEngine engine = engine();
        assertThatThrownBy(() -> engine.allocate(1L << 40, on(0, RegionOptions.local())))
                .isInstanceOf(RegistrationException.class)
                .hasMessageContaining("CUDA_ERROR_OUT_OF_MEMORY");
        Patience.await(engine.allocate(BYTES, on(0, RegionOptions.local())).close());
    }

    /** Memory of the same process is opened by its descriptor for another GPU. */
    @Test
    void memory_that_cannot_be_opened_is_refused_at_attach() {
        SoftGpu.needSoftware("memory that the driver refuses");
        TransferEngine initiator = engine();
        TransferEngine target = engine();
        Connection connection = Patience.await(initiator.connect(target.address()));
        MemoryRegion local = initiator.allocate(BYTES, on(0, RegionOptions.local()));
        MemoryRegion there = target.allocate(BYTES, on(1, RegionOptions.readWrite()));
        SoftGpu.refuseImports(true);
        Patience.failure(connection.attach(there.descriptor()), CudaException.class);
        assertThat(connection.state()).isEqualTo(ConnectionState.OPEN);
        // the GPU that memory lies on needs no import
        MemoryRegion near = target.allocate(BYTES, on(0, RegionOptions.readWrite()));
        Patience.await(Ends.write(local, 0, Patience.await(connection.attach(near.descriptor())), 0, 64));
    }

    /** Some records of a request are under way when the driver refuses one: its end waits for them. */
    @Test
    void a_request_that_the_driver_takes_in_part_ends_when_that_part_is_done() {
        SoftGpu.needSoftware("a stream that does nothing");
        TransferEngine initiator =
                engine(CudaOptions.builder().copyEngines(true).build());
        TransferEngine target = engine();
        Connection connection = Patience.await(initiator.connect(target.address()));
        MemoryRegion local = initiator.allocate(BYTES, on(0, RegionOptions.local()));
        MemoryRegion there = target.allocate(BYTES, on(0, RegionOptions.readWrite()));
        RemoteRegion remote = Patience.await(connection.attach(there.descriptor()));
        byte[] source = random(BYTES);
        SoftGpu.write(0, local.memory().address(), source);
        int[] pages = IntStream.range(0, 64).toArray();
        // none adjoins the next
        int[] reversed = IntStream.range(0, 64).map(page -> 63 - page).toArray();
        for (int refused : new int[] {0, 31, 63}) {
            SoftGpu.hang(true);
            // the first of a call is refused at once, another when it is the first of the next
            SoftGpu.refuseCopies(refused, refused == 0 ? 1 : 2);
            CompletableFuture<Void> end = Ends.pages(true, local, reversed, remote, pages, 4096);
            // two cycles of the loop later the driver has got it
            Patience.await(connection.quiesced());
            Patience.await(connection.quiesced());
            assertThat(end).isNotDone();
            SoftGpu.hang(false);
            Patience.failure(end, SluiceException.class);
            byte[] arrived = SoftGpu.read(0, there.memory().address(), 64 * 4096);
            for (int page = 0; page < 64; page++) {
                byte[] expected = page == refused
                        ? new byte[4096]
                        : Arrays.copyOfRange(source, (63 - page) * 4096, (64 - page) * 4096);
                assertThat(Arrays.copyOfRange(arrived, page * 4096, page * 4096 + 4096))
                        .as("page %d", page)
                        .isEqualTo(expected);
            }
            SoftGpu.write(0, there.memory().address(), new byte[64 * 4096]);
        }
        Patience.await(Ends.write(local, 0, remote, 0, BYTES));
    }

    /** Each page is pinned once: what lies over several of such ranges is copied in pieces. */
    @Test
    void regions_of_the_host_share_pages() {
        TransferEngine initiator = engine();
        TransferEngine target = engine();
        Connection connection = Patience.await(initiator.connect(target.address()));
        try (Arena arena = Arena.ofShared()) {
            MemorySegment memory = arena.allocate(64 << 10, 4096);
            byte[] source = random(64 << 10);
            memory.copyFrom(MemorySegment.ofArray(source));
            MemoryRegion there = target.allocate(BYTES, on(1, RegionOptions.readWrite()));
            RemoteRegion remote = Patience.await(connection.attach(there.descriptor()));
            MemoryRegion middle = initiator.register(memory.asSlice(10_000, 100), RegionOptions.local());
            MemoryRegion before = initiator.register(memory.asSlice(100, 9_900), RegionOptions.local());
            MemoryRegion whole = initiator.register(memory, RegionOptions.local());
            for (MemoryRegion region : List.of(middle, before, whole)) {
                int bytes = (int) region.length();
                int at = (int) (region.segment().address() - memory.address());
                Patience.await(Ends.write(region, 0, remote, 7, bytes));
                assertThat(SoftGpu.read(1, there.memory().address() + 7, bytes))
                        .isEqualTo(Arrays.copyOfRange(source, at, at + bytes));
                int[] pages = IntStream.range(0, bytes / 50).toArray();
                Patience.await(Ends.pages(true, region, pages, remote, pages, 50));
                assertThat(SoftGpu.read(1, there.memory().address(), pages.length * 50))
                        .isEqualTo(Arrays.copyOfRange(source, at, at + pages.length * 50));
            }
            // what others pin stays pinned
            Patience.await(middle.close());
            Patience.await(Ends.write(whole, 0, remote, 0, 64 << 10));
            Patience.await(before.close());
            Patience.await(whole.close());
        }
    }

    /** The driver takes no page twice; what the user has pinned is used, and stays pinned. */
    @Test
    void memory_that_the_user_has_pinned_is_used() {
        TransferEngine initiator = engine();
        TransferEngine target = engine();
        Connection connection = Patience.await(initiator.connect(target.address()));
        int page = (int) PinnedRanges.PAGE_BYTES;
        int bytes = 16 * page;
        MemoryRegion there = target.allocate(BYTES, on(1, RegionOptions.readWrite()));
        RemoteRegion remote = Patience.await(connection.attach(there.descriptor()));
        try (Arena arena = Arena.ofShared()) {
            MemorySegment memory = arena.allocate(bytes, page);
            byte[] source = random(bytes);
            memory.copyFrom(MemorySegment.ofArray(source));
            List<MemorySegment> pinned = List.of(
                    memory.asSlice(2L * page, 3L * page), memory.asSlice(5L * page, page), memory.asSlice(15L * page));
            pinned.forEach(SoftGpu::pinHost);
            for (int[] range : new int[][] {{0, bytes}, {3 * page + 5, page}, {4 * page, 12 * page}}) {
                MemoryRegion region = initiator.register(memory.asSlice(range[0], range[1]), RegionOptions.local());
                Patience.await(Ends.write(region, 0, remote, 0, range[1]));
                assertThat(SoftGpu.read(1, there.memory().address(), range[1]))
                        .isEqualTo(Arrays.copyOfRange(source, range[0], range[0] + range[1]));
                Patience.await(region.close());
            }
            // fails if it is not pinned
            pinned.forEach(SoftGpu::unpinHost);
        }
    }

    /** As over PCIe: the GPU that the word lies on adds, behind the bytes that another one has copied. */
    @Test
    void signals_are_added_where_no_gpu_adds_to_the_memory_of_another() {
        SoftGpu.needSoftware("a GPU without atomic operations in the memory of others");
        SoftGpu.refusePeerAtomics(true);
        TransferEngine initiator = engine();
        TransferEngine target = engine();
        Connection connection = Patience.await(initiator.connect(target.address()));
        SoftGpu.delay(20_000);
        MemoryRegion local = initiator.allocate(BYTES, on(0, RegionOptions.local()));
        MemoryRegion there = target.allocate(BYTES, on(1, RegionOptions.readWrite()));
        RemoteRegion remote = Patience.await(connection.attach(there.descriptor()));
        Signal signal = there.signal(8);
        for (int round = 1; round <= 50; round++) {
            byte[] source = random(1000 + round);
            SoftGpu.write(0, local.memory().address(), source);
            CompletableFuture<byte[]> seen = signal.awaitAtLeast(2L * round - 1)
                    .thenApply(value -> SoftGpu.read(1, there.memory().address() + 64, source.length));
            CompletableFuture<Void> end = new CompletableFuture<>();
            connection.writeWithSignal(
                    local,
                    0,
                    remote,
                    64,
                    source.length,
                    new RemoteSignal(remote, 8).weak(),
                    TransferOptions.defaults(),
                    (transfer, error) -> Ends.complete(end, error));
            Patience.await(end);
            assertThat(Patience.await(seen)).isEqualTo(source);
            CompletableFuture<Long> held = new CompletableFuture<>();
            connection.fetchAdd(remote, 8, 1, TransferOptions.defaults(), (transfer, value, error) -> {
                if (error == null) {
                    held.complete(value);
                } else {
                    held.completeExceptionally(error);
                }
            });
            assertThat(Patience.await(held)).isEqualTo(2L * round - 1);
        }
        SoftGpu.delay(0);
        assertThat(signal.value()).isEqualTo(100);
    }

    @Test
    void words_of_a_gpu_that_does_not_answer_are_an_error() {
        SoftGpu.needSoftware("a stream that does nothing");
        TransferEngine engine = engine();
        MemoryRegion region = engine.allocate(4096, on(0, RegionOptions.readWrite()));
        region.signal(0).set(3);
        SoftGpu.hang(true);
        assertThatThrownBy(() -> region.signal(0).add(4))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("does not answer");
        assertThatThrownBy(() -> region.signal(0).value()).isInstanceOf(IllegalStateException.class);
        SoftGpu.hang(false);
        Patience.until("it answers", () -> {
            try {
                return region.signal(0).value() == 7;
            } catch (IllegalStateException e) {
                return false;
            }
        });
    }

    /** The GPU may store a word later that it was told while it did not answer: not into memory that is used again. */
    @Test
    void a_region_closes_when_its_words_are_in_place() {
        SoftGpu.needSoftware("a stream that does nothing");
        TransferEngine engine = engine();
        MemoryRegion region = engine.allocate(4096, on(0, RegionOptions.readWrite()));
        MemoryRegion other = engine.allocate(4096, on(0, RegionOptions.readWrite()));
        region.signal(0).set(3);
        SoftGpu.hang(true);
        assertThatThrownBy(() -> region.signal(0).set(4)).hasMessageContaining("does not answer");
        CompletableFuture<Void> closed = region.close();
        CompletableFuture<Void> otherClosed = other.close();
        Patience.pause(LONG_ENOUGH_TO_SEE);
        assertThat(closed).isNotDone();
        SoftGpu.hang(false);
        Patience.await(closed);
        Patience.await(otherClosed);
        Patience.await(engine.allocate(4096, on(0, RegionOptions.readWrite())).close());
    }

    @Test
    @Tag("soak")
    void memory_whose_words_may_still_change_is_kept() {
        SoftGpu.needSoftware("a stream that does nothing");
        TransferEngine engine = engine();
        long address = SoftGpu.malloc(0, BYTES);
        MemoryRegion own = engine.register(
                RegionMemory.device(MemoryKind.CUDA, SoftGpu.id(0), address, BYTES, () -> true),
                on(0, RegionOptions.readWrite()));
        MemoryRegion region = engine.allocate(BYTES, on(0, RegionOptions.readWrite()));
        for (MemoryRegion each : List.of(own, region)) {
            each.signal(0).set(3);
            SoftGpu.hang(true);
            assertThatThrownBy(() -> each.signal(0).set(4)).hasMessageContaining("does not answer");
            assertThat(Patience.failure(each.close(), SluiceException.class))
                    .hasMessageContaining("was not released")
                    .cause()
                    .isInstanceOf(SluiceException.class)
                    .hasMessageContaining("may still change a word");
            SoftGpu.hang(false);
            long word = each.memory().address();
            Patience.until("the word is stored", () -> SoftGpu.read(0, word, 1)[0] == 4);
        }
        SoftGpu.free(0, address);
        long device = CudaException.check(CudaDevice.open(0), "no GPU");
        assertThat(CudaMemory.free(device, region.memory().address(), 2 << 20)).isZero();
        CudaDevice.close(device);
    }

    /** Copies in one part, or more than a stream takes at once: the signal would announce bytes that are not there. */
    @ParameterizedTest
    @ValueSource(ints = {8, 600})
    void no_signal_follows_a_copy_that_the_driver_does_not_take(int pages) {
        SoftGpu.needSoftware("a copy that the driver refuses");
        TransferEngine initiator = engine();
        TransferEngine target = engine();
        Connection connection = Patience.await(initiator.connect(target.address()));
        MemoryRegion there = target.allocate(4 << 20, on(1, RegionOptions.readWrite()));
        RemoteRegion remote = Patience.await(connection.attach(there.descriptor()));
        long page = PinnedRanges.PAGE_BYTES;
        try (Arena arena = Arena.ofShared()) {
            MemorySegment memory = arena.allocate(pages * page, page);
            List<MemorySegment> pinned = IntStream.range(0, pages / 2)
                    .mapToObj(i -> memory.asSlice(2 * i * page, page))
                    .toList();
            pinned.forEach(SoftGpu::pinHost);
            MemoryRegion region = initiator.register(memory, RegionOptions.local());
            // pinned from here on
            Patience.await(writeWithSignal(connection, region, remote));
            assertThat(there.signal(0).value()).isEqualTo(1);
            // it is refused again as the first of the next call
            SoftGpu.refuseCopies(3, 2);
            Patience.failure(writeWithSignal(connection, region, remote), SluiceException.class);
            assertThat(there.signal(0).value()).isEqualTo(1);
            Patience.await(writeWithSignal(connection, region, remote));
            assertThat(there.signal(0).value()).isEqualTo(2);
            Patience.await(region.close());
            pinned.forEach(SoftGpu::unpinHost);
        }
    }

    private static CompletableFuture<Void> writeWithSignal(
            Connection connection, MemoryRegion local, RemoteRegion remote) {
        CompletableFuture<Void> end = new CompletableFuture<>();
        connection.writeWithSignal(
                local,
                0,
                remote,
                64,
                local.length(),
                new RemoteSignal(remote, 0).weak(),
                TransferOptions.defaults(),
                (transfer, error) -> Ends.complete(end, error));
        return end;
    }

    @Test
    void memory_that_cannot_be_cleared_is_refused_and_leaves_no_stream() {
        SoftGpu.needSoftware("memory of the host that the driver does not pin");
        TransferEngine engine = engine();
        Patience.await(engine.allocate(4096, on(0, RegionOptions.local())).close());
        Patience.until("only that for words is left", () -> SoftGpu.count("streams") == 1);
        SoftGpu.refusePins(true);
        for (int i = 0; i < 10; i++) {
            assertThatThrownBy(() -> engine.allocate(4096, on(0, RegionOptions.local())))
                    .isInstanceOf(RegistrationException.class)
                    .hasMessageContaining("cannot pin");
        }
        Patience.until("their streams are gone", () -> SoftGpu.count("streams") == 1);
        SoftGpu.refusePins(false);
        Patience.await(engine.allocate(4096, on(0, RegionOptions.local())).close());
    }

    /** Such an error stays with a process, so that another one has it. */
    @Test
    void a_lost_gpu_ends_what_it_carries_and_nothing_else() throws IOException {
        SoftGpu.needSoftware("a GPU that fails");
        List<String> command = new ArrayList<>(List.of(
                ProcessHandle.current().info().command().orElseThrow(),
                "-Xmx128m",
                "-XX:+UseSerialGC",
                "--enable-native-access=ALL-UNNAMED",
                "-Dbasedir=" + System.getProperty("basedir", System.getProperty("user.dir"))));
        command.addAll(ForkedJava.startOptions());
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), LostGpuMain.class.getName()));
        Process process =
                new ProcessBuilder(command).redirectError(Redirect.INHERIT).start();
        try {
            CompletableFuture<String> said = CompletableFuture.supplyAsync(() -> {
                try {
                    return new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
                } catch (IOException e) {
                    throw new IllegalStateException("the process is gone", e);
                }
            });
            assertThat(Patience.await(said).lines().filter(line -> line.startsWith("LOST ")))
                    .containsExactly(
                            "LOST transfers typed", "LOST allocation typed", "LOST reason told", "LOST host goes on");
        } finally {
            process.destroyForcibly();
            Patience.exit(process);
        }
    }

    /** Each reaches its own memory. */
    @Test
    void memory_of_a_gpu_without_peer_access_is_staged() {
        SoftGpu.needSoftware("a GPU that does not reach another");
        try (ForkedMain process = new ForkedMain(UnlinkedGpusMain.class, Map.of("SOFT_GPU_NO_PEERS", "1"))) {
            assertThat(process.answer()).startsWith("tcp: staged").contains("no peer access");
            assertThat(process.answer()).isEqualTo("3");
            assertThat(process.answer()).startsWith("cuda: ");
            assertThat(process.answer()).isEqualTo("3");
        }
    }
}
