package io.sluice.engine.contract;

import static io.sluice.testkit.Patience.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.sluice.engine.Connection;
import io.sluice.engine.ConnectionState;
import io.sluice.engine.MemoryKind;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.RegistrationException;
import io.sluice.engine.RemoteAccessException;
import io.sluice.engine.RemoteRegion;
import io.sluice.engine.SluiceException;
import io.sluice.engine.TransferEngine;
import io.sluice.engine.TransferOptions;
import io.sluice.engine.transport.WorkRequest;
import io.sluice.testkit.Patience;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Memory that may be registered, and its lifetime. */
interface MemoryLifetimeContract extends Contract {
    @Test
    default void allocatedMemoryIsZeroedAlignedAndCounted() {
        assumeHostMemory();
        try (TransferEngine engine = TransferEngine.open(transport().options().build())) {
            MemoryRegion region = allocate(engine, 100_000, RegionOptions.readWrite());
            assertThat(region.length()).isEqualTo(100_000);
            assertThat(region.offset()).isZero();
            assertThat(region.kind()).isEqualTo(MemoryKind.HOST);
            assertThat(region.isOpen()).isTrue();
            assertThat(region.name()).isNull();
            assertThat(region.segment().byteSize()).isEqualTo(100_000);
            assertThat(region.segment().address() % 4096).isZero();
            BytePattern.assertAll(bytesOf(region), (byte) 0, "fresh memory");
            assertThat(engine.regions()).contains(region);
            assertThat(engine.metrics().regions()).isEqualTo(1);
            assertThat(engine.metrics().regionBytes()).isEqualTo(100_000);
            await(region.close());
            assertThat(engine.regions()).isEmpty();
            assertThat(engine.metrics().regionBytes()).isZero();
        }
    }

    @Test
    default void segmentOfAClosedRegionCannotBeTouched() {
        assumeHostMemory();
        try (TransferEngine engine = TransferEngine.open(transport().options().build())) {
            MemoryRegion region = allocate(engine, 4096, RegionOptions.local());
            MemorySegment whole = region.segment();
            MemorySegment slice = region.slice(64, 64).segment();
            await(region.close());
            assertThatThrownBy(() -> whole.get(ValueLayout.JAVA_BYTE, 0)).isInstanceOf(IllegalStateException.class);
            assertThatThrownBy(() -> slice.get(ValueLayout.JAVA_BYTE, 0)).isInstanceOf(IllegalStateException.class);
            assertThatThrownBy(() -> region.segment().get(ValueLayout.JAVA_BYTE, 0))
                    .isInstanceOf(IllegalStateException.class);
        }
    }

    @Test
    default void segmentIsUsableFromAnyThread() {
        assumeHostMemory();
        try (TransferEngine engine = TransferEngine.open(transport().options().build())) {
            MemoryRegion region = allocate(engine, 4096, RegionOptions.local());
            Thread thread = Thread.ofPlatform().start(() -> region.segment().fill((byte) 3));
            Patience.join(thread);
            BytePattern.assertAll(bytesOf(region), (byte) 3, "what the other thread wrote");
        }
    }

    @Test
    default void moreMemoryThanThereIs() {
        try (TransferEngine engine = TransferEngine.open(transport().options().build())) {
            assertThatThrownBy(() -> allocate(engine, 1L << 50, RegionOptions.local()))
                    .isInstanceOf(RegistrationException.class);
            assertThatThrownBy(() -> allocate(engine, Long.MAX_VALUE, RegionOptions.local()))
                    .isInstanceOf(RegistrationException.class);
            assertThatThrownBy(() -> allocate(engine, 0, RegionOptions.local()))
                    .isInstanceOfAny(RegistrationException.class, IllegalArgumentException.class);
            assertThatThrownBy(() -> allocate(engine, -1, RegionOptions.local()))
                    .isInstanceOfAny(RegistrationException.class, IllegalArgumentException.class);
            assertThat(engine.metrics().regions()).isZero();
            await(allocate(engine, 4096, RegionOptions.local()).close());
        }
    }

    @Test
    default void allocatingAndClosingForEverUsesNoMemoryUp() {
        try (TransferEngine engine = TransferEngine.open(transport().options().build())) {
            // In sum more than any machine has.
            long bytes = ContractProfile.of(transport()).passingRegionBytes();
            for (int round = 0; round < 300; round++) {
                MemoryRegion region = allocate(engine, bytes, RegionOptions.readWrite());
                bytesOf(region).slice(bytes - 1).fill((byte) 1);
                await(region.close());
            }
        }
    }

    @Test
    default void segmentsThatNotEveryThreadMayUseAreRefused() {
        assumeHostMemory();
        try (TransferEngine engine = TransferEngine.open(transport().options().build());
                Arena confined = Arena.ofConfined()) {
            assertThatThrownBy(() -> engine.register(confined.allocate(64), RegionOptions.local()))
                    .isInstanceOf(RegistrationException.class);
        }
    }

    @Test
    default void heapSegmentsAreRefused() {
        assumeHostMemory();
        try (TransferEngine engine = TransferEngine.open(transport().options().build())) {
            assertThatThrownBy(() -> engine.register(MemorySegment.ofArray(new byte[64]), RegionOptions.local()))
                    .isInstanceOf(RegistrationException.class);
            assertThatThrownBy(() -> engine.register(MemorySegment.ofArray(new long[8]), RegionOptions.readOnly()))
                    .isInstanceOf(RegistrationException.class);
        }
    }

    @Test
    default void closedSegmentIsRefused() {
        assumeHostMemory();
        try (TransferEngine engine = TransferEngine.open(transport().options().build())) {
            MemorySegment dead;
            try (Arena arena = Arena.ofShared()) {
                dead = arena.allocate(64);
            }
            assertThatThrownBy(() -> engine.register(dead, RegionOptions.local()))
                    .isInstanceOf(RegistrationException.class);
        }
    }

    @Test
    default void readOnlySegmentIsNeverWritten() {
        assumeHostMemory();
        try (Arena arena = Arena.ofShared();
                EnginePair pair = EnginePair.open(transport())) {
            MemorySegment memory = arena.allocate(4096);
            BytePattern.fill(ContractBytes.of(memory), 1);
            MemorySegment readOnly = memory.asReadOnly();
            assertThatThrownBy(() -> pair.target().register(readOnly, RegionOptions.readWrite()))
                    .isInstanceOf(RegistrationException.class);
            MemoryRegion served = pair.target().register(readOnly, RegionOptions.readOnly());
            MemoryRegion sink = pair.local(4096);
            pair.read(sink, 0, pair.attach(served), 0, 4096).awaitSuccess();
            BytePattern.assertFilled(bytesOf(sink), 1);

            MemoryRegion source = pair.initiator().register(readOnly, RegionOptions.local());
            MemoryRegion zeros = pair.served(4096);
            RemoteRegion remote = pair.attach(zeros);
            // Thrown or signalled, but refused.
            assertThatThrownBy(
                            () -> pair.read(source, 0, remote, 0, 4096).await().ifPresent(error -> {
                                throw error;
                            }))
                    .isInstanceOf(RuntimeException.class);
            BytePattern.assertFilled(ContractBytes.of(memory), 1);
            pair.write(source, 0, remote, 0, 4096).awaitSuccess();
            BytePattern.assertFilled(bytesOf(zeros), 1);
            await(served.close());
            await(source.close());
        }
    }

    @Test
    default void mappedFileIsServed(@TempDir Path folder) throws IOException {
        assumeHostMemory();
        Path file = folder.resolve("block");
        byte[] bytes = new byte[100_000];
        BytePattern.fill(ContractBytes.of(bytes), 21);
        Files.write(file, bytes);
        try (Arena arena = Arena.ofShared();
                FileChannel channel = FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE);
                EnginePair pair = EnginePair.open(transport())) {
            MemoryRegion served = registerMapped(pair.target(), channel, bytes.length, arena);
            MemoryRegion sink = pair.local(bytes.length);
            pair.read(sink, 0, pair.attach(served), 0, bytes.length).awaitSuccess();
            BytePattern.assertFilled(bytesOf(sink), 21);
            await(served.close());
        }
    }

    private MemoryRegion registerMapped(TransferEngine engine, FileChannel channel, long bytes, Arena arena)
            throws IOException {
        return registerMapped(engine, channel, FileChannel.MapMode.READ_ONLY, RegionOptions.readOnly(), bytes, arena);
    }

    private MemoryRegion registerMapped(
            TransferEngine engine,
            FileChannel channel,
            FileChannel.MapMode mode,
            RegionOptions options,
            long bytes,
            Arena arena)
            throws IOException {
        try {
            return engine.register(channel.map(mode, 0, bytes, arena), options);
        } catch (RegistrationException refused) {
            // some kernels lock no pages of such a mapping for an adapter; then the error says what to do
            assertThat(transport().locksMemory()).isTrue();
            assertThat(refused).hasMessageContaining("MapMode.PRIVATE");
            return engine.register(channel.map(FileChannel.MapMode.PRIVATE, 0, bytes, arena), options);
        }
    }

    /** A writer of a file can do this to every process that has mapped it. */
    @ParameterizedTest
    @ValueSource(ints = {64, 16 << 10, 1 << 20, 8 << 20})
    @Tag(DRIVER)
    default void mappedFileThatIsCutShortIsATypedFailure(int bytes, @TempDir Path folder) throws IOException {
        assumeHostMemory();
        assumeTrue(
                transport().crossesProcesses() || !transport().locksMemory(),
                "what stands in for an adapter has locked no pages, and would end this process");
        for (WorkRequest.Opcode operation : List.of(WorkRequest.Opcode.WRITE, WorkRequest.Opcode.READ)) {
            boolean write = operation == WorkRequest.Opcode.WRITE;
            try (Arena arena = Arena.ofShared();
                    FileChannel file = FileChannel.open(
                            folder.resolve(operation.name()),
                            StandardOpenOption.CREATE_NEW,
                            StandardOpenOption.READ,
                            StandardOpenOption.WRITE);
                    EnginePair pair = EnginePair.open(transport())) {
                MemoryRegion local = registerMapped(
                        pair.initiator(), file, FileChannel.MapMode.READ_WRITE, RegionOptions.local(), bytes, arena);
                RemoteRegion remote = pair.attach(pair.served(bytes));
                // compiled code reports a fault later than interpreted code; an adapter runs no code
                boolean compiled = bytes < 1 << 20 && !transport().locksMemory();
                int rounds = transport().isVariant()
                                && !ContractProfile.of(transport()).isLarge()
                        ? 20
                        : 200;
                for (int i = 0; i < (compiled ? rounds : 1); i++) {
                    List<TerminalSignal> signals = new ArrayList<>();
                    for (int j = 0; j < (transport().locksMemory() ? 4 : 100); j++) {
                        signals.add(
                                write ? pair.write(local, 0, remote, 0, bytes) : pair.read(local, 0, remote, 0, bytes));
                    }
                    TerminalSignal.awaitAllSuccess(signals);
                }
                file.truncate(0);
                TerminalSignal cut =
                        write ? pair.write(local, 0, remote, 0, bytes) : pair.read(local, 0, remote, 0, bytes);
                if (transport().locksMemory()) {
                    // the pages are locked, and outlive the file's end: success, or else a typed failure
                    cut.await();
                    assertThat(pair.connection().state()).isEqualTo(ConnectionState.OPEN);
                    pair.write(pair.local(64), 0, remote, 0, 64).awaitSuccess();
                } else {
                    cut.awaitFailure(SluiceException.class);
                }
                await(pair.connection().quiesced());
                assertThat(pair.connection().window().operations()).isZero();
                assertThat(pair.connection().window().bytes()).isZero();
                await(local.close());
            }
        }
    }

    @Test
    @Tag(DRIVER)
    default void pagesOfAFileThatIsCutShortAreATypedFailure(@TempDir Path folder) throws IOException {
        assumeHostMemory();
        assumeTrue(
                transport().crossesProcesses() || !transport().locksMemory(),
                "what stands in for an adapter has locked no pages, and would end this process");
        int bytes = 1 << 20;
        for (boolean write : new boolean[] {true, false}) {
            try (Arena arena = Arena.ofShared();
                    FileChannel file = FileChannel.open(
                            folder.resolve("write " + write),
                            StandardOpenOption.CREATE_NEW,
                            StandardOpenOption.READ,
                            StandardOpenOption.WRITE);
                    EnginePair pair = EnginePair.open(transport())) {
                MemoryRegion local = registerMapped(
                        pair.initiator(), file, FileChannel.MapMode.READ_WRITE, RegionOptions.local(), bytes, arena);
                RemoteRegion remote = pair.attach(pair.served(bytes));
                int[] from = IntStream.range(0, bytes / 4096).toArray();
                int[] to = IntStream.range(0, from.length)
                        .map(i -> from.length - 1 - i)
                        .toArray();
                PageEnds ends = new PageEnds();
                for (int i = 0; i < 20; i++) {
                    movePages(pair.connection(), write, local, from, remote, to, ends);
                    ends.awaitSuccess();
                }
                file.truncate(0);
                movePages(pair.connection(), write, local, from, remote, to, ends);
                if (transport().locksMemory()) {
                    // the pages are locked, and outlive the file's end: success, or else a typed failure
                    ends.await();
                    assertThat(pair.connection().state()).isEqualTo(ConnectionState.OPEN);
                } else {
                    assertThat(ends.awaitFailure(SluiceException.class).isEmpty())
                            .isFalse();
                }
                await(pair.connection().quiesced());
                assertThat(pair.connection().window().operations()).isZero();
                assertThat(pair.connection().window().bytes()).isZero();
                await(local.close());
            }
        }
    }

    private static void movePages(
            Connection connection,
            boolean write,
            MemoryRegion local,
            int[] localPages,
            RemoteRegion remote,
            int[] remotePages,
            PageEnds ends) {
        if (write) {
            connection.writePages(local, localPages, remote, remotePages, 4096, TransferOptions.defaults(), ends);
        } else {
            connection.readPages(local, localPages, remote, remotePages, 4096, TransferOptions.defaults(), ends);
        }
    }

    @Test
    default void memoryOfTheCollectorIsKept() {
        assumeHostMemory();
        try (EnginePair pair = EnginePair.open(transport())) {
            MemoryRegion source =
                    filled(pair.initiator().register(Arena.ofAuto().allocate(1 << 20), RegionOptions.local()), 4);
            MemoryRegion served = pair.target().register(Arena.ofAuto().allocate(1 << 20), RegionOptions.readWrite());
            RemoteRegion remote = pair.attach(served);
            for (int round = 0; round < 5; round++) {
                System.gc();
                pair.write(source, 0, remote, 0, 1 << 20).awaitSuccess();
            }
            BytePattern.assertFilled(bytesOf(served), 4);
        }
    }

    @Test
    default void closedArenaOfALocalRegionIsATypedFailure() {
        assumeHostMemory();
        try (EnginePair pair = EnginePair.open(transport())) {
            RemoteRegion remote = pair.attach(pair.served(4096));
            MemoryRegion local;
            try (Arena arena = Arena.ofShared()) {
                local = pair.initiator().register(arena.allocate(4096), RegionOptions.local());
                pair.write(local, 0, remote, 0, 4096).awaitSuccess();
            }
            // Thrown or signalled, but typed.
            assertThatThrownBy(
                            () -> pair.write(local, 0, remote, 0, 4096).await().ifPresent(error -> {
                                throw error;
                            }))
                    .isInstanceOf(SluiceException.class);
            assertThatThrownBy(
                            () -> pair.read(local, 0, remote, 0, 4096).await().ifPresent(error -> {
                                throw error;
                            }))
                    .isInstanceOf(SluiceException.class);
            assertThat(pair.connection().state()).isEqualTo(ConnectionState.OPEN);
            pair.write(pair.local(64), 0, remote, 0, 64).awaitSuccess();
            await(local.close());
        }
    }

    @Test
    default void closedArenaOfAServedRegionIsATypedFailure() {
        assumeHostMemory();
        // An adapter that does not notice goes on writing, so the memory itself outlives the arena that is closed.
        try (Arena lasting = Arena.ofShared();
                EnginePair pair = EnginePair.open(transport())) {
            MemorySegment memory = lasting.allocate(1 << 20);
            MemoryRegion local = pair.local(1 << 20);
            MemoryRegion served;
            RemoteRegion remote;
            try (Arena arena = Arena.ofShared()) {
                MemorySegment closing =
                        MemorySegment.ofAddress(memory.address()).reinterpret(memory.byteSize(), arena, null);
                served = pair.target().register(closing, RegionOptions.readWrite());
                remote = pair.attach(served);
                pair.write(local, 0, remote, 0, 1 << 20).awaitSuccess();
            }
            for (int bytes : new int[] {64, 1 << 20}) {
                for (TerminalSignal end :
                        List.of(pair.write(local, 0, remote, 0, bytes), pair.read(local, 0, remote, 0, bytes))) {
                    if (transport().noticesFreedMemory()) {
                        end.awaitFailure(RemoteAccessException.class);
                    } else {
                        end.awaitSuccess();
                    }
                }
            }
            assertThat(pair.connection().state()).isEqualTo(ConnectionState.OPEN);
            pair.write(local, 0, pair.attach(pair.served(64)), 0, 64).awaitSuccess();
            await(served.close());
        }
    }

    @Test
    default void manyRegionsAtOnce() {
        int count = ContractProfile.of(transport()).manyRegions();
        try (EnginePair pair = EnginePair.open(transport())) {
            MemoryRegion source = filled(pair.local(4096), 1);
            List<MemoryRegion> served = new ArrayList<>();
            List<TerminalSignal> signals = new ArrayList<>();
            for (int i = 0; i < count; i++) {
                served.add(pair.served(4096));
            }
            List<RemoteRegion> remotes = await(pair.connection()
                    .attach(served.stream().map(MemoryRegion::descriptor).toList()));
            remotes.forEach(remote -> signals.add(pair.write(source, 0, remote, 0, 4096)));
            TerminalSignal.awaitAllSuccess(signals);
            served.forEach(region -> BytePattern.assertFilled(bytesOf(region), 1));
            served.forEach(region -> await(region.close()));
        }
    }
}
