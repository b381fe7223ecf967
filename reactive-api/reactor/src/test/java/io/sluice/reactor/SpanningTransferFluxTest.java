package io.sluice.reactor;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.engine.ConnectionLostException;
import io.sluice.engine.ElementsFailedException;
import io.sluice.engine.EngineOptions;
import io.sluice.engine.TransferElement;
import io.sluice.engine.TransferOptions;
import io.sluice.engine.TransferResult;
import io.sluice.testkit.Patience;
import io.sluice.testkit.PatientOptions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Flux;
import reactor.test.StepVerifier;

/** A batch whose elements go over several connections; all else is as for one. */
class SpanningTransferFluxTest {
    private static final Duration LIMIT = Patience.BOUND;
    private static final EngineOptions OPTIONS =
            PatientOptions.builder().windowOperations(4).maxPending(10).build();

    private final FakeConnection first = FakeConnection.manual();
    private final FakeConnection second = FakeConnection.manual();

    private static Flux<TransferResult> write(int connections, Flux<TransferElement> elements) {
        return VectoredTransferFlux.of(
                new SpanningRoute(OPTIONS, () -> connections),
                Direction.WRITE,
                elements,
                TransferOptions.defaults(),
                null);
    }

    @Test
    void eachElementTakesTheConnectionOfItsRemoteRegion() {
        StepVerifier.create(write(2, Flux.just(first.element(1), second.element(2), first.element(3)))
                        .map(TransferResult::element))
                .then(() -> assertThat(second.only().what).isEqualTo("write 0 0 2"))
                .then(() -> assertThat(first.transfers)
                        .extracting(transfer -> transfer.what)
                        .containsExactly("write 0 0 1", "write 0 0 3"))
                .then(() -> second.only().succeed())
                .expectNext(1)
                .then(() -> first.transfers.remove().succeed())
                .expectNext(0)
                .then(() -> first.transfers.remove().succeed())
                .expectNext(2)
                .expectComplete()
                .verify(LIMIT);
    }

    @Test
    void neighboursOfOneConnectionInAListGoTogether() {
        List<TransferElement> elements =
                List.of(first.element(1), first.element(2), second.element(3), second.element(4), first.element(5));
        Flux<TransferResult> write = VectoredTransferFlux.of(
                new SpanningRoute(OPTIONS, () -> 2), Direction.WRITE, elements, TransferOptions.defaults(), null);
        StepVerifier.create(write.map(TransferResult::bytes))
                .then(() -> assertThat(first.vectoredTransfers)
                        .singleElement()
                        .satisfies(run -> assertThat(run.elements()).hasSize(2)))
                .then(() -> assertThat(second.vectoredTransfers)
                        .singleElement()
                        .satisfies(run -> assertThat(run.elements()).hasSize(2)))
                .then(() -> assertThat(first.submitted()).isEqualTo(3))
                .then(() -> second.transfers.forEach(FakeTransfer::succeed))
                .expectNext(3L, 4L)
                .then(() -> first.transfers.forEach(FakeTransfer::succeed))
                .expectNext(1L, 2L, 5L)
                .expectComplete()
                .verify(LIMIT);
    }

    @Test
    void aConnectionThatEndsFailsItsOwnElementsAlone() {
        StepVerifier.create(write(2, Flux.just(first.element(1), second.element(2), second.element(3))))
                .then(() -> second.transfers.forEach(transfer -> transfer.end(new ConnectionLostException("lost"))))
                .expectNextMatches(result -> result.element() == 1 && !result.succeeded())
                .expectNextMatches(result -> result.element() == 2 && !result.succeeded())
                .then(() -> first.only().succeed())
                .expectNext(new TransferResult(0, 1, null))
                .expectErrorMatches(error -> error instanceof ElementsFailedException failed
                        && failed.getCause() instanceof ConnectionLostException)
                .verify(LIMIT);
    }

    @Test
    void thePublisherIsAskedForWhatFillsTheWindowsAndNoMore() {
        AtomicInteger asked = new AtomicInteger();
        Flux<TransferElement> elements = Flux.range(0, 1_000)
                .map(i -> (i % 2 == 0 ? first : second).element(1))
                .doOnNext(element -> asked.incrementAndGet())
                .hide();
        StepVerifier.create(write(2, elements))
                .then(() -> assertThat(asked).hasValue(8))
                .then(() -> first.transfers.remove().succeed())
                .expectNextCount(1)
                .then(() -> assertThat(asked).hasValue(9))
                .thenCancel()
                .verify(LIMIT);
        assertThat(first.inFlight() + second.inFlight()).isZero();
    }

    @Test
    void neverMoreIsUnderWayThanMayBePendingOnOneConnection() {
        StepVerifier.create(write(100, Flux.range(0, 1_000).map(i -> first.element(1))))
                .then(() -> assertThat(first.submitted()).isEqualTo(OPTIONS.maxPending()))
                .thenCancel()
                .verify(LIMIT);
    }

    @Test
    void theEnginesWindowBoundsItAndOneAtATimeGoesAlways() {
        EngineOptions small = PatientOptions.builder()
                .windowOperations(4)
                .engineWindowOperations(6)
                .build();
        assertThat(new SpanningRoute(small, () -> 3).operationLimit()).isEqualTo(6);
        assertThat(new SpanningRoute(small, () -> 0).operationLimit()).isEqualTo(4);
        assertThat(new SpanningRoute(OPTIONS, () -> Integer.MAX_VALUE).operationLimit())
                .isEqualTo(10);
    }

    @Test
    void aListIsBoundedByItsLengthAndCopied() {
        ReactiveTransferEngine engine = ReactiveTransferEngine.open(
                PatientOptions.builder().noListener().build());
        try {
            List<TransferElement> elements = new ArrayList<>(List.of(first.element(1), second.element(2)));
            Flux<TransferResult> write = engine.writeVectored(elements);
            Flux<TransferResult> read =
                    engine.readVectored(elements, TransferOptions.defaults().withDeadline(LIMIT));
            elements.clear();
            StepVerifier.create(write.take(1, true))
                    .then(() -> first.transfers.forEach(FakeTransfer::succeed))
                    .expectNext(new TransferResult(0, 1, null))
                    .expectComplete()
                    .verify(LIMIT);
            assertThat(second.submitted()).as("elements without demand").isZero();
            StepVerifier.create(read)
                    .then(() -> assertThat(second.only().what).isEqualTo("read 0 0 2"))
                    .then(() -> assertThat(second.lastOptions.deadline()).isEqualTo(LIMIT))
                    .thenCancel()
                    .verify(LIMIT);
            StepVerifier.create(engine.writeVectored(List.of()))
                    .expectComplete()
                    .verify(LIMIT);
        } finally {
            engine.close().block(LIMIT);
        }
    }
}
