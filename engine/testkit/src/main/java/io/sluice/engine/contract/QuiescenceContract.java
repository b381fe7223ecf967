package io.sluice.engine.contract;

import static io.sluice.testkit.Patience.await;
import static io.sluice.testkit.Patience.until;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.sluice.engine.Connection;
import io.sluice.engine.ConnectionState;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RegionClosedException;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.RemoteAccessException;
import io.sluice.engine.RemoteRegion;
import io.sluice.engine.SluiceException;
import io.sluice.engine.Transfer;
import io.sluice.engine.TransferCancelledException;
import io.sluice.engine.TransferEngine;
import io.sluice.engine.TransferOptions;
import io.sluice.engine.TransferTimeoutException;
import io.sluice.testkit.Patience;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * The end of a transfer is not the end of its touching memory; the end of a region is. The tests keep the memory of closed
 * regions, fill it with a canary, and look whether anything still lands there or is taken from there.
 */
interface QuiescenceContract extends Contract {
    long REGION_BYTES = 4 << 20;
    int MOST_BYTES = 512 << 10;
    byte CANARY = (byte) 0xA5;
    Duration WATCH = Duration.ofMillis(10);

    /** Starts a transfer over some range. */
    @FunctionalInterface
    interface Start {
        Transfer start(
                long localOffset, long remoteOffset, long length, TransferOptions options, TerminalSignal signal);
    }

    /** Transfers at random places, a random part of them cancelled at random times or given hopeless deadlines. */
    private static List<TerminalSignal> chaos(Random random, Start start, List<Transfer> transfers) {
        List<TerminalSignal> signals = new ArrayList<>();
        for (int i = 0; i < 24; i++) {
            long length = 1 + random.nextInt(MOST_BYTES);
            long localOffset = random.nextInt((int) (REGION_BYTES - length));
            long remoteOffset = random.nextInt((int) (REGION_BYTES - length));
            TransferOptions options = TransferOptions.defaults();
            if (random.nextInt(4) == 0) {
                options = options.withDeadline(Duration.ofNanos(100_000 + random.nextInt(3_000_000)));
            }
            TerminalSignal signal = new TerminalSignal();
            signals.add(signal);
            transfers.add(start.start(localOffset, remoteOffset, length, options, signal));
            if (random.nextInt(3) == 0) {
                LockSupport.parkNanos(random.nextInt(500_000));
                transfers.get(random.nextInt(transfers.size())).cancel();
            }
        }
        LockSupport.parkNanos(random.nextInt(2_000_000));
        return signals;
    }

    private static void assertEndedAndQuiescent(
            EnginePair pair, List<TerminalSignal> signals, List<Transfer> transfers, Class<?> closed) {
        for (SluiceException error : TerminalSignal.awaitErrors(signals)) {
            assertThat(error).isInstanceOfAny(TransferCancelledException.class, TransferTimeoutException.class, closed);
        }
        transfers.forEach(transfer -> await(transfer.quiesced()));
        await(pair.connection().quiesced());
        until(
                "the credits are back",
                () -> pair.connection().window().operations() == 0
                        && pair.connection().window().bytes() == 0
                        && pair.connection().pending() == 0);
        assertThat(pair.connection().state()).isEqualTo(ConnectionState.OPEN);
    }

    @Test
    default void nothingLandsInALocalRegionAfterItsClose() {
        Random random = ContractProfile.random("nothingLandsInALocalRegionAfterItsClose");
        try (EnginePair pair =
                EnginePair.open(transport(), both -> both.windowOperations(8).lanes(2))) {
            RemoteRegion remote = pair.attach(filled(pair.served(REGION_BYTES), 1));
            List<TerminalSignal> all = new ArrayList<>();
            for (int round = 0; round < ContractProfile.of(transport()).quiescenceRounds(); round++) {
                try (OwnMemory memory = ownMemory(REGION_BYTES, 4096)) {
                    MemoryRegion sink = memory.register(pair.initiator(), RegionOptions.local());
                    List<Transfer> transfers = new ArrayList<>();
                    List<TerminalSignal> signals = chaos(
                            random,
                            (localOffset, remoteOffset, length, options, signal) -> pair.connection()
                                    .read(sink, localOffset, remote, remoteOffset, length, options, signal),
                            transfers);
                    await(sink.close());
                    memory.bytes().fill(CANARY);
                    all.addAll(signals);
                    assertEndedAndQuiescent(pair, signals, transfers, RegionClosedException.class);
                    Patience.pause(WATCH);
                    BytePattern.assertAll(memory.bytes(), CANARY, "the sink after its close, round " + round);
                }
            }
            TerminalSignal.awaitAllOnce(all);
        }
    }

    @Test
    default void nothingIsTakenFromALocalRegionAfterItsClose() {
        Random random = ContractProfile.random("nothingIsTakenFromALocalRegionAfterItsClose");
        try (EnginePair pair =
                EnginePair.open(transport(), both -> both.windowOperations(8).lanes(2))) {
            MemoryRegion served = pair.served(REGION_BYTES);
            RemoteRegion remote = pair.attach(served);
            List<TerminalSignal> all = new ArrayList<>();
            for (int round = 0; round < ContractProfile.of(transport()).quiescenceRounds(); round++) {
                try (OwnMemory memory = ownMemory(REGION_BYTES, 4096)) {
                    MemoryRegion source = memory.register(pair.initiator(), RegionOptions.local());
                    List<Transfer> transfers = new ArrayList<>();
                    List<TerminalSignal> signals = chaos(
                            random,
                            (localOffset, remoteOffset, length, options, signal) -> pair.connection()
                                    .write(source, localOffset, remote, remoteOffset, length, options, signal),
                            transfers);
                    await(source.close());
                    memory.bytes().fill(CANARY);
                    all.addAll(signals);
                    assertEndedAndQuiescent(pair, signals, transfers, RegionClosedException.class);
                    Patience.pause(WATCH);
                    BytePattern.assertAll(
                            bytesOf(served), (byte) 0, "the target of zeros taken before the close, round " + round);
                }
            }
            TerminalSignal.awaitAllOnce(all);
        }
    }

    @Test
    default void nothingLandsInAServedRegionAfterItsClose() {
        Random random = ContractProfile.random("nothingLandsInAServedRegionAfterItsClose");
        try (EnginePair pair =
                EnginePair.open(transport(), both -> both.windowOperations(8).lanes(2))) {
            MemoryRegion source = filled(pair.local(REGION_BYTES), 1);
            List<TerminalSignal> all = new ArrayList<>();
            for (int round = 0; round < ContractProfile.of(transport()).quiescenceRounds(); round++) {
                try (OwnMemory memory = ownMemory(REGION_BYTES, 4096)) {
                    MemoryRegion served = memory.register(pair.target(), RegionOptions.readWrite());
                    RemoteRegion remote = pair.attach(served);
                    List<Transfer> transfers = new ArrayList<>();
                    List<TerminalSignal> signals = chaos(
                            random,
                            (localOffset, remoteOffset, length, options, signal) -> pair.connection()
                                    .write(source, localOffset, remote, remoteOffset, length, options, signal),
                            transfers);
                    await(served.close());
                    memory.bytes().fill(CANARY);
                    all.addAll(signals);
                    assertEndedAndQuiescent(pair, signals, transfers, RemoteAccessException.class);
                    Patience.pause(WATCH);
                    BytePattern.assertAll(memory.bytes(), CANARY, "the served region after its close, round " + round);
                }
            }
            TerminalSignal.awaitAllOnce(all);
        }
    }

    @Test
    default void nothingIsTakenFromAServedRegionAfterItsClose() {
        Random random = ContractProfile.random("nothingIsTakenFromAServedRegionAfterItsClose");
        try (EnginePair pair =
                EnginePair.open(transport(), both -> both.windowOperations(8).lanes(2))) {
            MemoryRegion sink = pair.local(REGION_BYTES);
            List<TerminalSignal> all = new ArrayList<>();
            for (int round = 0; round < ContractProfile.of(transport()).quiescenceRounds(); round++) {
                try (OwnMemory memory = ownMemory(REGION_BYTES, 4096)) {
                    MemoryRegion served = memory.register(pair.target(), RegionOptions.readWrite());
                    RemoteRegion remote = pair.attach(served);
                    List<Transfer> transfers = new ArrayList<>();
                    List<TerminalSignal> signals = chaos(
                            random,
                            (localOffset, remoteOffset, length, options, signal) -> pair.connection()
                                    .read(sink, localOffset, remote, remoteOffset, length, options, signal),
                            transfers);
                    await(served.close());
                    memory.bytes().fill(CANARY);
                    all.addAll(signals);
                    assertEndedAndQuiescent(pair, signals, transfers, RemoteAccessException.class);
                    BytePattern.assertAll(
                            bytesOf(sink), (byte) 0, "the sink of zeros taken before the close, round " + round);
                }
            }
            TerminalSignal.awaitAllOnce(all);
        }
    }

    @Test
    default void localSourceIsNotGivenBackWhileItsBytesAreOnTheirWay() {
        // More than sockets hold, so that a target that does not receive keeps some of them back.
        long bytes = 48 << 20;
        try (EnginePair pair = EnginePair.open(transport());
                OwnMemory memory = ownMemory(bytes, 4096)) {
            MemoryRegion source = memory.register(pair.initiator(), RegionOptions.local());
            MemoryRegion served = pair.served(bytes);
            RemoteRegion remote = pair.attach(served);
            CompletableFuture<Void> closed;
            TerminalSignal signal;
            try (Blockade blockade = Blockade.ofTarget(pair)) {
                TerminalSignal written = pair.write(source, 0, remote, 0, bytes);
                until("it is posted", () -> pair.connection().window().bytes() > 16 << 20 || written.ended());
                signal = written;
                // for the sockets to fill
                Patience.pause(Duration.ofMillis(50));
                closed = source.close().thenRun(() -> memory.bytes().fill(CANARY));
                Patience.pause(Duration.ofMillis(50));
            }
            await(closed);
            signal.await();
            Patience.pause(WATCH);
            BytePattern.assertAll(bytesOf(served), (byte) 0, "the target of zeros taken before the close");
        }
    }

    @Test
    default void servedSourceIsNotGivenBackWhileItsBytesAreOnTheirWay() {
        long bytes = 48 << 20;
        try (EnginePair pair = EnginePair.open(transport());
                OwnMemory memory = ownMemory(bytes, 4096)) {
            MemoryRegion served = memory.register(pair.target(), RegionOptions.readOnly());
            MemoryRegion sink = pair.local(bytes);
            RemoteRegion remote = pair.attach(served);
            // On a path of its own, so that the poller can be stopped while the read's bytes are under way.
            Connection aside = await(pair.initiator().connect(pair.target().address()));
            TerminalSignal signal = pair.read(sink, 0, remote, 0, bytes);
            CompletableFuture<Void> closed;
            try (Blockade blockade = new Blockade(aside, pair.target())) {
                // for the sockets to fill
                Patience.pause(Duration.ofMillis(100));
                closed = served.close().thenRun(() -> memory.bytes().fill(CANARY));
                Patience.pause(Duration.ofMillis(50));
            }
            await(closed);
            signal.await();
            Patience.pause(WATCH);
            BytePattern.assertAll(bytesOf(sink), (byte) 0, "the sink of zeros taken before the close");
        }
    }

    @Test
    @Tag(DRIVER)
    @Tag(PROCESS)
    default void nothingLandsAfterTheCloseThoughThePeerWakesUpLater() {
        assumeTrue(transport().crossesProcesses(), ONE_PROCESS);
        TerminalSignalContract.untilHeardOf(this::closeWhileThePeerIsFrozen);
    }

    private void closeWhileThePeerIsFrozen() {
        try (PeerProcess peer = PeerProcess.start(transport(), REGION_BYTES);
                TransferEngine engine = TransferEngine.open(transport()
                        .options()
                        .windowOperations(16)
                        .livenessTimeout(TerminalSignalContract.LIVENESS)
                        .build());
                OwnMemory memory = ownMemory(REGION_BYTES, 4096)) {
            peer.fill(0, 9);
            Connection connection = await(engine.connect(peer.address()));
            RemoteRegion remote = await(connection.attach(peer.region(0)));
            MemoryRegion sink = memory.register(engine, RegionOptions.local());
            List<TerminalSignal> signals = new ArrayList<>();
            List<Transfer> transfers = new ArrayList<>();
            for (int i = 0; i < 200; i++) {
                TerminalSignal signal = new TerminalSignal();
                signals.add(signal);
                transfers.add(connection.read(sink, 0, remote, 0, REGION_BYTES, TransferOptions.defaults(), signal));
            }
            until("it flows", () -> signals.getFirst().ended());
            peer.freeze();
            transfers.forEach(Transfer::cancel);
            TerminalSignal.awaitAllOnce(signals);
            // Within the liveness time-out the engine forces what the peer does not do.
            await(sink.close());
            memory.bytes().fill(CANARY);
            peer.thaw();
            Patience.pause(Duration.ofMillis(100));
            BytePattern.assertAll(memory.bytes(), CANARY, "the sink after its close");
            transfers.forEach(transfer -> await(transfer.quiesced()));
            await(connection.quiesced());
            assertThat(connection.window().operations()).isZero();
            assertThat(connection.window().bytes()).isZero();
        }
    }

    @Test
    @Tag(DRIVER)
    @Tag(PROCESS)
    default void nothingLandsInAServedRegionThoughThePeerWakesUpInTheMiddleOfAWrite() {
        assumeTrue(transport().crossesProcesses(), ONE_PROCESS);
        int bytes = 4 * (int) ContractProfile.of(transport()).comparedBytes();
        try (PeerProcess peer = PeerProcess.start(transport(), bytes);
                TransferEngine engine = TransferEngine.open(
                        transport().options().livenessTimeout(Patience.BOUND).build())) {
            peer.fill(0, 13);
            Connection connection = await(engine.connect(peer.address()));
            for (int round = 0; round < 3; round++) {
                try (OwnMemory memory = ownMemory(bytes, 4096)) {
                    MemoryRegion served = memory.register(engine, RegionOptions.readWrite());
                    String descriptor =
                            HexFormat.of().formatHex(served.descriptor().toBytes());
                    peer.send("write " + descriptor + " 0 1000");
                    until("it flows", () -> memory.bytes().longAt(0) != 0);
                    peer.freeze();
                    CompletableFuture<Void> closed = served.close();
                    if (transport().closeNeedsThePeersWord()) {
                        Patience.pause(Duration.ofMillis(100));
                        assertThat(closed).isNotDone();
                        peer.thaw();
                    }
                    await(closed);
                    memory.bytes().fill(CANARY);
                    peer.thaw();
                    assertThat(peer.nextAnswer("write")).contains("RemoteAccessException");
                    Patience.pause(WATCH);
                    BytePattern.assertAll(memory.bytes(), CANARY, "the served region after its close, round " + round);
                    assertThat(connection.state()).isEqualTo(ConnectionState.OPEN);
                }
            }
        }
    }

    @Test
    default void quiescedFutureMeansThatTheBytesAreTheCallersAgain() {
        Random random = ContractProfile.random("quiescedFutureMeansThatTheBytesAreTheCallersAgain");
        try (EnginePair pair = EnginePair.open(transport(), both -> both.windowOperations(8))) {
            RemoteRegion remote = pair.attach(filled(pair.served(REGION_BYTES), 1));
            MemoryRegion sink = pair.local(REGION_BYTES);
            List<TerminalSignal> all = new ArrayList<>();
            for (int round = 0; round < ContractProfile.of(transport()).quiescenceRounds(); round++) {
                List<Transfer> transfers = new ArrayList<>();
                List<TerminalSignal> signals = chaos(
                        random,
                        (localOffset, remoteOffset, length, options, signal) -> pair.connection()
                                .read(sink, localOffset, remote, remoteOffset, length, options, signal),
                        transfers);
                transfers.forEach(Transfer::cancel);
                if (round % 2 == 0) {
                    TerminalSignal.awaitAll(signals);
                    await(pair.connection().quiesced());
                } else {
                    transfers.forEach(transfer -> await(transfer.quiesced()));
                }
                bytesOf(sink).fill(CANARY);
                Patience.pause(Duration.ofMillis(5));
                BytePattern.assertAll(bytesOf(sink), CANARY, "the sink once quiescent, round " + round);
                all.addAll(signals);
                assertEndedAndQuiescent(pair, signals, transfers, TransferCancelledException.class);
            }
            TerminalSignal.awaitAllOnce(all);
        }
    }

    @Test
    default void transferOnAClosedLocalRegionFails() {
        try (EnginePair pair = EnginePair.open(transport())) {
            MemoryRegion local = pair.local(64);
            MemoryRegion slice = local.slice(8, 8);
            MemoryRegion served = pair.served(64);
            RemoteRegion remote = pair.attach(served);
            assertThatThrownBy(() -> await(slice.close())).isInstanceOf(IllegalStateException.class);
            CompletableFuture<Void> closed = local.close();
            assertThat(local.isOpen()).isFalse();
            assertThat(slice.isOpen()).isFalse();
            await(local.close());
            await(closed);
            pair.write(local, 0, remote, 0, 64).awaitFailure(RegionClosedException.class);
            pair.read(local, 0, remote, 0, 64).awaitFailure(RegionClosedException.class);
            pair.write(slice, 0, remote, 0, 8).awaitFailure(RegionClosedException.class);
            pair.write(local, 0, remote, 0, 0).awaitFailure(RegionClosedException.class);
            BytePattern.assertAll(bytesOf(served), (byte) 0, "the target");
            pair.write(pair.local(64), 0, remote, 0, 64).awaitSuccess();
        }
    }

    @Test
    default void transferToAClosedServedRegionIsRefused() {
        try (EnginePair pair = EnginePair.open(transport())) {
            MemoryRegion local = pair.local(2 << 20);
            MemoryRegion closing = pair.served(2 << 20);
            MemoryRegion staying = pair.served(2 << 20);
            RemoteRegion gone = pair.attach(closing);
            RemoteRegion slice =
                    await(pair.connection().attach(closing.slice(64, 64).descriptor()));
            RemoteRegion there = pair.attach(staying);
            await(closing.close());
            List<TerminalSignal> refused = List.of(
                    pair.write(local, 0, gone, 0, 64),
                    pair.write(local, 0, gone, 0, 2 << 20),
                    pair.read(local, 0, gone, 0, 64),
                    pair.read(local, 0, gone, 0, 2 << 20),
                    pair.write(local, 0, slice, 0, 64));
            TerminalSignal fine = pair.write(local, 0, there, 0, 2 << 20);
            for (TerminalSignal signal : refused) {
                assertThat(signal.awaitFailure(RemoteAccessException.class).reason())
                        .isEqualTo(RemoteAccessException.Reason.UNKNOWN_REGION);
            }
            fine.awaitSuccess();
            assertThat(pair.connection().state()).isEqualTo(ConnectionState.OPEN);
            until(
                    "the credits are back",
                    () -> pair.connection().window().operations() == 0
                            && pair.connection().window().bytes() == 0);
        }
    }

    @Test
    default void idleRegionClosesAtOnceAndItsMemoryIsTheCallersAgain() {
        try (EnginePair pair = EnginePair.open(transport());
                OwnMemory memory = ownMemory(64, Long.BYTES)) {
            int before = pair.initiator().metrics().regions();
            for (int round = 0; round < 1000; round++) {
                MemoryRegion region = memory.register(pair.initiator(), RegionOptions.readWrite());
                await(region.close());
                assertThat(region.isOpen()).isFalse();
            }
            assertThat(pair.initiator().metrics().regions()).isEqualTo(before);
            assertThat(pair.initiator().regions()).hasSize(before);
        }
    }
}
