package io.sluice.engine.contract;

import static io.sluice.testkit.Patience.await;
import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RemoteAccessException;
import io.sluice.engine.RemoteRegion;
import io.sluice.engine.RemoteSignal;
import io.sluice.engine.Signal;
import io.sluice.engine.SignalOrder;
import io.sluice.engine.SignalUpdate;
import io.sluice.engine.StartEvent;
import io.sluice.engine.Transfer;
import io.sluice.engine.TransferElement;
import io.sluice.engine.TransferOptions;
import io.sluice.engine.TransferPriority;
import io.sluice.testkit.Patience;
import java.nio.ByteOrder;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A {@code STRONG} signal comes after everything that was submitted on its connection before. */
interface SignalOrderContract extends Contract {
    int SMALL = 64;
    int LARGE = 96 << 10;
    int ROUND = 3 * SMALL + LARGE;
    Duration LONG_ENOUGH_TO_SEE = Duration.ofMillis(50);

    /** The two operations that can carry a strong signal. */
    enum Carrier {
        BARE,
        WRITE;

        TerminalSignal send(EnginePair pair, SignalUpdate update, TransferOptions options) {
            if (this == BARE) {
                return pair.signal(update, options);
            }
            MemoryRegion source = pair.local(1);
            return pair.writeWithSignal(source, 0, update.signal().region(), 0, 0, update, options);
        }

        TerminalSignal send(EnginePair pair, SignalUpdate update) {
            return send(pair, update, TransferOptions.defaults());
        }
    }

    private static TransferOptions priority(TransferPriority priority) {
        return TransferOptions.defaults().withPriority(priority);
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 4})
    default void strongSignalComesAfterAllEarlierWrites(int lanes) throws InterruptedException {
        int rounds = ContractProfile.of(transport()).orderRounds();
        int slots = 8;
        try (EnginePair pair = EnginePair.open(transport(), both -> both.lanes(lanes))) {
            MemoryRegion source = pair.local((long) slots * ROUND);
            MemoryRegion served = pair.served(source.length());
            MemoryRegion counters = pair.served(8);
            RemoteRegion remote = pair.attach(served);
            SignalUpdate update = new RemoteSignal(pair.attach(counters), 0).strong();
            Semaphore free = new Semaphore(slots);
            List<CompletableFuture<Void>> checks = new ArrayList<>();
            for (int round = 0; round < rounds; round++) {
                assertThat(free.tryAcquire(Patience.BOUND.toNanos(), TimeUnit.NANOSECONDS))
                        .as("a free slot")
                        .isTrue();
                long base = (long) (round % slots) * ROUND;
                BytePattern.repeat(bytesOf(source).slice(base, ROUND), round);
                int number = round;
                checks.add(counters.signal(0)
                        .awaitAtLeast(round + 1)
                        .thenAccept(seen -> assertRoundIsThere(served, base, number))
                        .whenComplete((seen, failure) -> free.release()));
                // The large one first: with several lanes the small ones overtake it, and a signal could.
                pair.write(source, base + 3 * SMALL, remote, base + 3 * SMALL, LARGE, priority(TransferPriority.LOW));
                for (int place = 0; place < 2; place++) {
                    long at = base + (long) place * SMALL;
                    pair.write(source, at, remote, at, SMALL);
                }
                long last = base + 2 * SMALL;
                TransferOptions first = priority(TransferPriority.HIGH);
                if (round % 2 == 0) {
                    pair.write(source, last, remote, last, SMALL);
                    pair.signal(update, first);
                } else {
                    pair.writeWithSignal(source, last, remote, last, SMALL, update, first);
                }
            }
            checks.forEach(Patience::await);
        }
    }

    private boolean isSeenLate() {
        return transport().carriesOutInTheCall() || !transport().memory().isHost();
    }

    private void assertRoundIsThere(MemoryRegion served, long base, int round) {
        for (int place = 0; place < 4; place++) {
            long first = base + (long) place * SMALL;
            long last = first + (place < 3 ? SMALL : LARGE) - 4;
            for (long at : new long[] {first, last}) {
                // where the initiator stores by itself, the place may hold a later round by the time the waiter looks;
                // and
                // where words are looked at from time to time, several rounds at once
                assertThat(bytesOf(served).intAt(at))
                        .as("place %d at the moment of signal %d", place, round)
                        .matches(seen -> isSeenLate() ? seen >= round : seen == round);
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    default void strongSignalWaitsForWritesThatWaitForCredits(Carrier carrier) {
        long bytes = 16 << 20;
        long part = 2 << 20;
        try (EnginePair pair = EnginePair.open(
                transport(), both -> both.lanes(2).windowBytes(1 << 20).windowOperations(2))) {
            MemoryRegion source = filled(pair.local(bytes), 12);
            MemoryRegion served = pair.served(bytes);
            MemoryRegion counters = pair.served(8);
            RemoteRegion remote = pair.attach(served);
            SignalUpdate update = new RemoteSignal(pair.attach(counters), 0).strong();
            CompletableFuture<Void> checked = counters.signal(0)
                    .awaitAtLeast(1)
                    .thenAccept(seen -> BytePattern.assertSame(bytesOf(served), bytesOf(source)));
            List<TerminalSignal> signals = new ArrayList<>();
            TransferPriority[] priorities = TransferPriority.values();
            for (long at = 0; at < bytes; at += part) {
                signals.add(pair.write(
                        source, at, remote, at, part, priority(priorities[(int) (at / part) % priorities.length])));
            }
            signals.add(carrier.send(pair, update, priority(TransferPriority.HIGH)));
            await(checked);
            TerminalSignal.awaitAllSuccess(signals);
        }
    }

    @ParameterizedTest
    @EnumSource
    default void strongSignalBeforeALessUrgentWriteDoesNotStall(Carrier carrier) {
        // The signal goes first and needs a credit, but may not go before the writes, which need the same credit.
        try (EnginePair pair =
                EnginePair.open(transport(), both -> both.windowBytes(256 << 10).windowOperations(1))) {
            MemoryRegion source = filled(pair.local(1 << 20), 6);
            MemoryRegion served = pair.served(source.length());
            MemoryRegion counters = pair.served(8);
            RemoteRegion remote = pair.attach(served);
            SignalUpdate update = new RemoteSignal(pair.attach(counters), 0).strong();
            for (int round = 1; round <= 50; round++) {
                bytesOf(served).fill((byte) 0);
                CompletableFuture<Void> checked = counters.signal(0)
                        .awaitAtLeast(round)
                        .thenAccept(seen -> BytePattern.assertSame(bytesOf(served), bytesOf(source)));
                List<TerminalSignal> signals = new ArrayList<>();
                for (long at = 0; at < source.length(); at += 256 << 10) {
                    signals.add(pair.write(source, at, remote, at, 256 << 10, priority(TransferPriority.LOW)));
                }
                signals.add(carrier.send(pair, update, priority(TransferPriority.HIGH)));
                await(checked);
                TerminalSignal.awaitAllSuccess(signals);
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    default void largeStrongWriteBeforeALessUrgentWriteDoesNotStall(TransferPriority priority) {
        try (EnginePair pair =
                EnginePair.open(transport(), both -> both.windowBytes(256 << 10).windowOperations(1))) {
            MemoryRegion source = filled(pair.local(6 << 20), 6);
            MemoryRegion served = pair.served(source.length());
            MemoryRegion counters = pair.served(8);
            RemoteRegion remote = pair.attach(served);
            SignalUpdate update = new RemoteSignal(pair.attach(counters), 0).strong();
            CompletableFuture<Void> checked = counters.signal(0)
                    .awaitAtLeast(1)
                    .thenAccept(seen -> BytePattern.assertSame(bytesOf(served), bytesOf(source)));
            List<TerminalSignal> signals = new ArrayList<>();
            signals.add(pair.write(source, 0, remote, 0, 2 << 20, priority(TransferPriority.LOW)));
            signals.add(pair.write(source, 2 << 20, remote, 2 << 20, 2 << 20));
            signals.add(pair.writeWithSignal(source, 4 << 20, remote, 4 << 20, 2 << 20, update, priority(priority)));
            await(checked);
            TerminalSignal.awaitAllSuccess(signals);
        }
    }

    @ParameterizedTest
    @EnumSource
    default void strongSignalWaitsForAWriteThatHasNotStarted(Carrier carrier) {
        try (EnginePair pair = EnginePair.open(transport(), both -> both.windowOperations(1))) {
            MemoryRegion source = filled(pair.local(64), 2);
            MemoryRegion served = pair.served(64);
            MemoryRegion counters = pair.served(8);
            RemoteRegion remote = pair.attach(served);
            SignalUpdate update = new RemoteSignal(pair.attach(counters), 0).strong();
            CompletableFuture<Void> event = new CompletableFuture<>();
            CompletableFuture<Void> checked = counters.signal(0)
                    .awaitAtLeast(1)
                    .thenAccept(seen -> BytePattern.assertSame(bytesOf(served), bytesOf(source)));
            TerminalSignal written = pair.write(
                    source, 0, remote, 0, 64, TransferOptions.defaults().startAfter(StartEvent.of(event)));
            TerminalSignal signalled = carrier.send(pair, update);
            // It must not keep the only credit while it waits.
            pair.put(remote, 0, 0, 8).awaitSuccess();
            Patience.pause(LONG_ENOUGH_TO_SEE);
            assertThat(checked).isNotDone();
            assertThat(signalled.ended()).isFalse();
            event.complete(null);
            await(checked);
            TerminalSignal.awaitAllSuccess(List.of(written, signalled));
        }
    }

    @ParameterizedTest
    @EnumSource
    default void strongSignalWaitsForPutsSignalsAtomicsAndElements(Carrier carrier) {
        try (EnginePair pair = EnginePair.open(transport(), both -> both.lanes(4))) {
            MemoryRegion source = filled(pair.local(64), 2);
            MemoryRegion served = pair.served(256);
            MemoryRegion counters = pair.served(8);
            RemoteRegion remote = pair.attach(served);
            SignalUpdate update = new RemoteSignal(pair.attach(counters), 0).strong();
            for (int round = 1; round <= 100; round++) {
                bytesOf(served).fill((byte) 0);
                CompletableFuture<Void> event = new CompletableFuture<>();
                TransferOptions later = TransferOptions.defaults().startAfter(StartEvent.of(event));
                CompletableFuture<Void> checked =
                        counters.signal(0).awaitAtLeast(round).thenAccept(seen -> assertAllIsThere(served, source));
                // One of them comes late, another one in each round.
                List<TerminalSignal> signals = new ArrayList<>();
                int late = round % 6;
                TransferOptions now = TransferOptions.defaults();
                signals.add(pair.put(remote, 0, 0x11, 8, late == 0 ? later : now));
                signals.add(pair.signal(new RemoteSignal(remote, 8).weak(), late == 1 ? later : now));
                signals.add(
                        pair.fetchAdd(remote, 16, 3, late == 2 ? later : now).terminal());
                FetchOutcome swap = new FetchOutcome();
                pair.connection().compareAndSwap(remote, 24, 0, 4, late == 3 ? later : now, swap);
                signals.add(swap.terminal());
                ElementSignals elements = new ElementSignals(2);
                pair.connection()
                        .writeVectored(
                                List.of(
                                        new TransferElement(source, 0, remote, 64, 32),
                                        new TransferElement(source, 32, remote, 96, 32)),
                                late == 4 ? later : now,
                                elements);
                signals.add(elements.terminal());
                signals.add(pair.writeWithSignal(
                        source, 0, remote, 128, 64, new RemoteSignal(remote, 32).weak(), late == 5 ? later : now));
                signals.add(carrier.send(pair, update));
                if (round % 10 < 6) {
                    Patience.pause(Duration.ofMillis(5));
                }
                assertThat(counters.signal(0).value()).isEqualTo(round - 1);
                event.complete(null);
                await(checked);
                TerminalSignal.awaitAllSuccess(signals);
            }
        }
    }

    private void assertAllIsThere(MemoryRegion served, MemoryRegion source) {
        long[] words = {0x11, 1, 3, 4, 1};
        for (int i = 0; i < words.length; i++) {
            assertThat(served.signal(8L * i).value())
                    .as("word %d", i)
                    .isEqualTo(i == 0 ? littleEndian(words[i]) : words[i]);
        }
        BytePattern.assertSame(bytesOf(served).slice(64, 64), bytesOf(source));
        BytePattern.assertSame(bytesOf(served).slice(128, 64), bytesOf(source));
    }

    /** The host's word after a value was stored in little-endian order. */
    private static long littleEndian(long value) {
        return ByteOrder.nativeOrder() == ByteOrder.LITTLE_ENDIAN ? value : Long.reverseBytes(value);
    }

    @Test
    default void strongSignalsComeInTheirOrder() {
        int count = ContractProfile.of(transport()).orderRounds();
        try (EnginePair pair = EnginePair.open(transport(), both -> both.lanes(4))) {
            MemoryRegion counters = pair.served(16);
            RemoteRegion remote = pair.attach(counters);
            SignalUpdate first = new RemoteSignal(remote, 0).weak();
            SignalUpdate second = new RemoteSignal(remote, 8).strong();
            List<TerminalSignal> signals = new ArrayList<>();
            List<CompletableFuture<Void>> checks = new ArrayList<>();
            Signal earlier = counters.signal(0);
            TransferPriority[] priorities = TransferPriority.values();
            for (int i = 1; i <= count; i++) {
                long least = i;
                checks.add(counters.signal(8)
                        .awaitAtLeast(i)
                        .thenAccept(seen -> assertThat(earlier.value()).isGreaterThanOrEqualTo(least)));
                signals.add(pair.signal(first, priority(priorities[i % 3])));
                signals.add(pair.signal(second, priority(priorities[i / 3 % 3])));
            }
            checks.forEach(Patience::await);
            TerminalSignal.awaitAllSuccess(signals);
            assertThat(counters.signal(8).value()).isEqualTo(count);
        }
    }

    @ParameterizedTest
    @EnumSource
    default void strongSignalDoesNotWaitForLaterTransfers(Carrier carrier) {
        try (EnginePair pair = EnginePair.open(transport())) {
            MemoryRegion source = pair.local(64);
            MemoryRegion served = pair.served(64);
            RemoteRegion remote = pair.attach(served);
            SignalUpdate update = new RemoteSignal(remote, 0).strong();
            CompletableFuture<Void> before = new CompletableFuture<>();
            TransferOptions never = TransferOptions.defaults().startAfter(listener -> {});
            TerminalSignal earlier = pair.write(
                    source, 0, remote, 8, 8, TransferOptions.defaults().startAfter(StartEvent.of(before)));
            TerminalSignal signalled = carrier.send(pair, update);
            TerminalSignal later = pair.write(source, 0, remote, 16, 8, never);
            before.complete(null);
            TerminalSignal.awaitAllSuccess(List.of(earlier, signalled));
            assertThat(served.signal(0).value()).isEqualTo(1);
            assertThat(later.ended()).isFalse();
        }
    }

    @ParameterizedTest
    @EnumSource
    default void strongSignalDoesNotWaitForWritesThatWereCancelled(Carrier carrier) {
        try (EnginePair pair = EnginePair.open(transport(), both -> both.windowOperations(1))) {
            MemoryRegion source = pair.local(16 << 20);
            MemoryRegion counters = pair.served(8);
            RemoteRegion remote = pair.attach(pair.served(16 << 20));
            SignalUpdate update = new RemoteSignal(pair.attach(counters), 0).strong();
            TransferOptions never = TransferOptions.defaults().startAfter(listener -> {});
            for (int round = 1; round <= 50; round++) {
                TerminalSignal posted = new TerminalSignal();
                TerminalSignal waiting = new TerminalSignal();
                List<Transfer> transfers = List.of(
                        pair.connection().write(source, 0, remote, 0, 16 << 20, TransferOptions.defaults(), posted),
                        pair.connection().write(source, 0, remote, 0, 8, never, waiting));
                TerminalSignal signalled;
                if (round % 2 == 0) {
                    transfers.forEach(Transfer::cancel);
                    signalled = carrier.send(pair, update);
                } else {
                    signalled = carrier.send(pair, update);
                    transfers.forEach(Transfer::cancel);
                }
                TerminalSignal.awaitAll(List.of(posted, waiting, signalled));
                signalled.awaitSuccess();
                assertThat(counters.signal(0).value()).isEqualTo(round);
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    default void strongSignalComesAfterWritesThatFail(Carrier carrier) {
        try (EnginePair pair = EnginePair.open(transport())) {
            MemoryRegion source = pair.local(64);
            MemoryRegion closing = pair.served(64);
            MemoryRegion counters = pair.served(8);
            RemoteRegion gone = pair.attach(closing);
            SignalUpdate update = new RemoteSignal(pair.attach(counters), 0).strong();
            await(closing.close());
            for (int round = 1; round <= 50; round++) {
                TerminalSignal failed = pair.write(source, 0, gone, 0, 64);
                TerminalSignal timedOut = pair.signal(
                        new SignalUpdate(update.signal(), 100, SignalOrder.WEAK),
                        TransferOptions.defaults().startAfter(listener -> {}).withDeadline(Duration.ofMillis(1)));
                TerminalSignal signalled = carrier.send(pair, update);
                failed.awaitFailure(RemoteAccessException.class);
                signalled.awaitSuccess();
                assertThat(timedOut.await()).isPresent();
                assertThat(counters.signal(0).value()).isEqualTo(round);
            }
        }
    }

    @Test
    default void strongSignalOfACancelledWriteDelaysNoOther() {
        try (EnginePair pair = EnginePair.open(transport())) {
            MemoryRegion source = pair.local(64);
            MemoryRegion served = pair.served(64);
            RemoteRegion remote = pair.attach(served);
            SignalUpdate update = new RemoteSignal(remote, 0).strong();
            CompletableFuture<Void> event = new CompletableFuture<>();
            TerminalSignal first = pair.write(
                    source, 0, remote, 8, 8, TransferOptions.defaults().startAfter(StartEvent.of(event)));
            TerminalSignal second = new TerminalSignal();
            Transfer cancelled = pair.connection().signal(update, TransferOptions.defaults(), second);
            TerminalSignal third = pair.signal(update);
            cancelled.cancel();
            assertThat(second.await()).isPresent();
            Patience.pause(LONG_ENOUGH_TO_SEE);
            assertThat(third.ended()).isFalse();
            event.complete(null);
            TerminalSignal.awaitAllSuccess(List.of(first, third));
            assertThat(served.signal(0).value()).isEqualTo(1);
        }
    }

    @Test
    default void strongSignalsAndNotificationsWaitForEachOther() {
        try (EnginePair pair = EnginePair.open(transport(), both -> both.lanes(4))) {
            MemoryRegion source = filled(pair.local(256 << 10), 5);
            MemoryRegion served = pair.served(source.length());
            MemoryRegion counters = pair.served(8);
            RemoteRegion remote = pair.attach(served);
            SignalUpdate update = new RemoteSignal(pair.attach(counters), 0).strong();
            List<Long> seenByNotifications = new ArrayList<>();
            RecordingListener listener = new RecordingListener(
                    payload -> seenByNotifications.add(counters.signal(0).value()));
            pair.accepted().subscribe(listener).request(Long.MAX_VALUE);
            List<TerminalSignal> signals = new ArrayList<>();
            int rounds = 200;
            for (int i = 0; i < rounds; i++) {
                signals.add(pair.write(source, 0, remote, 0, source.length()));
                signals.add(pair.signal(update));
                signals.add(pair.notify(new byte[0]));
            }
            TerminalSignal.awaitAllSuccess(signals);
            Patience.until("all came", () -> listener.count() == rounds);
            for (int i = 0; i < rounds; i++) {
                assertThat(seenByNotifications.get(i))
                        .as("signals before notification %d", i)
                        .isGreaterThanOrEqualTo(i + 1L);
            }
        }
    }

    @Test
    default void strongSignalsOfAnEngineToItself() {
        try (EnginePair pair =
                Ends.ONE_ENGINE.open(transport(), both -> both.lanes(2).windowOperations(4))) {
            MemoryRegion source = pair.local(1 << 20);
            MemoryRegion served = pair.served(1 << 20);
            MemoryRegion counters = pair.served(8);
            RemoteRegion remote = pair.attach(served);
            SignalUpdate update = new RemoteSignal(pair.attach(counters), 0).strong();
            for (int round = 1; round <= 20; round++) {
                BytePattern.fill(bytesOf(source), round);
                CompletableFuture<Void> checked = counters.signal(0)
                        .awaitAtLeast(round)
                        .thenAccept(seen -> BytePattern.assertSame(bytesOf(served), bytesOf(source)));
                for (long at = 0; at < 1 << 20; at += 64 << 10) {
                    pair.write(source, at, remote, at, 64 << 10);
                }
                pair.signal(update).awaitSuccess();
                await(checked);
            }
        }
    }
}
