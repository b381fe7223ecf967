package io.sluice.reactor;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.engine.ConnectionLostException;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.OutcomeUnknownException;
import io.sluice.engine.RemoteAccessException;
import io.sluice.engine.SluiceException;
import io.sluice.engine.TooManyPendingException;
import io.sluice.engine.TransferOptions;
import io.sluice.engine.TransferResult;
import io.sluice.testkit.Patience;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.reactivestreams.Subscription;
import reactor.core.Scannable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Hooks;
import reactor.core.publisher.Mono;
import reactor.test.StepVerifier;
import reactor.util.context.Context;

class TransferMonoTest {
    private static final Duration LIMIT = Patience.BOUND;

    @AfterEach
    void resetHooks() {
        Hooks.resetOnErrorDropped();
        Hooks.resetOnEachOperator();
        Hooks.resetOnOperatorError();
    }

    private static Mono<TransferResult> write(FakeConnection connection) {
        return ReactiveConnection.from(connection).write(new FakeRegion(64), 3, connection.remote(), 5, 7);
    }

    @Test
    void aWriteEmitsItsResultAndCompletes() {
        FakeConnection connection = FakeConnection.manual();
        StepVerifier.create(write(connection))
                .then(() -> assertThat(connection.only().what).isEqualTo("write 3 5 7"))
                .then(() -> connection.only().succeed())
                .expectNext(new TransferResult(0, 7, null))
                .expectComplete()
                .verify(LIMIT);
    }

    @Test
    void aReadEmitsItsResultAndCompletes() {
        FakeConnection connection = FakeConnection.manual();
        Mono<TransferResult> read =
                ReactiveConnection.from(connection).read(new FakeRegion(64), 1, connection.remote(), 2, 3);
        StepVerifier.create(read)
                .then(() -> assertThat(connection.only().what).isEqualTo("read 1 2 3"))
                .then(() -> connection.only().succeed())
                .expectNext(new TransferResult(0, 3, null))
                .expectComplete()
                .verify(LIMIT);
    }

    @Test
    void theShortFormsMoveTheWholeRegionOrSlice() {
        FakeConnection connection = FakeConnection.immediate();
        ReactiveConnection reactive = ReactiveConnection.from(connection);
        MemoryRegion slice = new FakeRegion(64).slice(8, 16);
        reactive.write(slice, connection.remote(), 9).block(LIMIT);
        reactive.read(new FakeRegion(32), connection.remote(), 4).block(LIMIT);
        assertThat(connection.transfers)
                .extracting(transfer -> transfer.what)
                .containsExactly("write 0 9 16", "read 0 4 32");
    }

    @Test
    void aNotificationCompletesEmptyAndItsPayloadIsTakenAtTheCall() {
        FakeConnection connection = FakeConnection.immediate();
        byte[] payload = {1, 2, 3};
        Mono<Void> notify = ReactiveConnection.from(connection).notify(payload);
        payload[0] = 9;
        StepVerifier.create(notify).expectComplete().verify(LIMIT);
        assertThat(connection.lastPayload).containsExactly(1, 2, 3);
    }

    @Test
    void optionsComeFromTheFaceUnlessTheCallNamesThem() {
        FakeConnection connection = FakeConnection.immediate();
        TransferOptions second = TransferOptions.defaults().withDeadline(Duration.ofSeconds(1));
        TransferOptions minute = TransferOptions.defaults().withDeadline(Duration.ofMinutes(1));
        ReactiveConnection plain = ReactiveConnection.from(connection);
        ReactiveConnection reactive = plain.withOptions(second);
        reactive.write(new FakeRegion(1), connection.remote(), 0).block(LIMIT);
        assertThat(connection.lastOptions).isEqualTo(second);
        reactive.write(new FakeRegion(1), 0, connection.remote(), 0, 1, minute).block(LIMIT);
        assertThat(connection.lastOptions).isEqualTo(minute);
        reactive.notify(new byte[1]).block(LIMIT);
        assertThat(connection.lastOptions).isEqualTo(second);
        plain.read(new FakeRegion(1), connection.remote(), 0).block(LIMIT);
        assertThat(connection.lastOptions).isEqualTo(TransferOptions.defaults());
    }

    @Test
    void anErrorOfTheTransferIsSignalled() {
        FakeConnection connection = FakeConnection.manual();
        OutcomeUnknownException unknown = new OutcomeUnknownException("the test lost it");
        StepVerifier.create(write(connection))
                .then(() -> connection.only().end(unknown))
                .expectErrorSatisfies(error -> assertThat(error).isSameAs(unknown))
                .verify(LIMIT);
    }

    static Stream<RuntimeException> refusals() {
        return Stream.of(
                new TooManyPendingException("full"),
                new IndexOutOfBoundsException("outside"),
                new RemoteAccessException(RemoteAccessException.Reason.ACCESS_DENIED, "read only"),
                new IllegalArgumentException("another engine's"),
                new ConnectionLostException("gone"));
    }

    @ParameterizedTest
    @MethodSource("refusals")
    void aRefusedSubmissionIsSignalled(RuntimeException refusal) {
        StepVerifier.create(write(FakeConnection.refusing(refusal)))
                .expectErrorSatisfies(error -> assertThat(error).isSameAs(refusal))
                .verify(LIMIT);
    }

    @Test
    void nothingIsSubmittedBeforeSubscriptionAndDemand() {
        FakeConnection connection = FakeConnection.manual();
        Mono<TransferResult> write = write(connection);
        assertThat(connection.submitted()).isZero();
        RecordingSubscriber<TransferResult> subscriber = new RecordingSubscriber<>();
        write.subscribe(subscriber);
        assertThat(connection.submitted()).isZero();
        subscriber.subscription.request(1);
        subscriber.subscription.request(1);
        assertThat(connection.submitted()).isOne();
        connection.only().succeed();
        assertThat(subscriber.items).hasSize(1);
        assertThat(subscriber.completions).hasValue(1);
        assertThat(subscriber.breaches).isEmpty();
    }

    @Test
    void aCancelBeforeDemandSubmitsNothing() {
        FakeConnection connection = FakeConnection.manual();
        RecordingSubscriber<TransferResult> subscriber = new RecordingSubscriber<>();
        write(connection).subscribe(subscriber);
        subscriber.subscription.cancel();
        subscriber.subscription.request(1);
        assertThat(connection.submitted()).isZero();
        assertThat(subscriber.terminals()).isZero();
    }

    @Test
    void aCancelEndsTheTransferAndEmitsNothing() {
        FakeConnection connection = FakeConnection.manual();
        List<Throwable> dropped = new ArrayList<>();
        Hooks.onErrorDropped(dropped::add);
        RecordingSubscriber<TransferResult> subscriber = new RecordingSubscriber<>();
        write(connection).subscribe(subscriber);
        subscriber.subscription.request(1);
        subscriber.subscription.cancel();
        subscriber.subscription.cancel();
        assertThat(connection.only().cancels()).isOne();
        assertThat(connection.only().isTerminated()).isTrue();
        assertThat(subscriber.items).isEmpty();
        assertThat(subscriber.terminals()).isZero();
        assertThat(dropped).isEmpty();
    }

    @Test
    void aCancelWhileTheSubmissionIsInProgressEndsTheTransferAfterwards() {
        RecordingSubscriber<TransferResult> subscriber = new RecordingSubscriber<>();
        FakeConnection connection = new FakeConnection(256, transfer -> subscriber.subscription.cancel());
        write(connection).subscribe(subscriber);
        subscriber.subscription.request(1);
        assertThat(connection.only().cancels()).isOne();
        assertThat(subscriber.terminals()).isZero();
    }

    @Test
    void anErrorAfterACancelGoesToTheHook() {
        SluiceException late = new ConnectionLostException("late");
        RecordingSubscriber<TransferResult> subscriber = new RecordingSubscriber<>();
        FakeConnection connection = new FakeConnection(256, transfer -> {
            subscriber.subscription.cancel();
            transfer.end(late);
        });
        List<Throwable> dropped = new ArrayList<>();
        Hooks.onErrorDropped(dropped::add);
        write(connection).subscribe(subscriber);
        subscriber.subscription.request(1);
        assertThat(dropped).containsExactly(late);
        assertThat(subscriber.terminals()).isZero();
    }

    @Test
    void aRefusalAfterACancelGoesToTheHook() {
        SluiceException refusal = new TooManyPendingException("full");
        RecordingSubscriber<TransferResult> subscriber = new RecordingSubscriber<>();
        FakeConnection connection = new FakeConnection(256, transfer -> {
            subscriber.subscription.cancel();
            throw refusal;
        });
        List<Throwable> dropped = new ArrayList<>();
        Hooks.onErrorDropped(dropped::add);
        write(connection).subscribe(subscriber);
        subscriber.subscription.request(1);
        assertThat(dropped).containsExactly(refusal);
    }

    @Test
    void aCancelFromOnNextSuppressesTheCompletion() {
        FakeConnection connection = FakeConnection.manual();
        RecordingSubscriber<TransferResult> subscriber = new RecordingSubscriber<>() {
            @Override
            public void onNext(TransferResult item) {
                super.onNext(item);
                subscription.cancel();
            }
        };
        write(connection).subscribe(subscriber);
        subscriber.subscription.request(1);
        connection.only().succeed();
        assertThat(subscriber.items).hasSize(1);
        assertThat(subscriber.terminals()).isZero();
        assertThat(connection.only().cancels()).isZero();
    }

    @ParameterizedTest
    @ValueSource(longs = {0, -1, Long.MIN_VALUE})
    void aRequestThatIsNotPositiveIsAnError(long count) {
        FakeConnection connection = FakeConnection.manual();
        RecordingSubscriber<TransferResult> subscriber = new RecordingSubscriber<>();
        write(connection).subscribe(subscriber);
        subscriber.subscription.request(count);
        subscriber.subscription.request(1);
        assertThat(connection.submitted()).isZero();
        assertThat(subscriber.errors).singleElement().isInstanceOf(IllegalArgumentException.class);
        assertThat(subscriber.errors.peek()).hasMessageContaining("3.9");
    }

    @Test
    void aBadRequestWhileTheTransferRunsEndsIt() {
        FakeConnection connection = FakeConnection.manual();
        RecordingSubscriber<TransferResult> subscriber = new RecordingSubscriber<>();
        write(connection).subscribe(subscriber);
        subscriber.subscription.request(1);
        subscriber.subscription.request(0);
        assertThat(connection.only().cancels()).isOne();
        assertThat(subscriber.errors).singleElement().isInstanceOf(IllegalArgumentException.class);
        assertThat(subscriber.breaches).isEmpty();
    }

    @Test
    void eachSubscriberGetsItsOwnTransfer() {
        FakeConnection connection = FakeConnection.manual();
        Mono<TransferResult> write = write(connection);
        for (int i = 0; i < 10; i++) {
            write.subscribe();
        }
        assertThat(connection.submitted()).isEqualTo(10);
        assertThat(connection.transfers).doesNotHaveDuplicates();
    }

    @Test
    void retrySubmitsAgain() {
        AtomicInteger attempts = new AtomicInteger();
        FakeConnection connection = new FakeConnection(256, transfer -> {
            if (attempts.incrementAndGet() < 3) {
                throw new TooManyPendingException("full");
            }
            transfer.succeed();
        });
        StepVerifier.create(write(connection).retry(5))
                .expectNextCount(1)
                .expectComplete()
                .verify(LIMIT);
        assertThat(connection.submitted()).isEqualTo(3);
    }

    @Test
    void repeatSubmitsAgainWithoutDeepeningTheStack() {
        FakeConnection connection = FakeConnection.forgetful(256, FakeTransfer::succeed);
        StepVerifier.create(write(connection).repeat(999_999))
                .expectNextCount(1_000_000)
                .expectComplete()
                .verify(LIMIT);
        assertThat(connection.submitted()).isEqualTo(1_000_000);
    }

    @Test
    void theSubscribersContextReachesTheHooks() {
        SluiceException late = new ConnectionLostException("late");
        List<Object> seen = new ArrayList<>();
        RecordingSubscriber<TransferResult> subscriber = new RecordingSubscriber<>() {
            @Override
            public Context currentContext() {
                return Context.of("reactor.onErrorDropped.local", (java.util.function.Consumer<Throwable>) seen::add);
            }
        };
        FakeConnection connection = new FakeConnection(256, transfer -> {
            subscriber.subscription.cancel();
            transfer.end(late);
        });
        write(connection).subscribe(subscriber);
        subscriber.subscription.request(1);
        assertThat(seen).containsExactly(late);
    }

    @Test
    void theContextIsVisibleDownstreamOfTheTransfer() {
        FakeConnection connection = FakeConnection.immediate();
        Mono<String> tenant = write(connection)
                .flatMap(result -> Mono.deferContextual(context -> Mono.just(context.<String>get("tenant"))))
                .contextWrite(Context.of("tenant", "blue"));
        StepVerifier.create(tenant).expectNext("blue").expectComplete().verify(LIMIT);
    }

    @Test
    void assemblyAndErrorHooksApply() {
        List<String> assembled = new ArrayList<>();
        Hooks.onEachOperator(publisher -> {
            assembled.add(Scannable.from(publisher).stepName());
            return publisher;
        });
        Hooks.onOperatorError((error, value) -> new IllegalStateException("mapped", error));
        SluiceException refusal = new TooManyPendingException("full");
        StepVerifier.create(write(FakeConnection.refusing(refusal)))
                .expectErrorSatisfies(error -> assertThat(error)
                        .isInstanceOf(IllegalStateException.class)
                        .hasCause(refusal))
                .verify(LIMIT);
        assertThat(assembled).contains("write");
    }

    @Test
    void itsStateCanBeScanned() {
        FakeConnection connection = FakeConnection.manual();
        Mono<TransferResult> write = write(connection);
        assertThat(Scannable.from(write).scan(Scannable.Attr.RUN_STYLE)).isEqualTo(Scannable.Attr.RunStyle.ASYNC);
        assertThat(Scannable.from(write).name()).isEqualTo("write");

        RecordingSubscriber<TransferResult> subscriber = new RecordingSubscriber<>();
        write.subscribe(subscriber);
        Scannable subscription = scannable(subscriber.subscription);
        assertThat(subscription.scan(Scannable.Attr.ACTUAL)).isSameAs(Scannable.from(subscriber));
        assertThat(subscription.scan(Scannable.Attr.RUN_STYLE)).isEqualTo(Scannable.Attr.RunStyle.ASYNC);
        assertThat(subscription.scan(Scannable.Attr.TERMINATED)).isFalse();
        assertThat(subscription.scan(Scannable.Attr.CANCELLED)).isFalse();
        subscriber.subscription.request(1);
        connection.only().succeed();
        assertThat(subscription.scan(Scannable.Attr.TERMINATED)).isTrue();

        RecordingSubscriber<TransferResult> cancelling = new RecordingSubscriber<>();
        write.subscribe(cancelling);
        cancelling.subscription.cancel();
        assertThat(scannable(cancelling.subscription).scan(Scannable.Attr.CANCELLED))
                .isTrue();
        assertThat(scannable(cancelling.subscription).scan(Scannable.Attr.TERMINATED))
                .isFalse();
    }

    @Test
    void aNamedTransferKeepsItsName() {
        Mono<TransferResult> named = write(FakeConnection.immediate()).name("block-17");
        assertThat(Scannable.from(named).name()).isEqualTo("block-17");
    }

    @Test
    void manyTransfersRunSideBySide() {
        FakeConnection connection = FakeConnection.immediate();
        StepVerifier.create(Flux.range(0, 10_000).flatMap(i -> write(connection), 64))
                .expectNextCount(10_000)
                .expectComplete()
                .verify(LIMIT);
    }

    private static Scannable scannable(Subscription subscription) {
        return Scannable.from(subscription);
    }
}
