package io.sluice.engine.transport.shm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import io.sluice.engine.Access;
import io.sluice.engine.CapturedLog;
import io.sluice.engine.Connection;
import io.sluice.engine.EngineOptions;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RegionDescriptor;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.RemoteAccessException;
import io.sluice.engine.RemoteRegion;
import io.sluice.engine.SluiceException;
import io.sluice.engine.TransferEngine;
import io.sluice.engine.TransferOptions;
import io.sluice.engine.TransportStatus;
import io.sluice.testkit.Patience;
import io.sluice.testkit.PatientOptions;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The fallbacks of shm where the best way is unavailable: transfers work all the same. */
class TransportFallbackTest {
    private static final TransferOptions NO_DEADLINE = TransferOptions.defaults();
    private static final long BYTES = 1 << 20;

    private static EngineOptions with(ShmOptions.Builder shm) {
        return PatientOptions.builder()
                .transports(List.of("shm"))
                .transport(shm.build())
                .build();
    }

    private static CompletableFuture<Boolean> write(MemoryRegion local, RemoteRegion remote, long bytes) {
        CompletableFuture<Boolean> end = new CompletableFuture<>();
        remote.connection().write(local, 0, remote, 0, bytes, NO_DEADLINE, (transfer, error) -> complete(end, error));
        return end;
    }

    private static CompletableFuture<Boolean> read(MemoryRegion local, RemoteRegion remote, long bytes) {
        CompletableFuture<Boolean> end = new CompletableFuture<>();
        remote.connection().read(local, 0, remote, 0, bytes, NO_DEADLINE, (transfer, error) -> complete(end, error));
        return end;
    }

    private static void complete(CompletableFuture<Boolean> end, @Nullable SluiceException error) {
        if (error == null) {
            end.complete(true);
        } else {
            end.completeExceptionally(error);
        }
    }

    private static void fill(MemorySegment segment, int first) {
        for (long i = 0; i < segment.byteSize() / Long.BYTES; i++) {
            segment.setAtIndex(ValueLayout.JAVA_LONG, i, first + 31 * i);
        }
    }

    /** Writes and reads back, small and large, and an atomic. */
    private static void assertTransfers(TransferEngine initiator, MemoryRegion target, Connection connection) {
        MemoryRegion source = initiator.allocate(BYTES, RegionOptions.local());
        MemoryRegion destination = initiator.allocate(BYTES, RegionOptions.local());
        RemoteRegion remote = Patience.await(connection.attach(target.descriptor()));
        for (long bytes : new long[] {64, BYTES}) {
            fill(source.segment(), (int) bytes);
            Patience.await(write(source, remote, bytes));
            assertThat(target.segment()
                            .asSlice(0, bytes)
                            .mismatch(source.segment().asSlice(0, bytes)))
                    .isEqualTo(-1);
            Patience.await(read(destination, remote, bytes));
            assertThat(destination
                            .segment()
                            .asSlice(0, bytes)
                            .mismatch(source.segment().asSlice(0, bytes)))
                    .isEqualTo(-1);
        }
        target.segment().set(ValueLayout.JAVA_LONG, 0, 40);
        CompletableFuture<Long> before = new CompletableFuture<>();
        connection.fetchAdd(remote, 0, 2, NO_DEADLINE, (transfer, value, error) -> {
            if (error == null) {
                before.complete(value);
            } else {
                before.completeExceptionally(error);
            }
        });
        assertThat(Patience.await(before)).isEqualTo(40);
        assertThat(target.segment().get(ValueLayout.JAVA_LONG, 0)).isEqualTo(42);
        Patience.await(connection.detach(remote));
    }

    @Test
    void enginesOfOneHostTakeShmByDefault() {
        assumeThat(TransferEngine.transports())
                .filteredOn(status -> status.name().equals("verbs"))
                .allMatch(status -> status.unavailable() != null);
        assertThat(TransferEngine.transports())
                .filteredOn(status -> status.name().equals("shm"))
                .singleElement()
                .extracting(TransportStatus::unavailable)
                .isNull();
        try (TransferEngine initiator =
                        TransferEngine.open(PatientOptions.builder().build());
                TransferEngine target =
                        TransferEngine.open(PatientOptions.builder().build())) {
            Connection connection = Patience.await(initiator.connect(target.address()));
            assertThat(connection.transport()).as(connection.transportReason()).isEqualTo("shm");
            assertTransfers(initiator, target.allocate(BYTES, RegionOptions.readWrite()), connection);
        }
    }

    @Test
    void connectionTakesTcpWhereThePeerHasThatAlone() {
        try (TransferEngine initiator =
                        TransferEngine.open(PatientOptions.builder().build());
                TransferEngine target = TransferEngine.open(
                        PatientOptions.builder().transports(List.of("tcp")).build())) {
            Connection connection = Patience.await(initiator.connect(target.address()));
            assertThat(connection.transport()).isEqualTo("tcp");
            assertThat(connection.transportReason()).contains("shm");
            assertTransfers(initiator, target.allocate(BYTES, RegionOptions.readWrite()), connection);
        }
    }

    @ParameterizedTest
    @CsvSource({"false, false", "true, false", "false, true", "true, true"})
    void memoryOfTheUsersIsReachedWithAndWithoutCrossMemoryAttach(boolean initiatorAllows, boolean targetAllows) {
        try (CapturedLog log = CapturedLog.everything();
                Arena arena = Arena.ofShared();
                TransferEngine initiator =
                        TransferEngine.open(with(ShmOptions.builder().crossMemoryAttach(initiatorAllows)));
                TransferEngine target =
                        TransferEngine.open(with(ShmOptions.builder().crossMemoryAttach(targetAllows)))) {
            Connection connection = Patience.await(initiator.connect(target.address()));
            assertThat(connection.transport()).isEqualTo("shm");
            MemoryRegion region = target.register(arena.allocate(BYTES, 4096), RegionOptions.readWrite());
            assertTransfers(initiator, region, connection);
            if (!initiatorAllows || !targetAllows) {
                Patience.until(
                        "it is explained",
                        () -> log.lines().stream().anyMatch(line -> line.contains("SLUICE_SHM_CROSS_MEMORY_ATTACH")));
                assertThat(log.lines())
                        .as("it is explained once")
                        .filteredOn(line -> line.contains("SLUICE_SHM_CROSS_MEMORY_ATTACH"))
                        .hasSize(1);
            }
            log.assertNoErrors();
            Patience.await(region.close());
        }
    }

    @Test
    void regionHasOrdinaryPagesWhereThereAreNoHugeOnes() throws Exception {
        assumeThat(Files.readString(Path.of("/proc/sys/vm/nr_hugepages")).strip())
                .isEqualTo("0");
        try (CapturedLog log = CapturedLog.warnings();
                TransferEngine initiator = TransferEngine.open(with(ShmOptions.builder()));
                TransferEngine target =
                        TransferEngine.open(with(ShmOptions.builder().hugePages(true)))) {
            Connection connection = Patience.await(initiator.connect(target.address()));
            assertTransfers(initiator, target.allocate(BYTES, RegionOptions.readWrite()), connection);
            assertTransfers(initiator, target.allocate(BYTES, RegionOptions.readWrite()), connection);
            assertThat(log.lines())
                    .as("a warning, once")
                    .filteredOn(line -> line.contains("vm.nr_hugepages"))
                    .hasSize(1);
        }
    }

    @Test
    void regionWithoutPrefaultedPagesWorks() {
        try (TransferEngine initiator =
                        TransferEngine.open(with(ShmOptions.builder().prefault(false)));
                TransferEngine target =
                        TransferEngine.open(with(ShmOptions.builder().prefault(false)))) {
            Connection connection = Patience.await(initiator.connect(target.address()));
            assertTransfers(initiator, target.allocate(BYTES, RegionOptions.readWrite()), connection);
        }
    }

    /** A peer that forges the descriptor can claim any right; the region's own rights count. */
    @ParameterizedTest
    @CsvSource({"64, true", "64, false", "1048576, true", "1048576, false"})
    void regionThatMayOnlyBeReadIsNotWritten(long bytes, boolean forged) {
        try (ShmPair pair = ShmPair.open(BYTES)) {
            MemoryRegion region = pair.target().allocate(BYTES, RegionOptions.readOnly());
            fill(region.segment(), 7);
            RegionDescriptor right = region.descriptor();
            Set<Access> claimed = forged ? EnumSet.allOf(Access.class) : right.access();
            RegionDescriptor presented = new RegionDescriptor(
                    right.engineId(),
                    right.epoch(),
                    right.regionId(),
                    right.key(),
                    right.kind(),
                    claimed,
                    right.offset(),
                    right.length());
            try {
                RemoteRegion remote = Patience.await(pair.connection().attach(presented));
                Patience.failure(written(pair, remote, bytes), RemoteAccessException.class);
            } catch (SluiceException refusedAtOnce) {
                assertThat(forged).as("%s", refusedAtOnce).isTrue();
            }
            assertThat(region.segment().get(ValueLayout.JAVA_LONG, 0)).isEqualTo(7);
            pair.assertNothingInFlight();
        }
    }

    private static CompletableFuture<Boolean> written(ShmPair pair, RemoteRegion remote, long bytes) {
        try {
            return write(pair.local(), remote, bytes);
        } catch (SluiceException refusedInTheCall) {
            return CompletableFuture.failedFuture(refusedInTheCall);
        }
    }

    /** The kernel itself keeps peers from writing, by any use of the file. */
    @Test
    void regionThatMayOnlyBeReadIsMappedByThePeerForReading() throws IOException {
        try (ShmPair pair = ShmPair.open(BYTES)) {
            MemoryRegion region = pair.target().allocate(BYTES, RegionOptions.readOnly());
            Patience.await(pair.connection().attach(region.descriptor()));
            // the target's second file
            try (Stream<String> mappings = Files.lines(Path.of("/proc/self/maps"))) {
                assertThat(mappings.filter(line -> line.contains("sluice-region-2 "))
                                .map(line -> line.split(" ")[1]))
                        .containsExactlyInAnyOrder("rw-s", "r--s");
            }
        }
    }
}
