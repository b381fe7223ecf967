package io.sluice.engine.contract;

import static io.sluice.testkit.Patience.await;
import static io.sluice.testkit.Patience.until;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sluice.engine.CompletionEvent;
import io.sluice.engine.ConnectionLostException;
import io.sluice.engine.ConnectionState;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.OutcomeUnknownException;
import io.sluice.engine.PreparedTransfer;
import io.sluice.engine.RegionClosedException;
import io.sluice.engine.RemoteAccessException;
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
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Transfers that start after an event of another party, and complete into another event. */
public interface StartAndCompletionContract extends Contract {
    Duration LONG_ENOUGH_TO_SEE = Duration.ofMillis(30);

    /** An event that a test brings about; it records who asked for it. */
    final class Switch implements StartEvent {
        private final List<Listener> listeners = Collections.synchronizedList(new ArrayList<>());
        private volatile @Nullable Thread asked;

        @Override
        public void whenHappened(Listener listener) {
            asked = Thread.currentThread();
            listeners.add(listener);
        }

        void happen() {
            List.copyOf(listeners).forEach(listener -> listener.happened(null));
        }

        void fail(Throwable error) {
            List.copyOf(listeners).forEach(listener -> listener.happened(error));
        }

        int timesAsked() {
            return listeners.size();
        }

        @Nullable
        Thread asked() {
            return asked;
        }

        TransferOptions options() {
            return TransferOptions.defaults().startAfter(this);
        }
    }

    /** Records how an event was completed, and whether the transfer's callback had been called by then. */
    final class Completion implements CompletionEvent {
        private final boolean onPollersOnly;
        private final AtomicInteger count = new AtomicInteger();
        private final TerminalSignal signal = new TerminalSignal();
        private volatile @Nullable SluiceException error;
        private volatile boolean afterTheCallback;
        private volatile @Nullable Thread thread;

        Completion(TransportUnderTest transport) {
            onPollersOnly = !transport.carriesOutInTheCall();
        }

        @Override
        public void complete(@Nullable SluiceException cause) {
            count.incrementAndGet();
            error = cause;
            afterTheCallback = signal.ended();
            thread = Thread.currentThread();
        }

        /** The callback for the same transfer. */
        TerminalSignal signal() {
            return signal;
        }

        TransferOptions options() {
            return TransferOptions.defaults().completeInto(this);
        }

        void assertOnceBeforeTheCallback() {
            SluiceException ended = signal.await().orElse(null);
            assertThat(count).as("completions").hasValue(1);
            assertThat(error).isSameAs(ended);
            assertThat(afterTheCallback).as("after the callback").isFalse();
            assertThat(thread).as("the callback's thread").isSameAs(signal.thread());
            if (onPollersOnly) {
                assertThat(TransferEngine.isPollerThread(signal.thread()))
                        .as("on a poller")
                        .isTrue();
            }
            Patience.pause(Duration.ofMillis(20));
            assertThat(count).as("completions").hasValue(1);
            assertThat(signal.count()).isEqualTo(1);
        }
    }

    private static void assertNothingIsHeld(EnginePair pair) {
        until("nothing is pending", () -> pair.connection().pending() == 0);
        assertThat(pair.connection().window().operations()).isZero();
        assertThat(pair.connection().window().bytes()).isZero();
    }

    @ParameterizedTest
    @EnumSource
    default void nothingIsPostedBeforeTheEvent(TransferKind kind) {
        for (Ends ends : Ends.values()) {
            try (EnginePair pair = ends.open(transport(), both -> both.windowOperations(1))) {
                MemoryRegion local = pair.local(TransferKind.BYTES);
                MemoryRegion served = pair.served(TransferKind.BYTES);
                RemoteRegion remote = pair.attach(served);
                TransferKind.reset(bytesOf(local), bytesOf(served));
                Switch event = new Switch();
                TerminalSignal signal = new TerminalSignal();
                Transfer transfer = kind.on(pair.connection(), local, remote, event.options(), signal);
                assertThat(event.timesAsked()).isEqualTo(1);
                assertThat(event.asked()).isSameAs(Thread.currentThread());
                // The only credit is free.
                pair.write(local, 0, remote, 0, 0).awaitSuccess();
                Patience.pause(LONG_ENOUGH_TO_SEE);
                assertThat(signal.ended()).isFalse();
                assertThat(transfer.isTerminated()).isFalse();
                assertThat(pair.connection().window().operations()).isZero();
                assertThat(pair.connection().window().bytes()).isZero();
                assertThat(pair.connection().pending()).isEqualTo(1);
                kind.assertNothingHappened(bytesOf(local), bytesOf(served));
                event.happen();
                signal.awaitSuccess();
                await(pair.connection().quiet());
                kind.assertHappened(bytesOf(local), bytesOf(served));
                assertNothingIsHeld(pair);
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
    @EnumSource
    default void eventThatHasHappenedAlready(TransferKind kind) {
        try (EnginePair pair = EnginePair.open(transport())) {
            MemoryRegion local = pair.local(TransferKind.BYTES);
            MemoryRegion served = pair.served(TransferKind.BYTES);
            RemoteRegion remote = pair.attach(served);
            List<StartEvent> events = List.of(
                    StartEvent.of(CompletableFuture.completedFuture("anything")), listener -> listener.happened(null));
            for (StartEvent event : events) {
                TransferKind.reset(bytesOf(local), bytesOf(served));
                TerminalSignal signal = new TerminalSignal();
                kind.on(
                        pair.connection(),
                        local,
                        remote,
                        TransferOptions.defaults().startAfter(event),
                        signal);
                signal.awaitSuccess();
                kind.assertHappened(bytesOf(local), bytesOf(served));
                assertThat(TransferEngine.isPollerThread(signal.thread())).isTrue();
            }
        }
    }

    @Test
    default void onlyTheFirstWordOfAnEventCounts() {
        try (EnginePair pair = EnginePair.open(transport())) {
            MemoryRegion served = pair.served(64);
            RemoteRegion remote = pair.attach(served);
            Switch good = new Switch();
            FetchOutcome once = pair.fetchAdd(remote, 0, 1, good.options());
            good.happen();
            good.happen();
            good.fail(new IllegalStateException("too late"));
            assertThat(once.awaitPrevious()).isZero();
            good.happen();
            Switch bad = new Switch();
            FetchOutcome never = pair.fetchAdd(remote, 0, 1, bad.options());
            bad.fail(new IllegalStateException("the device is gone"));
            bad.happen();
            never.awaitFailure(StartEventException.class);
            bad.happen();
            Patience.pause(LONG_ENOUGH_TO_SEE);
            assertThat(once.terminal().count()).isEqualTo(1);
            assertThat(never.terminal().count()).isEqualTo(1);
            assertThat(served.signal(0).value()).isEqualTo(1);
            assertNothingIsHeld(pair);
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
            List<Switch> events = new ArrayList<>();
            List<TerminalSignal> signals = new ArrayList<>();
            for (int i = 0; i < transfers; i++) {
                Switch event = new Switch();
                events.add(event);
                signals.add(pair.write(source, 8L * i, remote, 8L * i, 8, event.options()));
            }
            Collections.shuffle(events, random);
            // Each event by two of them.
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
            assertNothingIsHeld(pair);
        }
    }

    @ParameterizedTest
    @EnumSource
    default void eventThatNeverHappensIsBoundedByTheDeadline(TransferKind kind) {
        try (EnginePair pair = EnginePair.open(transport())) {
            MemoryRegion local = pair.local(TransferKind.BYTES);
            MemoryRegion served = pair.served(TransferKind.BYTES);
            RemoteRegion remote = pair.attach(served);
            TransferKind.reset(bytesOf(local), bytesOf(served));
            Switch event = new Switch();
            TerminalSignal signal = new TerminalSignal();
            Transfer transfer = kind.on(
                    pair.connection(), local, remote, event.options().withDeadline(Duration.ofMillis(80)), signal);
            signal.awaitFailure(TransferTimeoutException.class);
            await(transfer.quiesced());
            assertNothingIsHeld(pair);
            event.happen();
            assertStaysUndone(pair, kind, local, served, signal);
        }
    }

    /** Checks transfers that an event must not start any more. */
    private void assertStaysUndone(
            EnginePair pair, TransferKind kind, MemoryRegion local, MemoryRegion served, TerminalSignal signal) {
        pair.notify(new byte[0]).awaitSuccess();
        Patience.pause(Duration.ofMillis(20));
        kind.assertNothingHappened(bytesOf(local), bytesOf(served));
        assertThat(signal.count()).isEqualTo(1);
        assertNothingIsHeld(pair);
    }

    @ParameterizedTest
    @EnumSource
    default void cancelWhileItWaits(TransferKind kind) {
        try (EnginePair pair = EnginePair.open(transport())) {
            MemoryRegion local = pair.local(TransferKind.BYTES);
            MemoryRegion served = pair.served(TransferKind.BYTES);
            RemoteRegion remote = pair.attach(served);
            TransferKind.reset(bytesOf(local), bytesOf(served));
            Switch event = new Switch();
            TerminalSignal signal = new TerminalSignal();
            Transfer transfer = kind.on(pair.connection(), local, remote, event.options(), signal);
            transfer.cancel();
            signal.awaitFailure(TransferCancelledException.class);
            await(transfer.quiesced());
            event.happen();
            assertStaysUndone(pair, kind, local, served, signal);
        }
    }

    @ParameterizedTest
    @EnumSource
    default void eventThatFails(TransferKind kind) {
        try (EnginePair pair = EnginePair.open(transport())) {
            MemoryRegion local = pair.local(TransferKind.BYTES);
            MemoryRegion served = pair.served(TransferKind.BYTES);
            RemoteRegion remote = pair.attach(served);
            TransferKind.reset(bytesOf(local), bytesOf(served));
            Exception cause = new Exception("the device is gone");
            for (StartEvent event : List.<StartEvent>of(
                    listener -> listener.happened(cause), StartEvent.of(CompletableFuture.failedFuture(cause)))) {
                TerminalSignal signal = new TerminalSignal();
                Transfer transfer = kind.on(
                        pair.connection(),
                        local,
                        remote,
                        TransferOptions.defaults().startAfter(event),
                        signal);
                assertThat(signal.awaitFailure(StartEventException.class)).hasCause(cause);
                await(transfer.quiesced());
                assertStaysUndone(pair, kind, local, served, signal);
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
            assertNothingIsHeld(pair);
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
            Switch event = new Switch();
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
            assertNothingIsHeld(pair);
            assertThat(refused.count()).isZero();
        }
    }

    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.MATCH_NONE, names = "READ.*")
    default void notificationAfterItWaitsForIt(TransferKind kind) {
        try (EnginePair pair = EnginePair.open(transport())) {
            MemoryRegion local = pair.local(TransferKind.BYTES);
            MemoryRegion served = pair.served(TransferKind.BYTES);
            RemoteRegion remote = pair.attach(served);
            TransferKind.reset(bytesOf(local), bytesOf(served));
            Switch event = new Switch();
            CompletableFuture<Void> checked = new CompletableFuture<>();
            RecordingListener listener = new RecordingListener(payload -> {
                try {
                    kind.assertHappened(bytesOf(local), bytesOf(served));
                    checked.complete(null);
                } catch (AssertionError e) {
                    checked.completeExceptionally(e);
                }
            });
            pair.accepted().subscribe(listener).request(1);
            TerminalSignal signal = new TerminalSignal();
            kind.on(pair.connection(), local, remote, event.options(), signal);
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
            Switch event = new Switch();
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
            MemoryRegion local = pair.local(TransferKind.BYTES);
            MemoryRegion served = pair.served(TransferKind.BYTES);
            RemoteRegion remote = pair.attach(served);
            TransferKind.reset(bytesOf(local), bytesOf(served));
            Switch event = new Switch();
            List<TerminalSignal> signals = new ArrayList<>();
            for (TransferKind kind : TransferKind.values()) {
                TerminalSignal signal = new TerminalSignal();
                signals.add(signal);
                kind.on(pair.connection(), local, remote, event.options(), signal);
            }
            await(pair.connection().close());
            for (TerminalSignal signal : signals) {
                // Nothing was sent, so the outcome is known.
                assertThat(signal.awaitFailure(ConnectionLostException.class))
                        .isNotInstanceOf(OutcomeUnknownException.class);
            }
            event.happen();
            assertThat(TerminalSignal.awaitAllOnce(signals)).hasSize(signals.size());
            TransferKind.WRITE.assertNothingHappened(bytesOf(local), bytesOf(served));
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
            Switch event = new Switch();
            TerminalSignal signal = pair.write(source, 0, remote, 0, 64, event.options());
            // A transfer that was not posted does not hold it up.
            await(source.close());
            event.happen();
            signal.awaitFailure(RegionClosedException.class);
            BytePattern.assertAll(bytesOf(served), (byte) 0, "the target");
            assertNothingIsHeld(pair);
            assertThat(pair.connection().state()).isEqualTo(ConnectionState.OPEN);
        }
    }

    @Test
    default void engineIsClosedWhileItWaits() {
        TerminalSignal signal;
        Switch event = new Switch();
        try (EnginePair pair = EnginePair.open(transport())) {
            signal = pair.write(pair.local(64), 0, pair.attach(pair.served(64)), 0, 64, event.options());
        }
        signal.awaitFailure(ConnectionLostException.class);
        event.happen();
        Patience.pause(LONG_ENOUGH_TO_SEE);
        assertThat(signal.count()).isEqualTo(1);
    }

    @ParameterizedTest
    @EnumSource
    default void completionComesOnceAndBeforeTheCallback(TransferKind kind) {
        try (EnginePair pair = EnginePair.open(transport())) {
            MemoryRegion local = pair.local(TransferKind.BYTES);
            MemoryRegion served = pair.served(TransferKind.BYTES);
            RemoteRegion remote = pair.attach(served);
            TransferKind.reset(bytesOf(local), bytesOf(served));
            List<Completion> completions = new ArrayList<>();

            Completion success = new Completion(transport());
            kind.on(pair.connection(), local, remote, success.options(), success.signal());
            success.signal().awaitSuccess();
            completions.add(success);

            Completion timedOut = new Completion(transport());
            TransferOptions brief = timedOut.options().startAfter(new Switch()).withDeadline(Duration.ofMillis(30));
            kind.on(pair.connection(), local, remote, brief, timedOut.signal());
            timedOut.signal().awaitFailure(TransferTimeoutException.class);
            completions.add(timedOut);

            Completion cancelled = new Completion(transport());
            kind.on(pair.connection(), local, remote, cancelled.options().startAfter(new Switch()), cancelled.signal())
                    .cancel();
            cancelled.signal().awaitFailure(TransferCancelledException.class);
            completions.add(cancelled);

            Completion notStarted = new Completion(transport());
            TransferOptions failing =
                    notStarted.options().startAfter(listener -> listener.happened(new Exception("never")));
            kind.on(pair.connection(), local, remote, failing, notStarted.signal());
            notStarted.signal().awaitFailure(StartEventException.class);
            completions.add(notStarted);

            MemoryRegion closing = pair.served(TransferKind.BYTES);
            RemoteRegion gone = pair.attach(closing);
            await(closing.close());
            Completion refused = new Completion(transport());
            kind.on(pair.connection(), local, gone, refused.options(), refused.signal());
            assertThat(refused.signal().await()).isPresent();
            completions.add(refused);

            Completion lost = new Completion(transport());
            kind.on(pair.connection(), local, remote, lost.options().startAfter(new Switch()), lost.signal());
            await(pair.connection().close());
            lost.signal().awaitFailure(ConnectionLostException.class);
            completions.add(lost);

            completions.forEach(Completion::assertOnceBeforeTheCallback);
        }
    }

    @Test
    default void completionOfAPostedTransferThatIsCancelledOrTimesOut() {
        long bytes = 16 << 20;
        try (EnginePair pair = EnginePair.open(transport(), both -> both.windowBytes(1 << 20))) {
            MemoryRegion source = pair.local(bytes);
            RemoteRegion remote = pair.attach(pair.served(bytes));
            List<Completion> completions = new ArrayList<>();
            for (int round = 0; round < 10; round++) {
                Completion cancelled = new Completion(transport());
                Transfer transfer =
                        pair.connection().write(source, 0, remote, 0, bytes, cancelled.options(), cancelled.signal());
                until(
                        "it runs",
                        () -> pair.connection().window().bytes() > 0
                                || cancelled.signal().ended());
                transfer.cancel();
                completions.add(cancelled);
                Completion brief = new Completion(transport());
                pair.connection()
                        .read(
                                source,
                                0,
                                remote,
                                0,
                                bytes,
                                brief.options().withDeadline(Duration.ofNanos(500_000)),
                                brief.signal());
                completions.add(brief);
                await(pair.connection().quiesced());
            }
            completions.forEach(Completion::assertOnceBeforeTheCallback);
        }
    }

    @Test
    default void completionOfANotification() {
        try (EnginePair pair = EnginePair.open(transport(), both -> both.notificationCredits(1))) {
            Completion success = new Completion(transport());
            pair.connection().notify(new byte[0], success.options(), success.signal());
            success.assertOnceBeforeTheCallback();
            // The only credit is used, and no listener takes the notification.
            Completion timedOut = new Completion(transport());
            pair.connection()
                    .notify(new byte[0], timedOut.options().withDeadline(Duration.ofMillis(50)), timedOut.signal());
            timedOut.assertOnceBeforeTheCallback();
            timedOut.signal().awaitFailure(TransferTimeoutException.class);
        }
    }

    @Test
    default void refusedSubmissionCompletesNothing() {
        try (EnginePair pair = EnginePair.open(transport())) {
            MemoryRegion local = pair.local(64);
            RemoteRegion remote = pair.attach(pair.served(64));
            Completion never = new Completion(transport());
            Switch event = new Switch();
            TransferOptions options = never.options().startAfter(event);
            assertThatThrownBy(() -> pair.connection().write(local, 0, remote, 1, 64, options, never.signal()))
                    .isInstanceOf(IndexOutOfBoundsException.class);
            await(pair.connection().close());
            assertThatThrownBy(() -> pair.connection().write(local, 0, remote, 0, 64, options, never.signal()))
                    .isInstanceOf(ConnectionLostException.class);
            Patience.pause(LONG_ENOUGH_TO_SEE);
            assertThat(never.count).hasValue(0);
            assertThat(never.signal().count()).isZero();
        }
    }

    @Test
    default void callbackFollowsACompletionThatThrows() {
        try (EnginePair pair = EnginePair.open(transport())) {
            MemoryRegion local = pair.local(64);
            RemoteRegion remote = pair.attach(pair.served(64));
            TransferOptions options = TransferOptions.defaults().completeInto(error -> {
                throw new IllegalStateException("a broken event");
            });
            List<TerminalSignal> signals = new ArrayList<>();
            for (int i = 0; i < 20; i++) {
                signals.add(pair.write(local, 0, remote, 0, 64, options));
                signals.add(pair.write(local, 0, remote, 0, 64));
            }
            TerminalSignal.awaitAllSuccess(signals);
            assertNothingIsHeld(pair);
            assertThat(pair.connection().state()).isEqualTo(ConnectionState.OPEN);
        }
    }

    @Test
    default void completionFollowsACallbackThatThrows() {
        try (EnginePair pair = EnginePair.open(transport())) {
            MemoryRegion local = pair.local(64);
            RemoteRegion remote = pair.attach(pair.served(64));
            List<Completion> completions = new ArrayList<>();
            for (int i = 0; i < 20; i++) {
                Completion completion = new Completion(transport());
                completions.add(completion);
                pair.connection().write(local, 0, remote, 0, 64, completion.options(), (transfer, error) -> {
                    completion.signal().terminated(transfer, error);
                    throw new IllegalStateException("a broken callback");
                });
            }
            completions.forEach(completion -> completion.signal().awaitSuccess());
            completions.forEach(Completion::assertOnceBeforeTheCallback);
            assertNothingIsHeld(pair);
        }
    }

    @Test
    default void futuresAsEvents() throws InterruptedException {
        try (EnginePair pair = EnginePair.open(transport())) {
            MemoryRegion local = pair.local(64);
            MemoryRegion closing = pair.served(64);
            RemoteRegion remote = pair.attach(pair.served(64));
            RemoteRegion gone = pair.attach(closing);
            await(closing.close());
            CompletableFuture<Void> good = new CompletableFuture<>();
            CompletableFuture<Void> bad = new CompletableFuture<>();
            pair.write(local, 0, remote, 0, 64, TransferOptions.defaults().completeInto(CompletionEvent.of(good)));
            TerminalSignal refused =
                    pair.write(local, 0, gone, 0, 64, TransferOptions.defaults().completeInto(CompletionEvent.of(bad)));
            await(good);
            RemoteAccessException error = refused.awaitFailure(RemoteAccessException.class);
            try {
                bad.get();
                throw new AssertionError("it completed normally");
            } catch (ExecutionException e) {
                assertThat(e).hasCause(error);
            }
        }
    }

    @Test
    default void transfersMakeAChain() {
        int links = 300;
        try (EnginePair pair = EnginePair.open(transport(), both -> both.windowOperations(2))) {
            MemoryRegion served = pair.served(64);
            RemoteRegion remote = pair.attach(served);
            List<FetchOutcome> outcomes = new ArrayList<>();
            CompletableFuture<Void> first = new CompletableFuture<>();
            CompletableFuture<Void> before = first;
            for (int i = 0; i < links; i++) {
                CompletableFuture<Void> after = new CompletableFuture<>();
                TransferOptions link = TransferOptions.defaults()
                        .startAfter(StartEvent.of(before))
                        .completeInto(CompletionEvent.of(after));
                outcomes.add(pair.fetchAdd(remote, 0, 1, link));
                before = after;
            }
            first.complete(null);
            await(before);
            for (int i = 0; i < links; i++) {
                assertThat(outcomes.get(i).awaitPrevious()).isEqualTo(i);
            }
            // One that fails takes those behind it along.
            CompletableFuture<Void> failing = new CompletableFuture<>();
            CompletableFuture<Void> second = new CompletableFuture<>();
            FetchOutcome one = pair.fetchAdd(
                    remote,
                    0,
                    1,
                    TransferOptions.defaults()
                            .startAfter(StartEvent.of(failing))
                            .completeInto(CompletionEvent.of(second)));
            FetchOutcome two =
                    pair.fetchAdd(remote, 0, 1, TransferOptions.defaults().startAfter(StartEvent.of(second)));
            failing.completeExceptionally(new Exception("the first cause"));
            StartEventException inner = one.awaitFailure(StartEventException.class);
            assertThat(two.awaitFailure(StartEventException.class)).hasCause(inner);
            assertThat(served.signal(0).value()).isEqualTo(links);
        }
    }

    @Test
    default void preparedTransferAsksItsEventAtEveryStart() {
        try (EnginePair pair = EnginePair.open(transport())) {
            MemoryRegion served = pair.served(64);
            RemoteRegion remote = pair.attach(served);
            Switch event = new Switch();
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
                // The words for the runs before count no more.
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
                prepared.start();
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
}
