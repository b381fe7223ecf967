package io.sluice.reactor;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.engine.ConnectionLostException;
import io.sluice.engine.OutcomeUnknownException;
import io.sluice.engine.RemoteSignal;
import io.sluice.engine.SignalOrder;
import io.sluice.engine.SignalUpdate;
import io.sluice.engine.TooManyPendingException;
import io.sluice.engine.TransferOptions;
import io.sluice.engine.TransferResult;
import io.sluice.testkit.Patience;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import reactor.core.Scannable;
import reactor.core.publisher.Hooks;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;
import reactor.test.StepVerifier;

/** Writes with a signal, puts, signals and atomic operations, without a peer. */
class OneSidedOperationsTest {
    private static final Duration LIMIT = Patience.BOUND;

    @AfterEach
    void resetHooks() {
        Hooks.resetOnErrorDropped();
        Hooks.resetOnEachOperator();
    }

    enum Operation {
        WRITE_WITH_SIGNAL(
                "writeWithSignal 0 16 64 8 1 WEAK",
                reactive -> reactive.writeWithSignal(
                        new FakeRegion(64),
                        remote(reactive),
                        16,
                        signal(reactive).weak())),
        PUT("put 16 -2 3", reactive -> reactive.put(remote(reactive), 16, -2, 3)),
        SIGNAL(
                "signal 8 5 STRONG",
                reactive -> reactive.signal(new SignalUpdate(signal(reactive), 5, SignalOrder.STRONG))),
        FETCH_ADD("fetchAdd 24 7", reactive -> reactive.fetchAdd(remote(reactive), 24, 7)),
        COMPARE_AND_SWAP("compareAndSwap 24 7 9", reactive -> reactive.compareAndSwap(remote(reactive), 24, 7, 9));

        private final String submitted;
        private final Function<ReactiveConnection, Mono<?>> operation;

        Operation(String submitted, Function<ReactiveConnection, Mono<?>> operation) {
            this.submitted = submitted;
            this.operation = operation;
        }

        Mono<?> on(FakeConnection connection) {
            return operation.apply(ReactiveConnection.from(connection));
        }

        private static FakeRemoteRegion remote(ReactiveConnection reactive) {
            return (FakeRemoteRegion) ((FakeConnection) reactive.connection()).remote();
        }

        private static RemoteSignal signal(ReactiveConnection reactive) {
            return new RemoteSignal(remote(reactive), 8);
        }
    }

    @ParameterizedTest
    @EnumSource
    void nothingIsSubmittedBeforeDemandAndEachSubscriberHasItsOwn(Operation operation) {
        FakeConnection connection = FakeConnection.immediate();
        Mono<?> mono = operation.on(connection);
        assertThat(connection.submitted()).isZero();
        StepVerifier.create(mono, 0)
                .thenAwait(Duration.ofMillis(1))
                .thenCancel()
                .verify(LIMIT);
        // A Mono without a value has nothing that demand could wait for.
        int before = operation == Operation.SIGNAL ? 1 : 0;
        assertThat(connection.submitted()).isEqualTo(before);
        mono.block(LIMIT);
        mono.block(LIMIT);
        assertThat(connection.submitted()).isEqualTo(before + 2);
        assertThat(connection.transfers)
                .allSatisfy(transfer -> assertThat(transfer.what).isEqualTo(operation.submitted));
    }

    @ParameterizedTest
    @EnumSource
    void optionsComeFromTheFaceUnlessTheCallNamesThem(Operation operation) {
        FakeConnection connection = FakeConnection.immediate();
        TransferOptions options = TransferOptions.defaults().withDeadline(Duration.ofSeconds(7));
        operation
                .operation
                .apply(ReactiveConnection.from(connection).withOptions(options))
                .block(LIMIT);
        assertThat(connection.lastOptions).isSameAs(options);
    }

    @Test
    void theLongFormsTakeOptions() {
        FakeConnection connection = FakeConnection.immediate();
        ReactiveConnection reactive = ReactiveConnection.from(connection);
        SignalUpdate update = new RemoteSignal(connection.remote(), 0).weak();
        List<TransferOptions> options = Stream.of(1, 2, 3, 4, 5)
                .map(seconds -> TransferOptions.defaults().withDeadline(Duration.ofSeconds(seconds)))
                .toList();
        List<Mono<?>> operations = List.of(
                reactive.writeWithSignal(new FakeRegion(8), 1, connection.remote(), 2, 3, update, options.get(0)),
                reactive.put(connection.remote(), 0, 1, 1, options.get(1)),
                reactive.signal(update, options.get(2)),
                reactive.fetchAdd(connection.remote(), 0, 1, options.get(3)),
                reactive.compareAndSwap(connection.remote(), 0, 1, 2, options.get(4)));
        for (int i = 0; i < operations.size(); i++) {
            operations.get(i).block(LIMIT);
            assertThat(connection.lastOptions).isSameAs(options.get(i));
        }
        assertThat(connection.transfers.peek().what).isEqualTo("writeWithSignal 1 2 3 0 1 WEAK");
    }

    @Test
    void resultsSayWhatWasMovedOrFetched() {
        FakeConnection connection = FakeConnection.manual();
        StepVerifier.create(Operation.WRITE_WITH_SIGNAL.on(connection).cast(TransferResult.class))
                .then(() -> connection.transfers.remove().succeed())
                .expectNext(new TransferResult(0, 64, null))
                .expectComplete()
                .verify(LIMIT);
        StepVerifier.create(Operation.PUT.on(connection).cast(TransferResult.class))
                .then(() -> connection.transfers.remove().succeed())
                .expectNext(new TransferResult(0, 3, null))
                .expectComplete()
                .verify(LIMIT);
        StepVerifier.create(Operation.SIGNAL.on(connection))
                .then(() -> connection.transfers.remove().succeed())
                .expectComplete()
                .verify(LIMIT);
        for (Operation fetching : List.of(Operation.FETCH_ADD, Operation.COMPARE_AND_SWAP)) {
            StepVerifier.create(fetching.on(connection).cast(Long.class))
                    .then(() -> connection.transfers.remove().fetched(Long.MIN_VALUE + 3))
                    .expectNext(Long.MIN_VALUE + 3)
                    .expectComplete()
                    .verify(LIMIT);
        }
    }

    @ParameterizedTest
    @EnumSource
    void errorsAndRefusalsAreSignalled(Operation operation) {
        FakeConnection connection = FakeConnection.manual();
        OutcomeUnknownException unknown = new OutcomeUnknownException("the test lost it");
        StepVerifier.create(operation.on(connection))
                .then(() -> connection.only().end(unknown))
                .expectErrorSatisfies(error -> assertThat(error).isSameAs(unknown))
                .verify(LIMIT);
        for (RuntimeException refusal :
                List.of(new TooManyPendingException("full"), new IllegalArgumentException("not a multiple of 8"))) {
            StepVerifier.create(operation.on(FakeConnection.refusing(refusal)))
                    .expectErrorSatisfies(error -> assertThat(error).isSameAs(refusal))
                    .verify(LIMIT);
        }
    }

    @ParameterizedTest
    @EnumSource
    void aCancelCancelsTheTransferAndNothingIsEmittedAfterIt(Operation operation) {
        List<Throwable> dropped = new ArrayList<>();
        Hooks.onErrorDropped(dropped::add);
        FakeConnection connection = FakeConnection.manual();
        RecordingSubscriber<Object> subscriber = new RecordingSubscriber<>();
        operation.on(connection).subscribe(subscriber);
        subscriber.subscription.request(1);
        subscriber.subscription.cancel();
        assertThat(connection.only().cancels()).isEqualTo(1);
        assertThat(subscriber.terminals()).isZero();
        assertThat(subscriber.items).isEmpty();
        assertThat(dropped).isEmpty();
    }

    @ParameterizedTest
    @EnumSource
    void anErrorAfterACancelGoesToTheHook(Operation operation) {
        List<Throwable> dropped = new ArrayList<>();
        Hooks.onErrorDropped(dropped::add);
        ConnectionLostException lost = new ConnectionLostException("lost");
        RecordingSubscriber<Object> subscriber = new RecordingSubscriber<>();
        FakeConnection losing = new FakeConnection(1, transfer -> {
            subscriber.subscription.cancel();
            transfer.end(lost);
        });
        operation.on(losing).subscribe(subscriber);
        subscriber.subscription.request(1);
        assertThat(dropped).containsExactly(lost);
        assertThat(subscriber.terminals()).isZero();
    }

    @ParameterizedTest
    @EnumSource
    void aFaceWithASchedulerSignalsThere(Operation operation) {
        FakeConnection connection = FakeConnection.immediate();
        ReactiveConnection elsewhere = ReactiveConnection.from(connection).withScheduler(Schedulers.parallel());
        List<Thread> threads = new ArrayList<>();
        operation
                .operation
                .apply(elsewhere)
                .doOnTerminate(() -> threads.add(Thread.currentThread()))
                .block(LIMIT);
        assertThat(threads).singleElement().isNotSameAs(Thread.currentThread());
    }

    @ParameterizedTest
    @EnumSource
    void itCanBeScannedAndHooked(Operation operation) {
        List<String> assembled = new ArrayList<>();
        Hooks.onEachOperator("test", publisher -> {
            assembled.add(Scannable.from(publisher).stepName());
            return publisher;
        });
        Mono<?> mono = operation.on(FakeConnection.manual());
        assertThat(assembled).contains(operation.submitted.split(" ")[0]);
        assertThat(Scannable.from(mono).scan(Scannable.Attr.RUN_STYLE)).isNotNull();
    }

    @Test
    void flushAndQuietAreAskedOfTheConnectionAtTheSubscription() {
        FakeConnection connection = FakeConnection.manual();
        Mono<Void> flush = ReactiveConnection.from(connection).flush();
        Mono<Void> quiet = ReactiveConnection.from(connection).quiet();
        assertThat(connection.flushes).hasValue(0);
        assertThat(connection.quiets).hasValue(0);
        StepVerifier.create(flush)
                .then(() -> assertThat(connection.flushes).hasValue(1))
                .then(() -> connection.flushed.complete(null))
                .expectComplete()
                .verify(LIMIT);
        StepVerifier.create(quiet)
                .then(() -> assertThat(connection.quiets).hasValue(1))
                .then(() -> connection.quiet.completeExceptionally(new ConnectionLostException("lost")))
                .expectError(ConnectionLostException.class)
                .verify(LIMIT);
        flush.block(LIMIT);
        assertThat(connection.flushes).hasValue(2);
        assertThat(Scannable.from(flush).stepName()).isEqualTo("flush");
        assertThat(Scannable.from(quiet).stepName()).isEqualTo("quiet");
    }
}
