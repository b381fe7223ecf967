package io.sluice.reactor;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.engine.ConnectionLostException;
import io.sluice.engine.TooManyPendingException;
import io.sluice.engine.TransferResult;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Hooks;
import reactor.core.publisher.Mono;
import reactor.test.util.RaceTestUtils;

/** Each pair of events that may meet, thousands of times. */
@Tag("race")
class TransferMonoRaceTest {
    private static final int ROUNDS = "soak".equals(System.getProperty("sluice.test.profile")) ? 20_000 : 800;
    // where one processor has to do for both, the same one may win for long
    private static final int MOST_ROUNDS = 50 * ROUNDS;

    private final AtomicInteger dropped = new AtomicInteger();

    @BeforeEach
    void countDroppedErrors() {
        Hooks.onErrorDropped(error -> dropped.incrementAndGet());
    }

    @AfterEach
    void resetHooks() {
        Hooks.resetOnErrorDropped();
    }

    private static Mono<TransferResult> write(FakeConnection connection) {
        return ReactiveConnection.from(connection).write(new FakeRegion(8), connection.remote(), 0);
    }

    private static RecordingSubscriber<TransferResult> subscribed(FakeConnection connection) {
        RecordingSubscriber<TransferResult> subscriber = new RecordingSubscriber<>();
        write(connection).subscribe(subscriber);
        return subscriber;
    }

    @Test
    void completionAgainstCancel() {
        int won = 0;
        int rounds = 0;
        while (rounds < ROUNDS || ((won == 0 || won == rounds) && rounds < MOST_ROUNDS)) {
            rounds++;
            FakeConnection connection = FakeConnection.manual();
            RecordingSubscriber<TransferResult> subscriber = subscribed(connection);
            subscriber.subscription.request(1);
            FakeTransfer transfer = connection.only();
            RaceTestUtils.race(transfer::succeed, subscriber.subscription::cancel);
            assertThat(subscriber.breaches).isEmpty();
            assertThat(subscriber.errors).isEmpty();
            // Either the result went out, with or without the completion, or the transfer was cancelled.
            assertThat(subscriber.items.size() + transfer.cancels()).isEqualTo(1);
            assertThat(subscriber.completions.get()).isLessThanOrEqualTo(subscriber.items.size());
            assertThat(connection.inFlight()).isZero();
            won += subscriber.items.size();
        }
        assertThat(won).as("both sides win now and then").isBetween(1, rounds - 1);
    }

    @Test
    void errorAgainstCancel() {
        int signalled = 0;
        for (int round = 0; round < ROUNDS; round++) {
            FakeConnection connection = FakeConnection.manual();
            RecordingSubscriber<TransferResult> subscriber = subscribed(connection);
            subscriber.subscription.request(1);
            FakeTransfer transfer = connection.only();
            RaceTestUtils.race(
                    () -> transfer.end(new ConnectionLostException("lost")), subscriber.subscription::cancel);
            assertThat(subscriber.breaches).isEmpty();
            assertThat(subscriber.items).isEmpty();
            assertThat(subscriber.errors.size() + transfer.cancels()).isEqualTo(1);
            signalled += subscriber.errors.size();
        }
        assertThat(dropped.get()).as("no error both signalled and dropped").isLessThanOrEqualTo(ROUNDS - signalled);
    }

    @Test
    void requestAgainstCancel() {
        for (int round = 0; round < ROUNDS; round++) {
            FakeConnection connection = FakeConnection.manual();
            RecordingSubscriber<TransferResult> subscriber = subscribed(connection);
            RaceTestUtils.race(() -> subscriber.subscription.request(1), subscriber.subscription::cancel);
            assertThat(subscriber.terminals()).isZero();
            assertThat(subscriber.items).isEmpty();
            assertThat(connection.inFlight())
                    .as("what was submitted is cancelled")
                    .isZero();
            assertThat(connection.transfers)
                    .allSatisfy(transfer -> assertThat(transfer.cancels()).isOne());
        }
    }

    @Test
    void submissionAgainstCancel() {
        int submitted = 0;
        for (int round = 0; round < ROUNDS; round++) {
            AtomicInteger gate = new AtomicInteger();
            FakeConnection connection = new FakeConnection(256, transfer -> {
                gate.set(1);
                // The submission takes a while, so that the cancel falls before, into and after it.
                for (int spin = 0; spin < 50; spin++) {
                    Thread.onSpinWait();
                }
            });
            RecordingSubscriber<TransferResult> subscriber = subscribed(connection);
            RaceTestUtils.race(() -> subscriber.subscription.request(1), () -> {
                for (long spin = 0; gate.get() == 0 && spin < 100_000; spin++) {
                    if (spin > 10_000 && spin % 100 == 0) {
                        // it may be this processor that the other waits for
                        LockSupport.parkNanos(1);
                    } else {
                        Thread.onSpinWait();
                    }
                }
                subscriber.subscription.cancel();
            });
            assertThat(subscriber.terminals()).isZero();
            assertThat(connection.inFlight()).isZero();
            assertThat(connection.transfers)
                    .allSatisfy(transfer -> assertThat(transfer.cancels()).isOne());
            submitted += connection.submitted();
        }
        assertThat(submitted).as("the cancel mostly waits for the submission").isGreaterThan(ROUNDS / 2);
    }

    @Test
    void refusedSubmissionAgainstCancel() {
        for (int round = 0; round < ROUNDS; round++) {
            dropped.set(0);
            FakeConnection connection = FakeConnection.refusing(new TooManyPendingException("full"));
            RecordingSubscriber<TransferResult> subscriber = subscribed(connection);
            RaceTestUtils.race(() -> subscriber.subscription.request(1), subscriber.subscription::cancel);
            assertThat(subscriber.breaches).isEmpty();
            assertThat(subscriber.errors.size() + dropped.get()).isEqualTo(connection.submitted());
        }
    }

    @Test
    void submissionAgainstCompletionOnAnotherThread() {
        for (int round = 0; round < ROUNDS; round++) {
            FakeConnection connection = FakeConnection.manual();
            RecordingSubscriber<TransferResult> subscriber = subscribed(connection);
            RaceTestUtils.race(() -> subscriber.subscription.request(1), () -> {
                FakeTransfer transfer = connection.transfers.peek();
                for (long spin = 0; transfer == null && spin < 1_000_000; spin++) {
                    transfer = connection.transfers.peek();
                }
                if (transfer != null) {
                    transfer.succeed();
                }
            });
            connection.only().succeed();
            assertThat(subscriber.breaches).isEmpty();
            assertThat(subscriber.items).hasSize(1);
            assertThat(subscriber.completions).hasValue(1);
            assertThat(connection.only().cancels()).isZero();
        }
    }

    @Test
    void completionAgainstABadRequest() {
        for (int round = 0; round < ROUNDS; round++) {
            FakeConnection connection = FakeConnection.manual();
            RecordingSubscriber<TransferResult> subscriber = subscribed(connection);
            subscriber.subscription.request(1);
            FakeTransfer transfer = connection.only();
            RaceTestUtils.race(transfer::succeed, () -> subscriber.subscription.request(0));
            assertThat(subscriber.breaches).isEmpty();
            assertThat(subscriber.terminals()).isEqualTo(1);
        }
    }

    @RepeatedTest(3)
    void completionAgainstErrorAgainstCancelEndsOnce() {
        for (int round = 0; round < ROUNDS / 5; round++) {
            FakeConnection connection = FakeConnection.manual();
            RecordingSubscriber<TransferResult> subscriber = subscribed(connection);
            subscriber.subscription.request(1);
            FakeTransfer transfer = connection.only();
            RaceTestUtils.race(
                    transfer::succeed,
                    () -> transfer.end(new ConnectionLostException("lost")),
                    () -> subscriber.subscription.request(1),
                    subscriber.subscription::cancel);
            assertThat(subscriber.breaches).isEmpty();
            assertThat(subscriber.terminals()).isLessThanOrEqualTo(1);
            assertThat(connection.submitted()).isEqualTo(1);
        }
    }
}
