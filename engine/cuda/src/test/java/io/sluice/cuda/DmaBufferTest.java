package io.sluice.cuda;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sluice.engine.AtomicDomain;
import io.sluice.engine.Connection;
import io.sluice.engine.ConnectionPath;
import io.sluice.engine.EngineOptions;
import io.sluice.engine.MemoryKind;
import io.sluice.engine.MemoryNotAccessibleException;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.NotificationListener;
import io.sluice.engine.PathPolicy;
import io.sluice.engine.RegionMemory;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.RemoteAccessException;
import io.sluice.engine.RemoteRegion;
import io.sluice.engine.RemoteSignal;
import io.sluice.engine.SluiceException;
import io.sluice.engine.StaleDescriptorException;
import io.sluice.engine.TransferEngine;
import io.sluice.engine.TransferOptions;
import io.sluice.testkit.Patience;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledIfSystemProperty;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Memory of GPUs that RDMA adapters reach: the engines are on two hosts, as far as GPUs are concerned. */
@DisabledIfSystemProperty(
        named = "sluice.cuda.real",
        matches = "true",
        disabledReason = "adapters in software do not reach it")
class DmaBufferTest {
    private static final int BYTES = 1 << 20;

    private final List<TransferEngine> engines = new ArrayList<>();
    private final Random random = new Random(5);

    @AfterEach
    void close() {
        SoftRdma.refuseDmaBuffers(false);
        SoftGpu.refuseDmaBuffers(false);
        SoftGpu.rdma(0, 1);
        engines.forEach(engine -> Patience.await(engine.closeAsync()));
    }

    private TransferEngine engine(EngineOptions.Builder options) {
        TransferEngine engine = TransferEngine.open(options.build());
        engines.add(engine);
        return engine;
    }

    /** Two engines and what connects them. */
    private record Pair(TransferEngine initiator, TransferEngine target, Connection connection, Connection accepted) {
        RemoteRegion attach(MemoryRegion region) {
            return Patience.await(connection.attach(region.descriptor()));
        }
    }

    private Pair distant() {
        return connect(engine(SoftRdma.options(0)), engine(SoftRdma.options(1)));
    }

    private static Pair connect(TransferEngine initiator, TransferEngine target) {
        CompletableFuture<Connection> incoming = new CompletableFuture<>();
        target.onConnection(incoming::complete);
        Connection connection = Patience.await(initiator.connect(target.address()));
        return new Pair(initiator, target, connection, Patience.await(incoming));
    }

    private static RegionOptions on(int ordinal, RegionOptions options) {
        return ordinal < 0 ? options : options.on(MemoryKind.CUDA, SoftGpu.id(ordinal));
    }

    /** A region of a GPU, or of the host for −1. */
    private static MemoryRegion region(TransferEngine engine, int ordinal, RegionOptions options) {
        return engine.allocate(BYTES, on(ordinal, options));
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

    // ---- bytes ----

    @ParameterizedTest
    @CsvSource({"0, 1", "0, 0", "-1, 0", "1, -1"})
    void bytes_go_both_ways_through_the_adapters(int from, int to) {
        Pair pair = distant();
        assertThat(pair.connection().paths())
                .extracting(ConnectionPath::transport)
                .containsExactly("verbs");
        MemoryRegion local = region(pair.initiator(), from, RegionOptions.local());
        MemoryRegion there = region(pair.target(), to, RegionOptions.readWrite());
        RemoteRegion remote = pair.attach(there);
        assertThat(remote.path().transport()).isEqualTo("verbs");
        byte[] source = fill(from, local);
        byte[] expected = fill(to, there);
        for (int[] piece : new int[][] {{0, 0, BYTES}, {5, 77, 300_001}, {4096, 1, 8}, {BYTES - 1, 0, 1}}) {
            System.arraycopy(source, piece[0], expected, piece[1], piece[2]);
            Patience.await(Ends.write(local, piece[0], remote, piece[1], piece[2]));
        }
        Patience.await(pair.connection().quiet());
        assertThat(Arrays.mismatch(bytes(to, there), expected)).isEqualTo(-1);
        expected = fill(to, there);
        Patience.await(Ends.read(local, 333, remote, 1, 500_000));
        System.arraycopy(expected, 1, source, 333, 500_000);
        assertThat(Arrays.mismatch(bytes(from, local), source)).isEqualTo(-1);
        int[] pages = {7, 3, 4, 0};
        int[] places = {1, 2, 3, 9};
        Patience.await(Ends.pages(true, local, pages, remote, places, 1000));
        for (int i = 0; i < pages.length; i++) {
            System.arraycopy(source, pages[i] * 1000, expected, places[i] * 1000, 1000);
        }
        Patience.await(pair.connection().quiet());
        assertThat(Arrays.mismatch(bytes(to, there), expected)).isEqualTo(-1);
    }

    /** The driver exports whole pages. */
    @ParameterizedTest
    @ValueSource(ints = {0, 1, 512, 4095, 4096, 70_003})
    void a_region_begins_and_ends_anywhere_in_a_page(int offset) {
        int length = 20_001;
        Pair pair = distant();
        long address = SoftGpu.malloc(1, 100_000);
        try {
            MemoryRegion there = pair.target()
                    .register(
                            RegionMemory.device(MemoryKind.CUDA, SoftGpu.id(1), address + offset, length, () -> true),
                            on(1, RegionOptions.readWrite()));
            MemoryRegion local = region(pair.initiator(), 0, RegionOptions.local());
            byte[] source = fill(0, local);
            byte[] expected = new byte[100_000];
            System.arraycopy(source, 3, expected, offset, length);
            Patience.await(Ends.write(local, 3, pair.attach(there), 0, length));
            Patience.await(pair.connection().quiet());
            assertThat(Arrays.mismatch(SoftGpu.read(1, address, expected.length), expected))
                    .isEqualTo(-1);
            Patience.await(there.close());
        } finally {
            SoftGpu.free(1, address);
        }
    }

    // ---- who takes it ----

    @Test
    void within_a_host_the_gpus_copy() {
        Pair pair = sameHost();
        MemoryRegion there = region(pair.target(), 1, RegionOptions.readWrite());
        ConnectionPath path = pair.attach(there).path(MemoryKind.CUDA);
        assertThat(path.transport()).isEqualTo("cuda");
        assertThat(path.reason()).isEqualTo("verbs is not the transport of the device");
        MemoryRegion host = region(pair.target(), -1, RegionOptions.readWrite());
        // no GPU reaches it
        assertThat(pair.attach(host).path(MemoryKind.CUDA).transport()).isEqualTo("verbs");
    }

    @Test
    void a_local_region_that_adapters_do_not_take_goes_over_another_path() {
        PathPolicy overVerbs = question -> question.candidates().stream()
                .filter(each -> each.transport().equals("verbs"))
                .findFirst()
                .orElse(question.candidates().getFirst());
        Pair pair = connect(
                engine(SoftRdma.options(0).transports(List.of("verbs", "cuda")).pathPolicy(overVerbs)),
                engine(SoftRdma.options(1).transports(List.of("verbs", "cuda"))));
        MemoryRegion there = region(pair.target(), 1, RegionOptions.readWrite());
        RemoteRegion remote = pair.attach(there);
        assertThat(remote.path(MemoryKind.CUDA).transport()).isEqualTo("verbs");
        SoftRdma.refuseDmaBuffers(true);
        MemoryRegion local = region(pair.initiator(), 0, RegionOptions.local());
        byte[] source = fill(0, local);
        Patience.await(Ends.write(local, 0, remote, 0, BYTES));
        assertThat(Arrays.mismatch(bytes(1, there), source)).isEqualTo(-1);
        Patience.await(there.close());
    }

    private Pair sameHost() {
        return connect(
                engine(SoftRdma.options(0).transports(List.of("verbs", "cuda"))),
                engine(SoftRdma.options(1).transports(List.of("verbs", "cuda"))));
    }

    @ParameterizedTest
    @ValueSource(strings = {"adapter", "driver", "flush"})
    void a_region_that_adapters_do_not_take_is_reached_by_another_path_or_none(String refusing) {
        String reason = switch (refusing) {
            case "adapter" -> {
                SoftRdma.refuseDmaBuffers(true);
                yield "adapter, kernel (5.12) and libibverbs (34) must support it";
            }
            case "driver" -> {
                SoftGpu.refuseDmaBuffers(true);
                yield "the driver exports no memory of GPU-";
            }
            default -> {
                SoftGpu.rdma(0, 2);
                yield "the host cannot flush what adapters write to GPU-";
            }
        };
        Pair near = sameHost();
        ConnectionPath path =
                near.attach(region(near.target(), 1, RegionOptions.readWrite())).path();
        assertThat(path.transport()).isEqualTo("cuda");
        assertThat(path.reason()).contains("verbs does not: ").contains(reason);
        Pair far = distant();
        MemoryRegion there = region(far.target(), 1, RegionOptions.readWrite());
        Patience.failure(far.connection().attach(there.descriptor()), MemoryNotAccessibleException.class);
        MemoryRegion local = region(far.initiator(), 0, RegionOptions.local());
        RemoteRegion host = far.attach(region(far.target(), -1, RegionOptions.readWrite()));
        assertThatThrownBy(() -> Ends.write(local, 0, host, 0, 8))
                .isInstanceOf(MemoryNotAccessibleException.class)
                .hasMessageContaining(reason);
    }

    // ---- what the driver has to flush ----

    private static CompletableFuture<Void> writeWithSignal(
            Pair pair, MemoryRegion local, RemoteRegion remote, RemoteRegion words) {
        CompletableFuture<Void> end = new CompletableFuture<>();
        pair.connection()
                .writeWithSignal(
                        local,
                        0,
                        remote,
                        64,
                        4096,
                        new RemoteSignal(words, 8).weak(),
                        TransferOptions.defaults(),
                        (transfer, error) -> Ends.complete(end, error));
        return end;
    }

    private static long flushes() {
        return SoftGpu.count("flushes");
    }

    @ParameterizedTest
    @ValueSource(ints = {-1, 1})
    void writes_are_flushed_before_their_signal_is_seen(int words) {
        Pair pair = distant();
        MemoryRegion local = region(pair.initiator(), 0, RegionOptions.local());
        RemoteRegion remote = pair.attach(region(pair.target(), 1, RegionOptions.readWrite()));
        MemoryRegion signals = region(pair.target(), words, RegionOptions.readWrite());
        RemoteRegion there = pair.attach(signals);
        for (int round = 1; round <= 3; round++) {
            long before = flushes();
            CompletableFuture<Long> seen = signals.signal(8).awaitAtLeast(round).thenApply(value -> flushes());
            Patience.await(writeWithSignal(pair, local, remote, there));
            assertThat(Patience.await(seen)).isGreaterThan(before);
        }
    }

    @Test
    void writes_are_flushed_before_a_notification_is_seen() {
        Pair pair = distant();
        MemoryRegion local = region(pair.initiator(), 0, RegionOptions.local());
        RemoteRegion remote = pair.attach(region(pair.target(), 1, RegionOptions.readWrite()));
        CompletableFuture<Long> seen = new CompletableFuture<>();
        pair.accepted().subscribe(new Listener(seen)).request(1);
        long before = flushes();
        Patience.await(Ends.write(local, 0, remote, 0, BYTES));
        CompletableFuture<Void> end = new CompletableFuture<>();
        pair.connection()
                .notify(new byte[1], TransferOptions.defaults(), (transfer, error) -> Ends.complete(end, error));
        Patience.await(end);
        assertThat(Patience.await(seen)).isGreaterThan(before);
    }

    private record Listener(CompletableFuture<Long> seen) implements NotificationListener {
        @Override
        public void notification(byte[] payload) {
            seen.complete(flushes());
        }

        @Override
        public void ended(@Nullable SluiceException error) {
            seen.cancel(false);
        }
    }

    @Test
    void quiet_flushes_at_the_target() {
        Pair pair = distant();
        MemoryRegion local = region(pair.initiator(), -1, RegionOptions.local());
        RemoteRegion host = pair.attach(region(pair.target(), -1, RegionOptions.readWrite()));
        long before = flushes();
        Patience.await(Ends.write(local, 0, host, 0, BYTES));
        Patience.await(pair.connection().quiet());
        assertThat(flushes()).as("none of memory of the host").isEqualTo(before);
        RemoteRegion remote = pair.attach(region(pair.target(), 1, RegionOptions.readWrite()));
        Patience.await(Ends.write(local, 0, remote, 0, BYTES));
        Patience.await(pair.connection().quiet());
        assertThat(flushes()).isGreaterThan(before);
    }

    @Test
    void a_read_is_flushed_where_it_arrives() {
        Pair pair = distant();
        MemoryRegion local = region(pair.initiator(), 0, RegionOptions.local());
        RemoteRegion remote = pair.attach(region(pair.target(), -1, RegionOptions.readWrite()));
        long before = flushes();
        CompletableFuture<Long> seen = Ends.read(local, 0, remote, 0, BYTES).thenApply(done -> flushes());
        assertThat(Patience.await(seen)).isGreaterThan(before);
    }

    @Test
    void a_gpu_that_keeps_the_order_is_not_flushed() {
        SoftGpu.rdma(100, 0);
        Pair pair = distant();
        MemoryRegion local = region(pair.initiator(), 0, RegionOptions.local());
        MemoryRegion there = region(pair.target(), 1, RegionOptions.readWrite());
        RemoteRegion remote = pair.attach(there);
        long before = flushes();
        Patience.await(writeWithSignal(pair, local, remote, remote));
        Patience.await(there.signal(8).awaitAtLeast(1));
        Patience.await(Ends.read(local, 0, remote, 0, 64));
        Patience.await(pair.connection().quiet());
        assertThat(flushes()).isEqualTo(before);
    }

    /** An adapter carries out the signal: no engine flushes before it. */
    @Test
    void an_adapter_gives_no_signal_behind_writes_that_are_flushed() {
        Pair pair = distant();
        MemoryRegion local = region(pair.initiator(), 0, RegionOptions.local());
        RemoteRegion remote = pair.attach(region(pair.target(), 1, RegionOptions.readWrite()));
        RemoteRegion words =
                pair.attach(region(pair.target(), -1, RegionOptions.readWrite().atomics(AtomicDomain.NETWORK_ADAPTER)));
        RemoteAccessException refused =
                Patience.failure(writeWithSignal(pair, local, remote, words), RemoteAccessException.class);
        assertThat(refused.reason()).isEqualTo(RemoteAccessException.Reason.UNSUPPORTED);
    }

    // ---- ends ----

    @Test
    void memory_that_was_freed_and_made_again_is_refused() {
        Pair pair = distant();
        long address = SoftGpu.malloc(1, BYTES);
        MemoryRegion there = pair.target()
                .register(
                        RegionMemory.device(MemoryKind.CUDA, SoftGpu.id(1), address, BYTES, () -> true),
                        on(1, RegionOptions.readWrite()));
        SoftGpu.free(1, address);
        assertThat(SoftGpu.malloc(1, BYTES)).isEqualTo(address);
        try {
            Patience.failure(pair.connection().attach(there.descriptor()), StaleDescriptorException.class);
        } finally {
            Patience.await(there.close());
            SoftGpu.free(1, address);
        }
    }

    @Test
    void adapters_let_go_of_memory_before_it_is_freed() {
        Pair pair = distant();
        MemoryRegion there = region(pair.target(), 1, RegionOptions.readWrite());
        MemoryRegion local = region(pair.initiator(), -1, RegionOptions.local());
        RemoteRegion remote = pair.attach(there);
        Patience.await(Ends.write(local, 0, remote, 0, 64));
        long registered = SoftRdma.counter("regions");
        long allocations = SoftGpu.count("allocations");
        CompletableFuture<Long> atFree = DistantCudaTransportProvider.atNextFree(() -> SoftRdma.counter("regions"));
        Patience.await(there.close());
        assertThat(Patience.await(atFree)).isEqualTo(registered - 1);
        assertThat(SoftGpu.count("allocations")).isEqualTo(allocations - 1);
        Patience.failure(Ends.write(local, 0, remote, 0, 64), SluiceException.class);
    }
}
