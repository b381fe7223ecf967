package io.sluice.engine.transport.tcp;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.engine.CapturedLog;
import io.sluice.engine.Connection;
import io.sluice.engine.ConnectionState;
import io.sluice.engine.EngineAddress;
import io.sluice.engine.EngineOptions;
import io.sluice.engine.Filling;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.RemoteRegion;
import io.sluice.engine.SluiceException;
import io.sluice.engine.Transfer;
import io.sluice.engine.TransferElement;
import io.sluice.engine.TransferEngine;
import io.sluice.engine.TransferOptions;
import io.sluice.engine.VectoredTransferCallback;
import io.sluice.engine.transport.tcp.AlteringPath.Alterations;
import io.sluice.testkit.FreePort;
import io.sluice.testkit.Patience;
import io.sluice.testkit.PatientOptions;
import java.io.IOException;
import java.io.OutputStream;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Two engines with a path between them that cuts the streams into pieces, or damages them. */
class AlteringPathTest {
    private static final long LOCAL = 1;
    private static final long SERVED = 2;
    private static final int TRANSFERS = 1000;

    /** Advertises the path's port, so that the initiator needs to know of nothing. */
    private static final class Setting implements AutoCloseable {
        private final CapturedLog log = CapturedLog.warnings();
        private final AlteringPath path;
        private final TransferEngine target;
        private final TransferEngine initiator;
        private final Connection connection;
        private final MemoryRegion served;
        private final MemoryRegion local;
        private final RemoteRegion remote;

        Setting(int lanes, int bytes, Alterations alterations) {
            path = new AlteringPath(alterations);
            // an engine tells its advertised port only, so the bound one must be known beforehand
            int port = FreePort.any();
            path.leadsTo(port);
            EngineOptions options = PatientOptions.builder()
                    .transports(List.of("tcp"))
                    .lanes(lanes)
                    .listen("127.0.0.1", port)
                    .advertise("127.0.0.1", path.port())
                    .livenessTimeout(Patience.BOUND.multipliedBy(2))
                    .build();
            target = TransferEngine.open(options);
            initiator = TransferEngine.open(options.toBuilder().noListener().build());
            EngineAddress advertised = target.address();
            assertThat(advertised.port()).isEqualTo(path.port());
            connection = Patience.await(initiator.connect(advertised));
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

        @Override
        public void close() {
            Patience.await(CompletableFuture.allOf(initiator.closeAsync(), target.closeAsync()));
            path.close();
            log.close();
            log.assertNoErrors();
        }
    }

    // ---- pieces ----

    /** Pieces of a length that changes from one to the next, mostly tiny, now and then after a pause. */
    private static Alterations inPieces(long seed) {
        return (socket, towardsTarget) -> {
            Random random = new Random(seed + 2L * socket + (towardsTarget ? 1 : 0));
            return (bytes, count, to) -> {
                for (int at = 0; at < count; ) {
                    int piece = Math.min(count - at, 1 + random.nextInt(random.nextInt(10) == 0 ? 20_000 : 100));
                    to.write(bytes, at, piece);
                    at += piece;
                    if (random.nextInt(200) == 0) {
                        LockSupport.parkNanos(random.nextInt(1_000_000));
                    }
                }
            };
        };
    }

    private static int length(Random random) {
        return switch (random.nextInt(8)) {
            case 0 -> 0;
            case 1 -> 1;
            case 2, 3 -> 1 + random.nextInt(100);
            case 4, 5 -> 1 + random.nextInt(4096);
            case 6 -> 1 + random.nextInt(40_000);
            // past what is received through the staging memory
            default -> random.nextInt(20) == 0 ? 300_000 : 16_384;
        };
    }

    /** The range of one transfer. Gaps between ranges reveal writes outside them. */
    private record Range(long offset, int bytes, boolean written) {}

    @Test
    void thousandMixedTransfersInPiecesAreExactToTheByte() {
        long seed = Long.getLong("sluice.test.seed", 4711);
        System.out.println("AlteringPathTest: -Dsluice.test.seed=" + seed);
        Random random = new Random(seed);
        List<Range> ranges = new ArrayList<>();
        long at = 3;
        for (int i = 0; i < TRANSFERS; i++) {
            int bytes = length(random);
            ranges.add(new Range(at, bytes, random.nextBoolean()));
            at += bytes + random.nextInt(9);
        }
        try (Setting setting = new Setting(3, Math.toIntExact(at + 3), inPieces(seed))) {
            List<CompletableFuture<Void>> ends = new ArrayList<>();
            for (int i = 0; i < ranges.size(); i++) {
                Range range = ranges.get(i);
                if (i % 10 == 0 && i + 3 < ranges.size()) {
                    ends.add(vectored(setting, ranges.subList(i, i + 3)));
                }
                ends.add(
                        range.written
                                ? setting.write(range.offset, range.bytes)
                                : setting.read(range.offset, range.bytes));
            }
            ends.forEach(Patience::await);
            long from = 0;
            for (Range range : ranges) {
                assertBoth(setting, from, range.offset, LOCAL, SERVED);
                long end = range.offset + range.bytes;
                long both = range.written ? LOCAL : SERVED;
                assertBoth(setting, range.offset, end, both, both);
                from = end;
            }
            assertBoth(setting, from, setting.local.length(), LOCAL, SERVED);
            assertThat(setting.connection.state()).isEqualTo(ConnectionState.OPEN);
        }
    }

    /** The same ranges once more, the written ones in one transfer: the same bytes arrive. */
    private static CompletableFuture<Void> vectored(Setting setting, List<Range> ranges) {
        CompletableFuture<Void> end = new CompletableFuture<>();
        List<TransferElement> elements = ranges.stream()
                .filter(Range::written)
                .map(range ->
                        new TransferElement(setting.local, range.offset, setting.remote, range.offset, range.bytes))
                .toList();
        if (elements.isEmpty()) {
            end.complete(null);
            return end;
        }
        setting.connection.writeVectored(elements, TransferOptions.defaults(), new VectoredTransferCallback() {
            @Override
            public void element(int index, @Nullable SluiceException error) {
                assertThat(error).isNull();
            }

            @Override
            public void terminated(Transfer transfer, @Nullable SluiceException error) {
                GuardedTarget.end(end, error);
            }
        });
        return end;
    }

    private static void assertBoth(Setting setting, long from, long to, long local, long served) {
        Filling.assertFilled(setting.local.segment(), local, from, to);
        Filling.assertFilled(setting.served.segment(), served, from, to);
    }

    // ---- damage ----

    private static final int LANE_MESSAGE = 8 + (4 + 16) + (4 + 8) + (4 + 32);
    private static final int LANE_ACCEPT_MESSAGE = 8;
    private static final int PAYLOAD_AT = 100;

    /** Flips the lowest bit of one byte of the first lane, counted from the beginning of its stream. */
    private static Alterations flipping(boolean inInitiatorsBytes, long position) {
        return (socket, towardsTarget) -> {
            if (socket != 1 || towardsTarget != inInitiatorsBytes) {
                return (bytes, count, to) -> to.write(bytes, 0, count);
            }
            return new AlteringPath.Alteration() {
                private long passed;

                @Override
                public void pass(byte[] bytes, int count, OutputStream to) throws IOException {
                    if (passed <= position && position < passed + count) {
                        bytes[(int) (position - passed)] ^= 1;
                    }
                    passed += count;
                    to.write(bytes, 0, count);
                }
            };
        };
    }

    private static void assertOneByteFlipped(MemoryRegion region, long seed) {
        byte flipped = region.segment().get(ValueLayout.JAVA_BYTE, PAYLOAD_AT);
        assertThat(flipped).isEqualTo((byte) (Filling.at(seed, PAYLOAD_AT) ^ 1));
        Filling.assertFilled(region.segment(), seed, 0, PAYLOAD_AT);
        Filling.assertFilled(region.segment(), seed, PAYLOAD_AT + 1, region.length());
    }

    /** No integrity is promised beyond TCP's own: the byte arrives as it is, and nothing else suffers. */
    @Test
    void byteFlippedInTheBytesOfAWrite() {
        try (Setting setting = new Setting(1, 5000, flipping(true, LANE_MESSAGE + RawLane.HEADER_BYTES + PAYLOAD_AT))) {
            Patience.await(setting.write(0, 5000));
            assertOneByteFlipped(setting.served, LOCAL);
            Patience.await(setting.write(0, 5000));
            Filling.assertFilled(setting.served.segment(), LOCAL, 0, 5000);
        }
    }

    @Test
    void byteFlippedInTheBytesOfARead() {
        try (Setting setting =
                new Setting(1, 5000, flipping(false, LANE_ACCEPT_MESSAGE + RawLane.HEADER_BYTES + PAYLOAD_AT))) {
            Patience.await(setting.read(0, 5000));
            assertOneByteFlipped(setting.local, SERVED);
            Patience.await(setting.read(0, 5000));
            Filling.assertFilled(setting.local.segment(), SERVED, 0, 5000);
        }
    }

    /** Wherever a header is hit, each transfer ends once, and no byte lands outside the range that peers may reach. */
    @ParameterizedTest
    @ValueSource(ints = {0, 3, 4, 5, 6, 8, 15, 16, 23, 24, 31, 32, 39, 40, 46, 47})
    void bitFlippedInAHeader(int at) {
        try (Setting setting = new Setting(1, 5000, flipping(true, LANE_MESSAGE + at))) {
            CompletableFuture<Void> first = setting.write(0, 5000);
            CompletableFuture<Void> second = setting.read(0, 5000);
            setting.connection.close();
            for (CompletableFuture<Void> each : List.of(first, second)) {
                try {
                    Patience.await(each);
                } catch (SluiceException typed) {
                    // As good as a success here.
                }
            }
            Patience.await(setting.connection.quiesced());
        }
    }
}
