package io.sluice.reactor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

import io.sluice.engine.Connection;
import io.sluice.engine.EngineAddress;
import io.sluice.engine.EngineId;
import io.sluice.engine.MemoryKind;
import io.sluice.engine.RegionDescriptor;
import io.sluice.engine.RemoteRegion;
import io.sluice.engine.TransferEngine;
import io.sluice.testkit.Patience;
import io.sluice.testkit.RaceRounds;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BiFunction;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.Named;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.reactivestreams.Publisher;
import org.reactivestreams.Subscription;
import reactor.core.Disposable;
import reactor.core.publisher.BaseSubscriber;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Hooks;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Operators;
import reactor.core.publisher.Sinks;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;
import reactor.test.StepVerifier;
import reactor.util.context.Context;
import reactor.util.retry.Retry;

/** A created resource is passed to a subscriber or returned, also when the end of the wait races with the value. */
class ResourceHandOverTest {
    private static final EngineAddress ADDRESS = EngineAddress.of("peer.example", 7000);
    private static final RegionDescriptor DESCRIPTOR =
            new RegionDescriptor(new EngineId(1, 2), 3, 4, 5, MemoryKind.values()[0], Set.of(), 0, 64);
    private static final boolean SOAK = "soak".equals(System.getProperty("sluice.test.profile"));
    private static final int ROUNDS = SOAK ? 100_000 : 500;
    private static final int PROGRESS = 20_000;

    /** How a chain gives up waiting when a publisher says so. */
    private interface Limit extends BiFunction<Mono<ReactiveConnection>, Publisher<?>, Mono<?>> {}

    private final FakeConnection made = FakeConnection.manual();
    private final CompletableFuture<Connection> connecting = new CompletableFuture<>();
    private final Sinks.Empty<Void> limit = Sinks.empty();

    /** An engine that can do nothing but connect. */
    private static ReactiveTransferEngine engine(Supplier<CompletableFuture<Connection>> connecting) {
        return ReactiveTransferEngine.from((TransferEngine) Proxy.newProxyInstance(
                TransferEngine.class.getClassLoader(), new Class<?>[] {TransferEngine.class}, (proxy, method, args) -> {
                    assertThat(method.getName()).isEqualTo("connect");
                    return connecting.get();
                }));
    }

    private static Stream<Arguments> limits() {
        return Map.<String, Limit>of(
                        "timeout", Mono::timeout,
                        "timeout with a fallback", (wait, over) -> wait.timeout(over, Mono.empty()),
                        "retry, timeout", (wait, over) -> wait.retry(2).timeout(over),
                        "onErrorResume, timeout",
                                (wait, over) -> wait.onErrorResume(Mono::error).timeout(over),
                        "map, timeout", (wait, over) -> wait.map(List::of).timeout(over),
                        "flatMap, timeout",
                                (wait, over) -> wait.flatMap(connection -> Mono.just(List.of(connection)))
                                        .timeout(over),
                        "takeUntilOther", Mono::takeUntilOther)
                .entrySet()
                .stream()
                .map(each -> Arguments.of(Named.of(each.getKey(), each.getValue())));
    }

    @ParameterizedTest
    @MethodSource("limits")
    void aConnectionThatComesInTheMomentOfTheTimeOutIsClosed(Limit giveUp) {
        RecordingSubscriber<Object> subscriber = new RecordingSubscriber<>();
        giveUp.apply(
                        engine(() -> connecting).connect(ADDRESS).doOnNext(connection -> limit.tryEmitEmpty()),
                        limit.asMono())
                .subscribe(subscriber);
        subscriber.subscription.request(1);
        connecting.complete(made);
        assertThat(subscriber.items).isEmpty();
        assertThat(subscriber.terminated.getCount()).isZero();
        assertThat(made.closes).hasValue(1);
    }

    @ParameterizedTest
    @MethodSource("limits")
    void aConnectionThatComesBeforeTheTimeOutIsLeftOpen(Limit giveUp) {
        RecordingSubscriber<Object> subscriber = new RecordingSubscriber<>();
        giveUp.apply(engine(() -> connecting).connect(ADDRESS), limit.asMono()).subscribe(subscriber);
        subscriber.subscription.request(1);
        connecting.complete(made);
        limit.tryEmitEmpty();
        subscriber.subscription.cancel();
        assertThat(subscriber.items).hasSize(1);
        assertThat(made.closes).hasValue(0);
    }

    @Test
    void theTimeOutAgainstTheValueLeavesNothingBehind() {
        race("timeout", Mono::timeout, 1);
    }

    @Test
    void theTimeOutBehindARetryAgainstTheValueLeavesNothingBehind() {
        race(
                "retry, timeout",
                (wait, over) -> wait.retryWhen(Retry.max(2)).map(List::of).timeout(over),
                1);
    }

    @Test
    void twoTimeOutsAgainstTheValueLeaveNothingBehind() {
        race("two timeouts", (wait, over) -> wait.timeout(Mono.never()).timeout(over), 1);
    }

    @Test
    void whatEndsTheWaitAgainstTheValueLeavesNothingBehind() {
        // the value may have been seen when the other publisher's cancel meets it
        race("takeUntilOther", Mono::takeUntilOther, 2);
    }

    @Test
    void disposingAgainstTheValueLeavesNothingBehind() {
        raceOf(
                "dispose",
                (wait, attempt) -> {
                    Disposable subscription = wait.subscribe(connection -> attempt.seen.incrementAndGet());
                    attempt.limit.asMono().subscribe(nothing -> {}, error -> {}, subscription::dispose);
                },
                1);
    }

    private static void race(String race, Limit giveUp, int mostFates) {
        raceOf(
                race,
                (wait, attempt) -> giveUp.apply(wait, attempt.limit.asMono())
                        .subscribe(connection -> attempt.seen.incrementAndGet(), error -> {}),
                mostFates);
    }

    private interface Start {
        void accept(Mono<ReactiveConnection> wait, Attempt attempt);
    }

    /** How often what came: raced are those where the connection came in the moment of the time-out. */
    private static final class Tally {
        private final String race;
        int rounds;
        int seen;
        int closed;
        int raced;
        int racedAndSeen;
        int racedAndClosed;

        Tally(String race) {
            this.race = race;
        }

        void add(Attempt attempt, boolean isRaced) {
            rounds++;
            int isSeen = attempt.seen.get();
            int isClosed = attempt.made.closes.get();
            seen += isSeen;
            closed += isClosed;
            if (isRaced) {
                raced++;
                racedAndSeen += isSeen;
                racedAndClosed += isClosed;
            }
            if (rounds % PROGRESS == 0) {
                System.out.println("ResourceHandOverTest, " + race + ": " + this);
            }
        }

        @Override
        public String toString() {
            return "%d rounds, %d seen by a subscriber, %d closed; %d raced, of them %d seen, %d closed"
                    .formatted(rounds, seen, closed, raced, racedAndSeen, racedAndClosed);
        }
    }

    /** One wait: the connection comes on one thread, while another one ends the wait. */
    private static final class Attempt implements RaceRounds.Round {
        private final FakeConnection made = FakeConnection.manual();
        private final CompletableFuture<Connection> connecting = new CompletableFuture<>();
        private final Sinks.Empty<Void> limit = Sinks.empty();
        private final AtomicInteger seen = new AtomicInteger();
        private final int mostFates;
        private final Tally tally;

        Attempt(int mostFates, Tally tally) {
            this.mostFates = mostFates;
            this.tally = tally;
        }

        @Override
        public void own() {
            connecting.complete(made);
        }

        @Override
        public void other() {
            limit.tryEmitEmpty();
        }

        @Override
        public void check(boolean raced) {
            tally.add(this, raced);
            int fates = seen.get() + made.closes.get();
            if (fates < 1 || fates > mostFates) {
                fail("seen by a subscriber " + seen + ", closed " + made.closes + ", in round " + tally.rounds);
            }
        }
    }

    private static void raceOf(String race, Start start, int mostFates) {
        AtomicReference<CompletableFuture<Connection>> next = new AtomicReference<>();
        Mono<ReactiveConnection> connect = engine(next::get).connect(ADDRESS);
        Tally tally = new Tally(race);
        RaceRounds.run(ROUNDS, number -> {
            Attempt attempt = new Attempt(mostFates, tally);
            next.set(attempt.connecting);
            start.accept(connect, attempt);
            return attempt;
        });
        assertThat(tally.rounds).isEqualTo(ROUNDS);
        if (SOAK && Runtime.getRuntime().availableProcessors() > 1) {
            // so many meet in all ways
            assertThat(tally.racedAndSeen).as("%s", tally).isPositive();
            assertThat(tally.racedAndClosed).as("%s", tally).isPositive();
        }
    }

    @Test
    void whatCancelsAsItTakesKeepsTheConnection() {
        connecting.complete(made);
        Mono<ReactiveConnection> connect = engine(() -> connecting).connect(ADDRESS);
        assertThat(connect.flux().next().block(Patience.BOUND)).isNotNull();
        assertThat(connect.flux().take(1).collectList().block(Patience.BOUND)).hasSize(1);
        assertThat(connect.flux().blockFirst(Patience.BOUND)).isNotNull();
        assertThat(Flux.just(1, 2)
                        .concatMap(attempt -> connect.timeout(Patience.BOUND))
                        .next()
                        .block(Patience.BOUND))
                .isNotNull();
        BaseSubscriber<ReactiveConnection> cancelling = new BaseSubscriber<>() {
            @Override
            protected void hookOnNext(ReactiveConnection connection) {
                cancel();
            }
        };
        connect.subscribe(cancelling);
        assertThat(connect.toFuture()).isCompleted();
        assertThat(made.closes).hasValue(0);
    }

    @Test
    void aCancelFromAnotherThreadDuringTheHandOverClosesTheConnection() {
        AtomicReference<Subscription> given = new AtomicReference<>();
        RecordingSubscriber<ReactiveConnection> subscriber = new RecordingSubscriber<>(connection ->
                Patience.join(Thread.ofPlatform().start(() -> given.get().cancel())));
        engine(() -> connecting).connect(ADDRESS).subscribe(subscriber);
        given.set(subscriber.subscription);
        subscriber.subscription.request(1);
        connecting.complete(made);
        assertThat(subscriber.completions).hasValue(0);
        assertThat(made.closes).hasValue(1);
    }

    @Test
    void aSubscriberThatThrowsHasNotTakenTheConnection() {
        List<Throwable> dropped = new ArrayList<>();
        Hooks.onErrorDropped(dropped::add);
        try {
            IllegalStateException refusal = new IllegalStateException("not now");
            RecordingSubscriber<ReactiveConnection> subscriber = new RecordingSubscriber<>(connection -> {
                throw refusal;
            });
            engine(() -> connecting).connect(ADDRESS).subscribe(subscriber);
            subscriber.subscription.request(1);
            connecting.complete(made);
            assertThat(made.closes).hasValue(1);
            assertThat(dropped).containsExactly(refusal);
        } finally {
            Hooks.resetOnErrorDropped();
        }
    }

    @Test
    void whatElseIsDroppedMeanwhileClosesNothing() {
        connecting.complete(made);
        RecordingSubscriber<ReactiveConnection> subscriber =
                new RecordingSubscriber<>(connection -> Operators.onNextDropped("something else", Context.empty()));
        engine(() -> connecting).connect(ADDRESS).subscribe(subscriber);
        subscriber.subscription.request(1);
        subscriber.subscription.cancel();
        assertThat(made.closes).hasValue(0);
    }

    @Test
    void regionsThatComeInTheMomentOfTheTimeOutAreDetached() {
        RemoteRegion region = made.remote();
        ReactiveConnection connection = ReactiveConnection.from(made);
        StepVerifier.create(connection
                        .attach(DESCRIPTOR)
                        .doOnNext(attached -> limit.tryEmitEmpty())
                        .timeout(limit.asMono()))
                .then(() -> made.attached.complete(region))
                .expectError(TimeoutException.class)
                .verify(Patience.BOUND);
        assertThat(made.detaches).hasValue(1);
        Sinks.Empty<Void> second = Sinks.empty();
        FakeConnection many = FakeConnection.manual();
        StepVerifier.create(ReactiveConnection.from(many)
                        .attach(List.of(DESCRIPTOR, DESCRIPTOR))
                        .doOnNext(attached -> second.tryEmitEmpty())
                        .timeout(second.asMono()))
                .then(() -> many.attached.complete(region))
                .expectError(TimeoutException.class)
                .verify(Patience.BOUND);
        assertThat(made.detaches.get() + many.detaches.get()).isEqualTo(2);
    }

    @Test
    void aRegionIsDetachedThoughASchedulerHandsItOver() {
        Scheduler scheduler = Schedulers.newSingle("completions");
        Mono<RemoteRegion> attach =
                ReactiveConnection.from(made).withScheduler(scheduler).attach(DESCRIPTOR);
        try {
            StepVerifier.create(
                            attach.doOnNext(attached -> limit.tryEmitEmpty()).timeout(limit.asMono()))
                    .then(() -> made.attached.complete(made.remote()))
                    .expectError(TimeoutException.class)
                    .verify(Patience.BOUND);
            Patience.until("it is detached", () -> made.detaches.get() == 1);
            StepVerifier.create(attach.map(attached -> Thread.currentThread().getName()))
                    .expectNextMatches(thread -> thread.startsWith("completions"))
                    .expectComplete()
                    .verify(Patience.BOUND);
            assertThat(made.detaches).hasValue(1);
        } finally {
            scheduler.dispose();
        }
        StepVerifier.create(attach)
                .expectError(RejectedExecutionException.class)
                .verify(Patience.BOUND);
        assertThat(made.detaches).hasValue(2);
    }
}
