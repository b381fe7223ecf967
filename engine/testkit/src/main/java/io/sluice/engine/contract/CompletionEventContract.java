package io.sluice.engine.contract;

import static io.sluice.testkit.Patience.await;
import static io.sluice.testkit.Patience.until;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sluice.engine.CompletionEvent;
import io.sluice.engine.ConnectionLostException;
import io.sluice.engine.ConnectionState;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RemoteAccessException;
import io.sluice.engine.RemoteRegion;
import io.sluice.engine.StartEvent;
import io.sluice.engine.StartEventException;
import io.sluice.engine.Transfer;
import io.sluice.engine.TransferCancelledException;
import io.sluice.engine.TransferOptions;
import io.sluice.engine.TransferTimeoutException;
import io.sluice.testkit.Patience;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ArgumentsSource;

/** Transfers that complete into an event of another party. */
interface CompletionEventContract extends Contract {
    @ParameterizedTest
    @ArgumentsSource(KindsInTurn.class)
    default void completionComesOnceAndBeforeTheCallback(TransferKind kind) {
        try (EnginePair pair = EnginePair.open(transport())) {
            MemoryRegion local = pair.local(TransferKind.BYTES);
            MemoryRegion served = pair.served(TransferKind.BYTES);
            RemoteRegion remote = pair.attach(served);
            TransferKind.reset(bytesOf(local), bytesOf(served));
            List<RecordedCompletion> completions = new ArrayList<>();

            RecordedCompletion success = new RecordedCompletion(transport());
            kind.on(pair.connection(), local, remote, success.options(), success.signal());
            success.signal().awaitSuccess();
            completions.add(success);

            RecordedCompletion timedOut = new RecordedCompletion(transport());
            TransferOptions brief =
                    timedOut.options().startAfter(new ManualEvent()).withDeadline(Duration.ofMillis(30));
            kind.on(pair.connection(), local, remote, brief, timedOut.signal());
            timedOut.signal().awaitFailure(TransferTimeoutException.class);
            completions.add(timedOut);

            RecordedCompletion cancelled = new RecordedCompletion(transport());
            kind.on(
                            pair.connection(),
                            local,
                            remote,
                            cancelled.options().startAfter(new ManualEvent()),
                            cancelled.signal())
                    .cancel();
            cancelled.signal().awaitFailure(TransferCancelledException.class);
            completions.add(cancelled);

            RecordedCompletion notStarted = new RecordedCompletion(transport());
            TransferOptions failing =
                    notStarted.options().startAfter(listener -> listener.happened(new Exception("never")));
            kind.on(pair.connection(), local, remote, failing, notStarted.signal());
            notStarted.signal().awaitFailure(StartEventException.class);
            completions.add(notStarted);

            MemoryRegion closing = pair.served(TransferKind.BYTES);
            RemoteRegion gone = pair.attach(closing);
            await(closing.close());
            RecordedCompletion refused = new RecordedCompletion(transport());
            kind.on(pair.connection(), local, gone, refused.options(), refused.signal());
            assertThat(refused.signal().await()).isPresent();
            completions.add(refused);

            RecordedCompletion lost = new RecordedCompletion(transport());
            kind.on(pair.connection(), local, remote, lost.options().startAfter(new ManualEvent()), lost.signal());
            await(pair.connection().close());
            lost.signal().awaitFailure(ConnectionLostException.class);
            completions.add(lost);

            completions.forEach(RecordedCompletion::assertOnceBeforeTheCallback);
        }
    }

    @Test
    default void completionOfAPostedTransferThatIsCancelledOrTimesOut() {
        long bytes = 16 << 20;
        try (EnginePair pair = EnginePair.open(transport(), both -> both.windowBytes(1 << 20))) {
            MemoryRegion source = pair.local(bytes);
            RemoteRegion remote = pair.attach(pair.served(bytes));
            List<RecordedCompletion> completions = new ArrayList<>();
            for (int round = 0; round < 10; round++) {
                RecordedCompletion cancelled = new RecordedCompletion(transport());
                Transfer transfer =
                        pair.connection().write(source, 0, remote, 0, bytes, cancelled.options(), cancelled.signal());
                until(
                        "it runs",
                        () -> pair.connection().window().bytes() > 0
                                || cancelled.signal().ended());
                transfer.cancel();
                completions.add(cancelled);
                RecordedCompletion brief = new RecordedCompletion(transport());
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
            completions.forEach(RecordedCompletion::assertOnceBeforeTheCallback);
        }
    }

    @Test
    default void completionOfANotification() {
        try (EnginePair pair = EnginePair.open(transport(), both -> both.notificationCredits(1))) {
            RecordedCompletion success = new RecordedCompletion(transport());
            pair.connection().notify(new byte[0], success.options(), success.signal());
            success.assertOnceBeforeTheCallback();
            // The only credit is used, and no listener takes the notification.
            RecordedCompletion timedOut = new RecordedCompletion(transport());
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
            RecordedCompletion never = new RecordedCompletion(transport());
            ManualEvent event = new ManualEvent();
            TransferOptions options = never.options().startAfter(event);
            assertThatThrownBy(() -> pair.connection().write(local, 0, remote, 1, 64, options, never.signal()))
                    .isInstanceOf(IndexOutOfBoundsException.class);
            await(pair.connection().close());
            assertThatThrownBy(() -> pair.connection().write(local, 0, remote, 0, 64, options, never.signal()))
                    .isInstanceOf(ConnectionLostException.class);
            Patience.pause(StartEventContract.LONG_ENOUGH_TO_SEE);
            assertThat(never.completions()).isZero();
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
            pair.assertNothingIsHeld();
            assertThat(pair.connection().state()).isEqualTo(ConnectionState.OPEN);
        }
    }

    @Test
    default void completionFollowsACallbackThatThrows() {
        try (EnginePair pair = EnginePair.open(transport())) {
            MemoryRegion local = pair.local(64);
            RemoteRegion remote = pair.attach(pair.served(64));
            List<RecordedCompletion> completions = new ArrayList<>();
            for (int i = 0; i < 20; i++) {
                RecordedCompletion completion = new RecordedCompletion(transport());
                completions.add(completion);
                pair.connection().write(local, 0, remote, 0, 64, completion.options(), (transfer, error) -> {
                    completion.signal().terminated(transfer, error);
                    throw new IllegalStateException("a broken callback");
                });
            }
            completions.forEach(completion -> completion.signal().awaitSuccess());
            completions.forEach(RecordedCompletion::assertOnceBeforeTheCallback);
            pair.assertNothingIsHeld();
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
            // A failed transfer fails those that start after it.
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
}
