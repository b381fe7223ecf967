package io.sluice.reactor;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.engine.RegionClosedException;
import io.sluice.testkit.Patience;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import reactor.core.Scannable;
import reactor.core.publisher.Hooks;
import reactor.core.publisher.Mono;
import reactor.test.StepVerifier;
import reactor.test.util.RaceTestUtils;

class AwaitAtLeastTest {
    private static final Duration LIMIT = Patience.BOUND;
    private static final int ROUNDS = "soak".equals(System.getProperty("sluice.test.profile")) ? 20_000 : 1_000;
    // where one processor has to do for both, the same one may win for long
    private static final int MOST_ROUNDS = 20 * ROUNDS;

    private final FakeSignal signal = new FakeSignal(new FakeRegion(64), 8);

    @AfterEach
    void resetHooks() {
        Hooks.resetOnErrorDropped();
    }

    private RecordingSubscriber<Long> waiting() {
        RecordingSubscriber<Long> subscriber = new RecordingSubscriber<>();
        ReactiveTransferEngine.awaitAtLeast(signal, 3).subscribe(subscriber);
        return subscriber;
    }

    @Test
    void theWaitBeginsWithDemandAndEachSubscriberHasItsOwn() {
        Mono<Long> wait = ReactiveTransferEngine.awaitAtLeast(signal, 3);
        RecordingSubscriber<Long> subscriber = new RecordingSubscriber<>();
        wait.subscribe(subscriber);
        assertThat(signal.waits).isEmpty();
        subscriber.subscription.request(1);
        wait.subscribe();
        assertThat(signal.waits).hasSize(2);
        assertThat(signal.leasts).containsExactly(3L, 3L);
    }

    @Test
    void theValueThatWasSeenIsEmitted() {
        StepVerifier.create(ReactiveTransferEngine.awaitAtLeast(signal, 3))
                .then(() -> signal.waits.remove().complete(5L))
                .expectNext(5L)
                .expectComplete()
                .verify(LIMIT);
    }

    @Test
    void aRegionThatClosesFailsIt() {
        RegionClosedException closed = new RegionClosedException("closed");
        StepVerifier.create(ReactiveTransferEngine.awaitAtLeast(signal, 3))
                .then(() -> signal.waits.remove().completeExceptionally(closed))
                .expectErrorSatisfies(error -> assertThat(error).isSameAs(closed))
                .verify(LIMIT);
    }

    @Test
    void aCancelRemovesTheWaitAndDropsNothing() {
        List<Throwable> dropped = new ArrayList<>();
        Hooks.onErrorDropped(dropped::add);
        RecordingSubscriber<Long> subscriber = waiting();
        subscriber.subscription.request(1);
        subscriber.subscription.cancel();
        assertThat(signal.waits.remove()).isCancelled();
        assertThat(subscriber.terminals()).isZero();
        assertThat(dropped).isEmpty();
    }

    @Test
    void aTimeoutRemovesTheWait() {
        StepVerifier.create(
                        ReactiveTransferEngine.awaitAtLeast(signal, 3).timeout(Duration.ofMillis(20), Mono.just(-1L)))
                .expectNext(-1L)
                .expectComplete()
                .verify(LIMIT);
        assertThat(signal.waits.remove()).isCancelled();
    }

    @Test
    void aBadRequestRemovesTheWait() {
        RecordingSubscriber<Long> subscriber = waiting();
        subscriber.subscription.request(1);
        subscriber.subscription.request(0);
        assertThat(signal.waits.remove()).isCancelled();
        assertThat(subscriber.errors).singleElement().isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void itCanBeScanned() {
        assertThat(Scannable.from(ReactiveTransferEngine.awaitAtLeast(signal, 3))
                        .stepName())
                .isEqualTo("awaitAtLeast");
    }

    @Test
    @Tag("race")
    void theValueAgainstACancelIsEmittedOrTheWaitRemoved() {
        List<Throwable> dropped = new ArrayList<>();
        Hooks.onErrorDropped(dropped::add);
        int won = 0;
        int rounds = 0;
        while (rounds < ROUNDS || ((won == 0 || won == rounds) && rounds < MOST_ROUNDS)) {
            rounds++;
            RecordingSubscriber<Long> subscriber = waiting();
            subscriber.subscription.request(1);
            CompletableFuture<Long> wait = signal.waits.remove();
            RaceTestUtils.race(() -> wait.complete(4L), subscriber.subscription::cancel);
            assertThat(subscriber.breaches).isEmpty();
            assertThat(subscriber.errors).isEmpty();
            assertThat(wait).isDone();
            assertThat(subscriber.items).hasSizeLessThanOrEqualTo(1);
            assertThat(subscriber.completions.get()).isLessThanOrEqualTo(subscriber.items.size());
            won += subscriber.items.size();
        }
        assertThat(won).as("both sides win now and then").isBetween(1, rounds - 1);
        assertThat(dropped).isEmpty();
    }

    @Test
    @Tag("race")
    void demandAgainstACancelLeavesNoWaitBehind() {
        for (int round = 0; round < ROUNDS; round++) {
            RecordingSubscriber<Long> subscriber = waiting();
            RaceTestUtils.race(() -> subscriber.subscription.request(1), subscriber.subscription::cancel);
            assertThat(signal.waits).allMatch(CompletableFuture::isCancelled);
            assertThat(subscriber.terminals()).isZero();
            signal.waits.clear();
        }
    }
}
