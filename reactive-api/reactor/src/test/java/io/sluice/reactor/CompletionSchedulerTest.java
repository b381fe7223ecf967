package io.sluice.reactor;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.engine.TransferElement;
import io.sluice.engine.TransferResult;
import io.sluice.testkit.Patience;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Flux;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;
import reactor.test.StepVerifier;
import reactor.test.util.RaceTestUtils;

class CompletionSchedulerTest {
    private static final Duration LIMIT = Patience.BOUND;

    private final Scheduler scheduler = Schedulers.newSingle("completions");
    private final Set<String> threads = ConcurrentHashMap.newKeySet();

    @AfterEach
    void disposeScheduler() {
        scheduler.dispose();
    }

    private void here(Object signal) {
        threads.add(Thread.currentThread().getName().replaceAll("-\\d+$", ""));
    }

    private static List<TransferElement> elements(FakeConnection connection, int count) {
        return IntStream.range(0, count).mapToObj(i -> connection.element(8)).toList();
    }

    @Test
    void everyOperationSignalsOnTheScheduler() {
        FakeConnection connection = FakeConnection.immediate();
        connection.quiesced.complete(null);
        connection.notifications.send(new byte[1]);
        ReactiveConnection reactive = ReactiveConnection.from(connection).withScheduler(scheduler);
        reactive.write(new FakeRegion(8), connection.remote(), 0)
                .doOnNext(this::here)
                .block(LIMIT);
        reactive.notify(new byte[1]).doOnTerminate(() -> here("end")).block(LIMIT);
        reactive.quiesced().doOnTerminate(() -> here("end")).block(LIMIT);
        reactive.writeVectored(elements(connection, 100))
                .doOnNext(this::here)
                .doOnTerminate(() -> here("end"))
                .blockLast(LIMIT);
        reactive.notifications().doOnNext(this::here).blockFirst(LIMIT);
        assertThat(threads).containsExactly("completions");
    }

    @Test
    void aVectoredTransferTakesNoMoreThanTheDemandThoughTheSchedulerIsBetween() {
        FakeConnection connection = FakeConnection.immediate();
        AtomicLong asked = new AtomicLong();
        Flux<TransferResult> write = ReactiveConnection.from(connection)
                .withScheduler(scheduler)
                .writeVectored(Flux.fromIterable(elements(connection, 100)).doOnRequest(asked::addAndGet));
        StepVerifier.create(write, 5)
                .expectNextCount(5)
                .then(() -> assertThat(asked).hasValue(5))
                .thenRequest(95)
                .expectNextCount(95)
                .expectComplete()
                .verify(LIMIT);
    }

    @Test
    void aNotificationThatIsNotAskedForStaysThoughTheSchedulerIsBetween() {
        FakeConnection connection = FakeConnection.manual();
        for (int i = 0; i < 5; i++) {
            connection.notifications.send(new byte[1]);
        }
        Flux<byte[]> notifications =
                ReactiveConnection.from(connection).withScheduler(scheduler).notifications();
        assertThat(notifications.take(2).collectList().block(LIMIT)).hasSize(2);
        assertThat(connection.notifications.kept()).isEqualTo(3);
    }

    @Test
    void aDisposedSchedulerIsAnErrorAndEndsWhatIsInFlight() {
        FakeConnection connection = FakeConnection.manual();
        RecordingSubscriber<TransferResult> subscriber = new RecordingSubscriber<>();
        ReactiveConnection.from(connection)
                .withScheduler(scheduler)
                .writeVectored(elements(connection, 4))
                .subscribe(subscriber);
        subscriber.subscription.request(4);
        Patience.until("all are submitted", () -> connection.submitted() == 4);
        scheduler.disposeGracefully().block(LIMIT);
        connection.transfers.peek().succeed();
        assertThat(subscriber.errors).singleElement().isInstanceOf(RejectedExecutionException.class);
        assertThat(connection.inFlight()).isZero();

        StepVerifier.create(ReactiveConnection.from(connection)
                        .withScheduler(scheduler)
                        .writeVectored(elements(connection, 4)))
                .expectError(RejectedExecutionException.class)
                .verify(LIMIT);
    }

    @Test
    void theImmediateSchedulerWorksToo() {
        FakeConnection connection = FakeConnection.immediate();
        StepVerifier.create(ReactiveConnection.from(connection)
                        .withScheduler(Schedulers.immediate())
                        .writeVectored(elements(connection, 1_000)))
                .expectNextCount(1_000)
                .expectComplete()
                .verify(LIMIT);
    }

    @Test
    void cancelAgainstCompletionOnTheScheduler() {
        for (int round = 0; round < 1_000; round++) {
            FakeConnection connection = FakeConnection.manual();
            RecordingSubscriber<TransferResult> subscriber = new RecordingSubscriber<>();
            ReactiveConnection.from(connection)
                    .withScheduler(Schedulers.parallel())
                    .writeVectored(elements(connection, 3))
                    .subscribe(subscriber);
            subscriber.subscription.request(3);
            RaceTestUtils.race(
                    () -> connection.transfers.forEach(FakeTransfer::succeed), subscriber.subscription::cancel);
            assertThat(subscriber.breaches).isEmpty();
            assertThat(subscriber.errors).isEmpty();
        }
    }
}
