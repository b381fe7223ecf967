package io.sluice.cuda;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sluice.engine.Connection;
import io.sluice.engine.ConnectionPath;
import io.sluice.engine.MemoryKind;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RegionMemory;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.RegistrationException;
import io.sluice.engine.RemoteRegion;
import io.sluice.engine.RemoteSignal;
import io.sluice.engine.SluiceException;
import io.sluice.engine.StaleDescriptorException;
import io.sluice.engine.TransferElement;
import io.sluice.engine.TransferEngine;
import io.sluice.engine.TransferOptions;
import io.sluice.testkit.Patience;
import io.sluice.testkit.PatientOptions;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Two engines of one process: memory of GPUs is used by its address, or mapped for the other GPU. */
class OneProcessTest {
    private static final int BYTES = 3 << 20;

    private final List<TransferEngine> engines = new ArrayList<>();
    private final Random random = new Random(26);
    private TransferEngine initiator;
    private TransferEngine target;
    private Connection connection;

    @BeforeEach
    void open() {
        SoftGpu.load();
        initiator = engine();
        target = engine();
        connection = Patience.await(initiator.connect(target.address()));
    }

    @AfterEach
    void close() {
        SoftGpu.hang(false);
        SoftGpu.delay(0);
        engines.forEach(engine -> Patience.await(engine.closeAsync()));
    }

    private TransferEngine engine() {
        TransferEngine engine = TransferEngine.open(PatientOptions.builder()
                .transports(List.of("shm", "tcp", "cuda"))
                .build());
        engines.add(engine);
        return engine;
    }

    private static RegionOptions on(int ordinal, RegionOptions options) {
        return options.on(MemoryKind.CUDA, SoftGpu.id(ordinal));
    }

    /** A region of a GPU, or of the host for −1. */
    private static MemoryRegion region(TransferEngine engine, int ordinal, RegionOptions options) {
        return engine.allocate(BYTES, ordinal < 0 ? options : on(ordinal, options));
    }

    private static byte[] bytes(int ordinal, MemoryRegion region) {
        return ordinal < 0
                ? region.segment().toArray(ValueLayout.JAVA_BYTE)
                : SoftGpu.read(ordinal, region.memory().address(), BYTES);
    }

    private byte[] fill(int ordinal, MemoryRegion region) {
        byte[] bytes = new byte[BYTES];
        random.nextBytes(bytes);
        if (ordinal < 0) {
            region.segment().copyFrom(MemorySegment.ofArray(bytes));
        } else {
            SoftGpu.write(ordinal, region.memory().address(), bytes);
        }
        return bytes;
    }

    @Test
    void memory_of_the_host_stays_on_shm() {
        assertThat(connection.paths()).extracting(ConnectionPath::transport).containsExactly("shm", "tcp", "cuda");
        MemoryRegion host = target.allocate(4096, RegionOptions.readWrite());
        assertThat(Patience.await(connection.attach(host.descriptor())).path().transport())
                .isEqualTo("shm");
    }

    @Test
    void memory_is_zeroed() {
        MemoryRegion first = region(target, 0, RegionOptions.readWrite());
        fill(0, first);
        Patience.await(first.close());
        assertThat(bytes(0, region(target, 0, RegionOptions.readWrite()))).isEqualTo(new byte[BYTES]);
    }

    @ParameterizedTest
    @CsvSource({"0, 0", "0, 1", "1, 0", "-1, 0", "-1, 1"})
    void bytes_of_any_place_and_length_arrive_where_they_should(int from, int to) {
        SoftGpu.delay(50_000);
        MemoryRegion local = region(initiator, from, RegionOptions.local());
        MemoryRegion there = region(target, to, RegionOptions.readWrite());
        RemoteRegion remote = Patience.await(connection.attach(there.descriptor()));
        assertThat(remote.path().transport()).isEqualTo("cuda");
        byte[] source = fill(from, local);
        byte[] expected = fill(to, there);
        List<CompletableFuture<Void>> ends = new ArrayList<>();
        // targets do not overlap, since transfers have no order
        for (int at = 0; at < BYTES - 70_000; at += 70_000) {
            int length = random.nextInt(65_000);
            int sourceAt = random.nextInt(BYTES - length);
            int targetAt = at + random.nextInt(5_000);
            System.arraycopy(source, sourceAt, expected, targetAt, length);
            ends.add(Ends.write(local, sourceAt, remote, targetAt, length));
        }
        ends.forEach(Patience::await);
        assertThat(Arrays.mismatch(bytes(to, there), expected)).isEqualTo(-1);
        Patience.await(Ends.read(local, 1_000_001, remote, 333, 1_500_000));
        System.arraycopy(expected, 333, source, 1_000_001, 1_500_000);
        assertThat(Arrays.mismatch(bytes(from, local), source)).isEqualTo(-1);
    }

    @ParameterizedTest
    @ValueSource(ints = {-1, 0, 1})
    void pages_of_any_order_and_size_go_both_ways(int from) {
        MemoryRegion local = region(initiator, from, RegionOptions.local());
        MemoryRegion there = region(target, 1, RegionOptions.readWrite());
        RemoteRegion remote = Patience.await(connection.attach(there.descriptor()));
        for (int pageBytes : new int[] {1, 17, 1000, 1024, 4096, 65_536}) {
            byte[] source = fill(from, local);
            byte[] expected = fill(1, there);
            int pages = Math.min(2500, BYTES / pageBytes);
            int[] locals = shuffled(pages, BYTES / pageBytes);
            int[] remotes = shuffled(pages, BYTES / pageBytes);
            Patience.await(Ends.pages(true, local, locals, remote, remotes, pageBytes));
            for (int i = 0; i < pages; i++) {
                System.arraycopy(source, locals[i] * pageBytes, expected, remotes[i] * pageBytes, pageBytes);
            }
            assertThat(Arrays.mismatch(bytes(1, there), expected)).isEqualTo(-1);
            int[] back = shuffled(pages, BYTES / pageBytes);
            Patience.await(Ends.pages(false, local, back, remote, remotes, pageBytes));
            for (int i = 0; i < pages; i++) {
                System.arraycopy(expected, remotes[i] * pageBytes, source, back[i] * pageBytes, pageBytes);
            }
            assertThat(Arrays.mismatch(bytes(from, local), source)).isEqualTo(-1);
        }
    }

    /** So many of the numbers below {@code of}, each once. */
    private int[] shuffled(int count, int of) {
        int[] all = IntStream.range(0, of).toArray();
        for (int i = 0; i < count; i++) {
            int other = i + random.nextInt(of - i);
            int chosen = all[other];
            all[other] = all[i];
            all[i] = chosen;
        }
        return Arrays.copyOf(all, count);
    }

    @Test
    void many_elements_of_one_length_are_few_launches() {
        MemoryRegion local = region(initiator, 0, RegionOptions.local());
        MemoryRegion there = region(target, 1, RegionOptions.readWrite());
        RemoteRegion remote = Patience.await(connection.attach(there.descriptor()));
        byte[] source = fill(0, local);
        byte[] expected = fill(1, there);
        List<TransferElement> elements = new ArrayList<>();
        for (int i = 0; i < 128; i++) {
            elements.add(new TransferElement(local, 5000L * (127 - i), remote, 8192L * i, 4096));
            System.arraycopy(source, 5000 * (127 - i), expected, 8192 * i, 4096);
        }
        long before = SoftGpu.count("launches");
        Patience.await(Ends.vectored(elements));
        assertThat(SoftGpu.count("launches") - before).isLessThan(64);
        assertThat(Arrays.mismatch(bytes(1, there), expected)).isEqualTo(-1);
    }

    /** More pages than a request has: a launch of few blocks would leave most of a GPU idle. */
    @Test
    void a_long_list_of_small_pages_is_one_launch() {
        MemoryRegion local = region(initiator, 0, RegionOptions.local());
        MemoryRegion there = region(target, 1, RegionOptions.readWrite());
        RemoteRegion remote = Patience.await(connection.attach(there.descriptor()));
        byte[] source = fill(0, local);
        byte[] expected = fill(1, there);
        int pages = PageTables.MOST_PAGES;
        int[] locals = shuffled(pages, BYTES / 512);
        int[] remotes = shuffled(pages, BYTES / 512);
        for (int i = 0; i < pages; i++) {
            System.arraycopy(source, locals[i] * 512, expected, remotes[i] * 512, 512);
        }
        long before = SoftGpu.count("launches");
        Patience.await(Ends.pages(true, local, locals, remote, remotes, 512));
        assertThat(SoftGpu.count("launches") - before).isLessThanOrEqualTo(1);
        assertThat(Arrays.mismatch(bytes(1, there), expected)).isEqualTo(-1);
    }

    /** A GPU that this engine uses already would fetch them over two links. */
    @Test
    void bytes_of_the_host_go_to_the_gpu_that_the_memory_lies_on() {
        MemoryRegion first = region(initiator, 0, RegionOptions.local());
        MemoryRegion host = region(initiator, -1, RegionOptions.local());
        MemoryRegion there = region(target, 1, RegionOptions.readWrite());
        RemoteRegion remote = Patience.await(connection.attach(there.descriptor()));
        Patience.await(Ends.write(first, 0, remote, 0, 8));
        byte[] source = fill(-1, host);
        long before = SoftGpu.count("crossings");
        Patience.await(Ends.write(host, 0, remote, 0, BYTES));
        Patience.await(Ends.read(host, 8, remote, 0, 64));
        assertThat(SoftGpu.count("crossings")).isEqualTo(before);
        assertThat(Arrays.mismatch(bytes(1, there), source)).isEqualTo(-1);
        Patience.await(Ends.write(first, 0, remote, 0, 8));
        assertThat(SoftGpu.count("crossings") - before).isBetween(0L, 1L);
    }

    @Test
    void a_signal_comes_behind_its_bytes() {
        MemoryRegion local = region(initiator, 0, RegionOptions.local());
        MemoryRegion there = region(target, 1, RegionOptions.readWrite());
        RemoteRegion remote = Patience.await(connection.attach(there.descriptor()));
        byte[] source = fill(0, local);
        for (int round = 1; round <= 20; round++) {
            CompletableFuture<Void> end = new CompletableFuture<>();
            connection.writeWithSignal(
                    local,
                    0,
                    remote,
                    64,
                    100_000,
                    new RemoteSignal(remote, 8).weak(),
                    TransferOptions.defaults(),
                    (transfer, error) -> Ends.complete(end, error));
            Patience.await(end);
            byte[] now = SoftGpu.read(1, there.memory().address(), 100_064);
            assertThat(ByteBuffer.wrap(now).order(ByteOrder.nativeOrder()).getLong(8))
                    .isEqualTo(round);
            assertThat(Arrays.equals(now, 64, 100_064, source, 0, 100_000)).isTrue();
        }
    }

    @Test
    void memory_of_the_users_is_checked() {
        long address = SoftGpu.malloc(0, BYTES);
        try {
            assertThatThrownBy(() -> register(1, address, 4096)).hasMessageContaining("lies on");
            assertThatThrownBy(() -> register(0, address + 1, BYTES)).hasMessageContaining("leave the allocation");
            assertThatThrownBy(() -> register(0, 4096, 64)).hasMessageContaining("knows no memory");
            assertThatThrownBy(
                            () -> target.allocate(64, RegionOptions.readWrite().on(MemoryKind.CUDA, "GPU-0")))
                    .isInstanceOf(RegistrationException.class)
                    .hasMessageContaining("sees no GPU");
            MemoryRegion there = register(0, address + 1_000_003, 1 << 20);
            MemoryRegion local = region(initiator, 1, RegionOptions.local());
            RemoteRegion remote = Patience.await(connection.attach(there.descriptor()));
            byte[] source = fill(1, local);
            Patience.await(Ends.write(local, 5, remote, 7, 900_000));
            assertThat(SoftGpu.read(0, address + 1_000_010, 900_000)).isEqualTo(Arrays.copyOfRange(source, 5, 900_005));
            Patience.await(there.close());
        } finally {
            SoftGpu.free(0, address);
        }
    }

    /** Another one's kernel would fault, and end all work of the process. */
    @Test
    void memory_of_a_pool_is_reached_by_its_own_gpu_alone() {
        SoftGpu.pools(true);
        long address = SoftGpu.malloc(0, BYTES);
        SoftGpu.pools(false);
        try {
            MemoryRegion there = register(0, address, BYTES);
            MemoryRegion far = region(initiator, 1, RegionOptions.local());
            assertThat(Patience.failure(connection.attach(there.descriptor()), CudaException.class))
                    .hasMessageContaining("its own GPU alone");
            MemoryRegion near = region(initiator, 0, RegionOptions.local());
            RemoteRegion remote = Patience.await(connection.attach(there.descriptor()));
            byte[] source = fill(0, near);
            Patience.await(Ends.write(near, 0, remote, 0, BYTES));
            assertThat(Arrays.mismatch(SoftGpu.read(0, address, BYTES), source)).isEqualTo(-1);
            Patience.failure(Ends.write(far, 0, remote, 0, BYTES), SluiceException.class);
            Patience.await(Ends.write(near, 0, remote, 0, BYTES));
            Patience.await(there.close());
        } finally {
            SoftGpu.free(0, address);
        }
    }

    private MemoryRegion register(int ordinal, long address, long bytes) {
        return target.register(
                RegionMemory.device(MemoryKind.CUDA, SoftGpu.id(ordinal), address, bytes, () -> true),
                on(ordinal, RegionOptions.readWrite()));
    }

    @Test
    void memory_that_was_freed_and_made_again_is_refused() {
        long address = SoftGpu.malloc(0, BYTES);
        MemoryRegion there = register(0, address, BYTES);
        SoftGpu.free(0, address);
        assertThat(SoftGpu.malloc(0, BYTES)).isEqualTo(address);
        try {
            Patience.failure(connection.attach(there.descriptor()), StaleDescriptorException.class);
        } finally {
            Patience.await(there.close());
            SoftGpu.free(0, address);
        }
    }

    @Test
    void close_waits_for_what_is_under_way() {
        MemoryRegion local = region(initiator, 0, RegionOptions.local());
        MemoryRegion there = region(target, 1, RegionOptions.readWrite());
        RemoteRegion remote = Patience.await(connection.attach(there.descriptor()));
        SoftGpu.hang(true);
        CompletableFuture<Void> end = Ends.write(local, 0, remote, 0, BYTES);
        CompletableFuture<Void> closed = there.close();
        assertThat(closed).isNotDone();
        SoftGpu.hang(false);
        Patience.await(closed);
        Patience.await(end.handle((done, error) -> true));
        Patience.failure(Ends.write(local, 0, remote, 0, 8), SluiceException.class);
    }

    /** Nothing is opened once a region is attached, and all is given back. */
    @Test
    void transfers_open_nothing_and_all_is_given_back() {
        try (Arena arena = Arena.ofShared()) {
            MemoryRegion local = initiator.register(arena.allocate(100_000, 8), RegionOptions.local());
            MemoryRegion there = region(target, 1, RegionOptions.readWrite());
            RemoteRegion remote = Patience.await(connection.attach(there.descriptor()));
            Patience.await(Ends.write(local, 0, remote, 0, 100_000));
            long mappings = SoftGpu.count("mappings");
            long imports = SoftGpu.count("imports");
            for (int i = 0; i < 300; i++) {
                Patience.await(Ends.write(local, i, remote, i, 5_000));
            }
            assertThat(SoftGpu.count("mappings")).isEqualTo(mappings);
            assertThat(SoftGpu.count("imports")).isEqualTo(imports);
            Patience.await(there.close());
            Patience.await(local.close());
        }
        engines.forEach(engine -> Patience.await(engine.closeAsync()));
        assertThat(SoftGpu.count("allocations")).isZero();
        assertThat(SoftGpu.count("registrations")).isZero();
        // each has a thread, which ends by itself
        Patience.until("the streams are gone", () -> SoftGpu.count("streams") == 0);
    }
}
