package io.sluice.reactor;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.engine.ConnectionLostException;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Hooks;
import reactor.test.util.RaceTestUtils;

/** An atomic operation's end against its cancel and its demand, thousands of times. */
@Tag("race")
class FetchMonoRaceTest {
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

    private static RecordingSubscriber<Long> subscribed(FakeConnection connection) {
        RecordingSubscriber<Long> subscriber = new RecordingSubscriber<>();
        ReactiveConnection.from(connection).fetchAdd(connection.remote(), 0, 1).subscribe(subscriber);
        return subscriber;
    }

    @Test
    void completionAgainstCancel() {
        int won = 0;
        int rounds = 0;
        while (rounds < ROUNDS || ((won == 0 || won == rounds) && rounds < MOST_ROUNDS)) {
            rounds++;
            FakeConnection connection = FakeConnection.manual();
            RecordingSubscriber<Long> subscriber = subscribed(connection);
            subscriber.subscription.request(1);
            FakeTransfer transfer = connection.only();
            RaceTestUtils.race(() -> transfer.fetched(77), subscriber.subscription::cancel);
            assertThat(subscriber.breaches).isEmpty();
            assertThat(subscriber.errors).isEmpty();
            assertThat(subscriber.items).allMatch(previous -> previous == 77);
            // Either the value went out, with or without the completion, or the transfer was cancelled.
            assertThat(subscriber.items.size() + transfer.cancels()).isEqualTo(1);
            assertThat(subscriber.completions.get()).isLessThanOrEqualTo(subscriber.items.size());
            won += subscriber.items.size();
        }
        assertThat(won).as("both sides win now and then").isBetween(1, rounds - 1);
        assertThat(dropped).hasValue(0);
    }

    @Test
    void errorAgainstCancelIsSignalledOrDroppedOnce() {
        for (int round = 0; round < ROUNDS; round++) {
            dropped.set(0);
            FakeConnection connection = FakeConnection.manual();
            RecordingSubscriber<Long> subscriber = subscribed(connection);
            subscriber.subscription.request(1);
            FakeTransfer transfer = connection.only();
            RaceTestUtils.race(
                    () -> transfer.end(new ConnectionLostException("lost")), subscriber.subscription::cancel);
            assertThat(subscriber.breaches).isEmpty();
            assertThat(subscriber.items).isEmpty();
            assertThat(subscriber.errors.size() + transfer.cancels()).isEqualTo(1);
            assertThat(subscriber.errors.size() + dropped.get()).isLessThanOrEqualTo(1);
        }
    }

    @Test
    void requestAgainstCancel() {
        for (int round = 0; round < ROUNDS; round++) {
            FakeConnection connection = FakeConnection.manual();
            RecordingSubscriber<Long> subscriber = subscribed(connection);
            RaceTestUtils.race(() -> subscriber.subscription.request(1), subscriber.subscription::cancel);
            assertThat(subscriber.terminals()).isZero();
            assertThat(subscriber.items).isEmpty();
            assertThat(connection.transfers)
                    .allSatisfy(transfer -> assertThat(transfer.cancels()).isOne());
        }
    }

    @Test
    void submissionAgainstCompletionOnAnotherThread() {
        for (int round = 0; round < ROUNDS; round++) {
            FakeConnection connection = FakeConnection.manual();
            RecordingSubscriber<Long> subscriber = subscribed(connection);
            RaceTestUtils.race(() -> subscriber.subscription.request(1), () -> {
                FakeTransfer transfer = connection.transfers.peek();
                for (long spin = 0; transfer == null && spin < 1_000_000; spin++) {
                    transfer = connection.transfers.peek();
                }
                if (transfer != null) {
                    transfer.fetched(5);
                }
            });
            connection.only().fetched(5);
            assertThat(subscriber.breaches).isEmpty();
            assertThat(subscriber.items).containsExactly(5L);
            assertThat(subscriber.completions).hasValue(1);
            assertThat(connection.only().cancels()).isZero();
        }
    }

    @Test
    void fourAtOnceEndItOnce() {
        for (int round = 0; round < ROUNDS / 2; round++) {
            FakeConnection connection = FakeConnection.manual();
            RecordingSubscriber<Long> subscriber = subscribed(connection);
            subscriber.subscription.request(1);
            FakeTransfer transfer = connection.only();
            RaceTestUtils.race(
                    () -> transfer.fetched(1),
                    () -> transfer.end(new ConnectionLostException("lost")),
                    () -> subscriber.subscription.request(0),
                    subscriber.subscription::cancel);
            assertThat(subscriber.breaches).isEmpty();
            assertThat(subscriber.terminals()).isLessThanOrEqualTo(1);
            assertThat(connection.submitted()).isEqualTo(1);
        }
    }
}
