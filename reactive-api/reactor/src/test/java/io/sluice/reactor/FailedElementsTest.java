package io.sluice.reactor;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.engine.ConnectionLostException;
import io.sluice.engine.ElementsFailedException;
import io.sluice.engine.OutcomeUnknownException;
import io.sluice.engine.RemoteAccessException;
import io.sluice.engine.SluiceException;
import io.sluice.engine.TooManyPendingException;
import io.sluice.engine.TransferElement;
import io.sluice.engine.TransferResult;
import io.sluice.testkit.Patience;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BiFunction;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Flux;
import reactor.test.StepVerifier;
import reactor.util.retry.Retry;

class FailedElementsTest {
    private static final Duration LIMIT = Patience.BOUND;
    private static final SluiceException FULL = new TooManyPendingException("full");
    private static final SluiceException DENIED =
            new RemoteAccessException(RemoteAccessException.Reason.ACCESS_DENIED, "read only");

    private final FakeConnection connection = FakeConnection.manual();
    private final List<TransferElement> elements =
            IntStream.range(0, 5).mapToObj(i -> connection.element(100 + i)).toList();

    /** The lengths of each attempt's elements; a length tells which element it is. */
    private final List<List<Long>> attempts = new ArrayList<>();

    private final Map<Long, Integer> tries = new HashMap<>();

    /** Attempts whose elements fail as a function of their place and of how often they were tried. */
    private Flux<TransferResult> attempt(
            List<TransferElement> some, BiFunction<Integer, Integer, SluiceException> outcome) {
        attempts.add(some.stream().map(TransferElement::length).toList());
        List<TransferResult> results = new ArrayList<>();
        SluiceException first = null;
        int failed = 0;
        for (int i = 0; i < some.size(); i++) {
            long length = some.get(i).length();
            SluiceException error = outcome.apply((int) (length - 100), tries.merge(length, 1, Integer::sum));
            results.add(new TransferResult(i, error == null ? length : 0, error));
            failed += error == null ? 0 : 1;
            first = first == null ? error : first;
        }
        Flux<TransferResult> all = Flux.fromIterable(results);
        return first == null
                ? all
                : all.concatWith(Flux.error(new ElementsFailedException(failed, some.size(), first)));
    }

    private Flux<TransferResult> retrying(Retry spec, BiFunction<Integer, Integer, SluiceException> outcome) {
        return FailedElements.retry(elements, some -> attempt(some, outcome), spec);
    }

    @Test
    void onlyWhatFailedIsTransferredAgainAndKeepsItsPlace() {
        StepVerifier.create(retrying(Retry.max(3), (place, time) -> place % 2 == 1 && time == 1 ? FULL : null))
                .expectNext(new TransferResult(0, 100, null))
                .expectNext(new TransferResult(2, 102, null))
                .expectNext(new TransferResult(4, 104, null))
                .expectNext(new TransferResult(1, 101, null))
                .expectNext(new TransferResult(3, 103, null))
                .expectComplete()
                .verify(LIMIT);
        assertThat(attempts).containsExactly(List.of(100L, 101L, 102L, 103L, 104L), List.of(101L, 103L));
    }

    @Test
    void whatFailsToTheEndIsEmittedAsFailedOnce() {
        StepVerifier.create(retrying(Retry.max(2), (place, time) -> place == 2 ? FULL : null))
                .expectNextCount(4)
                .expectNext(new TransferResult(2, 0, FULL))
                .expectErrorSatisfies(error -> {
                    assertThat(error)
                            .isInstanceOf(ElementsFailedException.class)
                            .hasCause(FULL);
                    assertThat(((ElementsFailedException) error).failed()).isOne();
                    assertThat(((ElementsFailedException) error).elements()).isEqualTo(5);
                })
                .verify(LIMIT);
        assertThat(attempts).hasSize(3);
        assertThat(tries).containsEntry(102L, 3).containsEntry(100L, 1);
    }

    @Test
    void theFilterDecidesForEachElement() {
        Retry spec = Retry.max(5).filter(TooManyPendingException.class::isInstance);
        StepVerifier.create(retrying(spec, (place, time) -> place == 0 ? DENIED : place == 1 && time < 3 ? FULL : null))
                .expectNext(new TransferResult(0, 0, DENIED))
                .expectNextCount(3)
                .expectNext(new TransferResult(1, 101, null))
                .expectErrorSatisfies(error -> assertThat(error)
                        .isInstanceOf(ElementsFailedException.class)
                        .hasCause(DENIED))
                .verify(LIMIT);
        assertThat(tries).containsEntry(100L, 1).containsEntry(101L, 3);
    }

    @Test
    void anUnknownOutcomeIsNotRetriedUnlessTheCallerSaysSo() {
        SluiceException unknown = new OutcomeUnknownException("lost on the way");
        StepVerifier.create(retrying(Retry.max(5), (place, time) -> place == 0 && time == 1 ? unknown : null))
                .expectNext(new TransferResult(0, 0, unknown))
                .expectNextCount(4)
                .expectError(ElementsFailedException.class)
                .verify(LIMIT);
        tries.clear();
        StepVerifier.create(FailedElements.retry(
                        elements,
                        some -> attempt(some, (place, time) -> place == 0 && time == 1 ? unknown : null),
                        Retry.max(5),
                        error -> true))
                .expectNextCount(5)
                .expectComplete()
                .verify(LIMIT);
    }

    @Test
    void aBackoffWaitsBetweenAttempts() {
        Retry spec = Retry.fixedDelay(3, Duration.ofSeconds(10));
        StepVerifier.withVirtualTime(() -> retrying(spec, (place, time) -> time < 3 ? FULL : null))
                .expectSubscription()
                .expectNoEvent(Duration.ofSeconds(20))
                .expectNextCount(5)
                .expectComplete()
                .verify(LIMIT);
        assertThat(attempts).hasSize(3);
    }

    @Test
    void aSuccessStartsTheCountInARowAnew() {
        // One element gets through at each attempt; never twice in a row does nothing happen.
        StepVerifier.create(retrying(Retry.maxInARow(1), (place, time) -> place >= time ? FULL : null))
                .expectNextCount(5)
                .expectComplete()
                .verify(LIMIT);
        assertThat(attempts).hasSize(5);
    }

    @Test
    void anAttemptThatFailsAsAWholeIsRetriedForWhatHasNoResult() {
        SluiceException lost = new ConnectionLostException("lost");
        StepVerifier.create(FailedElements.retry(
                        elements,
                        some -> attempts.isEmpty()
                                ? attempt(some, (place, time) -> null).take(2).concatWith(Flux.error(lost))
                                : attempt(some, (place, time) -> null),
                        Retry.max(1)))
                .expectNextCount(5)
                .expectComplete()
                .verify(LIMIT);
        assertThat(attempts).containsExactly(List.of(100L, 101L, 102L, 103L, 104L), List.of(102L, 103L, 104L));
    }

    @Test
    void anAttemptThatFailsAsAWholeAndIsNotRetriedFailsWhatHasNoResult() {
        SluiceException lost = new ConnectionLostException("lost");
        StepVerifier.create(FailedElements.retry(
                        elements,
                        some -> attempt(some, (place, time) -> null).take(3).concatWith(Flux.error(lost)),
                        Retry.max(9).filter(TooManyPendingException.class::isInstance)))
                .expectNextCount(3)
                .expectNext(new TransferResult(3, 0, lost), new TransferResult(4, 0, lost))
                .expectErrorSatisfies(error -> assertThat(error)
                        .isInstanceOf(ElementsFailedException.class)
                        .hasCause(lost))
                .verify(LIMIT);
    }

    @Test
    void anErrorThatNoElementCanCarryEndsTheFluxIfItIsNotRetried() {
        IllegalArgumentException mistake = new IllegalArgumentException("another engine's region");
        StepVerifier.create(FailedElements.retry(elements, some -> Flux.error(mistake), Retry.max(2)))
                .expectErrorSatisfies(error -> assertThat(error).isSameAs(mistake))
                .verify(LIMIT);
    }

    @Test
    void anAttemptWithoutAllResultsIsAnError() {
        StepVerifier.create(FailedElements.retry(
                        elements, some -> attempt(some, (place, time) -> null).take(4), Retry.max(0)))
                .expectNextCount(4)
                .expectErrorSatisfies(error -> assertThat(error)
                        .isInstanceOf(IllegalStateException.class)
                        .hasMessageContaining("element 4"))
                .verify(LIMIT);
    }

    @Test
    void aSpecificationThatEndsWithoutAnErrorHidesNoFailure() {
        Retry silent = Retry.from(signals -> signals.handle((signal, sink) -> sink.complete()));
        StepVerifier.create(retrying(silent, (place, time) -> place == 3 ? FULL : null))
                .expectNextCount(4)
                .expectNext(new TransferResult(3, 0, FULL))
                .expectError(ElementsFailedException.class)
                .verify(LIMIT);
    }

    @Test
    void demandIsRespectedAcrossAttempts() {
        StepVerifier.create(retrying(Retry.max(3), (place, time) -> place == 0 && time == 1 ? FULL : null), 0)
                .thenRequest(2)
                .expectNextCount(2)
                .thenRequest(2)
                .expectNextCount(2)
                .expectNoEvent(Duration.ofMillis(50))
                .thenRequest(1)
                .expectNext(new TransferResult(0, 100, null))
                .expectComplete()
                .verify(LIMIT);
    }

    @Test
    void eachSubscriberStartsFromAllElements() {
        Flux<TransferResult> flux = retrying(Retry.max(0), (place, time) -> null);
        StepVerifier.create(flux).expectNextCount(5).expectComplete().verify(LIMIT);
        StepVerifier.create(flux).expectNextCount(5).expectComplete().verify(LIMIT);
        assertThat(attempts).hasSize(2);
        StepVerifier.create(FailedElements.retry(List.of(), some -> Flux.error(FULL), Retry.max(1)))
                .expectComplete()
                .verify(LIMIT);
    }

    @Test
    void aConnectionRetriesItsOwnElements() {
        Map<String, Integer> seen = new HashMap<>();
        FakeConnection flaky = new FakeConnection(256, transfer -> {
            if (seen.merge(transfer.what, 1, Integer::sum) == 1 && transfer.what.endsWith("2")) {
                throw FULL;
            }
            transfer.succeed();
        });
        List<TransferElement> three =
                IntStream.rangeClosed(1, 3).mapToObj(flaky::element).toList();
        ReactiveConnection reactive = ReactiveConnection.from(flaky);
        StepVerifier.create(reactive.writeVectored(three, Retry.max(1)).map(TransferResult::element))
                .expectNext(0, 2, 1)
                .expectComplete()
                .verify(LIMIT);
        StepVerifier.create(reactive.readVectored(three, Retry.max(1)).map(TransferResult::element))
                .expectNext(0, 2, 1)
                .expectComplete()
                .verify(LIMIT);
    }
}
