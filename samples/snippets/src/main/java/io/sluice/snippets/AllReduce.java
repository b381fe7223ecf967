package io.sluice.snippets;

import io.sluice.collectives.ElementType;
import io.sluice.collectives.ReduceOperation;
import io.sluice.collectives.TeamOptions;
import io.sluice.engine.EngineAddress;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RegionOptions;
import io.sluice.reactor.ReactiveTeam;
import io.sluice.reactor.ReactiveTransferEngine;
import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.stream.IntStream;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * Averages the numbers of three ranks. Each is an engine of this process here, and would be a process of its own
 * elsewhere: all call the same collectives in the same order, and find each other at the engine of rank 0.
 *
 * <p>Run: {@code ./sluice snippet AllReduce}
 */
public final class AllReduce {
    private static final int RANKS = 3;
    private static final int COUNT = 1000;

    private AllReduce() {}

    public static void main(String[] arguments) {
        List<ReactiveTransferEngine> engines = IntStream.range(0, RANKS)
                .mapToObj(rank -> ReactiveTransferEngine.open())
                .toList();
        EngineAddress rankZero = engines.getFirst().address();
        Flux.range(0, RANKS)
                .flatMap(rank -> average(engines.get(rank), rank, rankZero))
                .sort()
                .doOnNext(System.out::println)
                .blockLast();
        Flux.fromIterable(engines).flatMap(ReactiveTransferEngine::close).blockLast();
    }

    private static Mono<String> average(ReactiveTransferEngine engine, int rank, EngineAddress rankZero) {
        MemoryRegion numbers = engine.allocate(COUNT * 4L, RegionOptions.local());
        for (int i = 0; i < COUNT; i++) {
            numbers.segment().setAtIndex(ValueLayout.JAVA_FLOAT, i, rank + i);
        }
        TeamOptions options = TeamOptions.rank(rank).of(RANKS).rendezvous(rankZero);
        return Mono.usingWhen(
                ReactiveTeam.form(engine.engine(), options),
                team -> team.allReduce(numbers, 0, numbers, 0, COUNT, ElementType.FLOAT32, ReduceOperation.AVERAGE)
                        .map(ended -> "rank " + rank + " has "
                                + numbers.segment().getAtIndex(ValueLayout.JAVA_FLOAT, 10) + " at place 10, by "
                                + ended.algorithm()),
                team -> team.barrier().then(team.close()));
    }
}
