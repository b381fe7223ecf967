package io.sluice.reactor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sluice.engine.ConnectionLostException;
import io.sluice.engine.ElementsFailedException;
import io.sluice.engine.RemoteAccessException;
import io.sluice.engine.SluiceException;
import io.sluice.engine.TooManyPendingException;
import io.sluice.engine.TransferElement;
import io.sluice.engine.TransferOptions;
import io.sluice.engine.TransferResult;
import io.sluice.testkit.Patience;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.Scannable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Hooks;
import reactor.core.publisher.Mono;
import reactor.test.StepVerifier;
import reactor.test.publisher.TestPublisher;
import reactor.util.context.Context;

class VectoredTransferFluxTest {
    private static final Duration LIMIT = Patience.BOUND;

    @AfterEach
    void resetHooks() {
        Hooks.resetOnErrorDropped();
        Hooks.resetOnNextDropped();
        ResourceSubscription.watchDroppedValues();
    }

    static List<TransferElement> elements(FakeConnection connection, int count) {
        return IntStream.range(0, count)
                .mapToObj(i -> connection.element(i + 1))
                .toList();
    }

    private static Flux<TransferResult> write(ElementSource source, FakeConnection connection, int count) {
        return source.write(connection, elements(connection, count));
    }

    static List<FakeTransfer> transfers(FakeConnection connection) {
        return new ArrayList<>(connection.transfers);
    }

    @ParameterizedTest
    @EnumSource
    void everyElementGivesItsResultAndTheFluxCompletes(ElementSource source) {
        FakeConnection connection = FakeConnection.immediate();
        StepVerifier.create(write(source, connection, 3))
                .expectNext(new TransferResult(0, 1, null))
                .expectNext(new TransferResult(1, 2, null))
                .expectNext(new TransferResult(2, 3, null))
                .expectComplete()
                .verify(LIMIT);
        assertThat(connection.transfers)
                .extracting(transfer -> transfer.what)
                .first()
                .isEqualTo("write 0 0 1");
    }

    @Test
    void readsGoTheSameWay() {
        FakeConnection connection = FakeConnection.immediate();
        StepVerifier.create(ReactiveConnection.from(connection).readVectored(elements(connection, 2)))
                .expectNextCount(2)
                .expectComplete()
                .verify(LIMIT);
        assertThat(connection.transfers)
                .extracting(transfer -> transfer.what)
                .containsExactly("read 0 0 1", "read 0 0 2");
        StepVerifier.create(ReactiveConnection.from(connection).readVectored(Mono.just(connection.element(4))))
                .expectNext(new TransferResult(0, 4, null))
                .expectComplete()
                .verify(LIMIT);
    }

    @ParameterizedTest
    @EnumSource
    void resultsComeInTheOrderInWhichElementsEnd(ElementSource source) {
        FakeConnection connection = FakeConnection.manual();
        StepVerifier.create(write(source, connection, 3).map(TransferResult::element))
                .then(() -> transfers(connection).get(2).succeed())
                .expectNext(2)
                .then(() -> transfers(connection).get(0).succeed())
                .expectNext(0)
                .then(() -> transfers(connection).get(1).succeed())
                .expectNext(1)
                .expectComplete()
                .verify(LIMIT);
    }

    @ParameterizedTest
    @EnumSource
    void noElementsCompleteAtOnceAndWithoutDemand(ElementSource source) {
        StepVerifier.create(write(source, FakeConnection.manual(), 0), 0)
                .expectComplete()
                .verify(LIMIT);
    }

    @Test
    void theListIsCopied() {
        FakeConnection connection = FakeConnection.immediate();
        List<TransferElement> elements = new ArrayList<>(elements(connection, 2));
        Flux<TransferResult> write = ReactiveConnection.from(connection).writeVectored(elements);
        elements.clear();
        StepVerifier.create(write).expectNextCount(2).expectComplete().verify(LIMIT);
        assertThatThrownBy(() -> ReactiveConnection.from(connection).writeVectored(Collections.singletonList(null)))
                .isInstanceOf(NullPointerException.class);
    }

    @Test
    void theFacesOptionsGoWithEachElement() {
        FakeConnection connection = FakeConnection.immediate();
        TransferOptions options = TransferOptions.defaults().withDeadline(Duration.ofSeconds(7));
        ReactiveConnection.from(connection)
                .withOptions(options)
                .writeVectored(elements(connection, 1))
                .blockLast(LIMIT);
        assertThat(connection.lastOptions).isEqualTo(options);
    }

    @ParameterizedTest
    @EnumSource
    void failedElementsGiveResultsAndTheFluxEndsWithTheirNumber(ElementSource source) {
        FakeConnection connection = FakeConnection.manual();
        SluiceException denied = new RemoteAccessException(RemoteAccessException.Reason.ACCESS_DENIED, "read only");
        SluiceException lost = new ConnectionLostException("lost");
        StepVerifier.create(write(source, connection, 4))
                .then(() -> transfers(connection).get(1).end(denied))
                .expectNext(new TransferResult(1, 0, denied))
                .then(() -> transfers(connection).get(0).succeed())
                .expectNext(new TransferResult(0, 1, null))
                .then(() -> transfers(connection).get(3).end(lost))
                .expectNext(new TransferResult(3, 0, lost))
                .then(() -> transfers(connection).get(2).succeed())
                .expectNext(new TransferResult(2, 3, null))
                .expectErrorSatisfies(error -> {
                    assertThat(error)
                            .isInstanceOf(ElementsFailedException.class)
                            .hasCause(denied);
                    assertThat(((ElementsFailedException) error).failed()).isEqualTo(2);
                    assertThat(((ElementsFailedException) error).elements()).isEqualTo(4);
                })
                .verify(LIMIT);
    }

    @ParameterizedTest
    @EnumSource
    void anElementThatIsRefusedIsAFailedResultAndTheOthersGoOn(ElementSource source) {
        SluiceException full = new TooManyPendingException("full");
        AtomicInteger submissions = new AtomicInteger();
        FakeConnection connection = new FakeConnection(256, transfer -> {
            if (submissions.incrementAndGet() == 2) {
                throw full;
            }
            transfer.succeed();
        });
        StepVerifier.create(write(source, connection, 3))
                .expectNext(new TransferResult(0, 1, null))
                .expectNext(new TransferResult(1, 0, full))
                .expectNext(new TransferResult(2, 3, null))
                .expectErrorSatisfies(error -> assertThat(error).hasCause(full))
                .verify(LIMIT);
    }

    @Test
    void aMistakeInAnElementEndsTheFluxAndWhatIsInFlight() {
        AtomicInteger submissions = new AtomicInteger();
        FakeConnection connection = new FakeConnection(256, transfer -> {
            if (submissions.incrementAndGet() == 3) {
                throw new IndexOutOfBoundsException("outside");
            }
        });
        TestPublisher<TransferElement> publisher = TestPublisher.create();
        StepVerifier.create(ReactiveConnection.from(connection).writeVectored(publisher))
                .then(() -> publisher.next(connection.element(1), connection.element(2), connection.element(3)))
                .expectError(IndexOutOfBoundsException.class)
                .verify(LIMIT);
        publisher.assertCancelled();
        assertThat(connection.inFlight()).isZero();
        assertThat(transfers(connection).subList(0, 2))
                .allSatisfy(transfer -> assertThat(transfer.cancels()).isOne());
    }

    @Test
    void anErrorOfThePublisherCancelsWhatIsInFlightAndEndsTheFlux() {
        FakeConnection connection = FakeConnection.manual();
        TestPublisher<TransferElement> publisher = TestPublisher.create();
        List<String> order = Collections.synchronizedList(new ArrayList<>());
        IllegalStateException broken = new IllegalStateException("no more blocks");
        StepVerifier.create(ReactiveConnection.from(connection)
                        .writeVectored(publisher)
                        .doOnError(error -> order.add("in flight at the error: " + connection.inFlight())))
                .then(() -> publisher.next(connection.element(1), connection.element(2), connection.element(3)))
                .then(() -> transfers(connection).get(0).succeed())
                .expectNext(new TransferResult(0, 1, null))
                .then(() -> publisher.error(broken))
                .expectErrorSatisfies(error -> assertThat(error).isSameAs(broken))
                .verify(LIMIT);
        assertThat(order).containsExactly("in flight at the error: 0");
        assertThat(transfers(connection).get(0).cancels()).isZero();
        assertThat(transfers(connection).get(1).cancels()).isOne();
        assertThat(transfers(connection).get(2).cancels()).isOne();
    }

    @Test
    void nothingIsAskedOrSubmittedWithoutDemand() {
        FakeConnection connection = FakeConnection.manual();
        TestPublisher<TransferElement> publisher = TestPublisher.create();
        Flux<TransferResult> write = ReactiveConnection.from(connection).writeVectored(publisher);
        publisher.assertWasNotSubscribed();
        RecordingSubscriber<TransferResult> subscriber = new RecordingSubscriber<>();
        write.subscribe(subscriber);
        publisher.assertWasSubscribed();
        publisher.assertWasNotRequested();
        assertThat(connection.submitted()).isZero();
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 7, 64})
    void theWindowIsNeverExceeded(int limit) {
        FakeConnection connection = FakeConnection.manual(limit);
        AtomicLong asked = new AtomicLong();
        AtomicLong emitted = new AtomicLong();
        AtomicLong mostAhead = new AtomicLong();
        Flux<TransferElement> publisher = Flux.fromIterable(elements(connection, 500))
                .doOnRequest(count -> {
                    long ahead = asked.addAndGet(count) - emitted.get();
                    mostAhead.accumulateAndGet(ahead, Math::max);
                });
        RecordingSubscriber<TransferResult> subscriber = new RecordingSubscriber<>(result -> emitted.incrementAndGet());
        ReactiveConnection.from(connection).writeVectored(publisher).subscribe(subscriber);
        subscriber.subscription.request(Long.MAX_VALUE);
        for (FakeTransfer transfer = connection.transfers.poll();
                transfer != null;
                transfer = connection.transfers.poll()) {
            assertThat(connection.inFlight()).isLessThanOrEqualTo(limit);
            transfer.succeed();
        }
        assertThat(subscriber.items).hasSize(500);
        assertThat(subscriber.completions).hasValue(1);
        assertThat(connection.mostInFlight()).isEqualTo(limit);
        assertThat(mostAhead).hasValue(limit);
    }

    @Test
    void theSubscribersDemandIsNeverExceeded() {
        FakeConnection connection = FakeConnection.manual(8);
        AtomicLong asked = new AtomicLong();
        Flux<TransferElement> publisher =
                Flux.fromIterable(elements(connection, 100)).doOnRequest(asked::addAndGet);
        RecordingSubscriber<TransferResult> subscriber = new RecordingSubscriber<>();
        ReactiveConnection.from(connection).writeVectored(publisher).subscribe(subscriber);
        long demand = 0;
        for (int more : new int[] {1, 2, 5, 30, 1, 61}) {
            subscriber.subscription.request(more);
            demand += more;
            for (FakeTransfer transfer = connection.transfers.poll();
                    transfer != null;
                    transfer = connection.transfers.poll()) {
                assertThat(asked.get()).isLessThanOrEqualTo(demand);
                transfer.succeed();
            }
            assertThat(subscriber.items).hasSize((int) demand);
            assertThat(connection.submitted()).isEqualTo((int) demand);
        }
        assertThat(subscriber.completions).hasValue(1);
        assertThat(subscriber.breaches).isEmpty();
    }

    @Test
    void aSubscriberThatIsBusyHoldsThePublisherBack() {
        FakeConnection connection = new FakeConnection(4, FakeTransfer::succeed);
        AtomicLong asked = new AtomicLong();
        CountDownLatch entered = new CountDownLatch(1);
        CountDownLatch leave = new CountDownLatch(1);
        RecordingSubscriber<TransferResult> subscriber = new RecordingSubscriber<>(result -> {
            entered.countDown();
            Patience.await(leave);
        });
        ReactiveConnection.from(connection)
                .writeVectored(Flux.fromIterable(elements(connection, 100)).doOnRequest(asked::addAndGet))
                .subscribe(subscriber);
        Thread subscribing = Thread.ofPlatform().start(() -> subscriber.subscription.request(Long.MAX_VALUE));
        Patience.await(entered);
        assertThat(asked).hasValue(4);
        leave.countDown();
        subscriber.awaitTerminal();
        Patience.join(subscribing);
        assertThat(subscriber.items).hasSize(100);
    }

    @Test
    void aMillionElementsThatEndInTheSubmissionKeepTheStackFlat() {
        FakeConnection connection = FakeConnection.forgetful(256, FakeTransfer::succeed);
        AtomicInteger deepest = new AtomicInteger();
        AtomicLong count = new AtomicLong();
        TransferElement element = connection.element(8);
        Flux<TransferResult> write = ReactiveConnection.from(connection)
                .writeVectored(Flux.range(0, 1_000_000).map(i -> element));
        RecordingSubscriber<TransferResult> subscriber = new RecordingSubscriber<>() {
            @Override
            public void onNext(TransferResult result) {
                if (count.incrementAndGet() % 100_000 == 0) {
                    deepest.accumulateAndGet(Thread.currentThread().getStackTrace().length, Math::max);
                }
                // One at a time from inside, which is the hardest on the stack.
                subscription.request(1);
            }
        };
        write.subscribe(subscriber);
        subscriber.subscription.request(1);
        assertThat(count).hasValue(1_000_000);
        assertThat(subscriber.completions).hasValue(1);
        assertThat(deepest.get()).isLessThan(150);
    }

    @Test
    void aCancelStopsThePublisherAndAllThatIsInFlight() {
        FakeConnection connection = FakeConnection.manual();
        TestPublisher<TransferElement> publisher = TestPublisher.create();
        RecordingSubscriber<TransferResult> subscriber = new RecordingSubscriber<>();
        ReactiveConnection.from(connection).writeVectored(publisher).subscribe(subscriber);
        subscriber.subscription.request(10);
        publisher.next(connection.element(1), connection.element(2), connection.element(3));
        transfers(connection).get(1).succeed();
        subscriber.subscription.cancel();
        publisher.assertCancelled();
        assertThat(connection.inFlight()).isZero();
        assertThat(transfers(connection)).extracting(FakeTransfer::cancels).containsExactly(1, 0, 1);
        assertThat(subscriber.items).hasSize(1);
        assertThat(subscriber.terminals()).isZero();
    }

    @ParameterizedTest
    @EnumSource
    void takeStopsTheRest(ElementSource source) {
        FakeConnection connection = FakeConnection.immediate();
        StepVerifier.create(write(source, connection, 100).take(3))
                .expectNextCount(3)
                .expectComplete()
                .verify(LIMIT);
        assertThat(connection.submitted()).isEqualTo(3);
    }

    @Test
    void anElementThatComesAfterTheCancelIsDiscarded() {
        FakeConnection connection = FakeConnection.manual();
        List<Object> discarded = new ArrayList<>();
        TestPublisher<TransferElement> publisher =
                TestPublisher.createNoncompliant(TestPublisher.Violation.CLEANUP_ON_TERMINATE);
        RecordingSubscriber<TransferResult> subscriber = new RecordingSubscriber<>();
        ReactiveConnection.from(connection)
                .writeVectored(publisher)
                .doOnDiscard(TransferElement.class, discarded::add)
                .subscribe(subscriber);
        subscriber.subscription.request(1);
        subscriber.subscription.cancel();
        publisher.next(connection.element(1));
        assertThat(connection.submitted()).isZero();
        assertThat(discarded).hasSize(1);
    }

    @ParameterizedTest
    @ValueSource(longs = {0, -5})
    void aRequestThatIsNotPositiveEndsTheFluxAndWhatIsInFlight(long count) {
        FakeConnection connection = FakeConnection.manual();
        TestPublisher<TransferElement> publisher = TestPublisher.create();
        RecordingSubscriber<TransferResult> subscriber = new RecordingSubscriber<>();
        ReactiveConnection.from(connection).writeVectored(publisher).subscribe(subscriber);
        subscriber.subscription.request(4);
        publisher.next(connection.element(1), connection.element(2));
        subscriber.subscription.request(count);
        publisher.assertCancelled();
        assertThat(connection.inFlight()).isZero();
        assertThat(subscriber.errors).singleElement().isInstanceOf(IllegalArgumentException.class);
        assertThat(subscriber.breaches).isEmpty();
    }

    @Test
    void aPublisherThatGivesTooMuchIsStopped() {
        FakeConnection connection = FakeConnection.manual(2);
        TestPublisher<TransferElement> publisher =
                TestPublisher.createNoncompliant(TestPublisher.Violation.REQUEST_OVERFLOW);
        RecordingSubscriber<TransferResult> subscriber = new RecordingSubscriber<>();
        ReactiveConnection.from(connection).writeVectored(publisher).subscribe(subscriber);
        subscriber.subscription.request(10);
        publisher.next(connection.element(1), connection.element(2), connection.element(3));
        assertThat(connection.submitted()).isEqualTo(2);
        assertThat(connection.inFlight()).isZero();
        assertThat(subscriber.errors).singleElement().isInstanceOf(IllegalStateException.class);
    }

    @ParameterizedTest
    @EnumSource
    void aTransferThatEndsTwiceGivesOneResult(ElementSource source) {
        FakeConnection connection = FakeConnection.manual();
        RecordingSubscriber<TransferResult> subscriber = new RecordingSubscriber<>();
        write(source, connection, 2).subscribe(subscriber);
        subscriber.subscription.request(2);
        FakeTransfer first = transfers(connection).get(0);
        first.succeed();
        first.signalAgain();
        assertThat(subscriber.items).hasSize(1);
        transfers(connection).get(1).succeed();
        assertThat(subscriber.items).extracting(TransferResult::element).containsExactly(0, 1);
        assertThat(subscriber.completions).hasValue(1);
    }

    @ParameterizedTest
    @EnumSource
    void lateErrorsOfCancelledElementsGoToTheHook(ElementSource source) {
        List<Throwable> dropped = new ArrayList<>();
        Hooks.onErrorDropped(dropped::add);
        SluiceException lost = new ConnectionLostException("late");
        RecordingSubscriber<TransferResult> subscriber = new RecordingSubscriber<>();
        FakeConnection connection = new FakeConnection(256, transfer -> {
            subscriber.subscription.cancel();
            transfer.end(lost);
        });
        write(source, connection, 1).subscribe(subscriber);
        subscriber.subscription.request(1);
        assertThat(dropped).containsExactly(lost);
        assertThat(subscriber.terminals()).isZero();
    }

    @ParameterizedTest
    @EnumSource
    void eachSubscriberTransfersAllElements(ElementSource source) {
        FakeConnection connection = FakeConnection.immediate();
        Flux<TransferResult> write = write(source, connection, 5);
        for (int i = 0; i < 4; i++) {
            StepVerifier.create(write).expectNextCount(5).expectComplete().verify(LIMIT);
        }
        assertThat(connection.submitted()).isEqualTo(20);
        StepVerifier.create(write.repeat(2))
                .expectNextCount(15)
                .expectComplete()
                .verify(LIMIT);
    }

    @Test
    void theContextReachesThePublisher() {
        FakeConnection connection = FakeConnection.immediate();
        List<String> tenants = new ArrayList<>();
        Flux<TransferElement> publisher = Flux.deferContextual(context -> {
            tenants.add(context.get("tenant"));
            return Flux.just(connection.element(1));
        });
        StepVerifier.create(ReactiveConnection.from(connection)
                        .writeVectored(publisher)
                        .contextWrite(Context.of("tenant", "blue")))
                .expectNextCount(1)
                .expectComplete()
                .verify(LIMIT);
        assertThat(tenants).containsExactly("blue");
    }

    @Test
    void itsStateCanBeScanned() {
        FakeConnection connection = FakeConnection.manual(16);
        TestPublisher<TransferElement> publisher = TestPublisher.create();
        Flux<TransferResult> write = ReactiveConnection.from(connection).writeVectored(publisher);
        assertThat(Scannable.from(write).scan(Scannable.Attr.PREFETCH)).isEqualTo(16);
        assertThat(Scannable.from(write).scan(Scannable.Attr.PARENT)).isNotNull();
        assertThat(Scannable.from(write).stepName()).isEqualTo("writeVectored");
        assertThat(Scannable.from(write).scan(Scannable.Attr.RUN_STYLE)).isEqualTo(Scannable.Attr.RunStyle.ASYNC);
        RecordingSubscriber<TransferResult> subscriber = new RecordingSubscriber<>();
        write.subscribe(subscriber);
        Scannable relay = Scannable.from(subscriber.subscription);
        assertThat(relay.scan(Scannable.Attr.ACTUAL)).isSameAs(Scannable.from(subscriber));
        assertThat(relay.scan(Scannable.Attr.PARENT)).isNotNull();
        subscriber.subscription.request(3);
        assertThat(relay.scan(Scannable.Attr.REQUESTED_FROM_DOWNSTREAM)).isEqualTo(3);
        assertThat(relay.scan(Scannable.Attr.TERMINATED)).isFalse();
        publisher.error(new IllegalStateException("over"));
        assertThat(relay.scan(Scannable.Attr.TERMINATED)).isTrue();
        assertThat(relay.scan(Scannable.Attr.ERROR)).hasMessage("over");
        assertThat(relay.scan(Scannable.Attr.CANCELLED)).isFalse();
    }
}
