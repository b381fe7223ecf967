package io.sluice.reactor;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.engine.ConnectionLostException;
import io.sluice.engine.ElementsFailedException;
import io.sluice.engine.TransferElement;
import io.sluice.engine.TransferResult;
import io.sluice.testkit.Patience;
import java.util.BitSet;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Hooks;
import reactor.core.scheduler.Schedulers;
import reactor.test.publisher.TestPublisher;
import reactor.test.util.RaceTestUtils;

/** Several pollers complete one vectored transfer while its subscriber asks, cancels and breaks rules. */
@Tag("race")
class VectoredTransferRaceTest {
    private static final int ROUNDS = "soak".equals(System.getProperty("sluice.test.profile")) ? 20_000 : 600;

    private final AtomicInteger dropped = new AtomicInteger();
    private final ExecutorService pollers = Executors.newFixedThreadPool(4);

    @BeforeEach
    void countDroppedErrors() {
        Hooks.onErrorDropped(error -> dropped.incrementAndGet());
    }

    @AfterEach
    void cleanUp() throws InterruptedException {
        Hooks.resetOnErrorDropped();
        pollers.shutdownNow();
        assertThat(pollers.awaitTermination(Patience.BOUND.toNanos(), TimeUnit.NANOSECONDS))
                .isTrue();
    }

    private static List<TransferElement> elements(FakeConnection connection, int count) {
        return IntStream.range(0, count).mapToObj(i -> connection.element(8)).toList();
    }

    private static RecordingSubscriber<TransferResult> subscribed(
            ElementSource source, FakeConnection connection, int count) {
        RecordingSubscriber<TransferResult> subscriber = new RecordingSubscriber<>();
        source.write(connection, elements(connection, count)).subscribe(subscriber);
        return subscriber;
    }

    @Test
    void aListsWindowHoldsThoughFourThreadsBringResultsAndTheDemandTrickles() throws InterruptedException {
        int count = 50_000;
        int limit = 64;
        FakeConnection connection = new FakeConnection(limit, transfer -> pollers.execute(transfer::succeed));
        BitSet seen = new BitSet(count);
        RecordingSubscriber<TransferResult> subscriber = new RecordingSubscriber<>() {
            @Override
            public void onNext(TransferResult result) {
                super.onNext(result);
                seen.set(result.element());
                int more = result.element() % 3;
                if (more > 0) {
                    subscription.request(more);
                }
            }
        };
        ElementSource.LIST.write(connection, elements(connection, count)).subscribe(subscriber);
        subscriber.subscription.request(limit * 4);
        subscriber.awaitTerminal();
        assertThat(subscriber.breaches).isEmpty();
        assertThat(seen.cardinality()).isEqualTo(count);
        assertThat(connection.mostInFlight()).isLessThanOrEqualTo(limit);
    }

    @Test
    void resultsAreSerialisedThoughFourThreadsBringThem() throws InterruptedException {
        int count = 200_000;
        FakeConnection connection = FakeConnection.forgetful(256, transfer -> pollers.execute(transfer::succeed));
        TransferElement element = connection.element(8);
        BitSet seen = new BitSet(count);
        RecordingSubscriber<TransferResult> subscriber =
                new RecordingSubscriber<>(result -> seen.set(result.element()));
        ReactiveConnection.from(connection)
                .writeVectored(Flux.range(0, count).map(i -> element))
                .subscribe(subscriber);
        subscriber.subscription.request(Long.MAX_VALUE);
        subscriber.awaitTerminal();
        assertThat(subscriber.breaches).isEmpty();
        assertThat(subscriber.items).hasSize(count);
        assertThat(seen.cardinality()).isEqualTo(count);
        assertThat(subscriber.completions).hasValue(1);
    }

    @Test
    void theWindowHoldsThoughFourThreadsBringResultsAndTheDemandTrickles() throws InterruptedException {
        int count = 50_000;
        int limit = 16;
        FakeConnection connection = new FakeConnection(limit, transfer -> pollers.execute(transfer::succeed));
        TransferElement element = connection.element(8);
        RecordingSubscriber<TransferResult> subscriber = new RecordingSubscriber<>() {
            @Override
            public void onNext(TransferResult result) {
                super.onNext(result);
                subscription.request(1);
            }
        };
        // a thread that may block: handing over to the pool of this test takes its lock
        ReactiveConnection.from(connection)
                .writeVectored(Flux.range(0, count).map(i -> element).publishOn(Schedulers.boundedElastic()))
                .subscribe(subscriber);
        subscriber.subscription.request(limit * 2);
        subscriber.awaitTerminal();
        assertThat(subscriber.breaches).isEmpty();
        assertThat(subscriber.items).hasSize(count);
        assertThat(connection.mostInFlight()).isLessThanOrEqualTo(limit);
    }

    @ParameterizedTest
    @EnumSource
    void lastCompletionsAgainstEachOther(ElementSource source) {
        for (int round = 0; round < ROUNDS; round++) {
            FakeConnection connection = FakeConnection.manual();
            RecordingSubscriber<TransferResult> subscriber = subscribed(source, connection, 3);
            subscriber.subscription.request(Long.MAX_VALUE);
            FakeTransfer[] transfers = connection.transfers.toArray(FakeTransfer[]::new);
            RaceTestUtils.race(
                    transfers[0]::succeed,
                    () -> transfers[1].end(new ConnectionLostException("lost")),
                    transfers[2]::succeed);
            assertThat(subscriber.breaches).isEmpty();
            assertThat(subscriber.items).hasSize(3);
            assertThat(subscriber.errors).singleElement().isInstanceOf(ElementsFailedException.class);
        }
        assertThat(dropped).hasValue(0);
    }

    @ParameterizedTest
    @EnumSource
    void completionAgainstCancel(ElementSource source) {
        for (int round = 0; round < ROUNDS; round++) {
            FakeConnection connection = FakeConnection.manual();
            RecordingSubscriber<TransferResult> subscriber = subscribed(source, connection, 2);
            subscriber.subscription.request(Long.MAX_VALUE);
            FakeTransfer[] transfers = connection.transfers.toArray(FakeTransfer[]::new);
            RaceTestUtils.race(transfers[0]::succeed, transfers[1]::succeed, subscriber.subscription::cancel);
            assertThat(subscriber.breaches).isEmpty();
            assertThat(subscriber.errors).isEmpty();
            assertThat(connection.inFlight()).isZero();
            if (subscriber.completions.get() == 1) {
                assertThat(subscriber.items).hasSize(2);
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void submissionAgainstCancel(ElementSource source) {
        for (int round = 0; round < ROUNDS; round++) {
            FakeConnection connection = FakeConnection.manual(64);
            RecordingSubscriber<TransferResult> subscriber = subscribed(source, connection, 200);
            RaceTestUtils.race(() -> subscriber.subscription.request(Long.MAX_VALUE), subscriber.subscription::cancel);
            assertThat(subscriber.terminals()).isZero();
            assertThat(connection.inFlight())
                    .as("all submitted elements are cancelled")
                    .isZero();
        }
    }

    @ParameterizedTest
    @EnumSource
    void requestsAgainstCompletions(ElementSource source) throws InterruptedException {
        for (int round = 0; round < ROUNDS / 10; round++) {
            FakeConnection connection = new FakeConnection(8, FakeTransfer::succeed);
            RecordingSubscriber<TransferResult> subscriber = subscribed(source, connection, 100);
            Runnable asking = () -> {
                for (int i = 0; i < 50; i++) {
                    subscriber.subscription.request(1);
                }
            };
            RaceTestUtils.race(asking, asking);
            subscriber.awaitTerminal();
            assertThat(subscriber.breaches).isEmpty();
            assertThat(subscriber.items).hasSize(100);
        }
    }

    @Test
    void publisherErrorAgainstCompletionAgainstCancel() {
        for (int round = 0; round < ROUNDS; round++) {
            FakeConnection connection = FakeConnection.manual();
            TestPublisher<TransferElement> publisher = TestPublisher.create();
            RecordingSubscriber<TransferResult> subscriber = new RecordingSubscriber<>();
            ReactiveConnection.from(connection).writeVectored(publisher).subscribe(subscriber);
            subscriber.subscription.request(10);
            publisher.next(connection.element(1), connection.element(2));
            FakeTransfer first = connection.transfers.peek();
            RaceTestUtils.race(
                    () -> publisher.error(new IllegalStateException("over")),
                    first::succeed,
                    round % 2 == 0 ? subscriber.subscription::cancel : () -> subscriber.subscription.request(0));
            assertThat(subscriber.breaches).isEmpty();
            assertThat(subscriber.terminals()).isLessThanOrEqualTo(1);
            assertThat(subscriber.terminals()).isGreaterThanOrEqualTo(round % 2);
            assertThat(connection.inFlight()).isZero();
        }
    }

    @Test
    void whatIsInFlightIsCancelledBeforeTheErrorGoesOut() {
        for (int round = 0; round < ROUNDS; round++) {
            FakeConnection connection = FakeConnection.manual();
            TestPublisher<TransferElement> publisher = TestPublisher.create();
            // not the connection's count, which a transfer that is just ending leaves a moment after it has ended
            ConcurrentLinkedQueue<Long> inFlightAtError = new ConcurrentLinkedQueue<>();
            RecordingSubscriber<TransferResult> subscriber = new RecordingSubscriber<>() {
                @Override
                public void onError(Throwable error) {
                    inFlightAtError.add(connection.transfers.stream()
                            .filter(transfer -> !transfer.isTerminated())
                            .count());
                    super.onError(error);
                }
            };
            ReactiveConnection.from(connection).writeVectored(publisher).subscribe(subscriber);
            subscriber.subscription.request(10);
            for (int i = 0; i < 8; i++) {
                publisher.next(connection.element(1));
            }
            FakeTransfer first = connection.transfers.peek();
            RaceTestUtils.race(() -> publisher.error(new IllegalStateException("over")), first::succeed);
            assertThat(inFlightAtError).containsExactly(0L);
            assertThat(subscriber.breaches).isEmpty();
        }
    }

    @ParameterizedTest
    @EnumSource
    void oneSubscriberOfManyThatCancelsLeavesTheOthersAlone(ElementSource source) {
        FakeConnection connection = new FakeConnection(64, transfer -> pollers.execute(transfer::succeed));
        Flux<TransferResult> write = source.write(connection, elements(connection, 500));
        Flux<Long> others =
                Flux.range(0, 8).flatMap(i -> i % 2 == 0 ? write.take(i + 1).count() : write.count());
        assertThat(others.collectSortedList().block(Patience.BOUND))
                .containsExactly(1L, 3L, 5L, 7L, 500L, 500L, 500L, 500L);
    }
}
