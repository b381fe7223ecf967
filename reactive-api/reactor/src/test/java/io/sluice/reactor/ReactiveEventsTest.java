package io.sluice.reactor;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.engine.CompletionEvent;
import io.sluice.engine.ConnectionLostException;
import io.sluice.engine.StartEvent;
import io.sluice.testkit.Patience;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Hooks;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.test.StepVerifier;
import reactor.test.publisher.TestPublisher;

class ReactiveEventsTest {
    private static final Duration LIMIT = Patience.BOUND;

    private final List<Optional<Throwable>> heard = new ArrayList<>();
    private final StartEvent.Listener listener = error -> heard.add(Optional.ofNullable(error));

    @AfterEach
    void resetHooks() {
        Hooks.resetOnErrorDropped();
        Hooks.resetOnNextDropped();
        ResourceSubscription.watchDroppedValues();
    }

    @Test
    void aCompletionStartsIt() {
        TestPublisher<Object> publisher = TestPublisher.create();
        StartEvent event = ReactiveEvents.startEvent(publisher);
        publisher.assertWasNotSubscribed();
        event.whenHappened(listener);
        assertThat(heard).isEmpty();
        publisher.complete();
        assertThat(heard).containsExactly(Optional.empty());
    }

    @Test
    void theFirstItemStartsItAndThePublisherIsCancelled() {
        TestPublisher<Object> publisher = TestPublisher.create();
        ReactiveEvents.startEvent(publisher).whenHappened(listener);
        publisher.assertMaxRequested(1).next("item").assertCancelled();
        assertThat(heard).containsExactly(Optional.empty());
    }

    @Test
    void anItemAndACompletionAreOneEvent() {
        ReactiveEvents.startEvent(Mono.just(1)).whenHappened(listener);
        ReactiveEvents.startEvent(Flux.range(0, 10)).whenHappened(listener);
        ReactiveEvents.startEvent(Flux.empty()).whenHappened(listener);
        assertThat(heard).containsExactly(Optional.empty(), Optional.empty(), Optional.empty());
    }

    @Test
    void anErrorIsPassedOn() {
        IllegalStateException broken = new IllegalStateException("broken");
        ReactiveEvents.startEvent(Mono.error(broken)).whenHappened(listener);
        assertThat(heard).containsExactly(Optional.of(broken));
    }

    @Test
    void eachTransferSubscribes() {
        AtomicInteger subscriptions = new AtomicInteger();
        StartEvent event = ReactiveEvents.startEvent(Mono.fromRunnable(subscriptions::incrementAndGet));
        event.whenHappened(listener);
        event.whenHappened(listener);
        assertThat(subscriptions).hasValue(2);
        assertThat(heard).hasSize(2);
    }

    @Test
    void aPublisherThatBreaksTheRulesIsHeardOnce() {
        List<Object> dropped = new ArrayList<>();
        Hooks.onNextDropped(dropped::add);
        Hooks.onErrorDropped(dropped::add);
        TestPublisher<Object> publisher = TestPublisher.createNoncompliant(
                TestPublisher.Violation.CLEANUP_ON_TERMINATE, TestPublisher.Violation.REQUEST_OVERFLOW);
        ReactiveEvents.startEvent(publisher).whenHappened(listener);
        IllegalStateException late = new IllegalStateException("late");
        publisher.next(1).next(2).error(late).complete();
        assertThat(heard).containsExactly(Optional.empty());
        assertThat(dropped).contains(late);
    }

    @Test
    void anEndGoesIntoASink() {
        Sinks.One<String> good = Sinks.one();
        ReactiveEvents.completionEvent(good).complete(null);
        StepVerifier.create(good.asMono()).expectComplete().verify(LIMIT);
        Sinks.Empty<Void> bad = Sinks.empty();
        ConnectionLostException lost = new ConnectionLostException("lost");
        ReactiveEvents.completionEvent(bad).complete(lost);
        StepVerifier.create(bad.asMono())
                .expectErrorSatisfies(error -> assertThat(error).isSameAs(lost))
                .verify(LIMIT);
    }

    @Test
    void aSinkThatHasEndedStaysAsItIs() {
        Sinks.Empty<Void> sink = Sinks.empty();
        CompletionEvent event = ReactiveEvents.completionEvent(sink);
        event.complete(null);
        event.complete(new ConnectionLostException("lost"));
        StepVerifier.create(sink.asMono()).expectComplete().verify(LIMIT);
    }
}
