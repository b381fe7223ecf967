package io.sluice.cuda;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.engine.Connection;
import io.sluice.engine.ConnectionPath;
import io.sluice.engine.DeviceMetrics;
import io.sluice.engine.DeviceMetrics.Unit;
import io.sluice.engine.MemoryKind;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.RemoteRegion;
import io.sluice.engine.RemoteSignal;
import io.sluice.engine.TransferElement;
import io.sluice.engine.TransferEngine;
import io.sluice.engine.TransferOptions;
import io.sluice.testkit.Patience;
import io.sluice.testkit.PatientOptions;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Memory of GPUs on either side, or on both, over tcp: two engines of one process that map nothing. */
class StagedPairsTest {
    // pieces of 8 KiB
    private static final long RING = 64 << 10;
    private static final int BYTES = 400_000;
    private static final int HOST = -1;

    private final Random random = new Random(4);
    private TransferEngine initiator;
    private TransferEngine target;
    private Connection connection;

    @BeforeEach
    void open() {
        SoftGpu.load();
        open(Map.of());
    }

    private void open(Map<String, String> variables) {
        initiator = engine(variables);
        target = engine(variables);
        connection = Patience.await(initiator.connect(target.address()));
    }

    @AfterEach
    void close() {
        Patience.await(initiator.closeAsync());
        Patience.await(target.closeAsync());
    }

    private static TransferEngine engine(Map<String, String> variables) {
        return TransferEngine.open(PatientOptions.builder()
                .environment(variables)
                .transports(List.of("tcp", "cuda"))
                .transport(
                        CudaOptions.builder().mapped(false).stagingBytes(RING).build())
                .build());
    }

    /** Memory of a GPU, or of the host. */
    private static MemoryRegion region(TransferEngine engine, int place, RegionOptions options) {
        return engine.allocate(BYTES, place == HOST ? options : options.on(MemoryKind.CUDA, SoftGpu.id(place)));
    }

    private static byte[] bytes(int place, MemoryRegion region) {
        return place == HOST
                ? region.segment().toArray(ValueLayout.JAVA_BYTE)
                : SoftGpu.read(place, region.memory().address(), BYTES);
    }

    private static long pinned(TransferEngine engine) {
        return engine.metrics().devices().stream()
                .mapToLong(DeviceMetrics::pinnedBytes)
                .sum();
    }

    private byte[] fill(int place, MemoryRegion region) {
        byte[] bytes = new byte[BYTES];
        random.nextBytes(bytes);
        if (place == HOST) {
            region.segment().copyFrom(MemorySegment.ofArray(bytes));
        } else {
            SoftGpu.write(place, region.memory().address(), bytes);
        }
        return bytes;
    }

    @ParameterizedTest
    @CsvSource({"-1, 0", "0, -1", "0, 0", "0, 1", "-1, -1"})
    void every_form_goes_between_all_kinds_of_memory(int here, int there) {
        MemoryRegion local = region(initiator, here, RegionOptions.local());
        MemoryRegion served = region(target, there, RegionOptions.readWrite());
        RemoteRegion remote = Patience.await(connection.attach(served.descriptor()));
        ConnectionPath path = remote.path(here == HOST ? MemoryKind.HOST : MemoryKind.CUDA);
        assertThat(path.transport()).isEqualTo("tcp");
        boolean staged = here != HOST || there != HOST;
        assertThat(path.reason().startsWith("staged")).isEqualTo(staged);
        assertThat(path.reason().contains("cuda is out of reach: SLUICE_CUDA_MAPPED"))
                .isEqualTo(staged);
        byte[] source = fill(here, local);
        byte[] expected = fill(there, served);

        Patience.await(Ends.write(local, 11, remote, 7, 100_003));
        System.arraycopy(source, 11, expected, 7, 100_003);
        List<TransferElement> elements = new ArrayList<>();
        for (int i = 0; i < 60; i++) {
            int length = i * 300;
            int to = 110_000 + i * 2_000;
            elements.add(new TransferElement(local, 1_000 * i, remote, to, length % 2_000));
            System.arraycopy(source, 1_000 * i, expected, to, length % 2_000);
        }
        Patience.await(Ends.vectored(elements));
        int[] even = IntStream.range(0, 30).map(page -> 300 + 2 * page).toArray();
        int[] odd = IntStream.range(0, 30).map(page -> 361 - 2 * page).toArray();
        Patience.await(Ends.pages(true, local, odd, remote, even, 1_000));
        for (int i = 0; i < 30; i++) {
            System.arraycopy(source, 1_000 * odd[i], expected, 1_000 * even[i], 1_000);
        }
        assertThat(Arrays.mismatch(bytes(there, served), expected)).isEqualTo(-1);

        byte[] read = fill(here, local);
        Patience.await(Ends.read(local, 5, remote, 3, 150_001));
        System.arraycopy(expected, 3, read, 5, 150_001);
        Patience.await(Ends.pages(false, local, odd, remote, even, 1_000));
        for (int i = 0; i < 30; i++) {
            System.arraycopy(expected, 1_000 * even[i], read, 1_000 * odd[i], 1_000);
        }
        assertThat(Arrays.mismatch(bytes(here, local), read)).isEqualTo(-1);
    }

    @Test
    void every_form_goes_over_tls() {
        close();
        open(TlsVariables.all());
        every_form_goes_between_all_kinds_of_memory(0, 1);
        every_form_goes_between_all_kinds_of_memory(0, HOST);
    }

    /** A GPU is slow; the signal waits for it. */
    @ParameterizedTest
    @CsvSource({"-1, 0", "0, -1", "0, 1"})
    void a_signal_comes_behind_the_bytes(int here, int there) {
        MemoryRegion local = region(initiator, here, RegionOptions.local());
        MemoryRegion served = region(target, there, RegionOptions.readWrite());
        MemoryRegion counters = region(target, there, RegionOptions.readWrite());
        RemoteRegion remote = Patience.await(connection.attach(served.descriptor()));
        RemoteSignal signal = new RemoteSignal(Patience.await(connection.attach(counters.descriptor())), 64);
        SoftGpu.delay(2_000_000);
        try {
            for (int round = 1; round <= 3; round++) {
                byte[] source = fill(here, local);
                CompletableFuture<Void> end = new CompletableFuture<>();
                connection.writeWithSignal(
                        local,
                        0,
                        remote,
                        0,
                        BYTES,
                        signal.weak(),
                        TransferOptions.defaults(),
                        (transfer, error) -> Ends.complete(end, error));
                Patience.await(counters.signal(64).awaitAtLeast(round));
                assertThat(Arrays.mismatch(bytes(there, served), source)).isEqualTo(-1);
                Patience.await(end);
            }
        } finally {
            SoftGpu.delay(0);
        }
    }

    /** Rings are pinned while lanes use them, and what they have counted outlives them. */
    @Test
    void staged_copies_are_counted_and_rings_are_given_back() {
        MemoryRegion local = region(initiator, 0, RegionOptions.local());
        MemoryRegion served = region(target, 1, RegionOptions.readWrite());
        RemoteRegion remote = Patience.await(connection.attach(served.descriptor()));
        long pinned = pinned(initiator);
        long pinnedThere = pinned(target);
        long streams = SoftGpu.count("streams");
        int rounds = 5;
        for (int i = 0; i < rounds; i++) {
            Connection own = Patience.await(initiator.connect(target.address()));
            RemoteRegion again = Patience.await(own.attach(served.descriptor()));
            Patience.await(Ends.write(local, 0, again, 0, BYTES));
            assertThat(pinned(initiator)).isGreaterThanOrEqualTo(pinned + RING);
            assertThat(pinned(target)).isGreaterThanOrEqualTo(pinnedThere + RING);
            Patience.await(own.close());
        }
        Patience.until(
                "all rings are given back",
                () -> pinned(initiator) <= pinned
                        && pinned(target) <= pinnedThere
                        && SoftGpu.count("streams") <= streams);
        for (TransferEngine engine : List.of(initiator, target)) {
            DeviceMetrics gpu = engine.metrics().devices().get(engine.equals(initiator) ? 0 : 1);
            assertThat(gpu.bytes(Unit.STAGED)).isEqualTo((long) rounds * BYTES);
            assertThat(gpu.launches(Unit.STAGED)).isGreaterThanOrEqualTo(rounds * (BYTES / (RING / PinnedRing.PIECES)));
            assertThat(gpu.requests()).isEqualTo(gpu.launches(Unit.STAGED));
            assertThat(gpu.requestNanos()).isPositive();
            assertThat(gpu.launches(Unit.KERNEL) + gpu.launches(Unit.COPY_ENGINE))
                    .isZero();
        }
        Patience.await(connection.detach(remote));
    }
}
