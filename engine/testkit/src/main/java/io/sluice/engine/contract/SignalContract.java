package io.sluice.engine.contract;

import static io.sluice.testkit.Patience.await;
import static io.sluice.testkit.Patience.until;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.sluice.engine.Connection;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.RemoteAccessException;
import io.sluice.engine.RemoteRegion;
import io.sluice.engine.RemoteSignal;
import io.sluice.engine.Signal;
import io.sluice.engine.SignalOrder;
import io.sluice.engine.SignalUpdate;
import io.sluice.engine.SluiceException;
import io.sluice.engine.StartEvent;
import io.sluice.engine.Transfer;
import io.sluice.engine.TransferEngine;
import io.sluice.engine.TransferOptions;
import io.sluice.testkit.Patience;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A signal counts every update once, and a write's signal comes after the write's bytes. */
interface SignalContract extends SignalRefusalContract {
    long[] SIZES = {0, 1, 8, 4097, (512 << 10) + 1, (5 << 20) + 3};

    /** Compares a range of the target's memory with its source at the very moment at which a signal reaches a value. */
    private static CompletableFuture<Void> sameOnceSignalled(
            Signal signal, long value, ContractBytes target, ContractBytes source) {
        return signal.awaitAtLeast(value).thenAccept(seen -> BytePattern.assertSame(target, source));
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 4})
    default void bytesAreVisibleWhenTheirSignalIs(int lanes) {
        // With a small window large writes have many chunks, which wait for credits.
        try (EnginePair pair =
                EnginePair.open(transport(), both -> both.lanes(lanes).windowBytes(1 << 20))) {
            MemoryRegion source = pair.local(MOST_BYTES);
            MemoryRegion served = pair.served(MOST_BYTES);
            MemoryRegion counters = pair.served(64);
            RemoteRegion remote = pair.attach(served);
            SignalUpdate update = new RemoteSignal(pair.attach(counters), 8).weak();
            Signal signal = counters.signal(8);
            for (int round = 1; round <= 4 * SIZES.length; round++) {
                long size = SIZES[round % SIZES.length];
                BytePattern.fill(bytesOf(source), round);
                CompletableFuture<Void> checked = sameOnceSignalled(
                        signal,
                        round,
                        bytesOf(served).slice(0, size),
                        bytesOf(source).slice(0, size));
                TerminalSignal written = pair.writeWithSignal(source, 0, remote, 0, size, update);
                await(checked);
                written.awaitSuccess();
                assertThat(signal.value()).isEqualTo(round);
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    default void manyWritesAtOnceEachWithItsSignal(Ends ends) {
        int writes = 300;
        int slot = 64 << 10;
        Random random = ContractProfile.random("manyWritesAtOnceEachWithItsSignal");
        try (EnginePair pair = ends.open(
                transport(), both -> both.lanes(4).windowBytes(256 << 10).windowOperations(32))) {
            MemoryRegion source = filled(pair.local((long) writes * slot), 3);
            // The counters lie in the same region, behind the bytes.
            MemoryRegion served = pair.served(source.length() + writes * 8L);
            RemoteRegion remote = pair.attach(served);
            List<CompletableFuture<Void>> checks = new ArrayList<>();
            List<TerminalSignal> signals = new ArrayList<>();
            for (int i = 0; i < writes; i++) {
                long at = (long) i * slot;
                int length = random.nextInt(10) == 0 ? random.nextInt(64) : random.nextInt(slot + 1);
                long counter = source.length() + i * 8L;
                checks.add(sameOnceSignalled(
                        served.signal(counter),
                        1,
                        bytesOf(served).slice(at, length),
                        bytesOf(source).slice(at, length)));
                signals.add(
                        pair.writeWithSignal(source, at, remote, at, length, new RemoteSignal(remote, counter).weak()));
            }
            checks.forEach(Patience::await);
            TerminalSignal.awaitAllSuccess(signals);
            for (int i = 0; i < writes; i++) {
                assertThat(served.signal(source.length() + i * 8L).value()).isEqualTo(1);
            }
        }
    }

    @Test
    default void successMeansThatTheSignalIsUpdated() {
        try (EnginePair pair = EnginePair.open(transport())) {
            MemoryRegion source = pair.local(64);
            MemoryRegion served = pair.served(64);
            RemoteRegion remote = pair.attach(served);
            RemoteSignal counter = new RemoteSignal(remote, 56);
            for (int round = 1; round <= 1_000; round++) {
                TerminalSignal ended = round % 2 == 0
                        ? pair.signal(counter.weak())
                        : pair.writeWithSignal(source, 0, remote, 0, 40, counter.strong());
                ended.awaitSuccess();
                assertThat(served.signal(56).value()).isEqualTo(round);
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    default void everyUpdateOfSeveralConnectionsCountsOnce(Ends ends) {
        int connections = 4;
        int each = 2 * ContractProfile.of(transport()).orderRounds();
        try (EnginePair pair = ends.open(transport(), both -> both.pollers(2))) {
            MemoryRegion source = pair.local(256);
            MemoryRegion served = pair.served(4096);
            Signal signal = served.signal(0);
            List<RemoteRegion> remotes = new ArrayList<>();
            for (int i = 0; i < connections; i++) {
                remotes.add(await(
                        await(pair.initiator().connect(pair.target().address())).attach(served.descriptor())));
            }
            AtomicLong sum = new AtomicLong();
            ManyTransfers crowd = new ManyTransfers();
            ManyThreads.run(connections + 1, number -> {
                for (int i = 0; i < each; i++) {
                    long addend = 1 + (i * 7919L + number) % 1000;
                    sum.addAndGet(addend);
                    if (number == connections) {
                        signal.add(addend);
                        continue;
                    }
                    RemoteRegion remote = remotes.get(number);
                    Connection connection = remote.connection();
                    SignalUpdate update = new SignalUpdate(
                            new RemoteSignal(remote, 0), addend, i % 50 == 0 ? SignalOrder.STRONG : SignalOrder.WEAK);
                    switch (i % 3) {
                        case 0 -> connection.signal(update, TransferOptions.defaults(), crowd.one());
                        case 1 ->
                            connection.writeWithSignal(
                                    source, 0, remote, 64, i % 256, update, TransferOptions.defaults(), crowd.one());
                        default -> connection.fetchAdd(remote, 0, addend, TransferOptions.defaults(), crowd.oneFetch());
                    }
                }
            });
            crowd.awaitAllSuccess();
            assertThat(signal.value()).isEqualTo(sum.get());
            assertThat(await(signal.awaitAtLeast(sum.get()))).isEqualTo(sum.get());
        }
    }

    @ParameterizedTest
    @EnumSource
    default void addendsOfAllKinds(Ends ends) {
        long[] addends = {
            1, -1, -1, 1L << 32, -(1L << 32), 0, Long.MAX_VALUE, 1, 1, Long.MIN_VALUE, Long.MIN_VALUE, -12_345, 0x80
        };
        try (EnginePair pair = ends.open(transport())) {
            MemoryRegion source = pair.local(64);
            MemoryRegion served = pair.served(64);
            RemoteRegion remote = pair.attach(served);
            RemoteSignal counter = new RemoteSignal(remote, 0);
            long expected = 0;
            for (SignalOrder order : SignalOrder.values()) {
                for (long addend : addends) {
                    SignalUpdate update = new SignalUpdate(counter, addend, order);
                    pair.signal(update).awaitSuccess();
                    pair.writeWithSignal(source, 0, remote, 8, 8, update).awaitSuccess();
                    expected += 2 * addend;
                    assertThat(served.signal(0).value()).isEqualTo(expected);
                    assertThat(bytesOf(served).longAt(0))
                            .as("in the host's byte order")
                            .isEqualTo(expected);
                }
            }
            BytePattern.assertAll(bytesOf(served).slice(8), (byte) 0, "behind the counter");
        }
    }

    @Test
    default void updateCanBeUsedAgain() {
        try (EnginePair pair = EnginePair.open(transport())) {
            MemoryRegion served = pair.served(64);
            SignalUpdate update = new SignalUpdate(new RemoteSignal(pair.attach(served), 16), 5, SignalOrder.WEAK);
            List<TerminalSignal> signals = new ArrayList<>();
            for (int i = 0; i < 100; i++) {
                signals.add(pair.signal(update));
            }
            TerminalSignal.awaitAllSuccess(signals);
            assertThat(served.signal(16).value()).isEqualTo(500);
        }
    }

    @Test
    default void weakSignalWaitsForNothing() {
        try (EnginePair pair = EnginePair.open(transport())) {
            MemoryRegion source = pair.local(64);
            MemoryRegion served = pair.served(64);
            RemoteRegion remote = pair.attach(served);
            RemoteSignal counter = new RemoteSignal(remote, 0);
            CompletableFuture<Void> event = new CompletableFuture<>();
            TerminalSignal waiting = pair.write(
                    source, 0, remote, 8, 8, TransferOptions.defaults().startAfter(StartEvent.of(event)));
            pair.signal(counter.weak()).awaitSuccess();
            pair.writeWithSignal(source, 0, remote, 16, 8, counter.weak()).awaitSuccess();
            assertThat(served.signal(0).value()).isEqualTo(2);
            assertThat(waiting.ended()).isFalse();
            event.complete(null);
            waiting.awaitSuccess();
        }
    }

    @Test
    default void cancelledWriteSignalsOnlyIfAllItsBytesAreThere() {
        int writes = 200;
        int bytes = 300 << 10;
        Random random = ContractProfile.random("cancelledWriteSignalsOnlyIfAllItsBytesAreThere");
        try (EnginePair pair = EnginePair.open(
                transport(), both -> both.lanes(2).windowBytes(256 << 10).windowOperations(8))) {
            MemoryRegion source = filled(pair.local(bytes), 7);
            MemoryRegion served = pair.served((long) writes * bytes);
            MemoryRegion counters = pair.served(8L * writes);
            RemoteRegion remote = pair.attach(served);
            RemoteRegion remoteCounters = pair.attach(counters);
            List<TerminalSignal> signals = new ArrayList<>();
            List<Transfer> transfers = new ArrayList<>();
            for (int i = 0; i < writes; i++) {
                TerminalSignal signal = new TerminalSignal();
                signals.add(signal);
                transfers.add(pair.connection()
                        .writeWithSignal(
                                source,
                                0,
                                remote,
                                (long) i * bytes,
                                bytes,
                                new RemoteSignal(remoteCounters, 8L * i).weak(),
                                TransferOptions.defaults(),
                                signal));
                if (random.nextInt(3) == 0) {
                    Patience.pause(Duration.ofNanos(random.nextInt(200_000)));
                    transfers.get(Math.max(0, i - random.nextInt(12))).cancel();
                }
            }
            TerminalSignal.awaitAllOnce(signals);
            await(pair.connection().quiesced());
            await(pair.connection().quiet());
            for (int i = 0; i < writes; i++) {
                long value = counters.signal(8L * i).value();
                if (signals.get(i).await().isEmpty()) {
                    assertThat(value)
                            .as("signal of write %d, which succeeded", i)
                            .isEqualTo(1);
                } else {
                    assertThat(value)
                            .as("signal of write %d, which was cancelled", i)
                            .isBetween(0L, 1L);
                }
                if (value == 1) {
                    BytePattern.assertSame(bytesOf(served).slice((long) i * bytes, bytes), bytesOf(source));
                }
            }
        }
    }

    @Test
    default void regionClosesWhileSignalsCome() {
        try (EnginePair pair = EnginePair.open(transport(), both -> both.windowOperations(16))) {
            for (int round = 0; round < 4; round++) {
                try (OwnMemory memory = ownMemory(64, 64)) {
                    MemoryRegion served = memory.register(pair.target(), RegionOptions.readWrite());
                    SignalUpdate update = new RemoteSignal(pair.attach(served), 0).weak();
                    List<TerminalSignal> signals = new ArrayList<>();
                    for (int i = 0; i < 1_000; i++) {
                        signals.add(pair.signal(update));
                    }
                    until("some have ended", () -> TerminalSignal.ended(signals) > 20);
                    await(served.close());
                    long last = memory.bytes().longAt(0);
                    List<SluiceException> errors = TerminalSignal.awaitAllOnce(signals);
                    assertThat(errors).hasOnlyElementsOfType(RemoteAccessException.class);
                    assertThat(last).isEqualTo(1_000 - errors.size());
                    assertThat(memory.bytes().longAt(0)).isEqualTo(last);
                }
            }
        }
    }

    @Test
    default void signalsGoBothWays() {
        int rounds = 2 * ContractProfile.of(transport()).orderRounds();
        try (EnginePair pair = EnginePair.open(transport())) {
            MemoryRegion theirs = pair.served(64);
            MemoryRegion ours = allocate(pair.initiator(), 64, RegionOptions.readWrite());
            SignalUpdate there = new RemoteSignal(pair.attach(theirs), 0).weak();
            SignalUpdate back = new RemoteSignal(await(pair.accepted().attach(ours.descriptor())), 0).weak();
            ManyTransfers crowd = new ManyTransfers();
            // A wait that misses its update blocks both sides.
            for (int round = 1; round <= rounds; round++) {
                CompletableFuture<Void> answered = theirs.signal(0)
                        .awaitAtLeast(round)
                        .thenAccept(seen -> pair.accepted().signal(back, TransferOptions.defaults(), crowd.one()));
                pair.connection().signal(there, TransferOptions.defaults(), crowd.one());
                assertThat(await(ours.signal(0).awaitAtLeast(round))).isEqualTo(round);
                await(answered);
            }
            crowd.awaitAllSuccess();
        }
    }

    @Test
    @Tag(DRIVER)
    @Tag(PROCESS)
    default void signalsInAnotherProcess() {
        assumeTrue(transport().crossesProcesses(), ONE_PROCESS);
        long bytes = (3 << 20) + 1;
        try (PeerProcess peer = PeerProcess.start(transport(), bytes, 64);
                TransferEngine engine =
                        TransferEngine.open(transport().options().lanes(2).build())) {
            Connection connection = await(engine.connect(peer.address()));
            RemoteRegion remote = await(connection.attach(peer.region(0)));
            SignalUpdate update = new RemoteSignal(await(connection.attach(peer.region(1))), 8).weak();
            MemoryRegion source = allocate(engine, bytes, RegionOptions.local());
            for (int round = 1; round <= 20; round++) {
                BytePattern.fill(bytesOf(source), round);
                long length = round % 4 == 0 ? bytes : round * 1000L;
                peer.command("arm 1 8 " + round + " 0 0 " + length);
                TerminalSignal written = new TerminalSignal();
                connection.writeWithSignal(source, 0, remote, 0, length, update, TransferOptions.defaults(), written);
                assertThat(Integer.parseUnsignedInt(peer.command("armed"), 16))
                        .as("the checksum at the moment of the signal")
                        .isEqualTo(BytePattern.checksum(bytesOf(source).slice(0, length)));
                written.awaitSuccess();
                assertThat(peer.command("signal 1 8")).isEqualTo(Integer.toString(round));
            }
            // In the other direction.
            MemoryRegion served = allocate(engine, 64, RegionOptions.readWrite());
            CompletableFuture<Long> reached = served.signal(24).awaitAtLeast(300);
            peer.command("add-to-peer "
                    + HexFormat.of().formatHex(served.descriptor().toBytes()) + " 24 3 100");
            assertThat(await(reached)).isEqualTo(300);
        }
    }
}
