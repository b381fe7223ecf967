package io.sluice.cuda;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.engine.Connection;
import io.sluice.engine.MemoryKind;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.RemoteRegion;
import io.sluice.engine.TransferEngine;
import io.sluice.testkit.Patience;
import io.sluice.testkit.PatientOptions;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * The driver makes a thread wait that gives a stream very many operations: a poller gives it fewer, and goes on while the GPU does
 * nothing.
 */
class DriverQueueTest {
    private static final int BYTES = 2 << 20;

    private final List<TransferEngine> engines = new ArrayList<>();

    @BeforeEach
    void load() {
        SoftGpu.load();
    }

    @AfterEach
    void close() {
        SoftGpu.hang(false);
        engines.forEach(engine -> Patience.await(engine.closeAsync()));
    }

    private TransferEngine engine(boolean copyEngines) {
        TransferEngine engine = TransferEngine.open(PatientOptions.builder()
                .transports(List.of("shm", "tcp", "cuda"))
                .windowOperations(16_384)
                .transport(CudaOptions.builder().copyEngines(copyEngines).build())
                .build());
        engines.add(engine);
        return engine;
    }

    private static RegionOptions on(int ordinal, RegionOptions options) {
        return options.on(MemoryKind.CUDA, SoftGpu.id(ordinal));
    }

    private static void assertThatThePollerAnswers(Connection connection) {
        // twice: the first may go before the last of what was submitted
        for (int i = 0; i < 2; i++) {
            CompletableFuture<Void> answered = new CompletableFuture<>();
            connection.loop().execute(() -> answered.complete(null));
            Patience.await(answered);
        }
    }

    @Test
    void many_transfers_wait_in_the_engine() {
        SoftGpu.needSoftware("a stream that does nothing");
        TransferEngine initiator = engine(false);
        TransferEngine target = engine(false);
        Connection connection = Patience.await(initiator.connect(target.address()));
        MemoryRegion local = initiator.allocate(BYTES, on(0, RegionOptions.local()));
        MemoryRegion there = target.allocate(BYTES, on(1, RegionOptions.readWrite()));
        RemoteRegion remote = Patience.await(connection.attach(there.descriptor()));
        byte[] source = random();
        SoftGpu.write(0, local.memory().address(), source);
        Patience.await(Ends.write(local, 0, remote, 0, 8));
        SoftGpu.hang(true);
        List<CompletableFuture<Void>> ends = new ArrayList<>();
        for (int i = 0; i < 8_000; i++) {
            // neighbours of one length would be one launch
            ends.add(Ends.write(local, 64L * i, remote, 64L * i, i % 2 == 0 ? 64 : 63));
        }
        assertThatThePollerAnswers(connection);
        assertThat(ends).noneMatch(CompletableFuture::isDone);
        SoftGpu.hang(false);
        ends.forEach(Patience::await);
        byte[] arrived = SoftGpu.read(1, there.memory().address(), 64 * 8_000);
        for (int i = 1; i < 8_000; i += 2) {
            source[64 * i + 63] = 0;
        }
        assertThat(Arrays.mismatch(arrived, Arrays.copyOf(source, arrived.length)))
                .isEqualTo(-1);
    }

    /** Each page is a copy of its own. */
    @Test
    void a_list_for_copy_engines_is_given_in_parts() {
        SoftGpu.needSoftware("a stream that does nothing");
        TransferEngine initiator = engine(true);
        TransferEngine target = engine(false);
        Connection connection = Patience.await(initiator.connect(target.address()));
        MemoryRegion local = initiator.allocate(BYTES, on(0, RegionOptions.local()));
        MemoryRegion there = target.allocate(BYTES, on(1, RegionOptions.readWrite()));
        RemoteRegion remote = Patience.await(connection.attach(there.descriptor()));
        byte[] source = random();
        SoftGpu.write(0, local.memory().address(), source);
        int pages = 6_000;
        int[] forward = IntStream.range(0, pages).toArray();
        int[] backward = IntStream.range(0, pages).map(page -> pages - 1 - page).toArray();
        SoftGpu.hang(true);
        CompletableFuture<Void> lists = CompletableFuture.allOf(
                Ends.pages(true, local, backward, remote, forward, 64),
                Ends.pages(true, local, backward, remote, forward, 64));
        CompletableFuture<Void> one = Ends.write(local, 0, remote, BYTES - 100, 100);
        assertThatThePollerAnswers(connection);
        assertThat(lists).isNotDone();
        SoftGpu.hang(false);
        Patience.await(lists);
        Patience.await(one);
        byte[] arrived = SoftGpu.read(1, there.memory().address(), BYTES);
        for (int page = 0; page < pages; page++) {
            assertThat(Arrays.equals(
                            arrived, 64 * page, 64 * page + 64, source, 64 * (pages - 1 - page), 64 * (pages - page)))
                    .as("page %d", page)
                    .isTrue();
        }
        assertThat(Arrays.copyOfRange(arrived, BYTES - 100, BYTES)).isEqualTo(Arrays.copyOf(source, 100));
    }

    /** The connection ends in the middle of what is given in parts: that ends when the parts are done, and closing too. */
    @Test
    void closing_ends_what_is_given_in_parts() {
        SoftGpu.needSoftware("a stream that does nothing");
        TransferEngine initiator = engine(true);
        TransferEngine target = engine(false);
        Connection connection = Patience.await(initiator.connect(target.address()));
        MemoryRegion local = initiator.allocate(BYTES, on(0, RegionOptions.local()));
        MemoryRegion there = target.allocate(BYTES, on(1, RegionOptions.readWrite()));
        RemoteRegion remote = Patience.await(connection.attach(there.descriptor()));
        int[] forward = IntStream.range(0, 6_000).toArray();
        int[] backward = IntStream.range(0, 6_000).map(page -> 5_999 - page).toArray();
        SoftGpu.hang(true);
        CompletableFuture<Void> end = Ends.pages(true, local, backward, remote, forward, 64);
        assertThatThePollerAnswers(connection);
        CompletableFuture<Void> closed = connection.close();
        Patience.await(end.handle((done, error) -> error));
        assertThat(local.close()).isNotDone();
        SoftGpu.hang(false);
        Patience.await(closed);
        Patience.await(local.close());
    }

    /** Memory of the host that was pinned in hundreds of ranges, each of which takes a copy of its own. */
    @Test
    void a_copy_over_many_pinned_ranges_is_given_in_parts() {
        TransferEngine initiator = engine(false);
        TransferEngine target = engine(false);
        Connection connection = Patience.await(initiator.connect(target.address()));
        MemoryRegion there = target.allocate(BYTES, on(1, RegionOptions.readWrite()));
        RemoteRegion remote = Patience.await(connection.attach(there.descriptor()));
        int page = (int) PinnedRanges.PAGE_BYTES;
        int pages = BYTES / page;
        try (Arena arena = Arena.ofShared()) {
            MemorySegment memory = arena.allocate(BYTES, page);
            byte[] source = random();
            memory.copyFrom(MemorySegment.ofArray(source));
            List<MemoryRegion> regions = new ArrayList<>();
            for (int i = 0; i < pages; i += 2) {
                MemoryRegion region = initiator.register(memory.asSlice((long) i * page, page), RegionOptions.local());
                regions.add(region);
                Patience.await(Ends.write(region, 0, remote, 0, 8));
            }
            MemoryRegion whole = initiator.register(memory, RegionOptions.local());
            regions.add(whole);
            Patience.await(Ends.write(whole, 0, remote, 0, BYTES));
            assertThat(Arrays.mismatch(SoftGpu.read(1, there.memory().address(), BYTES), source))
                    .isEqualTo(-1);
            regions.forEach(region -> Patience.await(region.close()));
        }
    }

    private static byte[] random() {
        byte[] made = new byte[BYTES];
        new Random(1024).nextBytes(made);
        return made;
    }
}
