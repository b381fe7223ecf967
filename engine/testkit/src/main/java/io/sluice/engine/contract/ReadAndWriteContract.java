package io.sluice.engine.contract;

import static io.sluice.testkit.Patience.await;
import static io.sluice.testkit.Patience.until;
import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.engine.Connection;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.RemoteRegion;
import io.sluice.engine.Transfer;
import io.sluice.engine.TransferEngine;
import io.sluice.engine.TransferOptions;
import io.sluice.testkit.Extent;
import io.sluice.testkit.Patience;
import java.lang.foreign.Arena;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Bytes go where they should, nowhere else, and come back. */
interface ReadAndWriteContract extends Contract {
    long[] SIZES = {
        0,
        1,
        7,
        8,
        9,
        4095,
        4096,
        4097,
        64 << 10,
        (512 << 10) - 1,
        (512 << 10) + 1,
        (1 << 20) + 3,
        Extent.of((5 << 20) + 5, (17 << 20) + 5)
    };

    @ParameterizedTest
    @ValueSource(ints = {1, 4})
    default void sizesThereAndBack(int lanes) {
        try (EnginePair pair = EnginePair.open(transport(), both -> both.lanes(lanes))) {
            for (long size : SIZES) {
                thereAndBack(pair, size, 0, 0, 0);
            }
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 4})
    @Tag(DRIVER)
    default void oddOffsetsThereAndBack(int lanes) {
        try (EnginePair pair = EnginePair.open(transport(), both -> both.lanes(lanes))) {
            thereAndBack(pair, 1, 1, 3, 5);
            thereAndBack(pair, 4096, 1, 4095, 4097);
            thereAndBack(pair, 4097, 13, 7, 1);
            thereAndBack(pair, (2 << 20) + 1, 4099, 3, 8191);
        }
    }

    private void thereAndBack(EnginePair pair, long size, long from, long to, long back) {
        long margin = 9000;
        MemoryRegion source = filled(pair.local(size + margin), size + 1);
        MemoryRegion served = pair.served(size + margin);
        MemoryRegion result = pair.local(size + margin);
        RemoteRegion remote = pair.attach(served);

        pair.write(source, from, remote, to, size).awaitSuccess();
        BytePattern.assertAll(bytesOf(served).slice(0, to), (byte) 0, "before the bytes written");
        BytePattern.assertFilled(bytesOf(served).slice(to, size), size + 1, from);
        BytePattern.assertAll(bytesOf(served).slice(to + size), (byte) 0, "behind the bytes written");

        pair.read(result, back, remote, to, size).awaitSuccess();
        BytePattern.assertAll(bytesOf(result).slice(0, back), (byte) 0, "before the bytes read");
        BytePattern.assertFilled(bytesOf(result).slice(back, size), size + 1, from);
        BytePattern.assertAll(bytesOf(result).slice(back + size), (byte) 0, "behind the bytes read");

        await(source.close());
        await(served.close());
        await(result.close());
    }

    @Test
    default void acceptorWritesAndReadsAsWell() {
        long bytes = (3 << 20) + 1;
        try (EnginePair pair = EnginePair.open(transport())) {
            Connection accepted = pair.accepted();
            MemoryRegion served = allocate(pair.initiator(), bytes, RegionOptions.readWrite());
            MemoryRegion source = filled(allocate(pair.target(), bytes, RegionOptions.local()), 2);
            MemoryRegion result = allocate(pair.target(), bytes, RegionOptions.local());
            RemoteRegion remote = await(accepted.attach(served.descriptor()));
            TerminalSignal written = new TerminalSignal();
            accepted.write(source, 0, remote, 0, bytes, TransferOptions.defaults(), written);
            written.awaitSuccess();
            BytePattern.assertFilled(bytesOf(served), 2);
            TerminalSignal read = new TerminalSignal();
            accepted.read(result, 0, remote, 0, bytes, TransferOptions.defaults(), read);
            read.awaitSuccess();
            BytePattern.assertFilled(bytesOf(result), 2);
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 4})
    default void bothDirectionsAtOnce(int lanes) {
        long bytes = 1 << 20;
        int transfers = Extent.of(12, 60);
        try (EnginePair pair = EnginePair.open(transport(), both -> both.lanes(lanes))) {
            MemoryRegion theirs = pair.served(bytes * transfers);
            MemoryRegion ours = allocate(pair.initiator(), bytes * transfers, RegionOptions.readWrite());
            MemoryRegion ourSource = filled(pair.local(theirs.length()), 1);
            MemoryRegion theirSource = filled(allocate(pair.target(), ours.length(), RegionOptions.local()), 2);
            RemoteRegion toThem = pair.attach(theirs);
            RemoteRegion toUs = await(pair.accepted().attach(ours.descriptor()));
            List<TerminalSignal> signals = new ArrayList<>();
            for (int i = 0; i < transfers; i++) {
                signals.add(pair.write(ourSource, i * bytes, toThem, i * bytes, bytes));
                TerminalSignal back = new TerminalSignal();
                pair.accepted().write(theirSource, i * bytes, toUs, i * bytes, bytes, TransferOptions.defaults(), back);
                signals.add(back);
            }
            TerminalSignal.awaitAllSuccess(signals);
            BytePattern.assertFilled(bytesOf(theirs), 1);
            BytePattern.assertFilled(bytesOf(ours), 2);
        }
    }

    @Test
    default void readsInBothDirectionsAtOnceDoNotStall() {
        long bytes = 4 << 20;
        int transfers = Extent.of(8, 16);
        try (EnginePair pair = EnginePair.open(transport())) {
            MemoryRegion theirs = filled(pair.served(bytes), 1);
            MemoryRegion ours = filled(allocate(pair.initiator(), bytes, RegionOptions.readWrite()), 2);
            MemoryRegion toUs = pair.local(bytes * transfers);
            MemoryRegion toThem = allocate(pair.target(), bytes * transfers, RegionOptions.local());
            RemoteRegion atTarget = pair.attach(theirs);
            RemoteRegion atInitiator = await(pair.accepted().attach(ours.descriptor()));
            List<TerminalSignal> signals = new ArrayList<>();
            for (int i = 0; i < transfers; i++) {
                signals.add(pair.read(toUs, i * bytes, atTarget, 0, bytes));
                TerminalSignal other = new TerminalSignal();
                pair.accepted().read(toThem, i * bytes, atInitiator, 0, bytes, TransferOptions.defaults(), other);
                signals.add(other);
            }
            TerminalSignal.awaitAllSuccess(signals);
            for (int i = 0; i < transfers; i++) {
                BytePattern.assertSame(bytesOf(toUs).slice(i * bytes, bytes), bytesOf(theirs));
                BytePattern.assertSame(bytesOf(toThem).slice(i * bytes, bytes), bytesOf(ours));
            }
        }
    }

    @Test
    default void transferKnowsItsConnectionAndItsEnd() {
        try (EnginePair pair = EnginePair.open(transport())) {
            RemoteRegion remote = pair.attach(pair.served(64));
            MemoryRegion local = pair.local(64);
            TerminalSignal signal = new TerminalSignal();
            Transfer transfer = pair.connection().write(local, 0, remote, 0, 64, TransferOptions.defaults(), signal);
            assertThat(transfer.connection()).isSameAs(pair.connection());
            signal.awaitSuccess();
            assertThat(signal.transfer()).isSameAs(transfer);
            assertThat(transfer.isTerminated()).isTrue();
            await(transfer.quiesced());
            // Neither a cancel after the end nor a second one does anything.
            transfer.cancel();
            transfer.cancel();
            until("nothing is pending", () -> pair.connection().pending() == 0);
            Patience.pause(Duration.ofMillis(50));
            assertThat(signal.count()).isEqualTo(1);
        }
    }

    @Test
    default void callbacksComeOnAPollerOrInsideTheCallThatCarriedOut() {
        int large = 1 << 20;
        try (EnginePair pair = EnginePair.open(transport())) {
            MemoryRegion local = pair.local(large);
            MemoryRegion ofHost = pair.initiator().allocate(64, RegionOptions.local());
            RemoteRegion allocated = pair.attach(allocate(pair.target(), large, RegionOptions.readWrite()));
            // which no calling thread reaches, on every transport
            RemoteRegion registered = pair.attach(pair.servedByTheTarget(64));
            for (int i = 0; i < 100; i++) {
                int small = i % 2 == 0 ? 64 : 0;
                for (boolean write : new boolean[] {true, false}) {
                    TerminalSignal signal = transfer(pair, write, local, allocated, small);
                    if (transport().carriesOutInTheCall()) {
                        assertThat(signal.ended()).as("when the call returns").isTrue();
                        assertThat(signal.thread()).isSameAs(Thread.currentThread());
                        signal.awaitSuccess();
                    } else {
                        assertEndsOnAPoller(signal);
                    }
                    assertEndsOnAPoller(transfer(pair, write, ofHost, registered, small));
                    if (i % 20 == 0) {
                        assertEndsOnAPoller(transfer(pair, write, local, allocated, large));
                    }
                }
            }
        }
    }

    private static TerminalSignal transfer(
            EnginePair pair, boolean write, MemoryRegion local, RemoteRegion remote, long bytes) {
        return write ? pair.write(local, 0, remote, 0, bytes) : pair.read(local, 0, remote, 0, bytes);
    }

    private static void assertEndsOnAPoller(TerminalSignal signal) {
        signal.awaitSuccess();
        assertThat(signal.thread()).isNotSameAs(Thread.currentThread());
        assertThat(TransferEngine.isPollerThread(signal.thread())).isTrue();
    }

    @Test
    default void sliceOfLocalMemoryIsASourceAndATarget() {
        try (EnginePair pair = EnginePair.open(transport())) {
            RemoteRegion remote = pair.attach(pair.served(4096));
            MemoryRegion local = filled(pair.local(16 << 10), 9);
            MemoryRegion slice = local.slice(100, 8192).slice(50, 4096);
            assertThat(slice.offset()).isEqualTo(150);
            assertThat(slice.length()).isEqualTo(4096);
            assertThat(bytesOf(slice).length()).isEqualTo(4096);
            pair.write(slice, 6, remote, 0, 4090).awaitSuccess();
            MemoryRegion back = pair.local(8192);
            pair.read(back.slice(1000, 4090), 0, remote, 0, 4090).awaitSuccess();
            BytePattern.assertFilled(bytesOf(back).slice(1000, 4090), 9, 156);
            BytePattern.assertAll(bytesOf(back).slice(0, 1000), (byte) 0, "before the slice");
            BytePattern.assertAll(bytesOf(back).slice(5090), (byte) 0, "behind the slice");
        }
    }

    @Test
    @Tag(DRIVER)
    default void registeredMemoryOfTheCallerTakesPart() {
        assumeHostMemory();
        try (Arena arena = Arena.ofShared();
                EnginePair pair = EnginePair.open(transport())) {
            // Not aligned, on purpose.
            var ours = arena.allocate(100_001).asSlice(1);
            var theirs = arena.allocate(100_003).asSlice(3);
            BytePattern.fill(ContractBytes.of(ours), 8);
            MemoryRegion local = pair.initiator().register(ours, RegionOptions.local());
            MemoryRegion served = pair.target().register(theirs, RegionOptions.readWrite());
            RemoteRegion remote = pair.attach(served);
            pair.write(local, 0, remote, 0, 100_000).awaitSuccess();
            BytePattern.assertSame(ContractBytes.of(theirs), ContractBytes.of(ours));
            ours.fill((byte) 0);
            pair.read(local, 0, remote, 0, 100_000).awaitSuccess();
            BytePattern.assertFilled(ContractBytes.of(ours), 8);
            await(local.close());
            await(served.close());
        }
    }
}
