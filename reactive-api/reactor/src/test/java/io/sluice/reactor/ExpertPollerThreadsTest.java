package io.sluice.reactor;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.engine.MemoryRegion;
import io.sluice.engine.TransferEngine;
import io.sluice.testkit.Patience;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** Calls on expert buffers that are made, received and closed on pollers block none. */
@ExtendWith(NoBlockingOnPollers.class)
class ExpertPollerThreadsTest {
    private static final int ROUNDS = 20;

    @Test
    void roundsOnPollersDoNotBlock() {
        try (ReactiveExperts experts = new ReactiveExperts()) {
            experts.all(rank -> rounds(experts.round(rank))).blockLast(Patience.BOUND);
            experts.all(rank -> rounds(hookedRound(experts, rank))).blockLast(Patience.BOUND);
            assertThat(experts.sums(0).getFirst()).isEqualTo(ReactiveExperts.weighted(0, 0));
        }
    }

    private static Flux<MemoryRegion> rounds(Mono<MemoryRegion> round) {
        return Flux.range(0, ROUNDS)
                .concatMap(i -> round)
                .doOnNext(sums -> assertThat(TransferEngine.isPollerThread(Thread.currentThread()))
                        .isTrue());
    }

    private static Mono<MemoryRegion> hookedRound(ReactiveExperts experts, int rank) {
        return experts.dispatchHooked(rank)
                .flatMap(ReactiveReceiveHook::complete)
                .flatMap(result -> experts.combineHooked(rank, result)
                        .flatMap(ReactiveReceiveHook::complete)
                        .doOnNext(sums -> result.close()));
    }
}
