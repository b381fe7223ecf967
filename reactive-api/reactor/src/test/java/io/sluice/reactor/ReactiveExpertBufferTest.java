package io.sluice.reactor;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.engine.MemoryRegion;
import io.sluice.experts.ExpertBufferClosedException;
import io.sluice.experts.ExpertsLostException;
import io.sluice.experts.LowLatencyResult;
import io.sluice.experts.NormalLayout;
import io.sluice.experts.NormalOptions;
import io.sluice.experts.NormalResult;
import io.sluice.experts.TooManyLiveResultsException;
import io.sluice.testkit.Patience;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.IntFunction;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;
import reactor.test.StepVerifier;

/** Expert buffers of engines of this process, with Reactor. */
class ReactiveExpertBufferTest {
    private static final Duration LIMIT = Patience.BOUND;

    private final ReactiveExperts experts = new ReactiveExperts();

    @AfterEach
    void close() {
        experts.close();
    }

    private static List<Float> ofTokens(IntFunction<Float> value) {
        return IntStream.range(0, ReactiveExperts.TOKENS).mapToObj(value).toList();
    }

    private void sumsAreWeighted() {
        for (int rank = 0; rank < ReactiveExperts.SIZE; rank++) {
            int at = rank;
            assertThat(experts.sums(rank)).isEqualTo(ofTokens(token -> ReactiveExperts.weighted(at, token)));
        }
    }

    @Test
    void tokensGoToTheirExpertsAndComeBack() {
        StepVerifier.create(experts.all(experts::round))
                .expectNext(experts.memory(0).out(), experts.memory(1).out())
                .expectComplete()
                .verify(LIMIT);
        sumsAreWeighted();
    }

    @Test
    void withAHookACallEndsWhenItsSendsArePosted() {
        // the other rank has not called
        ReactiveReceiveHook<LowLatencyResult> hook = experts.dispatchHooked(0).block(LIMIT);
        LowLatencyResult there = experts.dispatch(1).block(LIMIT);
        LowLatencyResult here = hook.complete().block(LIMIT);
        assertThat(here.count(0)).isPositive();
        StepVerifier.create(hook.complete())
                .expectError(IllegalStateException.class)
                .verify(LIMIT);

        ReactiveReceiveHook<MemoryRegion> back = experts.combineHooked(0, here).block(LIMIT);
        experts.combine(1, there).block(LIMIT);
        assertThat(back.complete().block(LIMIT)).isSameAs(experts.memory(0).out());
        sumsAreWeighted();
        here.close();
        there.close();
    }

    @Test
    void normalModeBringsEachTokenOnceToARank() {
        List<NormalResult> results =
                experts.all(this::dispatchNormal).collectList().block(LIMIT);
        experts.all(rank -> experts.combineNormal(rank, results.get(rank))).blockLast(LIMIT);
        for (int rank = 0; rank < ReactiveExperts.SIZE; rank++) {
            int at = rank;
            assertThat(experts.sums(rank))
                    .isEqualTo(ofTokens(token -> ReactiveExperts.value(at, token) * ReactiveExperts.ranksOf(token)));
        }
        List<NormalResult> again = experts.all(rank -> experts.buffer(rank)
                        .dispatchAgain(
                                experts.memory(rank).x(), 0, results.get(rank).handle(), NormalOptions.defaults()))
                .collectList()
                .block(LIMIT);
        assertThat(again).allSatisfy(result -> {
            assertThat(result.choices()).isEmpty();
            assertThat(result.received()).isEqualTo(6);
            result.close();
        });
    }

    private Mono<NormalResult> dispatchNormal(int rank) {
        ReactiveExperts.Memory at = experts.memory(rank);
        Mono<NormalLayout> layout = experts.buffer(rank).layout(at.choices(), 0, ReactiveExperts.TOKENS, null);
        return layout.flatMap(places -> experts.buffer(rank)
                .dispatch(at.x(), 0, at.choices(), 0, at.weights(), 0, places, NormalOptions.defaults()));
    }

    @Test
    void whatACallRefusesIsAnError() {
        ReactiveExperts.Memory at = experts.memory(0);
        StepVerifier.create(experts.buffer(0)
                        .lowLatencyDispatch(
                                at.x(), 8, at.choices(), 0, ReactiveExperts.TOKENS, ReactiveExperts.DISPATCH))
                .expectError(IndexOutOfBoundsException.class)
                .verify(LIMIT);
        List<LowLatencyResult> first =
                experts.all(experts::dispatch).collectList().block(LIMIT);
        List<LowLatencyResult> second =
                experts.all(experts::dispatch).collectList().block(LIMIT);
        StepVerifier.create(experts.dispatch(0))
                .expectError(TooManyLiveResultsException.class)
                .verify(LIMIT);
        first.forEach(LowLatencyResult::close);
        second.forEach(LowLatencyResult::close);
    }

    @Test
    void aClosedBufferEndsTheCallsOfAllRanks() {
        StepVerifier.create(experts.dispatch(0))
                .then(() -> experts.buffer(1).close().block(LIMIT))
                .expectError(ExpertsLostException.class)
                .verify(LIMIT);
        StepVerifier.create(experts.dispatch(1))
                .expectError(ExpertBufferClosedException.class)
                .verify(LIMIT);
    }

    @Test
    void aCancelledCallGoesOnAndItsResultIsClosed() {
        // more often than there may be live results
        for (int i = 0; i < 3; i++) {
            subscribeAndCancel(experts.dispatch(0));
            Mono<Void> quiesced = experts.buffer(0).quiesced().cache();
            Disposable waiting = quiesced.subscribe();
            assertThat(waiting.isDisposed()).isFalse();
            experts.dispatch(1).doOnNext(LowLatencyResult::close).block(LIMIT);
            quiesced.block(LIMIT);
        }
        for (int i = 0; i < 3; i++) {
            subscribeAndCancel(dispatchNormal(0));
            dispatchNormal(1).doOnNext(NormalResult::close).block(LIMIT);
            experts.buffer(0).quiesced().block(LIMIT);
        }
        experts.all(experts::round).blockLast(LIMIT);
        sumsAreWeighted();
    }

    /** On the loop, which cannot end the call meanwhile. */
    private void subscribeAndCancel(Mono<?> call) {
        CompletableFuture<Void> cancelled = new CompletableFuture<>();
        experts.onLoop(0, () -> {
            call.subscribe(result -> {
                        throw new AssertionError("emitted after the cancel");
                    })
                    .dispose();
            cancelled.complete(null);
        });
        Patience.await(cancelled);
    }

    @Test
    void aHookThatHasNoTakerIsCompleted() {
        for (int i = 0; i < 3; i++) {
            subscribeAndCancel(experts.dispatchHooked(0));
            experts.dispatch(1).doOnNext(LowLatencyResult::close).block(LIMIT);
            experts.buffer(0).quiesced().block(LIMIT);
        }
        List<LowLatencyResult> results =
                experts.all(experts::dispatch).collectList().block(LIMIT);
        subscribeAndCancel(experts.combineHooked(0, results.get(0)));
        experts.combine(1, results.get(1)).block(LIMIT);
        // also the second half
        experts.buffer(0).quiesced().block(LIMIT);
        sumsAreWeighted();
        results.forEach(LowLatencyResult::close);
    }

    @Test
    void signalsArriveOnTheScheduler() {
        assertThat(experts.all(rank -> experts.buffer(rank)
                                .withScheduler(Schedulers.boundedElastic())
                                .lowLatencyDispatch(
                                        experts.memory(rank).x(),
                                        0,
                                        experts.memory(rank).choices(),
                                        0,
                                        ReactiveExperts.TOKENS,
                                        ReactiveExperts.DISPATCH)
                                .map(result -> {
                                    result.close();
                                    return Thread.currentThread().getName();
                                }))
                        .collectList()
                        .block(LIMIT))
                .hasSize(2)
                .allSatisfy(thread -> assertThat(thread).startsWith("boundedElastic"));
    }

    @Test
    void aBufferThatHasNoTakerIsClosed() {
        ReactiveRanks ranks = experts.ranks();
        ReactiveExpertBuffer.create(ranks.team(1), ReactiveExperts.OPTIONS)
                .subscribe()
                .dispose();
        ReactiveExpertBuffer kept = ReactiveExpertBuffer.create(ranks.team(0), ReactiveExperts.OPTIONS)
                .block(LIMIT);
        ReactiveExperts.Memory at = experts.memory(0);
        StepVerifier.create(kept.lowLatencyDispatch(
                        at.x(), 0, at.choices(), 0, ReactiveExperts.TOKENS, ReactiveExperts.DISPATCH))
                .expectError(ExpertsLostException.class)
                .verify(LIMIT);
        kept.close().block(LIMIT);
    }

    @Test
    void aBufferIsWrapped() {
        ReactiveExpertBuffer other = ReactiveExpertBuffer.from(experts.buffer(0).buffer());
        assertThat(other.buffer().options()).isEqualTo(ReactiveExperts.OPTIONS);
        assertThat(other.toString()).contains("expert buffer");
        Flux.just(other.quiesced()).flatMap(done -> done).blockLast(LIMIT);
    }
}
