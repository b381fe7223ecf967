package io.sluice.reactor;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.engine.TooManyPendingException;
import io.sluice.experts.ExpertCallback;
import io.sluice.testkit.Patience;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;
import reactor.test.util.RaceTestUtils;

/** A call that goes on after the cancel is awaited until it has ended and its result was given back; without a buffer. */
class AbandonedCallTest {
    private static final int ROUNDS = "soak".equals(System.getProperty("sluice.test.profile")) ? 20_000 : 800;

    private final CompletableFuture<Object> end = new CompletableFuture<>();
    private final AbandonedCalls abandoned = new AbandonedCalls();
    private final AtomicInteger givenBack = new AtomicInteger();
    private final RecordingSubscriber<Object> subscriber = new RecordingSubscriber<>();

    private void call() {
        FutureMono.<Object>ofResourceCall("call", () -> end, abandoned, null)
                .doOnDiscard(Object.class, result -> givenBack.incrementAndGet())
                .subscribe(subscriber);
        subscriber.subscription.request(1);
    }

    @Test
    void itIsAwaitedUntilItHasEnded() {
        call();
        assertThat(abandoned.ended()).isCompleted();
        subscriber.subscription.cancel();
        CompletableFuture<Void> quiesced = abandoned.ended();
        assertThat(quiesced).isNotDone();
        // a program that goes on at once finds the result given back
        CompletableFuture<Integer> atTheEnd = quiesced.thenApply(nothing -> givenBack.get());
        end.complete("a result");
        assertThat(atTheEnd).isCompletedWithValue(1);
        assertThat(subscriber.items).isEmpty();
    }

    @Test
    void aHookIsAwaitedUntilItsSecondHalfHasEnded() {
        call();
        subscriber.subscription.cancel();
        CompletableFuture<Void> quiesced = abandoned.ended();
        List<ExpertCallback<String>> received = new ArrayList<>();
        List<String> closed = new ArrayList<>();
        end.complete(new ReactiveReceiveHook<String>(received::add, closed::add, abandoned, call -> Mono.empty()));
        assertThat(quiesced).isNotDone();
        received.getFirst().ended("a result", null);
        assertThat(quiesced).isCompleted();
        assertThat(closed).containsExactly("a result");
        assertThat(abandoned.ended()).isCompleted();
    }

    @Test
    void aHookThatCannotBeCompletedIsNotAwaited() {
        call();
        subscriber.subscription.cancel();
        CompletableFuture<Void> quiesced = abandoned.ended();
        end.complete(new ReactiveReceiveHook<String>(
                callback -> {
                    throw new IllegalStateException("the buffer has failed");
                },
                result -> {},
                abandoned,
                call -> Mono.empty()));
        assertThat(quiesced).isCompleted();
    }

    /** As of a GPU whose stream has no room for the second half: the other ranks wait for it. */
    @Test
    void aHookThatIsRefusedForNowIsCompletedLater() {
        call();
        subscriber.subscription.cancel();
        CompletableFuture<Void> quiesced = abandoned.ended();
        AtomicInteger refusals = new AtomicInteger(3);
        CompletableFuture<ExpertCallback<String>> received = new CompletableFuture<>();
        List<String> closed = new ArrayList<>();
        end.complete(new ReactiveReceiveHook<String>(
                callback -> {
                    if (refusals.getAndDecrement() > 0) {
                        throw new TooManyPendingException("the stream is full");
                    }
                    received.complete(callback);
                },
                closed::add,
                abandoned,
                call -> Mono.empty()));
        ExpertCallback<String> callback = Patience.await(received);
        assertThat(quiesced).isNotDone();
        callback.ended("a result", null);
        assertThat(quiesced).isCompleted();
        assertThat(closed).containsExactly("a result");
    }

    @Test
    @Tag("race")
    void whicheverIsLaterOfEndAndCancelSeesTheOther() {
        for (int round = 0; round < ROUNDS; round++) {
            AbandonedCallTest raced = new AbandonedCallTest();
            raced.call();
            RaceTestUtils.race(() -> raced.end.complete("a result"), raced.subscriber.subscription::cancel);
            assertThat(raced.abandoned.ended()).isCompleted();
            assertThat(raced.subscriber.items.size() + raced.givenBack.get()).isPositive();
        }
    }
}
