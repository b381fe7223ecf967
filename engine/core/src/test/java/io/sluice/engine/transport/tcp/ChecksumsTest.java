package io.sluice.engine.transport.tcp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sluice.engine.Connection;
import io.sluice.engine.ConnectionLostException;
import io.sluice.engine.ConnectionState;
import io.sluice.engine.EngineOptions;
import io.sluice.engine.ErrorKind;
import io.sluice.engine.Filling;
import io.sluice.engine.Integrity;
import io.sluice.engine.IntegrityException;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.PageCallback;
import io.sluice.engine.PagesFailedException;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.RemoteRegion;
import io.sluice.engine.SluiceException;
import io.sluice.engine.TransferEngine;
import io.sluice.engine.TransferOptions;
import io.sluice.engine.transport.tcp.AlteringPath.Alterations;
import io.sluice.testkit.FreePort;
import io.sluice.testkit.FuzzSeed;
import io.sluice.testkit.Patience;
import io.sluice.testkit.PatientOptions;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A connection with checksums over a path that damages what goes along it. */
@Tag("filler")
class ChecksumsTest {
    private static final long LOCAL = 1;
    private static final long SERVED = 2;
    private static final int LANE_MESSAGE = 8 + (4 + 16) + (4 + 8) + (4 + 32);
    private static final int LANE_ACCEPT_MESSAGE = 8;
    private static final int SUMS = 8;

    private static final class Setting implements AutoCloseable {
        private final AlteringPath path;
        private final TransferEngine target;
        private final TransferEngine initiator;
        private final Connection connection;
        private final MemoryRegion served;
        private final MemoryRegion local;
        private final RemoteRegion remote;

        Setting(int bytes, Alterations alterations) {
            path = new AlteringPath(alterations);
            // an engine tells its advertised port only, so the bound one must be known beforehand
            int port = FreePort.any();
            path.leadsTo(port);
            EngineOptions options = PatientOptions.builder()
                    .transports(List.of("tcp"))
                    .listen("127.0.0.1", port)
                    .advertise("127.0.0.1", path.port())
                    // damage is noticed at once
                    .livenessTimeout(Patience.BOUND.multipliedBy(2))
                    .build();
            target = TransferEngine.open(options);
            // one side asks for it, and both have it
            initiator = TransferEngine.open(
                    options.toBuilder().noListener().integrity(Integrity.CRC32C).build());
            connection = Patience.await(initiator.connect(target.address()));
            assertThat(connection.integrity()).isEqualTo(Integrity.CRC32C);
            assertThat(target.connections())
                    .allSatisfy(each -> assertThat(each.integrity()).isEqualTo(Integrity.CRC32C));
            served = target.allocate(bytes, RegionOptions.readWrite());
            local = initiator.allocate(bytes, RegionOptions.local());
            Filling.fill(served.segment(), SERVED);
            Filling.fill(local.segment(), LOCAL);
            remote = Patience.await(connection.attach(served.descriptor()));
        }

        CompletableFuture<Void> write(long offset, long bytes) {
            CompletableFuture<Void> end = new CompletableFuture<>();
            connection.write(
                    local,
                    offset,
                    remote,
                    offset,
                    bytes,
                    TransferOptions.defaults(),
                    (transfer, error) -> GuardedTarget.end(end, error));
            return end;
        }

        CompletableFuture<Void> read(long offset, long bytes) {
            CompletableFuture<Void> end = new CompletableFuture<>();
            connection.read(
                    local,
                    offset,
                    remote,
                    offset,
                    bytes,
                    TransferOptions.defaults(),
                    (transfer, error) -> GuardedTarget.end(end, error));
            return end;
        }

        /** Pages of the local region to or from the same number of the served one, in reverse order. */
        CompletableFuture<Void> pages(boolean writes, int pages, int pageBytes) {
            CompletableFuture<Void> end = new CompletableFuture<>();
            int[] forward = IntStream.range(0, pages).toArray();
            int[] backward = IntStream.range(0, pages).map(i -> pages - 1 - i).toArray();
            PageCallback ended = (transfer, failed, error) -> GuardedTarget.end(end, error);
            if (writes) {
                connection.writePages(local, forward, remote, backward, pageBytes, TransferOptions.defaults(), ended);
            } else {
                connection.readPages(local, forward, remote, backward, pageBytes, TransferOptions.defaults(), ended);
            }
            return end;
        }

        CompletableFuture<Long> fetchAdd(long offset, long addend) {
            CompletableFuture<Long> end = new CompletableFuture<>();
            connection.fetchAdd(remote, offset, addend, TransferOptions.defaults(), (transfer, previous, error) -> {
                if (error == null) {
                    end.complete(previous);
                } else {
                    end.completeExceptionally(error);
                }
            });
            return end;
        }

        @Override
        public void close() {
            Patience.await(CompletableFuture.allOf(initiator.closeAsync(), target.closeAsync()));
            path.close();
        }
    }

    private static Alterations flipping(boolean inInitiatorsBytes, long position) {
        return (socket, towardsTarget) -> {
            if (socket != 1 || towardsTarget != inInitiatorsBytes) {
                return (bytes, count, to) -> to.write(bytes, 0, count);
            }
            long[] passed = {0};
            return (bytes, count, to) -> {
                if (passed[0] <= position && position < passed[0] + count) {
                    bytes[(int) (position - passed[0])] ^= 1;
                }
                passed[0] += count;
                to.write(bytes, 0, count);
            };
        };
    }

    // ---- one bit ----

    /** Each frame has 40 pages: more than a mebibyte, which is more than is summed at once. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void listWhoseFramesWereChangedFarInsideFailsAndTheNextOneSucceeds(boolean writes) {
        int pages = 640;
        int pageBytes = 32 << 10;
        int before = writes ? LANE_MESSAGE : LANE_ACCEPT_MESSAGE;
        long at = before + RawLane.HEADER_BYTES + SUMS + (1 << 20) + (100 << 10);
        try (Setting setting = new Setting(pages * pageBytes, flipping(writes, at))) {
            assertThatThrownBy(() -> Patience.await(setting.pages(writes, pages, pageBytes)))
                    .isInstanceOfSatisfying(
                            PagesFailedException.class,
                            failure -> assertThat((long) failure.failedPages().cardinality() * pageBytes)
                                    .isGreaterThan(1 << 20)
                                    .isLessThan(setting.local.length()))
                    .hasCauseInstanceOf(IntegrityException.class);
            Patience.await(setting.pages(writes, pages, pageBytes));
            for (int page = 0; page < pages; page++) {
                MemorySegment here = setting.local.segment().asSlice((long) page * pageBytes, pageBytes);
                MemorySegment there =
                        setting.served.segment().asSlice((long) (pages - 1 - page) * pageBytes, pageBytes);
                assertThat(here.mismatch(there)).as("page %d", page).isEqualTo(-1);
            }
            Filling.assertFilled(
                    (writes ? setting.local : setting.served).segment(), writes ? LOCAL : SERVED, 0, pageBytes);
            assertThat(setting.connection.state()).isEqualTo(ConnectionState.OPEN);
        }
    }

    @Test
    void writeWhoseBytesWereChangedFailsAndTheNextOneSucceeds() {
        try (Setting setting = new Setting(5000, flipping(true, LANE_MESSAGE + RawLane.HEADER_BYTES + SUMS + 100))) {
            assertThatThrownBy(() -> Patience.await(setting.write(0, 5000))).isInstanceOf(IntegrityException.class);
            Patience.await(setting.write(0, 5000));
            Filling.assertFilled(setting.served.segment(), LOCAL, 0, 5000);
            assertThat(setting.connection.state()).isEqualTo(ConnectionState.OPEN);
            assertThat(setting.initiator.metrics().transports().getFirst().errors(ErrorKind.INTEGRITY))
                    .isEqualTo(1);
        }
    }

    @Test
    void largeWriteThatIsReceivedStraightIntoTheRegionIsCheckedToo() {
        try (Setting setting = new Setting(3 << 20, flipping(true, LANE_MESSAGE + (2 << 20)))) {
            assertThatThrownBy(() -> Patience.await(setting.write(0, 3 << 20))).isInstanceOf(IntegrityException.class);
            Patience.await(setting.write(0, 3 << 20));
            Filling.assertFilled(setting.served.segment(), LOCAL, 0, 3 << 20);
        }
    }

    @Test
    void readWhoseBytesWereChangedFailsAndTheNextOneSucceeds() {
        try (Setting setting =
                new Setting(5000, flipping(false, LANE_ACCEPT_MESSAGE + RawLane.HEADER_BYTES + SUMS + 100))) {
            assertThatThrownBy(() -> Patience.await(setting.read(0, 5000))).isInstanceOf(IntegrityException.class);
            Patience.await(setting.read(0, 5000));
            Filling.assertFilled(setting.local.segment(), SERVED, 0, 5000);
            assertThat(setting.connection.state()).isEqualTo(ConnectionState.OPEN);
        }
    }

    @Test
    void putWhoseValueWasChangedIsNotCarriedOut() {
        try (Setting setting = new Setting(64, flipping(true, LANE_MESSAGE + 48))) {
            long before = setting.served.segment().get(ValueLayout.JAVA_LONG, 8);
            CompletableFuture<Void> end = new CompletableFuture<>();
            setting.connection.put(
                    setting.remote,
                    8,
                    42,
                    Long.BYTES,
                    TransferOptions.defaults(),
                    (transfer, error) -> GuardedTarget.end(end, error));
            assertThatThrownBy(() -> Patience.await(end)).isInstanceOf(IntegrityException.class);
            assertThat(setting.served.segment().get(ValueLayout.JAVA_LONG, 8)).isEqualTo(before);
            assertThat(setting.connection.state()).isEqualTo(ConnectionState.OPEN);
        }
    }

    @Test
    void fetchedWordThatWasChangedIsNotHandedOut() {
        try (Setting setting = new Setting(64, flipping(false, LANE_ACCEPT_MESSAGE + RawLane.HEADER_BYTES))) {
            long before = setting.served.segment().get(ValueLayout.JAVA_LONG, 8);
            assertThatThrownBy(() -> Patience.await(setting.fetchAdd(8, 1))).isInstanceOf(IntegrityException.class);
            // only the answer was damaged
            assertThat(Patience.await(setting.fetchAdd(8, 1))).isEqualTo(before + 1);
            assertThat(setting.connection.state()).isEqualTo(ConnectionState.OPEN);
        }
    }

    @Test
    void headerThatWasChangedEndsTheConnection() {
        // the offset: the bytes would land elsewhere
        try (Setting setting = new Setting(5000, flipping(true, LANE_MESSAGE + 38))) {
            assertThatThrownBy(() -> Patience.await(setting.write(0, 100))).isInstanceOf(ConnectionLostException.class);
            Filling.assertFilled(setting.served.segment(), SERVED, 0, 5000);
        }
    }

    @Test
    void tableOfPagesThatWasChangedEndsTheConnection() {
        // the offset of the third page, 128: it would land at 384, within the region
        try (Setting setting = new Setting(512, flipping(true, LANE_MESSAGE + RawLane.HEADER_BYTES + SUMS + 22))) {
            CompletableFuture<Void> ended = new CompletableFuture<>();
            setting.connection.writePages(
                    setting.local,
                    new int[] {0, 1, 2, 3},
                    setting.remote,
                    new int[] {6, 4, 2, 0},
                    64,
                    TransferOptions.defaults(),
                    (transfer, failed, error) -> GuardedTarget.end(ended, error));
            assertThat(await(ended)).isNotNull();
            Patience.failure(setting.connection.ended(), ConnectionLostException.class);
            Filling.assertFilled(setting.served.segment(), SERVED, 0, 512);
        }
    }

    // ---- many bits ----

    private record Range(long offset, int bytes, boolean written, CompletableFuture<Void> end) {}

    /** One round: transfers over disjoint ranges, all at once. Returns how many ended with success and with the typed error. */
    private static int[] round(Random random, long seed) {
        int size = 4 << 20;
        FlippedBits bits = new FlippedBits(seed, 1 << 17);
        try (Setting setting = new Setting(size, bits)) {
            bits.arm();
            List<Range> ranges = new ArrayList<>();
            for (int at = 0; at < size - 700_000; ) {
                int bytes = random.nextInt(6) == 0 ? 1 + random.nextInt(600_000) : 1 + random.nextInt(20_000);
                boolean written = random.nextBoolean();
                CompletableFuture<Void> end;
                try {
                    end = written ? setting.write(at, bytes) : setting.read(at, bytes);
                } catch (ConnectionLostException lost) {
                    break;
                }
                ranges.add(new Range(at, bytes, written, end));
                at += bytes;
            }
            int[] ends = new int[2];
            for (Range range : ranges) {
                SluiceException error = await(range.end);
                if (error == null) {
                    ends[0]++;
                    long both = range.written ? LOCAL : SERVED;
                    long to = range.offset + range.bytes;
                    Filling.assertFilled(setting.local.segment(), both, range.offset, to);
                    Filling.assertFilled(setting.served.segment(), both, range.offset, to);
                } else if (error instanceof IntegrityException) {
                    ends[1]++;
                } else {
                    assertThat(error).isInstanceOf(ConnectionLostException.class);
                }
            }
            return ends;
        }
    }

    private static @Nullable SluiceException await(CompletableFuture<Void> end) {
        try {
            Patience.await(end);
            return null;
        } catch (SluiceException typed) {
            return typed;
        }
    }

    @Test
    void noTransferSucceedsWithChangedBytes() {
        FuzzSeed seed = FuzzSeed.of("ChecksumsTest");
        int succeeded = 0;
        int damaged = 0;
        for (int i = 0; i < seed.scaled(12); i++) {
            Random random = seed.random(i);
            int[] ends = round(random, random.nextLong());
            succeeded += ends[0];
            damaged += ends[1];
        }
        System.out.println("ChecksumsTest: " + succeeded + " transfers right, " + damaged + " found to be damaged");
        assertThat(succeeded).isPositive();
        assertThat(damaged).isPositive();
    }

    // ---- agreement ----

    @Test
    void eitherSideMayAskForIt() {
        EngineOptions plain =
                PatientOptions.builder().transports(List.of("tcp")).build();
        EngineOptions asking = plain.toBuilder().integrity(Integrity.CRC32C).build();
        try (TransferEngine target = TransferEngine.open(asking);
                TransferEngine asks = TransferEngine.open(asking);
                TransferEngine does = TransferEngine.open(plain);
                TransferEngine other = TransferEngine.open(plain)) {
            assertThat(Patience.await(does.connect(target.address())).integrity())
                    .isEqualTo(Integrity.CRC32C);
            assertThat(Patience.await(asks.connect(target.address())).integrity())
                    .isEqualTo(Integrity.CRC32C);
            assertThat(Patience.await(asks.connect(other.address())).integrity())
                    .isEqualTo(Integrity.CRC32C);
            assertThat(Patience.await(does.connect(other.address())).integrity())
                    .isEqualTo(Integrity.NONE);
        }
    }
}
