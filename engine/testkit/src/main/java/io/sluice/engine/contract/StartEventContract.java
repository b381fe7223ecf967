package io.sluice.engine.contract;

import static io.sluice.testkit.Patience.await;
import static io.sluice.testkit.Patience.until;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sluice.engine.ConnectionLostException;
import io.sluice.engine.ConnectionState;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.OutcomeUnknownException;
import io.sluice.engine.PreparedTransfer;
import io.sluice.engine.RegionClosedException;
import io.sluice.engine.RemoteRegion;
import io.sluice.engine.SluiceException;
import io.sluice.engine.StartEvent;
import io.sluice.engine.StartEventException;
import io.sluice.engine.TooManyPendingException;
import io.sluice.engine.Transfer;
import io.sluice.engine.TransferCancelledException;
import io.sluice.engine.TransferEngine;
import io.sluice.engine.TransferOptions;
import io.sluice.engine.TransferTimeoutException;
import io.sluice.testkit.Patience;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ArgumentsSource;
import org.junit.jupiter.params.provider.EnumSource;

/** Transfers that start after an event of another party. */
interface StartEventContract extends Contract {
    Duration LONG_ENOUGH_TO_SEE = Duration.ofMillis(30);

    @ParameterizedTest
    @ArgumentsSource(KindsInTurn.class)
    default void nothingIsPostedBeforeTheEvent(TransferKind kind) {
        for (Ends ends : Ends.values()) {
            try (EnginePair pair = ends.open(transport(), both -> both.windowOperations(1))) {
                KindRegions regions = KindRegions.open(this, pair);
                ManualEvent event = new ManualEvent();
                TerminalSignal signal = new TerminalSignal();
                Transfer transfer = regions.start(kind, event.options(), signal);
                assertThat(event.timesAsked()).isEqualTo(1);
                assertThat(event.asked()).isSameAs(Thread.currentThread());
                // The only credit is free.
                pair.write(regions.local(), 0, regions.remote(), 0, 0).awaitSuccess();
                Patience.pause(LONG_ENOUGH_TO_SEE);
                assertThat(signal.ended()).isFalse();
                assertThat(transfer.isTerminated()).isFalse();
                assertThat(pair.connection().window().operations()).isZero();
                assertThat(pair.connection().window().bytes()).isZero();
                assertThat(pair.connection().pending()).isEqualTo(1);
                regions.assertNothingHappened(kind);
                event.happen();
                signal.awaitSuccess();
                await(pair.connection().quiet());
                regions.assertHappened(kind);
                pair.assertNothingIsHeld();
            }
        }
    }

    @Test
    default void sourceIsReadAfterTheEvent() {
        try (EnginePair pair = EnginePair.open(transport())) {
            MemoryRegion source = pair.local(2 << 20);
            MemoryRegion served = pair.served(source.length());
            RemoteRegion remote = pair.attach(served);
            CompletableFuture<Void> computed = new CompletableFuture<>();
            TerminalSignal signal = pair.write(
                    source,
                    0,
                    remote,
                    0,
                    source.length(),
                    TransferOptions.defaults().startAfter(StartEvent.of(computed)));
            Thread.ofPlatform().start(() -> {
                BytePattern.fill(bytesOf(source), 5);
                computed.complete(null);
            });
            signal.awaitSuccess();
            BytePattern.assertFilled(bytesOf(served), 5);
        }
    }

    @ParameterizedTest
    @ArgumentsSource(KindsInTurn.class)
    default void eventThatHasHappenedAlready(TransferKind kind) {
        try (EnginePair pair = EnginePair.open(transport())) {
            KindRegions regions = KindRegions.open(this, pair);
            List<StartEvent> events = List.of(
                    StartEvent.of(CompletableFuture.completedFuture("anything")), listener -> listener.happened(null));
            for (StartEvent event : events) {
                regions.reset();
                TerminalSignal signal = new TerminalSignal();
                regions.start(kind, TransferOptions.defaults().startAfter(event), signal);
                signal.awaitSuccess();
                regions.assertHappened(kind);
                assertThat(TransferEngine.isPollerThread(signal.thread())).isTrue();
            }
        }
    }

    @Test
    default void onlyTheFirstWordOfAnEventCounts() {
        try (EnginePair pair = EnginePair.open(transport())) {
            MemoryRegion served = pair.served(64);
            RemoteRegion remote = pair.attach(served);
            ManualEvent good = new ManualEvent();
            FetchOutcome once = pair.fetchAdd(remote, 0, 1, good.options());
            good.happen();
            good.happen();
            good.fail(new IllegalStateException("too late"));
            assertThat(once.awaitPrevious()).isZero();
            good.happen();
            ManualEvent bad = new ManualEvent();
            FetchOutcome never = pair.fetchAdd(remote, 0, 1, bad.options());
            bad.fail(new IllegalStateException("the device is gone"));
            bad.happen();
            never.awaitFailure(StartEventException.class);
            bad.happen();
            Patience.pause(LONG_ENOUGH_TO_SEE);
            assertThat(once.terminal().count()).isEqualTo(1);
            assertThat(never.terminal().count()).isEqualTo(1);
            assertThat(served.signal(0).value()).isEqualTo(1);
            pair.assertNothingIsHeld();
        }
    }

    @Test
    default void eventsHappenInManyThreadsAtOnce() {
        int transfers = 2_000;
        int threads = 8;
        Random random = ContractProfile.random("eventsHappenInManyThreadsAtOnce");
        try (EnginePair pair =
                EnginePair.open(transport(), both -> both.windowOperations(8).lanes(2))) {
            MemoryRegion source = filled(pair.local(8L * transfers), 2);
            MemoryRegion served = pair.served(source.length());
            RemoteRegion remote = pair.attach(served);
            List<ManualEvent> events = new ArrayList<>();
            List<TerminalSignal> signals = new ArrayList<>();
            for (int i = 0; i < transfers; i++) {
                ManualEvent event = new ManualEvent();
                events.add(event);
                signals.add(pair.write(source, 8L * i, remote, 8L * i, 8, event.options()));
            }
            Collections.shuffle(events, random);
            // Two threads bring about each event.
            ManyThreads.run(threads, number -> {
                for (int i = 0; i < transfers; i++) {
                    if (i % (threads / 2) == number % (threads / 2)) {
                        events.get(i).happen();
                    }
                }
            });
            TerminalSignal.awaitAllSuccess(signals);
            assertThat(signals).allSatisfy(signal -> assertThat(signal.count()).isEqualTo(1));
            await(pair.connection().quiet());
            BytePattern.assertFilled(bytesOf(served), 2);
            pair.assertNothingIsHeld();
        }
    }

    @ParameterizedTest
    @ArgumentsSource(KindsInTurn.class)
    default void eventThatNeverHappensIsBoundedByTheDeadline(TransferKind kind) {
        try (EnginePair pair = EnginePair.open(transport())) {
            KindRegions regions = KindRegions.open(this, pair);
            ManualEvent event = new ManualEvent();
            TerminalSignal signal = new TerminalSignal();
            Transfer transfer = regions.start(kind, event.options().withDeadline(Duration.ofMillis(80)), signal);
            signal.awaitFailure(TransferTimeoutException.class);
            await(transfer.quiesced());
            pair.assertNothingIsHeld();
            event.happen();
            assertStaysUndone(regions, kind, signal);
        }
    }

    /** Checks transfers that an event must not start any more. */
    private static void assertStaysUndone(KindRegions regions, TransferKind kind, TerminalSignal signal) {
        EnginePair pair = regions.pair();
        pair.notify(new byte[0]).awaitSuccess();
        Patience.pause(Duration.ofMillis(20));
        regions.assertNothingHappened(kind);
        assertThat(signal.count()).isEqualTo(1);
        pair.assertNothingIsHeld();
    }

    @ParameterizedTest
    @ArgumentsSource(KindsInTurn.class)
    default void cancelWhileItWaits(TransferKind kind) {
        try (EnginePair pair = EnginePair.open(transport())) {
            KindRegions regions = KindRegions.open(this, pair);
            ManualEvent event = new ManualEvent();
            TerminalSignal signal = new TerminalSignal();
            Transfer transfer = regions.start(kind, event.options(), signal);
            transfer.cancel();
            signal.awaitFailure(TransferCancelledException.class);
            await(transfer.quiesced());
            event.happen();
            assertStaysUndone(regions, kind, signal);
        }
    }

    @ParameterizedTest
    @ArgumentsSource(KindsInTurn.class)
    default void eventThatFails(TransferKind kind) {
        try (EnginePair pair = EnginePair.open(transport())) {
            KindRegions regions = KindRegions.open(this, pair);
            Exception cause = new Exception("the device is gone");
            for (StartEvent event : List.<StartEvent>of(
                    listener -> listener.happened(cause), StartEvent.of(CompletableFuture.failedFuture(cause)))) {
                TerminalSignal signal = new TerminalSignal();
                Transfer transfer =
                        regions.start(kind, TransferOptions.defaults().startAfter(event), signal);
                assertThat(signal.awaitFailure(StartEventException.class)).hasCause(cause);
                await(transfer.quiesced());
                assertStaysUndone(regions, kind, signal);
            }
        }
    }

    @Test
    default void eventThatThrowsWhenItIsAskedLosesNothing() {
        try (EnginePair pair = EnginePair.open(transport())) {
            MemoryRegion source = pair.local(64);
            bytesOf(source).fill((byte) 1);
            MemoryRegion served = pair.served(64);
            RemoteRegion remote = pair.attach(served);
            StartEvent broken = listener -> {
                throw new IllegalStateException("no such device");
            };
            TerminalSignal signal = new TerminalSignal();
            boolean thrown = false;
            try {
                pair.connection()
                        .write(
                                source,
                                0,
                                remote,
                                0,
                                64,
                                TransferOptions.defaults().startAfter(broken),
                                signal);
            } catch (IllegalStateException e) {
                thrown = true;
            }
            if (!thrown) {
                signal.awaitFailure(StartEventException.class);
            }
            pair.assertNothingIsHeld();
            pair.notify(new byte[0]).awaitSuccess();
            // Either the call reported it, or the callback, not both.
            assertThat(signal.count()).isEqualTo(thrown ? 0 : 1);
            BytePattern.assertAll(bytesOf(served), (byte) 0, "the target");
        }
    }

    @Test
    default void transfersThatWaitForAnEventArePending() {
        int limit = 8;
        try (EnginePair pair = EnginePair.open(transport(), both -> both.maxPending(limit))) {
            MemoryRegion local = pair.local(64);
            RemoteRegion remote = pair.attach(pair.served(64));
            ManualEvent event = new ManualEvent();
            List<TerminalSignal> signals = new ArrayList<>();
            for (int i = 0; i < limit; i++) {
                signals.add(pair.write(local, 0, remote, 0, 64, event.options()));
                assertThat(pair.connection().pending()).isEqualTo(i + 1);
            }
            TerminalSignal refused = new TerminalSignal();
            assertThatThrownBy(() -> pair.connection().write(local, 0, remote, 0, 64, event.options(), refused))
                    .isInstanceOf(TooManyPendingException.class);
            event.happen();
            TerminalSignal.awaitAllSuccess(signals);
            pair.assertNothingIsHeld();
            assertThat(refused.count()).isZero();
        }
    }

    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.MATCH_NONE, names = "READ.*")
    default void notificationAfterItWaitsForIt(TransferKind kind) {
        try (EnginePair pair = EnginePair.open(transport())) {
            KindRegions regions = KindRegions.open(this, pair);
            ManualEvent event = new ManualEvent();
            CompletableFuture<Void> checked = new CompletableFuture<>();
            RecordingListener listener = new RecordingListener(payload -> {
                try {
                    regions.assertHappened(kind);
                    checked.complete(null);
                } catch (AssertionError e) {
                    checked.completeExceptionally(e);
                }
            });
            pair.accepted().subscribe(listener).request(1);
            TerminalSignal signal = new TerminalSignal();
            regions.start(kind, event.options(), signal);
            TerminalSignal notified = pair.notify(new byte[0]);
            Patience.pause(LONG_ENOUGH_TO_SEE);
            assertThat(listener.count()).isZero();
            assertThat(notified.ended()).isFalse();
            event.happen();
            await(checked);
            notified.awaitSuccess();
        }
    }

    @Test
    default void notificationCannotStartAfterAnEvent() {
        try (EnginePair pair = EnginePair.open(transport())) {
            RecordingListener listener = new RecordingListener();
            pair.accepted().subscribe(listener).request(Long.MAX_VALUE);
            ManualEvent event = new ManualEvent();
            TerminalSignal never = new TerminalSignal();
            assertThatThrownBy(() -> pair.connection().notify(new byte[] {1}, event.options(), never))
                    .isInstanceOf(IllegalArgumentException.class);
            assertThat(pair.connection().pending()).isZero();
            event.happen();
            pair.notify(new byte[] {2}).awaitSuccess();
            until("the other one came", () -> listener.count() == 1);
            assertThat(listener.payloads().getFirst()).containsExactly(2);
            assertThat(never.count()).isZero();
        }
    }

    @Test
    default void connectionIsClosedWhileItWaits() {
        try (EnginePair pair = EnginePair.open(transport())) {
            KindRegions regions = KindRegions.open(this, pair);
            ManualEvent event = new ManualEvent();
            List<TerminalSignal> signals = new ArrayList<>();
            for (TransferKind kind : TransferKind.values()) {
                TerminalSignal signal = new TerminalSignal();
                signals.add(signal);
                regions.start(kind, event.options(), signal);
            }
            await(pair.connection().close());
            for (TerminalSignal signal : signals) {
                // Nothing was sent, so the outcome is known.
                assertThat(signal.awaitFailure(ConnectionLostException.class))
                        .isNotInstanceOf(OutcomeUnknownException.class);
            }
            event.happen();
            assertThat(TerminalSignal.awaitAllOnce(signals)).hasSize(signals.size());
            regions.assertNothingHappened(TransferKind.WRITE);
            assertThat(pair.connection().pending()).isZero();
        }
    }

    @Test
    default void localRegionIsClosedWhileItWaits() {
        try (EnginePair pair = EnginePair.open(transport())) {
            MemoryRegion served = pair.served(64);
            RemoteRegion remote = pair.attach(served);
            MemoryRegion source = pair.local(64);
            bytesOf(source).fill((byte) 1);
            ManualEvent event = new ManualEvent();
            TerminalSignal signal = pair.write(source, 0, remote, 0, 64, event.options());
            // A transfer that was not posted does not delay the close.
            await(source.close());
            event.happen();
            signal.awaitFailure(RegionClosedException.class);
            BytePattern.assertAll(bytesOf(served), (byte) 0, "the target");
            pair.assertNothingIsHeld();
            assertThat(pair.connection().state()).isEqualTo(ConnectionState.OPEN);
        }
    }

    @Test
    default void engineIsClosedWhileItWaits() {
        TerminalSignal signal;
        ManualEvent event = new ManualEvent();
        try (EnginePair pair = EnginePair.open(transport())) {
            signal = pair.write(pair.local(64), 0, pair.attach(pair.served(64)), 0, 64, event.options());
        }
        signal.awaitFailure(ConnectionLostException.class);
        event.happen();
        Patience.pause(LONG_ENOUGH_TO_SEE);
        assertThat(signal.count()).isEqualTo(1);
    }

    @Test
    default void preparedTransferAsksItsEventAtEveryStart() {
        try (EnginePair pair = EnginePair.open(transport())) {
            MemoryRegion served = pair.served(64);
            RemoteRegion remote = pair.attach(served);
            ManualEvent event = new ManualEvent();
            AtomicInteger completions = new AtomicInteger();
            AtomicReference<SluiceException> last = new AtomicReference<>();
            RunEnds ends = new RunEnds();
            PreparedTransfer prepared = pair.connection()
                    .prepared()
                    .fetchAdd(
                            remote,
                            0,
                            1,
                            event.options().completeInto(error -> {
                                completions.incrementAndGet();
                                last.set(error);
                            }),
                            ends);
            assertThat(event.timesAsked()).as("before the first start").isZero();
            for (int run = 1; run <= 20; run++) {
                prepared.start();
                assertThat(event.timesAsked()).isEqualTo(run);
                Patience.pause(Duration.ofMillis(2));
                assertThat(served.signal(0).value()).isEqualTo(run - 1);
                // Reports for earlier runs have no effect.
                event.happen();
                ends.awaitSuccess();
                assertThat(completions).hasValue(run);
                assertThat(last.get()).isNull();
            }
            assertThat(served.signal(0).value()).isEqualTo(20);
        }
    }

    @Test
    default void eventOfAnEarlierRunStartsNoLaterOne() {
        try (EnginePair pair = EnginePair.open(transport())) {
            MemoryRegion served = pair.served(64);
            List<StartEvent.Listener> listeners = Collections.synchronizedList(new ArrayList<>());
            RunEnds ends = new RunEnds();
            PreparedTransfer prepared = pair.connection()
                    .prepared()
                    .fetchAdd(
                            pair.attach(served),
                            0,
                            1,
                            TransferOptions.defaults().startAfter(listeners::add),
                            ends);
            for (int round = 0; round < 20; round++) {
                prepared.start();
                prepared.cancel();
                ends.awaitFailure(TransferCancelledException.class);
                await(prepared.quiesced());
                assertThat(listeners.get(2 * round).isAwaited()).isFalse();
                prepared.start();
                assertThat(listeners.get(2 * round + 1).isAwaited()).isTrue();
                listeners.get(2 * round).happened(null);
                pair.notify(new byte[0], TransferOptions.defaults().withDeadline(Duration.ofMillis(10)))
                        .await();
                assertThat(served.signal(0).value()).isEqualTo(round);
                assertThat(prepared.isTerminated()).isFalse();
                listeners.get(2 * round + 1).happened(null);
                assertThat(ends.awaitSuccess().previous()).isEqualTo(round);
            }
            assertThat(ends.count()).isEqualTo(40);
        }
    }

    /** Its owner may destroy it then. */
    @Test
    default void transferIsQuiescentWhenNothingLooksAtItsEvent() {
        try (EnginePair pair = EnginePair.open(transport())) {
            List<StartEvent.Listener> listeners = Collections.synchronizedList(new ArrayList<>());
            RunEnds ends = new RunEnds();
            PreparedTransfer prepared = pair.connection()
                    .prepared()
                    .fetchAdd(
                            pair.attach(pair.served(64)),
                            0,
                            1,
                            TransferOptions.defaults().startAfter(listeners::add),
                            ends);
            for (int round = 0; round < 3; round++) {
                prepared.start();
                HeldLook look = new HeldLook(listeners.get(round), prepared);
                prepared.cancel();
                ends.awaitFailure(TransferCancelledException.class);
                look.assertQuiescentOnlyOnceItIsOver(prepared);
            }
            prepared.start();
            AtomicInteger looks = new AtomicInteger();
            assertThat(listeners.getLast().look(looks::incrementAndGet)).isTrue();
            assertThat(looks).hasValue(1);
            listeners.getLast().happened(null);
            ends.awaitSuccess();
            assertThat(prepared.quiesced()).isDone();
        }
    }
}
